//===- Config.h - the parameters a program is a function of -------------------------===//
//
// Tile sizes, splits, slots: C++ values drawn from a Config while the program is traced, each with
// a name, the values it may take and a default. On the command line of an example each is a flag:
// `--BM 64`.
//
//===----------------------------------------------------------------------------===//
#ifndef KILN_LANGUAGE_CONFIG_H
#define KILN_LANGUAGE_CONFIG_H

#include "kiln/Language/Types.h"

#include <map>
#include <string>
#include <vector>

namespace kiln {

class Config {
public:
  Config() = default;
  /// Values by name, as text.
  explicit Config(std::map<std::string, std::string> values) : Values(std::move(values)) {}

  /// An integer. An empty list of choices admits every integer of at least 1.
  int64_t param(const std::string &name, std::vector<int64_t> choices, int64_t fallback) const;
  /// A word.
  std::string choice(const std::string &name, std::vector<std::string> choices,
                     const std::string &fallback) const;
  /// none, up_down or left_right.
  Split split(const std::string &name, Split fallback) const;

  struct Declared {
    std::string name, value;
    std::vector<std::string> choices; ///< Empty: any integer >= 1.
  };
  /// What the program asked for, in order.
  const std::vector<Declared> &declared() const { return Asked; }
  /// Values that do not fit, and values nobody asked for. Complete once the program has been
  /// traced.
  std::vector<std::string> errors() const;

private:
  std::map<std::string, std::string> Values;
  mutable std::vector<Declared> Asked; // asking is not changing: programs take a const Config
  mutable std::vector<std::string> Wrong;
};

} // namespace kiln

#endif // KILN_LANGUAGE_CONFIG_H
