//===- Config.h - the parameters a program is a function of -------------------------===//
//
// Tile sizes, splits, slots: C++ values drawn from a Config while the program is traced, each with
// a name, the values it may take and a default. On the command line of an example each is a flag:
// `--BM 64`.
//
//===----------------------------------------------------------------------------===//
#ifndef KILN_LANGUAGE_CONFIG_H
#define KILN_LANGUAGE_CONFIG_H

#include "kiln/Language/Record.h"
#include "kiln/record_c.h"

#include <limits>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace kiln {

/// Integers from `low` to `high`, both included.
struct Range {
  int64_t low, high;
};
/// The values of a parameter: `range(0, 8)`, or `range(0)` for every integer of at least 0.
constexpr Range range(int64_t low, int64_t high = std::numeric_limits<int64_t>::max()) {
  return {low, high};
}

class Config {
public:
  Config() : Handle(kiln_config_create(nullptr)), IsOwned(true) {}
  /// Values by name, as text.
  explicit Config(const std::map<std::string, std::string> &values) : Config() {
    for (const auto &[name, value] : values)
      kiln_config_set(Handle, name.c_str(), value.c_str());
  }
  /// Of someone who keeps it.
  explicit Config(kiln_config *borrowed) : Handle(borrowed), IsOwned(false) {}
  Config(const Config &other) : Handle(kiln_config_create(other.Handle)), IsOwned(true) {}
  Config &operator=(Config other) {
    std::swap(Handle, other.Handle);
    std::swap(IsOwned, other.IsOwned);
    return *this;
  }
  ~Config() {
    if (IsOwned)
      kiln_config_destroy(Handle);
  }

  /// An integer. An empty list of choices stands for range(1).
  int64_t param(const std::string &name, std::vector<int64_t> choices, int64_t fallback) const {
    if (choices.empty())
      return param(name, range(1), fallback);
    return kiln_config_param(Handle, name.c_str(), choices.data(),
                             static_cast<uint32_t>(choices.size()), fallback);
  }
  /// An integer of a range. A template, so that a list in braces is always one of choices.
  template <std::same_as<Range> R>
  int64_t param(const std::string &name, R range, int64_t fallback) const {
    return kiln_config_range(Handle, name.c_str(), range.low, range.high, fallback);
  }
  /// A word.
  std::string choice(const std::string &name, std::vector<std::string> choices,
                     const std::string &fallback) const {
    std::vector<const char *> words;
    for (const std::string &each : choices)
      words.push_back(each.c_str());
    return kiln_config_choice(Handle, name.c_str(), words.data(),
                              static_cast<uint32_t>(words.size()), fallback.c_str());
  }
  /// none, up_down or left_right.
  Split split(const std::string &name, Split fallback) const {
    constexpr Split all[] = {Split::None, Split::UpDown, Split::LeftRight};
    std::string word =
        choice(name, {detail::wordOf(all[0]), detail::wordOf(all[1]), detail::wordOf(all[2])},
               detail::wordOf(fallback));
    for (Split each : all)
      if (word == detail::wordOf(each))
        return each;
    return fallback;
  }

  struct Declared {
    std::string name, value;
    std::vector<std::string> choices; ///< Words, or one range: 0..8.
  };
  /// What the program asked for, in order.
  std::vector<Declared> declared() const {
    std::vector<Declared> all;
    const char *value = nullptr;
    for (uint32_t index = 0; const char *name = kiln_config_declared(Handle, index, &value);
         ++index) {
      all.push_back({name, value, {}});
      for (uint32_t choice = 0;
           const char *word = kiln_config_declared_choice(Handle, index, choice); ++choice)
        all.back().choices.push_back(word);
    }
    return all;
  }
  /// Values that do not fit, and values nobody asked for. Complete once the program has been
  /// traced.
  std::vector<std::string> errors() const {
    std::vector<std::string> all;
    for (uint32_t index = 0; const char *error = kiln_config_error(Handle, index); ++index)
      all.push_back(error);
    return all;
  }

private:
  kiln_config *Handle;
  bool IsOwned;
};

} // namespace kiln

#endif // KILN_LANGUAGE_CONFIG_H
