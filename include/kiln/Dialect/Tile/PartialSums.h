//===- PartialSums.h - sums that threads put together after a loop ------------------------===//
//
// The threads that hold a row of a tile each sum what they have of it, and then tell each other.
// `kPartOfSumAttr` on a `tile.reduce sum` along columns says that the second half is left out: each
// thread keeps its part, which only sums, products with what all threads of the row have alike, and
// loops hand on, up to a `tile.reduce sum` of that one column with `kSumOfPartsAttr`, which does
// it. Without threads the first is the sum, and the second a sum of one column: the same tile.
//
//===----------------------------------------------------------------------------===//
#ifndef KILN_DIALECT_TILE_PARTIALSUMS_H
#define KILN_DIALECT_TILE_PARTIALSUMS_H

#include "mlir/IR/Operation.h"

namespace kiln::tile {

constexpr char kPartOfSumAttr[] = "kiln.part_of_sum";
constexpr char kSumOfPartsAttr[] = "kiln.sum_of_parts";

/// Either attribute, on whatever operation somebody wrote it.
mlir::LogicalResult verifyPartialSum(mlir::Operation *op, mlir::StringAttr name,
                                     mlir::Attribute value);

} // namespace kiln::tile

#endif // KILN_DIALECT_TILE_PARTIALSUMS_H
