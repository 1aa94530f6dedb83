//===- PaddedMemory.h - padding that was stored ----------------------------------------===//
//
// A tile whose end is padding may be stored to memory that has room for all of it, and be loaded
// again: what was padding then is padding still. Remembers which elements of memory that is; nearly
// always none.
//
// Ownership: knows addresses, holds no memory alive. Belongs to one simulation; one thread at a
// time.
//
//===----------------------------------------------------------------------------===//
#ifndef KILN_LIB_CHECK_PADDEDMEMORY_H
#define KILN_LIB_CHECK_PADDEDMEMORY_H

#include "Simulator/Access.h"
#include "Simulator/TileValue.h"

#include "llvm/ADT/DenseMap.h"

namespace kiln::simulator {

/// Calls `visit` with the address of each element of a footprint and its place in the tile that it
/// is a part of.
template <typename F> void forEachElement(const Footprint &at, const Tile &tile, F visit) {
  for (int64_t row = 0; row < at.rows; ++row)
    for (int64_t col = 0; col < at.cols; ++col)
      visit(at.origin + row * at.rowStride + col * at.colStride,
            size_t((at.top + row) * tile.cols + at.left + col));
}

class PaddedMemory {
public:
  /// Whoever lay at these addresses is gone.
  void forget(const std::byte *begin, const std::byte *end);
  /// Something is written there, or added: it is data unless `remember` says otherwise.
  void forget(const Footprint &at);
  /// The padding of a tile that was stored; `loser` is the store if it left data out.
  void remember(const Footprint &at, const Tile &tile, mlir::Operation *loser);
  /// Whether there is padding between two addresses.
  bool isAmong(const std::byte *begin, const std::byte *end) const;
  /// What an element is.
  Origin originAt(const std::byte *address) const;
  /// Marks in a tile that was loaded what is padding.
  void mark(const Footprint &at, Tile &tile) const;

private:
  llvm::DenseMap<const std::byte *, Origin> Origins;
};

} // namespace kiln::simulator

#endif // KILN_LIB_CHECK_PADDEDMEMORY_H
