//===- Staged.h - stores that the copy engine makes ------------------------------------------===//
//
// The unit attribute says of a `tile.store` that its tile may go through shared memory, from where
// a machine's copy engine writes it while the lane goes on: nobody in the kernel accesses the
// tensor otherwise, or waits for it. The store then has a scratch in that memory, for as long as
// the kernel runs. It means nothing else: who has no such engine stores.
//
//===----------------------------------------------------------------------------===//
#ifndef KILN_DIALECT_TILE_STAGED_H
#define KILN_DIALECT_TILE_STAGED_H

#include <cstdint>

namespace kiln::tile {

constexpr char kStagedAttr[] = "kiln.staged";
/// And this one, that it may wait until the lane has begun the first product of its next block.
constexpr char kDelayedAttr[] = "kiln.delayed";

/// Tiles go through in panels of 64 rows of 128 bytes, two of which are in shared memory.
constexpr int64_t kStagedRows = 64, kStagedRowBytes = 128;
constexpr int64_t kStagedBytes = 2 * kStagedRows * kStagedRowBytes;

} // namespace kiln::tile

#endif // KILN_DIALECT_TILE_STAGED_H
