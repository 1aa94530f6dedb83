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

#include "CheckVerdict.h"
#include "Decisions.h"

namespace kiln {

/// One set of arguments to try.
struct CheckCase {
  std::string entry = {}; ///< Where the program has several: which of them this is for.
  ArgSpecs specs;         ///< As `--arg` says them.
  /// Extents or scalars that neither the command line nor the example gives.
  bool isInvented = false;
  bool hasInventedScalars = false;
  /// A `require` that would exclude what was changed against the first case; empty for that one.
  std::string exclusion = {};
  /// A `require` that would tie extents which are equal in the first case and differ here.
  std::string tie = {};
  /// By how much differences from the formula may be greater than usual, because the data are.
  int64_t slack = 1;

  /// "--arg n=3 --arg x=9x16", after "--entry NAME" if there are several.
  std::string flags() const;
};

/// The first case, and how it can be changed.
class PlanArguments {
public:
  virtual ~PlanArguments() = default;
  /// What a leaf is in the first case with `choice`; none if that is not known.
  virtual std::optional<int64_t> value(Leaf leaf, const Choice &choice) const = 0;
  /// Whether arguments can be chosen so, and the program's requirements hold for them.
  virtual bool isAllowed(const Choice &choice) const = 0;
  /// What a leaf may be, as the program requires.
  virtual NumberRange range(Leaf leaf) const = 0;
  virtual CheckCase caseWith(const Choice &choice) const = 0;
  /// Extents that are no multiples of tiles, where those of the first case are: of all axes, or
  /// where that is not allowed, of some.
  virtual std::vector<Choice> raggedChoices() const = 0;
  /// "x.dim(0)", "n", "the numbers in 'table'"
  virtual std::string name(Leaf leaf) const = 0;
  /// All arguments that have to be given to change leaves: "--arg x=SHAPE --arg n=VALUE", and with
  /// them what a requirement ties to them, and where nothing is given, everything else.
  virtual std::string flags(const std::set<Leaf> &leaves) const = 0;
};

struct CheckPlan {
  std::vector<CheckCase> cases; ///< None if no arguments were found that the program allows.
  std::vector<CheckCase> large; ///< More of them, which may take long.
  std::vector<Gap> gaps;        ///< What is known already not to be tried.
  std::shared_ptr<const PlanArguments> arguments; ///< Null if only those given are to be tried.
  /// Whether some input was filled with numbers that nobody chose.
  bool hasInventedData = false;
  /// Those of them that hold integers, which may be indices.
  std::vector<std::string> inventedIntegers = {};
};

/// The plan for `entry`, a function as the program wrote it. An error if arguments are missing that
/// Kiln does not make up, because others are given.
Expected<CheckPlan> makePlan(const Source &source, ir::FuncOp entry, const RunSettings &options);

} // namespace kiln

#endif // KILN_LIB_DRIVER_CHECK_CHECKPLAN_H
