//===- GlobalRing.h - pipes that keep their tiles in global memory ----------------===//
//
// Where a machine has no memory between its roles, a pipe is a ring in global memory. A group then
// has one more parameter, marked `kiln.internal`: a tensor of bytes with one row for each block of
// the launch. Block b, counted row-major over the grid, uses row b, always. `kiln.ring` on a pipe
// says where in that row its tiles lie:
//
//   tile.pipe slots(2) {kiln.ring = array<i64: 16384, 512>} : ...
//
// is 16384 bytes from slot to slot, the (only) tile of the first slot at byte 512. In a slot lies
// the full tile, row by row; a lane accesses its share of it.
//
//===----------------------------------------------------------------------------===//
#ifndef KILN_DIALECT_TILE_GLOBALRING_H
#define KILN_DIALECT_TILE_GLOBALRING_H

#include "kiln/Dialect/Tile/TileDialect.h"

namespace kiln::ir {

/// On a parameter that the compiler added: no argument of the user's, dumped without its bytes,
/// never compared.
inline constexpr llvm::StringLiteral kInternalAttr = "kiln.internal";

bool isInternal(FuncOp func, unsigned index);
/// A tensor that is made only to be passed as an internal parameter.
bool isInternal(AllocOp alloc);
/// How many parameters are the user's; internal ones come after them.
unsigned numUserParameters(FuncOp func);

} // namespace kiln::ir

namespace kiln::tile {

inline constexpr llvm::StringLiteral kRingAttr = "kiln.ring";
/// On a group: all blocks use the first row. It is how a test makes the race that rows prevent.
inline constexpr llvm::StringLiteral kSharedRingAttr = "kiln.shared_ring";

/// The bytes of a tile in a memory, row by row; an element takes whole bytes.
int64_t bytesOf(TileType tile);
/// The copies of the full tile in a slot: where both ends have lanes and nothing is split, each
/// lane has a tile of its own.
int64_t copiesInSlot(PipeOp pipe);

struct GlobalRing {
  mlir::BlockArgument bytes;        ///< The group's tensor.
  int64_t stride;                   ///< From slot to slot.
  llvm::SmallVector<int64_t> tiles; ///< Where the tiles of the first slot lie in a row.
  bool isShared;
};
/// Nothing for a pipe that does not lie in global memory.
std::optional<GlobalRing> ringOf(PipeOp pipe);

/// That a `kiln.ring` fits the pipe and the group around it.
mlir::LogicalResult verifyRing(mlir::Operation *op, mlir::Attribute ring);

} // namespace kiln::tile

#endif // KILN_DIALECT_TILE_GLOBALRING_H
