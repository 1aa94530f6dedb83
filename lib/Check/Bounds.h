//===- Bounds.h - which values an operation can give --------------------------------------===//
//
// No absolute value is negative, whatever the program is given, so a zero that is no datum cannot
// win a maximum of absolute values. Bounds are followed through the operations on tiles as elements
// are, with the same rounding, so that a bound that comes out as it went in is still exact.
// Integers are taken not to overflow.
//
//===----------------------------------------------------------------------------===//
#ifndef KILN_LIB_CHECK_BOUNDS_H
#define KILN_LIB_CHECK_BOUNDS_H

#include "Simulator/TileValue.h"

namespace kiln::simulator {

/// Of what an elementwise operation, a select or a reduction makes of such operands; `result` is
/// the element type.
Bounds boundsOf(mlir::Operation *op, llvm::ArrayRef<Bounds> operands, DType result);

} // namespace kiln::simulator

#endif // KILN_LIB_CHECK_BOUNDS_H
