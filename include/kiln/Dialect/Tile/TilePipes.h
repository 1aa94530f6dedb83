//===- TilePipes.h - what is asked of operations on pipes ---------------------------------===//
#ifndef KILN_DIALECT_TILE_TILEPIPES_H
#define KILN_DIALECT_TILE_TILEPIPES_H

namespace mlir {
class Operation;
class Region;
} // namespace mlir

namespace kiln::tile {

/// Whether an operation uses an end of a pipe: it pushes, pops or frees.
bool isPipeUse(mlir::Operation *op);
/// The first such operation in a region; null if there is none.
mlir::Operation *findPipeUse(mlir::Region &region);

} // namespace kiln::tile

#endif // KILN_DIALECT_TILE_TILEPIPES_H
