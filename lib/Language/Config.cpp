#include "kiln/Language/Config.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringRef.h"

namespace kiln {

int64_t Config::param(const std::string &name, std::vector<int64_t> choices,
                      int64_t fallback) const {
  if (choices.empty())
    return paramInRange(name, range(1), fallback);
  std::vector<std::string> words;
  for (int64_t choice : choices)
    words.push_back(std::to_string(choice));
  int64_t value = fallback;
  if (auto given = Values.find(name); given != Values.end())
    if (llvm::StringRef(given->second).getAsInteger(10, value) ||
        !llvm::is_contained(choices, value)) {
      Wrong.push_back("--" + name + " " + given->second + " does not fit; it is one of " +
                      llvm::join(words, ", "));
      value = fallback;
    }
  Asked.push_back({name, std::to_string(value), words});
  return value;
}

int64_t Config::paramInRange(const std::string &name, Range range, int64_t fallback) const {
  bool isBounded = range.high != std::numeric_limits<int64_t>::max();
  std::string low = std::to_string(range.low), high = std::to_string(range.high);
  std::string values =
      isBounded ? "an integer from " + low + " to " + high : "an integer of at least " + low;
  auto fits = [&](int64_t number) { return number >= range.low && number <= range.high; };
  if (!fits(fallback))
    Wrong.push_back("the program's own default of --" + name + ", " + std::to_string(fallback) +
                    ", does not fit; it is " + values);
  int64_t value = fallback;
  if (auto given = Values.find(name); given != Values.end())
    if (llvm::StringRef(given->second).getAsInteger(10, value) || !fits(value)) {
      Wrong.push_back("--" + name + " " + given->second + " does not fit; it is " + values);
      value = fallback;
    }
  Asked.push_back({name, std::to_string(value), {low + ".." + (isBounded ? high : "")}});
  return value;
}

std::string Config::choice(const std::string &name, std::vector<std::string> choices,
                           const std::string &fallback) const {
  std::string value = fallback;
  if (auto given = Values.find(name); given != Values.end()) {
    value = given->second;
    if (!llvm::is_contained(choices, value)) {
      Wrong.push_back("--" + name + " " + value + " does not fit; it is one of " +
                      llvm::join(choices, ", "));
      value = fallback;
    }
  }
  Asked.push_back({name, value, choices});
  return value;
}

Split Config::split(const std::string &name, Split fallback) const {
  static const std::vector<std::string> words{"none", "up_down", "left_right"};
  std::string word = choice(name, words, words[size_t(fallback)]);
  return static_cast<Split>(llvm::find(words, word) - words.begin());
}

std::vector<std::string> Config::errors() const {
  std::vector<std::string> errors = Wrong;
  for (const auto &[name, value] : Values) {
    if (llvm::any_of(Asked, [&](const Declared &declared) { return declared.name == name; }))
      continue;
    std::vector<std::string> known;
    for (const Declared &declared : Asked)
      known.push_back("--" + declared.name);
    errors.push_back("unknown option --" + name +
                     (known.empty() ? "" : "; this program also takes " + llvm::join(known, ", ")));
  }
  return errors;
}

} // namespace kiln
