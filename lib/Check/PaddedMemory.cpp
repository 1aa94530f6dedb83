#include "PaddedMemory.h"

#include "Origins.h"

using namespace mlir;

namespace kiln::simulator {

/// Calls `visit` with the part of a page that lies between two addresses.
template <typename Page, typename F>
static void between(const std::byte *begin, const std::byte *end, uintptr_t number, Page &page,
                    F visit) {
  auto low = reinterpret_cast<uintptr_t>(begin), high = reinterpret_cast<uintptr_t>(end);
  uintptr_t size = page.size(), first = number * size;
  uintptr_t from = std::max(low, first) - first, to = std::min(high, first + size) - first;
  if (low < first + size && first < high)
    visit(MutableArrayRef(page).slice(from, to - from));
}

void PaddedMemory::forget(const std::byte *begin, const std::byte *end) {
  for (auto &[number, page] : Known)
    between(begin, end, number, *page,
            [](MutableArrayRef<Origin> gone) { llvm::fill(gone, Origin()); });
}

bool PaddedMemory::isAmong(const std::byte *begin, const std::byte *end) const {
  bool isThere = false;
  for (auto &[number, page] : Known)
    between(begin, end, number, *page, [&](ArrayRef<Origin> origins) {
      isThere |= llvm::any_of(origins, [](Origin origin) { return origin.isPadding(); });
    });
  return isThere;
}

void PaddedMemory::forget(const Footprint &at) {
  if (Known.empty())
    return;
  Pages pages(*this);
  for (int64_t row = 0; row < at.rows; ++row)
    for (int64_t col = 0; col < at.cols; ++col) {
      const std::byte *address = at.origin + row * at.rowStride + col * at.colStride;
      if (Page *page = pages.find(address))
        in(*page, address) = Origin();
    }
}

void PaddedMemory::remember(const Footprint &at, const Tile &tile, Operation *loser) {
  if (!tile.hasPadding())
    return;
  forEachElement(at, tile, [&](const std::byte *address, size_t place) {
    Origin origin = tile.originAt(place);
    if (!origin.isPadding())
      return;
    std::unique_ptr<Page> &page = Known[numberOf(address)];
    if (!page)
      page = std::make_unique<Page>();
    in(*page, address) = loser && isFromOutside(origin) ? origin.madeBy(loser) : origin;
  });
}

Origin PaddedMemory::originAt(const std::byte *address) const {
  Page *page = Pages(*this).find(address);
  return page ? in(*page, address) : Origin();
}

void PaddedMemory::mark(const Footprint &at, Tile &tile) const {
  if (Known.empty())
    return;
  Pages pages(*this);
  forEachElement(at, tile, [&](const std::byte *address, size_t place) {
    Page *page = pages.find(address);
    if (!page || !in(*page, address).isPadding())
      return;
    tile.origins.resize(size_t(tile.rows * tile.cols));
    tile.origins[place] = in(*page, address);
  });
}

} // namespace kiln::simulator
