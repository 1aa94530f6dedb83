//===- TileCombine.h - bodies that combine lines of tiles -------------------------------===//
//
// tile.reduce_with and tile.scan_with combine the lines of tiles, one after the other, by a body. A
// line has extent 1 along the axis. The body works element by element, so it means the same on
// tiles of any shape: on part of each line, where lanes share a tile, and on many lines at once.
//
//===----------------------------------------------------------------------------===//
#ifndef KILN_DIALECT_TILE_TILECOMBINE_H
#define KILN_DIALECT_TILE_TILECOMBINE_H

#include "kiln/Dialect/Tile/TileDialect.h"

namespace kiln::tile {

/// The type of `count` lines of a tile along an axis.
TileType linesOf(TileType tile, unsigned axis, int64_t count = 1);

/// What the body of `op` makes of two lists of tiles, of one type of lines each: so far, and next.
/// Recorded with `builder`, for that shape.
llvm::SmallVector<mlir::Value> inlineBody(mlir::OpBuilder &builder, CombiningInterface op,
                                          mlir::ValueRange soFar, mlir::ValueRange next);

/// Fits the body to the tiles of `op`, which have become shorter or longer across the axis.
void resizeBody(CombiningInterface op);

} // namespace kiln::tile

#endif // KILN_DIALECT_TILE_TILECOMBINE_H
