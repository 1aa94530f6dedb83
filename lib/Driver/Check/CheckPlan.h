//===- CheckPlan.h - which arguments `kiln check` tries -----------------------------------===//
//
// A plan is a fixed, finite list of arguments, made from the program and the command line alone, so
// that two checks of one program try the same whatever the machine does. It begins with the
// arguments that were given, or where none were, with ones made up from the program. Then come
// other extents: those that are equal in the first arguments vary together. See docs/check.md.
//
//===----------------------------------------------------------------------------===//
#ifndef KILN_LIB_DRIVER_CHECK_CHECKPLAN_H
#define KILN_LIB_DRIVER_CHECK_CHECKPLAN_H

#include "Driver.h"

namespace kiln {

/// One set of arguments to try.
struct CheckCase {
  ArgSpecs specs; ///< As `--arg` says them.
  /// Extents or scalars that neither the command line nor the example gives.
  bool isInvented = false;
  bool hasInventedScalars = false;
  /// A `require` that would exclude what was changed against the first case; empty for that one.
  std::string exclusion = {};

  /// "--arg n=3 --arg x=9x16"
  std::string flags() const;
};

struct CheckPlan {
  std::vector<CheckCase> cases;
  /// Whether some input was filled with numbers that nobody chose.
  bool hasInventedData = false;
  /// Whether that was one of integers, which may be indices.
  bool hasInventedIntegers = false;
};

/// The plan for `entry`, a function as the program wrote it. An error if arguments are missing that
/// Kiln does not make up, because others are given.
Expected<CheckPlan> makePlan(const Source &source, ir::FuncOp entry, const RunSettings &options);

} // namespace kiln

#endif // KILN_LIB_DRIVER_CHECK_CHECKPLAN_H
