//===- TileElementwise.h - what is asked of elementwise operations -----------------------===//
//
// Answers from the table of elementwise operations (TileElementwise.td). An operation that nobody
// knows is neither elementwise nor commutative.
//
//===----------------------------------------------------------------------------===//
#ifndef KILN_DIALECT_TILE_TILEELEMENTWISE_H
#define KILN_DIALECT_TILE_TILEELEMENTWISE_H

namespace mlir {
class Operation;
} // namespace mlir

namespace kiln::tile {

/// Whether each element of the result is made of the elements of the operands at the same place:
/// the operations of the table, comparisons, selections and casts.
bool isElementwise(mlir::Operation *op);

/// Whether the two operands can change places.
bool isCommutative(mlir::Operation *op);

} // namespace kiln::tile

#endif // KILN_DIALECT_TILE_TILEELEMENTWISE_H
