//===- Config.cpp - the parameters a program is a function of ----------------------------===//
#include "kiln/Dialect/Kiln/CompilerChoices.h"
#include "kiln/Language/ProgramAccess.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

using llvm::StringRef;

int64_t kiln_config::param(const std::string &name, const std::vector<int64_t> &choices,
                           int64_t fallback) {
  std::vector<std::string> words;
  for (int64_t choice : choices)
    words.push_back(std::to_string(choice));
  int64_t value = fallback;
  if (auto given = values.find(name); given != values.end())
    if (StringRef(given->second).getAsInteger(10, value) || !llvm::is_contained(choices, value)) {
      wrong.push_back("--" + name + " " + given->second + " does not fit; it is one of " +
                      llvm::join(words, ", "));
      value = fallback;
    }
  declared.push_back({name, std::to_string(value), words});
  return value;
}

int64_t kiln_config::param(const std::string &name, int64_t low, int64_t high, int64_t fallback) {
  bool isBounded = high != std::numeric_limits<int64_t>::max();
  std::string from = std::to_string(low), to = std::to_string(high);
  std::string fitting =
      isBounded ? "an integer from " + from + " to " + to : "an integer of at least " + from;
  auto fits = [&](int64_t number) { return number >= low && number <= high; };
  if (!fits(fallback))
    wrong.push_back("the program's own default of --" + name + ", " + std::to_string(fallback) +
                    ", does not fit; it is " + fitting);
  int64_t value = fallback;
  if (auto given = values.find(name); given != values.end())
    if (StringRef(given->second).getAsInteger(10, value) || !fits(value)) {
      wrong.push_back("--" + name + " " + given->second + " does not fit; it is " + fitting);
      value = fallback;
    }
  declared.push_back({name, std::to_string(value), {from + ".." + (isBounded ? to : "")}});
  return value;
}

std::string kiln_config::choice(const std::string &name, const std::vector<std::string> &choices,
                                const std::string &fallback) {
  std::string value = fallback;
  if (auto given = values.find(name); given != values.end()) {
    value = given->second;
    if (!llvm::is_contained(choices, value)) {
      wrong.push_back("--" + name + " " + value + " does not fit; it is one of " +
                      llvm::join(choices, ", "));
      value = fallback;
    }
  }
  declared.push_back({name, value, choices});
  return value;
}

std::vector<std::string> kiln_config::errors() const {
  std::vector<std::string> errors = wrong;
  for (const auto &[name, value] : values) {
    if (llvm::any_of(declared, [&](const Declared &each) { return each.name == name; }) ||
        StringRef(name).starts_with(kiln::ir::kCompilerPrefix)) // which nobody declares
      continue;
    std::vector<std::string> known;
    for (const Declared &each : declared)
      known.push_back("--" + each.name);
    errors.push_back("unknown option --" + name +
                     (known.empty() ? "" : "; this program also takes " + llvm::join(known, ", ")));
  }
  return errors;
}

std::string kiln::chooseForCompiler(mlir::ModuleOp module,
                                    const std::map<std::string, std::string> &values) {
  for (const auto &[name, value] : values)
    if (StringRef(name).starts_with(ir::kCompilerPrefix))
      if (std::string wrong = ir::chooseForCompiler(module, name, value); !wrong.empty())
        return wrong;
  return "";
}

//===----------------------------------------------------------------------===//
// The interface
//===----------------------------------------------------------------------===//

static std::string textOf(const char *text) { return text ? text : ""; }

kiln_config *kiln_config_create(const kiln_config *like) {
  return like ? new kiln_config(*like) : new kiln_config;
}
void kiln_config_destroy(kiln_config *config) { delete config; }
void kiln_config_set(kiln_config *config, const char *name, const char *value) {
  if (config)
    config->values[textOf(name)] = textOf(value);
}

int64_t kiln_config_param(kiln_config *config, const char *name, const int64_t *choices,
                          uint32_t num_choices, int64_t fallback) {
  if (!config)
    return fallback;
  std::vector<int64_t> all;
  if (choices)
    all.assign(choices, choices + num_choices);
  return config->param(textOf(name), all, fallback);
}
int64_t kiln_config_range(kiln_config *config, const char *name, int64_t low, int64_t high,
                          int64_t fallback) {
  return config ? config->param(textOf(name), low, high, fallback) : fallback;
}
const char *kiln_config_choice(kiln_config *config, const char *name, const char *const *choices,
                               uint32_t num_choices, const char *fallback) {
  if (!config)
    return fallback ? fallback : "";
  std::vector<std::string> words;
  for (uint32_t index = 0; choices && index < num_choices; ++index)
    words.push_back(textOf(choices[index]));
  config->told = config->choice(textOf(name), words, textOf(fallback));
  return config->told.c_str();
}

const char *kiln_config_declared(kiln_config *config, uint32_t index, const char **value) {
  if (!config || index >= config->declared.size())
    return nullptr;
  if (value)
    *value = config->declared[index].value.c_str();
  return config->declared[index].name.c_str();
}
const char *kiln_config_declared_choice(kiln_config *config, uint32_t index, uint32_t choice) {
  if (!config || index >= config->declared.size() ||
      choice >= config->declared[index].choices.size())
    return nullptr;
  return config->declared[index].choices[choice].c_str();
}
const char *kiln_config_error(kiln_config *config, uint32_t index) {
  std::vector<std::string> errors = config ? config->errors() : std::vector<std::string>();
  if (index >= errors.size())
    return nullptr;
  config->told = errors[index];
  return config->told.c_str();
}
