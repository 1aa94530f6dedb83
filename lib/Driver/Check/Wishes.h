//===- Wishes.h - what arguments must be for a value to be this ----------------------------===//
//
// Walks arithmetic backwards. Each answer is one that may work: what else is in a sum or product
// keeps the value that it has. Whoever asks tries them.
//
// Ownership: borrows the walk. Reads the IR only.
//
//===----------------------------------------------------------------------------===//
#ifndef KILN_LIB_DRIVER_CHECK_WISHES_H
#define KILN_LIB_DRIVER_CHECK_WISHES_H

#include "ArgumentWalk.h"

namespace kiln {

/// What must hold for a side of a decision: `holds` is `truth`, or `less` + `distance` < `greater`,
/// or the predicate of a launch goes one way or the other.
struct Goal {
  unsigned depth = 0;
  mlir::Value holds = {}, less = {}, distance = {}, greater = {};
  bool truth = true;
  ir::SubmitOp predicate = {};
};

/// Both, if they do not contradict each other.
std::optional<Choice> join(const Choice &one, const Choice &other);

class Wishes {
public:
  using Choices = std::vector<Choice>;
  static constexpr size_t kMostChoices = 24;

  explicit Wishes(const ArgumentWalk &walk) : Where(walk) {}

  Choices equal(At at, int64_t wanted, unsigned nesting = 0) const;
  Choices reach(const Goal &goal) const;

private:
  Choices atLeast(At at, int64_t wanted, unsigned nesting) const;
  Choices truth(At at, bool wanted, unsigned nesting = 0) const;
  Choices compare(mlir::arith::CmpIOp op, bool wanted, unsigned depth, unsigned nesting) const;
  Choices compareFloats(mlir::arith::CmpFOp op, unsigned depth, unsigned nesting) const;
  /// `less` + `distance` < `greater`.
  Choices order(At less, int64_t distance, At greater, unsigned nesting) const;
  Choices operands(mlir::Operation *op, int64_t wanted, unsigned depth, unsigned nesting) const;

  const ArgumentWalk &Where;
  mutable unsigned Visits = 0; ///< Of values, since somebody asked.
};

} // namespace kiln

#endif // KILN_LIB_DRIVER_CHECK_WISHES_H
