//===- Padding.h - where the zeros that fill up a tile go -------------------------------===//
//
// A load fills up what lies outside its tensor, with zeros unless it says otherwise, and a mask may
// do the same. A sum or a matrix product over such zeros is right; a maximum, minimum or product is
// not, unless they were replaced first. And a NaN that appears only in padding harms nobody. So
// padding is followed through the operations on tiles.
//
// What is data is always a box of the tile (Padding in TileValue.h). Where the truth is no box, or
// an operation is not known here, the tile counts as data: a missed warning is better than a false
// one.
//
//===----------------------------------------------------------------------------===//
#ifndef KILN_LIB_CHECK_PADDING_H
#define KILN_LIB_CHECK_PADDING_H

#include "Interpreter.h"

namespace kiln::sim {

/// What is padding in the result of `op`; none if all of it is data.
std::optional<Padding> paddingOf(Interpreter &in, mlir::Operation *op, const Tile &result);

/// Whether a reduction over this tile takes padding for data and may be wrong for it.
bool isHarmed(tile::ReduceOp op, const Tile &tile);

} // namespace kiln::sim

#endif // KILN_LIB_CHECK_PADDING_H
