//===- TileRules.h - what the verifiers of the tile dialect share ---------------------===//
#ifndef KILN_LIB_DIALECT_TILE_TILERULES_H
#define KILN_LIB_DIALECT_TILE_TILERULES_H

#include "../Lists.h"

#include "kiln/Dialect/Tile/TileDialect.h"

namespace kiln::tile {

using Shape = std::pair<int64_t, int64_t>;

/// The same type in no memory: what an operation makes does not depend on where its operands are.
inline TileType withoutMemory(TileType tile) {
  return TileType::get(tile.getRows(), tile.getCols(), tile.getElementType());
}

/// A scalar counts as 1x1.
inline Shape shapeOf(mlir::Type type) {
  auto tile = llvm::dyn_cast<TileType>(type);
  return tile ? Shape(tile.getRows(), tile.getCols()) : Shape(1, 1);
}

inline mlir::Type elementOf(mlir::Type type) {
  auto tile = llvm::dyn_cast<TileType>(type);
  return tile ? tile.getElementType() : type;
}

inline std::string text(Shape shape) {
  return std::to_string(shape.first) + "x" + std::to_string(shape.second);
}

mlir::LogicalResult verifyAxis(mlir::Operation *op, int64_t axis);

/// The extents of `valid(%rows, 64)`; `extents` is null when there are none.
mlir::LogicalResult verifyValid(mlir::Operation *op, std::optional<llvm::ArrayRef<int64_t>> extents,
                                mlir::ValueRange values);

/// Indices and element type of an access to a tile of a tensor. `mayMiss`: the tile may lie
/// outside.
mlir::LogicalResult verifyAccess(mlir::Operation *op, ir::TensorType tensor, TileType tile,
                                 llvm::ArrayRef<int64_t> indices, mlir::ValueRange values,
                                 bool mayMiss = false);

} // namespace kiln::tile

#endif // KILN_LIB_DIALECT_TILE_TILERULES_H
