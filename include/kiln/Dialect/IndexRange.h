//===- IndexRange.h - what index arithmetic may come to -------------------------------===//
//
// The result of index arithmetic that does not fit 64 bits is a fault wherever a program runs. The
// backends look for it at run time only where it is not excluded here: from constants, and from
// extents, blocks and lanes, which are taken to be below 2^47.
//
//===----------------------------------------------------------------------------===//
#ifndef KILN_DIALECT_INDEXRANGE_H
#define KILN_DIALECT_INDEXRANGE_H

#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/Operation.h"

namespace kiln {

/// Whether the exact result of an op, which is an index, may be outside the 64 bits of one.
bool mayLeaveIndex(mlir::Operation *op);

/// Whether an index may be below zero.
bool mayBeNegative(mlir::OpFoldResult index);

} // namespace kiln

#endif // KILN_DIALECT_INDEXRANGE_H
