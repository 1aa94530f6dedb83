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

// The elements that a row of the table is for.
mlir::LogicalResult verifyFloats(mlir::Operation *op);
mlir::LogicalResult verifyIntegers(mlir::Operation *op);
mlir::LogicalResult verifyWideIntegers(mlir::Operation *op);

template <typename ConcreteOp> struct OfFloats : mlir::OpTrait::TraitBase<ConcreteOp, OfFloats> {
  static mlir::LogicalResult verifyTrait(mlir::Operation *op) { return verifyFloats(op); }
};
template <typename ConcreteOp>
struct OfIntegers : mlir::OpTrait::TraitBase<ConcreteOp, OfIntegers> {
  static mlir::LogicalResult verifyTrait(mlir::Operation *op) { return verifyIntegers(op); }
};
template <typename ConcreteOp>
struct OfWideIntegers : mlir::OpTrait::TraitBase<ConcreteOp, OfWideIntegers> {
  static mlir::LogicalResult verifyTrait(mlir::Operation *op) { return verifyWideIntegers(op); }
};

} // namespace kiln::tile

#include "kiln/Dialect/Tile/TileDialect.h.inc"
#define GET_TYPEDEF_CLASSES
#include "kiln/Dialect/Tile/TileTypes.h.inc"

namespace kiln::tile {

/// Whether a box of a tile, at these indices, covers it along an axis.
inline bool covers(TileType box, TileType tile, llvm::ArrayRef<int64_t> indices, unsigned axis) {
  return box.getExtent(axis) == tile.getExtent(axis) && indices[axis] == 0;
}

/// The axis along which an operand of a product is divided where the result is along `axis`;
/// nothing if each lane needs all of it. The rows of a product are those of its left operand, the
/// columns those of its right.
std::optional<unsigned> dividedAxisOf(ProductInterface product, mlir::OpOperand &operand,
                                      unsigned axis);

} // namespace kiln::tile

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
