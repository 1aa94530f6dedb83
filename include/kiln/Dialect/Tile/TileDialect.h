//===- TileDialect.h - tiles and pipes ------------------------------------------===//
//
// The C++ face of the `tile` dialect: what cores compute and how they talk.
//
//===----------------------------------------------------------------------------===//
#ifndef KILN_DIALECT_TILE_TILEDIALECT_H
#define KILN_DIALECT_TILE_TILEDIALECT_H

#include "kiln/Dialect/Kiln/KilnDialect.h"

namespace kiln::tile {

/// Operands and result of an elementwise op: one element type, shapes that broadcast.
mlir::LogicalResult verifyElementwise(mlir::Operation *op);

template <typename ConcreteOp>
struct ElementwiseArithmetic : mlir::OpTrait::TraitBase<ConcreteOp, ElementwiseArithmetic> {
  static mlir::LogicalResult verifyTrait(mlir::Operation *op) { return verifyElementwise(op); }
};

} // namespace kiln::tile

#include "kiln/Dialect/Tile/TileDialect.h.inc"
#define GET_TYPEDEF_CLASSES
#include "kiln/Dialect/Tile/TileTypes.h.inc"
#define GET_OP_CLASSES
#include "kiln/Dialect/Tile/TileOps.h.inc"

namespace kiln::tile {

/// The shape two operands broadcast to, or nothing if they do not.
std::optional<std::pair<int64_t, int64_t>> broadcastShape(std::pair<int64_t, int64_t> a,
                                                          std::pair<int64_t, int64_t> b);

/// The element type a matrix product of `element` accumulates in: f32, or i32 for i8; null if there
/// is none.
mlir::Type accumulatorType(mlir::Type element);

/// The part of a `full` tile that one of `lanes` lanes sees through a pipe with this split.
TileType laneShare(TileType full, Split split, int64_t lanes);

/// Whether a value may differ between the lanes of a role: it comes from `tile.lane` or from a pipe
/// that hands each lane a part.
bool dependsOnLane(mlir::Value value);
/// The innermost branch or loop around an op that some lanes may take, or take more often, and
/// others not; null if there is none. All lanes of a role have to meet every pipe operation.
mlir::Operation *findLaneDependentControl(mlir::Operation *op);

} // namespace kiln::tile

#endif // KILN_DIALECT_TILE_TILEDIALECT_H
