//===- Decisions.h - what a program decides by its arguments ------------------------------===//
//
// A run shows nothing about the code that it does not reach. Decisions are the places where the
// extents, numbers and integers in memory that a program is given choose what happens: branches,
// choices between two scalars, predicates of launches, loops. For each the class says what it
// depends on, and which arguments might take a side that no run has taken. It solves nothing: it
// walks the arithmetic backwards from the constants that are compared, and whoever asks tries what
// it says. See docs/check.md.
//
// Ownership: borrows the module, which must not change meanwhile. One thread at a time.
//
//===----------------------------------------------------------------------------===//
#ifndef KILN_LIB_DRIVER_CHECK_DECISIONS_H
#define KILN_LIB_DRIVER_CHECK_DECISIONS_H

#include "Wishes.h"

#include "kiln/Check/CheckProgram.h"

#include <set>

namespace kiln {

class Decisions {
public:
  explicit Decisions(ir::FuncOp entry);

  /// One that the arguments have a say in.
  struct Decision {
    mlir::Operation *op;
    std::set<Leaf> leaves;
    bool usesMemory; ///< Also by what tasks have computed.
  };
  /// In the order of the program.
  const std::vector<Decision> &all() const { return All; }

  /// Arguments that might take a side (1 or 2, see TakenSides), the likeliest first.
  std::vector<Choice> choicesFor(mlir::Operation *op, unsigned side, LeafValues values) const;
  /// Whether it is possible, or not known, that these arguments take a side.
  bool mayTake(mlir::Operation *op, unsigned side, LeafValues values) const;
  /// Whether any arguments within these ranges take a side, as far as that can be told.
  bool canTake(mlir::Operation *op, unsigned side, LeafRanges ranges) const;
  /// Arguments with which an access might begin behind the end of a tensor whose extent is fixed,
  /// blocks might share a place of it, or a tensor have more than a fixed number of blocks or
  /// iterations reach; with which a launch has several blocks, a narrow integer might overflow, or
  /// something is compared with a constant that it is close to.
  std::vector<Choice> choicesForLimits(LeafValues values) const;

  /// "the condition was true in every case that was tried"
  static std::string describeUntaken(mlir::Operation *op, unsigned side);
  /// Whether it chooses between two things to do, or two numbers, and is no loop or bound.
  static bool isBranch(mlir::Operation *op);
  /// Whether a side that was never taken is a gap.
  static bool mustTake(mlir::Operation *op, unsigned side);

private:
  void findPaths(ir::FuncOp func, CallPath &path);
  void collect(ir::FuncOp func);
  const std::vector<CallPath> &pathsTo(mlir::Operation *op) const;
  std::vector<Goal> goalsOf(mlir::Operation *op, unsigned side, const CallPath &path) const;

  llvm::DenseMap<mlir::Operation *, std::vector<CallPath>> Paths; ///< By function.
  std::vector<ir::FuncOp> Reached;                                ///< In order.
  std::vector<Decision> All;
};

} // namespace kiln

#endif // KILN_LIB_DRIVER_CHECK_DECISIONS_H
