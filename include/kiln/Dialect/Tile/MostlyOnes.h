//===- MostlyOnes.h - products that seldom change anything ------------------------------===//
//
// The unit attribute says of a `tile.mul` that its right operand is 1 almost everywhere. It means
// nothing else: who knows of no such factors multiplies.
//
//===----------------------------------------------------------------------------===//
#ifndef KILN_DIALECT_TILE_MOSTLYONES_H
#define KILN_DIALECT_TILE_MOSTLYONES_H

namespace kiln::tile {

constexpr char kMostlyOnesAttr[] = "kiln.mostly_ones";

} // namespace kiln::tile

#endif // KILN_DIALECT_TILE_MOSTLYONES_H
