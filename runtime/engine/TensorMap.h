//===- TensorMap.h - who last touched which bytes ------------------------===//
//
// What: the live regions, each with its last writers and its readers since, and the question
//   "which of those conflict with this new access?". An exact-match table answers for regions that
//   have been seen before, which is the usual case; each region knows the others that overlap it,
//   so the index (RegionIndex.h) is asked only when a region is new.
//
//   Allocations are told apart by address range, not by Buffer object, because two views of the
//   caller's memory made separately are two Buffers over the same bytes: ranges that overlap are
//   merged.
//
// Ownership: holds no buffer alive. An unfinished task holds its buffers, so the addresses of its
//   regions cannot be reused; the uses of settled tasks are dropped whenever they are met.
//
// Threads: the submitting thread only: workers never see it. Internal to the engine.
//
//===---------------------------------------------------------------------===//
#ifndef KILN_RUNTIME_ENGINE_TENSORMAP_H
#define KILN_RUNTIME_ENGINE_TENSORMAP_H

#include "engine/ReaderEpochs.h"
#include "engine/RegionIndex.h"
#include "kiln/runtime/tensor.h"

#include <cstdint>
#include <map>
#include <memory>
#include <unordered_set>
#include <vector>

namespace kiln {

/// The tasks that nobody need wait for any more.
struct SettledTasks {
  uint64_t below = 0;               // those retired ...
  std::unordered_set<uint64_t> bad; // ... but for these, until their failure is reported
  ReaderEpochs epochs;

  bool contains(uint64_t task) {
    if (ReaderEpochs::isEpoch(task)) // which of its readers failed is not known
      return bad.empty() && epochs.isSettled(task, below);
    return task < below && (bad.empty() || !bad.count(task));
  }
};

class TensorMap {
public:
  /// `keepsSettled`: settled tasks stay known as long as their buffers exist, for a trace.
  TensorMap(SettledTasks &settled, bool keepsSettled)
      : Settled(settled), KeepsSettled(keepsSettled), Table(64) {}

  static uint32_t hashOf(const Region &region);
  /// Fetches what acquire() will look at.
  void prefetch(uint32_t hash) const {
    if (const LiveRegion *first = Table[hash & (Table.size() - 1)])
      first->prefetch();
  }
  /// The entry of a region of `buffer`, which stays valid until its record(). Not for empty ones.
  LiveRegion &acquire(const std::shared_ptr<Buffer> &buffer, const Region &region, uint32_t hash);

  /// Appends the entries that may share bytes with a region, without making one for it.
  void find(const std::shared_ptr<Buffer> &buffer, const Region &region,
            std::vector<LiveRegion *> &found);

  /// Whether `counts(const Use &)` for something that was done to bytes of a region and that an
  /// access to it conflicts with. Makes no entry for the region.
  template <typename Counts>
  bool hasUse(const std::shared_ptr<Buffer> &buffer, const Region &region, bool writes,
              Counts counts) {
    if (NumRegions == 0)
      return false;
    bool isUsed = false;
    auto look = [&](const Use &use) { isUsed = isUsed || counts(use); };
    LiveRegion *exact = lookup(hashOf(region), region);
    if (exact && exact->allocation->lastBuffer == buffer->id()) {
      forEachUse(*exact, writes, look);
      return isUsed;
    }
    Found.clear();
    find(buffer, region, Found);
    for (LiveRegion *other : Found)
      visitUses(*other, writes, look);
    return isUsed;
  }

  /// Calls `visit(const Use &)` for what was done to bytes of `region`: the writes, and the reads
  /// too if wanted.
  template <typename Visit> void forEachUse(LiveRegion &region, bool wantsReaders, Visit visit) {
    if (region.hasOnlyOneWriter() && !KeepsSettled) { // the usual case, without the loops
      if (Settled.contains(region.writers[0].task))
        region.writers.clear();
      else
        visit(region.writers[0]);
      return;
    }
    visitUses(region, wantsReaders, visit);
    for (uint32_t i = 0; i < region.neighbours.size();) {
      LiveRegion &other = *region.neighbours[i];
      visitUses(other, wantsReaders, visit);
      if (other.isUnused() && !other.isPinned) {
        region.neighbours.eraseUnordered(i);
        destroy(other, &region);
      } else {
        ++i;
      }
    }
  }

