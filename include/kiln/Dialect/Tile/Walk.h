//===- Walk.h - in which order the blocks of a launch are executed ----------------------===//
#ifndef KILN_DIALECT_TILE_WALK_H
#define KILN_DIALECT_TILE_WALK_H

#include "llvm/ADT/StringRef.h"

namespace kiln::tile {

/// On a group whose blocks take unequally long: who is done with one takes the next that nobody
/// has, in the order of the grid; the unit attribute `kiln.hands_out_blocks`. It means nothing but
/// who executes a block when.
inline constexpr llvm::StringLiteral kHandsOutBlocksAttr = "kiln.hands_out_blocks";

/// On a group whose neighbouring blocks read the same: two of them are executed side by side, and
/// what both read can come once; the unit attribute `kiln.pairs_blocks`. On a load that may be
/// shared in that way: the axes of the grid along which it lies elsewhere, an array. In both blocks
/// of a pair its role sends equally often, in the same order. Nothing is computed otherwise.
inline constexpr llvm::StringLiteral kPairsBlocksAttr = "kiln.pairs_blocks",
                                     kVariesAlongAttr = "kiln.varies_along";

} // namespace kiln::tile

#endif // KILN_DIALECT_TILE_WALK_H
