//===- Origins.h - where the elements of tiles come from --------------------------------===//
//
// Follows data, constants and padding through the operations on tiles: an element made of padding
// is padding. What fills up a tile (loads, masks) marks what it fills, and what only moves elements
// moves their origins (TileValue.h); the rest is here.
//
// Two rules keep data what they are. Padding that is combined with a datum of its own place and
// changes nothing there leaves a datum: so a sum over tiles, the last of them ragged, is data. And
// what is reduced from a line that has data is data.
//
// Padding that came from outside a tensor is followed further: it may reach an output as it was
// filled up, but not what an operation made of it, unless a mask or a select has chosen its value.
//
//===----------------------------------------------------------------------------===//
#ifndef KILN_LIB_CHECK_ORIGINS_H
#define KILN_LIB_CHECK_ORIGINS_H

#include "Simulator/Interpreter.h"

namespace kiln::simulator {

/// Sets the origins and the bounds of what `op` made.
void traceOrigins(Interpreter &in, mlir::Operation *op, Tile &result);

/// Whether a load filled it up, without saying that this is meant, and nobody has chosen its value
/// since. Rows that a gather does not find are missing because numbers in memory say so.
bool isFromOutside(Origin origin);

/// How an operation combines its operands element by element, if padding could be neutral in it.
std::optional<tile::ReduceKind> combinationOf(mlir::Operation *op);

} // namespace kiln::simulator

#endif // KILN_LIB_CHECK_ORIGINS_H
