#include "engine/TensorMap.h"

#include <algorithm>

using namespace kiln;

static constexpr size_t slabSize = 64;

//===----------------------------------------------------------------------===//
// Exact matches
//===----------------------------------------------------------------------===//

uint32_t TensorMap::hashOf(const Region &region) {
  uint64_t hash = region.begin * 0x9e3779b97f4a7c15u;
  hash = (hash ^ hash >> 32 ^ (region.end - region.begin)) * 0xbf58476d1ce4e5b9u;
  hash ^= static_cast<uint64_t>(region.axes[0].stride) * 0x94d049bb133111ebu;
  return static_cast<uint32_t>(hash ^ hash >> 29);
}

LiveRegion *TensorMap::lookup(uint32_t hash, const Region &region) const {
  for (LiveRegion *at = Table[hash & (Table.size() - 1)]; at; at = at->nextInTable)
    if (at->hash == hash && at->region == region)
      return at;
  return nullptr;
}

void TensorMap::growTable() {
  std::vector<LiveRegion *> old(2 * Table.size());
  old.swap(Table);
  for (LiveRegion *chain : old)
    while (chain) {
      LiveRegion *region = std::exchange(chain, chain->nextInTable);
      LiveRegion *&head = Table[region->hash & (Table.size() - 1)];
      region->nextInTable = std::exchange(head, region);
    }
}

LiveRegion &TensorMap::acquire(const std::shared_ptr<Buffer> &buffer, const Region &region,
                               uint32_t hash) {
  LiveRegion *found = lookup(hash, region);
  if (found && found->allocation->lastBuffer != buffer->id()) {
    // Another buffer over these bytes may be larger, or the old one may be long gone.
    allocationOf(buffer);
    found = lookup(hash, region);
  }
  if (!found)
    found = &create(allocationOf(buffer), hash, region);
  found->isPinned = true;
  return *found;
}

void TensorMap::find(const std::shared_ptr<Buffer> &buffer, const Region &region,
                     std::vector<LiveRegion *> &found) {
  LiveRegion probe;
  probe.region = region;
  probe.allocation = &allocationOf(buffer);
  RegionIndex::place(probe);
  Index.query(probe, found);
}

//===----------------------------------------------------------------------===//
// Regions
//===----------------------------------------------------------------------===//

LiveRegion &TensorMap::create(Allocation &allocation, uint32_t hash, const Region &region) {
  if (NumRegions >= SweepAt)
    sweep();
  if (NumRegions >= Table.size())
    growTable();
  if (Free.empty()) {
    Slabs.emplace_back(new LiveRegion[slabSize]);
    for (size_t i = slabSize; i-- > 0;)
      Free.push_back(&Slabs.back()[i]);
  }
  LiveRegion &added = *Free.back();
  Free.pop_back();
  ++NumRegions;
  added.region = region;
  added.hash = hash;
  added.allocation = &allocation;
  LiveRegion *&head = Table[hash & (Table.size() - 1)];
  added.nextInTable = std::exchange(head, &added);
  if (uint64_t pitch = RegionIndex::betterPitch(allocation, region))
    setPitch(allocation, pitch);
  connect(added);
  Index.insertPlaced(added);
  return added;
}

void TensorMap::connect(LiveRegion &region) {
  Found.clear();
  RegionIndex::place(region);
  Index.query(region, Found);
  for (LiveRegion *other : Found) {
    dropSettled(*other);
    if (other->isUnused() && !other->isPinned) {
      destroy(*other, nullptr);
      continue;
    }
    region.neighbours.push(other);
    other->neighbours.push(&region);
  }
}

void TensorMap::destroy(LiveRegion &region, LiveRegion *but) {
  for (LiveRegion *other : region.neighbours)
    if (other != but)
      other->neighbours.eraseIf([&](LiveRegion *back) { return back == &region; });
  region.neighbours.clear();
  region.writers.clear();
  region.readers.clear();
  LiveRegion **link = &Table[region.hash & (Table.size() - 1)];
  while (*link != &region)
    link = &(*link)->nextInTable;
  *link = region.nextInTable;
  Index.erase(region);
  Free.push_back(&region);
  --NumRegions;
}

std::vector<LiveRegion *> TensorMap::regionsOf(const Allocation &allocation) const {
  std::vector<LiveRegion *> regions;
  for (const Allocation::Level &level : allocation.levels)
    for (LiveRegion *region = level.first; region; region = region->nextInLevel)
      regions.push_back(region);
  return regions;
}

