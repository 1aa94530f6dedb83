#include "PaddedMemory.h"

#include "Origins.h"

namespace kiln::simulator {

void PaddedMemory::forget(const std::byte *begin, const std::byte *end) {
  llvm::SmallVector<const std::byte *, 0> gone;
  for (const auto &[address, origin] : Origins)
    if (address >= begin && address < end)
      gone.push_back(address);
  for (const std::byte *address : gone)
    Origins.erase(address);
}

void PaddedMemory::forget(const Footprint &at) {
  if (Origins.empty())
    return;
  for (int64_t row = 0; row < at.rows; ++row)
    for (int64_t col = 0; col < at.cols; ++col)
      Origins.erase(at.origin + row * at.rowStride + col * at.colStride);
}

bool PaddedMemory::isAmong(const std::byte *begin, const std::byte *end) const {
  return llvm::any_of(Origins,
                      [&](const auto &known) { return known.first >= begin && known.first < end; });
}

void PaddedMemory::remember(const Footprint &at, const Tile &tile, mlir::Operation *loser) {
  if (!tile.hasPadding())
    return;
  forEachElement(at, tile, [&](const std::byte *address, size_t place) {
    if (Origin origin = tile.originAt(place); origin.isPadding())
      Origins[address] = loser && isFromOutside(origin) ? origin.madeBy(loser) : origin;
  });
}

Origin PaddedMemory::originAt(const std::byte *address) const {
  auto known = Origins.find(address);
  return known == Origins.end() ? Origin() : known->second;
}

void PaddedMemory::mark(const Footprint &at, Tile &tile) const {
  if (Origins.empty())
    return;
  forEachElement(at, tile, [&](const std::byte *address, size_t place) {
    Origin origin = originAt(address);
    if (!origin.isPadding())
      return;
    tile.origins.resize(size_t(tile.rows * tile.cols));
    tile.origins[place] = origin;
  });
}

} // namespace kiln::simulator
