#include "engine/RegionIndex.h"

#include <bit>

using namespace kiln;

using Box = LiveRegion::Box;

/// Strides below this are columns of a matrix or interleaved elements, not rows.
static constexpr int64_t smallestPitch = 64;

static uint64_t pitchOf(const Region &region) {
  for (int i = region.numAxes - 1; i-- > 0;)
    if (region.axes[i].stride >= smallestPitch)
      return static_cast<uint64_t>(region.axes[i].stride);
  return region.numAxes > 1 ? static_cast<uint64_t>(region.axes[0].stride) : 0;
}

static Box boxOf(const Allocation &allocation, const Region &region) {
  uint64_t offset = region.begin - allocation.begin, span = region.end - region.begin;
  uint64_t pitch = allocation.pitch;
  if (pitch == 0) // all regions so far are runs of bytes: one dimension does
    return {offset, span, 0, 1, true};
  Box box{offset / pitch, 1, offset % pitch, 1, true};
  bool isGrid = true;
  for (int i = 0; i < region.numAxes; ++i) {
    auto [extent, stride] = region.axes[i];
    auto steps = static_cast<uint64_t>(extent - 1), step = static_cast<uint64_t>(stride);
    if (step >= pitch) {
      isGrid &= step % pitch == 0;
      box.isExact &= step == pitch;
      box.rows += steps * (step / pitch);
    } else {
      box.isExact &= step == 1;
      box.columns += steps * step;
    }
  }
  if (isGrid && box.column + box.columns <= pitch)
    return box;
  // Rows of the region are not rows of the matrix: bound it by whole ones. A run of bytes that
  // starts and ends with a row is exact all the same.
  uint64_t last = (offset + span - 1) / pitch;
  bool isWhole = region.numAxes == 1 && offset % pitch == 0 && span % pitch == 0;
  return {offset / pitch, last - offset / pitch + 1, 0, pitch, isWhole};
}

static bool intersect(const Box &a, const Box &b) {
  return a.row < b.row + b.rows && b.row < a.row + a.rows && a.column < b.column + b.columns &&
         b.column < a.column + a.columns;
}

/// The power of two an extent rounds up to.
static uint8_t bitsFor(uint64_t extent) { return static_cast<uint8_t>(std::bit_width(extent - 1)); }

void RegionIndex::place(LiveRegion &region) {
  region.box = boxOf(*region.allocation, region.region);
}

uint64_t RegionIndex::betterPitch(const Allocation &allocation, const Region &region) {
  return allocation.pitch == 0 ? pitchOf(region) : 0;
}

size_t RegionIndex::bucketOf(const Allocation &allocation, uint32_t level, uint64_t row,
                             uint64_t column) const {
  uint64_t hash = allocation.id * 64 + level;
  hash = (hash ^ row) * 0x9e3779b97f4a7c15u;
  hash = (hash ^ hash >> 29 ^ column) * 0xbf58476d1ce4e5b9u;
  return (hash ^ hash >> 32) & (Cells.size() - 1);
}

bool RegionIndex::CellRange::isLargerThan(uint64_t count) const {
  uint64_t rows = rowEnd - rowBegin + 1, columns = columnEnd - columnBegin + 1;
  return rows > count || columns > count || rows * columns > count;
}

static void addIfOverlapping(const LiveRegion &region, LiveRegion &other,
                             std::vector<LiveRegion *> &found) {
  if (&region == &other || !intersect(region.box, other.box))
    return;
  if ((region.box.isExact && other.box.isExact) || mayOverlap(region.region, other.region))
    found.push_back(&other);
}

void RegionIndex::queryCells(const LiveRegion &region, uint32_t level, const CellRange &range,
                             std::vector<LiveRegion *> &found) const {
  for (uint64_t row = range.rowBegin; row <= range.rowEnd; ++row)
    for (uint64_t column = range.columnBegin; column <= range.columnEnd; ++column)
      for (LiveRegion *other = Cells[bucketOf(*region.allocation, level, row, column)]; other;
           other = other->nextInCell)
        if (other->cellRow == row && other->cellColumn == column && other->level == level &&
            other->allocation == region.allocation)
          addIfOverlapping(region, *other, found);
}

void RegionIndex::query(const LiveRegion &region, std::vector<LiveRegion *> &found) const {
  const Box &box = region.box;
  const std::vector<Allocation::Level> &levels = region.allocation->levels;
  for (uint32_t i = 0; i < levels.size(); ++i) {
    const Allocation::Level &level = levels[i];
    if (level.count == 0)
      continue;
    // A box of this level that starts in the cell before may reach into ours.
    uint64_t row = box.row >> level.rowBits, column = box.column >> level.columnBits;
    CellRange range{row - (row != 0), (box.row + box.rows - 1) >> level.rowBits,
                    column - (column != 0), (box.column + box.columns - 1) >> level.columnBits};
    if (!range.isLargerThan(level.count)) {
      queryCells(region, i, range, found);
      continue;
    }
    for (LiveRegion *other = level.first; other; other = other->nextInLevel)
      addIfOverlapping(region, *other, found);
  }
}

static uint32_t levelOf(Allocation &allocation, const Box &box) {
  uint8_t rowBits = bitsFor(box.rows), columnBits = bitsFor(box.columns);
  for (uint32_t i = 0; i < allocation.levels.size(); ++i)
    if (allocation.levels[i].rowBits == rowBits && allocation.levels[i].columnBits == columnBits)
      return i;
  allocation.levels.push_back({rowBits, columnBits});
  return static_cast<uint32_t>(allocation.levels.size() - 1);
}

void RegionIndex::link(LiveRegion &region) {
  LiveRegion *&head =
      Cells[bucketOf(*region.allocation, region.level, region.cellRow, region.cellColumn)];
  region.prevInCell = nullptr;
  region.nextInCell = head;
  if (head)
    head->prevInCell = &region;
  head = &region;
}

void RegionIndex::grow() {
  std::vector<LiveRegion *> old(2 * Cells.size());
  old.swap(Cells);
  for (LiveRegion *chain : old)
    while (chain)
      link(*std::exchange(chain, chain->nextInCell));
}

void RegionIndex::insertPlaced(LiveRegion &region) {
  if (++Count > Cells.size())
    grow();
  Allocation &allocation = *region.allocation;
  region.level = levelOf(allocation, region.box);
  Allocation::Level &level = allocation.levels[region.level];
  region.cellRow = region.box.row >> level.rowBits;
  region.cellColumn = region.box.column >> level.columnBits;
  link(region);
  region.prevInLevel = nullptr;
  region.nextInLevel = level.first;
  if (level.first)
    level.first->prevInLevel = &region;
  level.first = &region;
  ++level.count;
  ++allocation.numRegions;
}

void RegionIndex::erase(LiveRegion &region) {
  Allocation &allocation = *region.allocation;
  Allocation::Level &level = allocation.levels[region.level];
  if (region.prevInCell)
    region.prevInCell->nextInCell = region.nextInCell;
  else
    Cells[bucketOf(allocation, region.level, region.cellRow, region.cellColumn)] =
        region.nextInCell;
  if (region.nextInCell)
    region.nextInCell->prevInCell = region.prevInCell;
  if (region.prevInLevel)
    region.prevInLevel->nextInLevel = region.nextInLevel;
  else
    level.first = region.nextInLevel;
  if (region.nextInLevel)
    region.nextInLevel->prevInLevel = region.prevInLevel;
  --level.count;
  --allocation.numRegions;
  --Count;
}

void RegionIndex::clear() {
  std::fill(Cells.begin(), Cells.end(), nullptr);
  Count = 0;
}
