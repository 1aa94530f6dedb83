//===- PadValue.h - what an element outside reads as ------------------------------------===//
#ifndef KILN_PROGRAM_PADVALUE_H
#define KILN_PROGRAM_PADVALUE_H

#include "kiln/Dialect/Tile/TileInterfaces.h"
#include "kiln/runtime/dtype.h"

namespace kiln {

/// The infinity of a type, or its extreme value if it has none.
ScalarBits extremeValue(DType type, bool greatest);

/// What changes nothing in a sum, product, maximum or minimum (of values or to find a position).
ScalarBits neutralValue(tile::ReduceKind kind, DType type);

/// The value of the attribute `pad` of a load or a mask: a number, `min` or `max`; null is zero.
ScalarBits padValue(mlir::Attribute pad, DType type);

} // namespace kiln

#endif // KILN_PROGRAM_PADVALUE_H
