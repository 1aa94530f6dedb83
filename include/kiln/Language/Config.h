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
#include "kiln/visibility.h"

#include <limits>
#include <map>
#include <string>
#include <vector>

KILN_EXPORTED_BEGIN
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
  Config() = default;
  /// Values by name, as text.
  explicit Config(std::map<std::string, std::string> values) : Values(std::move(values)) {}

  /// An integer. An empty list of choices stands for range(1).
  int64_t param(const std::string &name, std::vector<int64_t> choices, int64_t fallback) const;
  /// An integer of a range. A template, so that a list in braces is always one of choices.
  template <std::same_as<Range> R>
  int64_t param(const std::string &name, R range, int64_t fallback) const {
    return paramInRange(name, range, fallback);
  }
  /// A word.
  std::string choice(const std::string &name, std::vector<std::string> choices,
                     const std::string &fallback) const;
  /// none, up_down or left_right.
  Split split(const std::string &name, Split fallback) const;

  struct Declared {
    std::string name, value;
    std::vector<std::string> choices; ///< Words, or one range: 0..8.
  };
  /// What the program asked for, in order.
  const std::vector<Declared> &declared() const { return Asked; }
  /// Values that do not fit, and values nobody asked for. Complete once the program has been
  /// traced.
  std::vector<std::string> errors() const;

private:
  int64_t paramInRange(const std::string &name, Range range, int64_t fallback) const;

  std::map<std::string, std::string> Values;
  mutable std::vector<Declared> Asked; // asking is not changing: programs take a const Config
  mutable std::vector<std::string> Wrong;
};

} // namespace kiln
KILN_EXPORTED_END

#endif // KILN_LANGUAGE_CONFIG_H
