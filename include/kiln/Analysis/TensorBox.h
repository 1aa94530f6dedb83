//===- TensorBox.h - which part of a tensor an operation touches -------------------------===//
//
// A box is what one access touches, in the axes of the tensor that all views come from. Two boxes
// are compared for all pairs of iterations at once: the distance of their starts is a constant plus
// any multiple of a number, which is enough to tell blocks of one size apart.
//
//===----------------------------------------------------------------------------===//
#ifndef KILN_ANALYSIS_TENSORBOX_H
#define KILN_ANALYSIS_TENSORBOX_H

#include "kiln/Dialect/Tile/TileDialect.h"

#include "kiln/Program/IndexForm.h"

namespace kiln {

struct TensorBox {
  /// One for each axis of the root; symbols are values that are the same throughout the kernel.
  llvm::SmallVector<IndexForm, 4> start;
  llvm::SmallVector<int64_t, 4> extent;
  /// The axes of the root that the rows and columns of the tile run along; -1: none.
  int rowAxis = -1, colAxis = -1;
};

/// What an access touches at most; nothing if it cannot be told.
std::optional<TensorBox> boxOf(const tile::TensorAccess &access);

/// Whether two boxes of one root have nothing in common, whichever iterations they belong to.
bool areDisjoint(const TensorBox &a, const TensorBox &b);
/// Whether along an axis the boxes are always the same, or have nothing in common.
bool areSameOrApart(const TensorBox &a, const TensorBox &b, unsigned axis);

/// Whether a loop executes both operations again and again.
bool shareLoop(mlir::Operation *a, mlir::Operation *b);
/// Whether a block that executes one of two operations never executes the other: they stand in
/// different branches of one condition, which is met once.
bool areAlternatives(mlir::Operation *a, mlir::Operation *b);

} // namespace kiln

#endif // KILN_ANALYSIS_TENSORBOX_H