void TensorMap::dropUnused(Allocation &allocation) {
  for (const Allocation::Level &level : allocation.levels)
    for (LiveRegion *region = level.first, *next; region; region = next) {
      next = region->nextInLevel;
      if (next)
        next->prefetch();
      dropSettled(*region);
      if (region->isUnused() && !region->isPinned)
        destroy(*region, nullptr);
    }
}

void TensorMap::sweep() {
  // An allocation without regions stays until clear(): the caller may be about to use it, and it
  // costs nothing to look up.
  for (auto it = Allocations.begin(); it != Allocations.end(); ++it)
    dropUnused(it->second);
  SweepAt = 2 * NumRegions + minSweep;
}

void TensorMap::clear() {
  for (auto &[begin, allocation] : Allocations)
    for (LiveRegion *region : regionsOf(allocation)) {
      region->neighbours.clear();
      region->writers.clear();
      region->readers.clear();
      region->isPinned = false;
      Free.push_back(region);
    }
  Allocations.clear();
  Latest = nullptr;
  std::fill(Table.begin(), Table.end(), nullptr);
  Index.clear();
  NumRegions = 0;
  SweepAt = minSweep;
}

//===----------------------------------------------------------------------===//
// Allocations
//===----------------------------------------------------------------------===//

bool TensorMap::isOrphaned(const Allocation &allocation) const {
  return std::all_of(allocation.buffers.begin(), allocation.buffers.end(),
                     [](const std::weak_ptr<Buffer> &buffer) { return buffer.expired(); });
}

void TensorMap::setPitch(Allocation &allocation, uint64_t pitch) {
  std::vector<LiveRegion *> regions = regionsOf(allocation);
  for (LiveRegion *region : regions)
    Index.erase(*region);
  allocation.levels.clear();
  allocation.pitch = pitch;
  for (LiveRegion *region : regions)
    Index.insert(*region);
}

void TensorMap::moveRegions(Allocation &from, Allocation &to) {
  std::vector<LiveRegion *> regions = regionsOf(from);
  for (LiveRegion *region : regions) {
    Index.erase(*region);
    region->allocation = &to;
  }
  for (LiveRegion *region : regions)
    Index.insert(*region);
  to.buffers.insert(to.buffers.end(), from.buffers.begin(), from.buffers.end());
}

Allocation &TensorMap::mergeAllocations(uintptr_t begin, uintptr_t end) {
  auto it = Allocations.upper_bound(begin);
  if (it != Allocations.begin() && std::prev(it)->second.end > begin)
    --it;
  std::vector<Allocation> parts;
  while (it != Allocations.end() && it->first < end) {
    Allocation &old = it->second;
    if (old.begin <= begin && end <= old.end)
      return old; // the usual case: the allocation is known
    dropUnused(old);
    if (old.numRegions != 0) { // else of an allocation long gone: do not inherit its range
      begin = std::min(begin, old.begin);
      end = std::max(end, old.end);
      parts.push_back(std::move(old));
    }
    it = Allocations.erase(it);
    Latest = nullptr;
  }
  Allocation &merged = Allocations[begin];
  merged.id = NextAllocation++;
  merged.begin = begin;
  merged.end = end;
  for (Allocation &part : parts) {
    // The regions still point at the erased node; only the levels, which moved, are read.
    for (LiveRegion *region : regionsOf(part))
      region->allocation = &part;
    if (merged.pitch == 0)
      merged.pitch = part.pitch;
  }
  for (Allocation &part : parts)
    moveRegions(part, merged);
  return merged;
}

Allocation &TensorMap::allocationOf(const std::shared_ptr<Buffer> &buffer) {
  if (Latest && Latest->lastBuffer == buffer->id())
    return *Latest;
  auto begin = reinterpret_cast<uintptr_t>(buffer->data());
  Allocation &allocation = mergeAllocations(begin, begin + std::max<uint64_t>(buffer->bytes(), 1));
  Latest = &allocation;
  if (allocation.lastBuffer == buffer->id())
    return allocation;
  allocation.lastBuffer = buffer->id();
  if (KeepsSettled) {
    dropUnused(allocation); // of buffers that were here before
    std::erase_if(allocation.buffers, [](const auto &old) { return old.expired(); });
    allocation.buffers.push_back(buffer);
  }
  return allocation;
}
