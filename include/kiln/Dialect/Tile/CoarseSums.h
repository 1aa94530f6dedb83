//===- CoarseSums.h - products of which few bits are wanted ---------------------------===//
//
// The unit attribute says of a product of 8-bit floats that whatever comes of its sums is rounded
// to 16 bits or fewer before anybody sees it: errors far below these bits may be made. Who has no
// faster way to make such a product takes no notice.
//
//===----------------------------------------------------------------------------===//
#ifndef KILN_DIALECT_TILE_COARSESUMS_H
#define KILN_DIALECT_TILE_COARSESUMS_H

namespace kiln::tile {

constexpr char kCoarseAttr[] = "kiln.coarse";

} // namespace kiln::tile

#endif // KILN_DIALECT_TILE_COARSESUMS_H
