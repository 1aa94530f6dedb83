//===- TileLifetimes.h - which tiles of a function need memory when ------------------===//
//
// Tiles that can share one place without a copy are one buffer: what a loop carries with what it
// starts from and what it yields, a view with what it is a view of, and the result of an operation
// that works in place with the operand that dies there. A buffer is alive in intervals between the
// operations of the function, counted in the order they are written.
//
//===----------------------------------------------------------------------------===//
#ifndef KILN_ANALYSIS_TILELIFETIMES_H
#define KILN_ANALYSIS_TILELIFETIMES_H

#include "kiln/Dialect/Tile/TileDialect.h"

namespace kiln {

struct Machine;

/// Both ends belong to it.
struct LifeSpan {
  int64_t from, to;
};

struct TileBuffer {
  tile::Space space;
  int64_t bytes = 0;                    ///< Of the largest of its tiles.
  llvm::SmallVector<mlir::Value> tiles; ///< In the order they are made.
  /// An operation that needs it while it works, for itself: then it has no tiles.
  mlir::Operation *scratchOf = nullptr;
  llvm::SmallVector<LifeSpan> spans; ///< In order, apart from one another.
  /// A load in a pipelined loop can have several, one for each iteration in flight; then they are
  /// alive as long as the loop is.
  int64_t copies = 1;
  LifeSpan loop = {0, 0};

  bool meets(const TileBuffer &other) const;
  bool isAliveAt(int64_t moment) const;
};

/// The buffers of a function whose tiles have spaces, on a machine. What the operations that
/// `liesInSlot` names make has none: the slot of a pipe is its memory.
std::vector<TileBuffer> findBuffers(ir::FuncOp func, const Machine &machine,
                                    llvm::function_ref<bool(mlir::Operation *)> liesInSlot);

} // namespace kiln

#endif // KILN_ANALYSIS_TILELIFETIMES_H
