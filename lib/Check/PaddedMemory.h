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

#include <array>
#include <memory>

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
  /// What the elements are that begin in a few consecutive bytes.
  static constexpr uintptr_t pageBytes = 256;
  using Page = std::array<Origin, pageBytes>;
  static uintptr_t numberOf(const std::byte *address) {
    return reinterpret_cast<uintptr_t>(address) / pageBytes;
  }
  static Origin &in(Page &page, const std::byte *address) {
    return page[reinterpret_cast<uintptr_t>(address) % pageBytes];
  }

  /// Finds the pages of addresses of which most lie close to the one before.
  class Pages {
  public:
    explicit Pages(const PaddedMemory &of) : Of(of) {}
    /// Null: there is no padding.
    Page *find(const std::byte *address) {
      if (uintptr_t number = numberOf(address); number != Number) {
        Number = number;
        auto known = Of.Known.find(number);
        Last = known == Of.Known.end() ? nullptr : known->second.get();
      }
      return Last;
    }

  private:
    const PaddedMemory &Of;
    uintptr_t Number = 0; ///< Nothing lies there.
    Page *Last = nullptr;
  };

  llvm::DenseMap<uintptr_t, std::unique_ptr<Page>> Known; ///< Those that have had padding.
};

} // namespace kiln::simulator

#endif // KILN_LIB_CHECK_PADDEDMEMORY_H