  /// Adds a use. `supersedes(old)` says whether the new task runs after the old one in any
  /// schedule; what such an old use touched and this one wholly overwrites need not be remembered.
  template <typename Supersedes>
  void record(LiveRegion &region, const Use &use, Supersedes supersedes) {
    region.isPinned = false;
    if (!use.writes) {
      uint32_t count = region.readers.size();
      if (count >= 4 && (count & (count - 1)) == 0) // now and then, or they would pile up
        dropSettled(region);
      return region.readers.push(use);
    }
    auto isGone = [&](const Use &old) { return old.task != use.task && supersedes(old); };
    if (region.hasOnlyOneWriter() && isGone(region.writers[0])) {
      region.writers[0] = use;
      return;
    }
    region.writers.eraseIf(isGone);
    region.readers.eraseIf(isGone);
    for (LiveRegion *other : region.neighbours)
      if (covers(region.region, other->region)) {
        other->writers.eraseIf(isGone);
        other->readers.eraseIf(isGone);
      }
    region.writers.push(use);
  }

  void clear();
  uint64_t numRegions() const { return NumRegions; }

private:
  /// Visits uses, and drops those of settled tasks on the way.
  template <typename Visit> void visitUses(LiveRegion &region, bool wantsReaders, Visit visit) {
    bool mayDrop = !KeepsSettled || isOrphaned(*region.allocation);
    auto visitList = [&](InlineList<Use, 1> &uses, bool isWanted) {
      for (uint32_t i = 0; i < uses.size();) {
        if (mayDrop && Settled.contains(uses[i].task)) {
          uses.eraseUnordered(i);
          continue;
        }
        if (isWanted)
          visit(uses[i]);
        ++i;
      }
    };
    visitList(region.writers, true);
    visitList(region.readers, wantsReaders);
  }
  void dropSettled(LiveRegion &region) {
    visitUses(region, false, [](const Use &) {});
  }

  LiveRegion *lookup(uint32_t hash, const Region &region) const;
  LiveRegion &create(Allocation &allocation, uint32_t hash, const Region &region);
  void connect(LiveRegion &region);
  /// Takes a region out of everything, but not out of the neighbours of `but`.
  void destroy(LiveRegion &region, LiveRegion *but);
  void growTable();

  Allocation &allocationOf(const std::shared_ptr<Buffer> &buffer);
  Allocation &mergeAllocations(uintptr_t begin, uintptr_t end);
  void moveRegions(Allocation &from, Allocation &to);
  void setPitch(Allocation &allocation, uint64_t pitch);
  std::vector<LiveRegion *> regionsOf(const Allocation &allocation) const;
  /// No buffer over it exists any more.
  bool isOrphaned(const Allocation &allocation) const;
  /// Destroys the regions of `allocation` that nothing uses.
  void dropUnused(Allocation &allocation);
  void sweep();

  SettledTasks &Settled;
  const bool KeepsSettled;
  RegionIndex Index;
  std::vector<LiveRegion *> Table;             // exact matches: heads of chains; a power of two
  std::map<uintptr_t, Allocation> Allocations; // by first address; ranges are disjoint
  Allocation *Latest = nullptr;                // the one looked up last
  std::vector<std::unique_ptr<LiveRegion[]>> Slabs;
  std::vector<LiveRegion *> Free;
  std::vector<LiveRegion *> Found; // scratch
  uint64_t NumRegions = 0, NextAllocation = 0;
  uint64_t SweepAt = minSweep;

  /// So many regions may be kept although nothing uses them: more would no longer fit a core's own
  /// cache, and one that is made anew costs less than one fetched from memory.
  static constexpr uint64_t minSweep = 1024;
};

} // namespace kiln

#endif // KILN_RUNTIME_ENGINE_TENSORMAP_H
