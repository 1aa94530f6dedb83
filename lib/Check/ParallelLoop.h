//===- ParallelLoop.h - holds the iterations of a loop against its promise ---------------===//
//
// A loop that is declared parallel promises that its iterations do not depend on each other. One of
// these follows one execution of such a loop: it remembers which iteration read, wrote or added to
// each element, and finds the first access that meets another iteration's.
//
// Ownership: belongs to one simulation; knows addresses, holds no memory alive. One thread at a
// time.
//
//===----------------------------------------------------------------------------===//
#ifndef KILN_LIB_CHECK_PARALLELLOOP_H
#define KILN_LIB_CHECK_PARALLELLOOP_H

#include "ShadowMemory.h"

#include "mlir/Dialect/SCF/IR/SCF.h"

namespace kiln::simulator {

class ParallelLoop {
public:
  explicit ParallelLoop(mlir::scf::ForOp op) : Loop(op) {}

  mlir::scf::ForOp op() const { return Loop; }

  /// What another iteration did to an element of an access.
  struct Conflict {
    mlir::Operation *op;
    uint64_t iteration;
    AccessKind kind;
    int64_t row, col; ///< The element, in the footprint of the access.
  };
  /// Records an access of an iteration; the first element that another iteration must not have
  /// touched, if there is one.
  std::optional<Conflict> access(const Footprint &at, AccessKind kind, uint64_t iteration,
                                 mlir::Operation *op);
  /// The memory in [begin, end) is new: what was done to it before was done to something else.
  void forget(const std::byte *begin, const std::byte *end);

private:
  /// Up to two different iterations that did one kind of access: with two known, any third meets
  /// one of them.
  struct Users {
    static constexpr uint64_t kNone = UINT64_MAX;
    uint64_t one = kNone, two = kNone;
    mlir::Operation *op = nullptr;

    void add(uint64_t iteration, mlir::Operation *by);
    /// An iteration among them that is not this one.
    std::optional<uint64_t> otherThan(uint64_t iteration) const;
  };
  using Cell = std::array<Users, 3>; ///< By AccessKind.

  mlir::scf::ForOp Loop;
  std::map<const std::byte *, Cell> Cells; ///< By the address of the element.
};

} // namespace kiln::simulator

#endif // KILN_LIB_CHECK_PARALLELLOOP_H
