//===- Walk.h - in which order the blocks of a launch are executed ----------------------===//
#ifndef KILN_DIALECT_TILE_WALK_H
#define KILN_DIALECT_TILE_WALK_H

#include "llvm/ADT/StringRef.h"

namespace kiln::tile {

/// On a group whose blocks take unequally long: who is done with one takes the next that nobody
/// has, in the order of the grid; the unit attribute `kiln.hands_out_blocks`. It means nothing but
/// who executes a block when.
inline constexpr llvm::StringLiteral kHandsOutBlocksAttr = "kiln.hands_out_blocks";

} // namespace kiln::tile

#endif // KILN_DIALECT_TILE_WALK_H
