//===- RegionIndex.h - which live regions may overlap this one? ----------===//
//
// What: a spatial hash of the live regions of an allocation. A region is boxed in row and column
//   coordinates (address = origin + row * pitch + column), boxes are sorted into levels by the
//   powers of two their height and width round up to, and each level is a hash table of cells of
//   that size, in which a box reaches at most one cell beyond the one it starts in. A query looks
//   at two or three cells an axis and level, so row slices, column slices and 2-D tiles all cost
//   the same with one live region and with thousands.
//
// Exactness: a box is a bound. Candidates are then compared with mayOverlap(), which is exact.
//
// Ownership: links regions together, owns none. Threads: the submitter only. Internal to the
//   engine.
//
//===---------------------------------------------------------------------===//
#ifndef KILN_RUNTIME_ENGINE_REGIONINDEX_H
#define KILN_RUNTIME_ENGINE_REGIONINDEX_H

#include "engine/InlineList.h"
#include "engine/Region.h"

#include <cstdint>
#include <memory>
#include <vector>

namespace kiln {

struct Node;

/// What one task does to one region, or what several do that only read it.
struct Use {
  uint64_t task; // or the epoch of the readers, see ReaderEpochs.h
  Node *node;    // the task's, to be looked at only while it has not retired
  uint32_t scope;
  bool reads, writes;
};

struct Allocation;

/// Bytes that some task touches, and the tasks that matter to whoever touches them next. What an
/// exact match reads comes first: two cache lines, and a third for the axes of a strided region.
struct alignas(128) LiveRegion {
  uint32_t hash = 0;
  bool isPinned = false;             // in use by the submission in progress
  LiveRegion *nextInTable = nullptr; // of exact matches
  Allocation *allocation = nullptr;
  InlineList<Use, 1> writers;
  InlineList<LiveRegion *, 1> neighbours; // the other live regions that may share bytes with it
  InlineList<Use, 1> readers;             // since the writers
  Region region;                          // all but its axes still in the second line

  // The index's own.
  struct Box {
    uint64_t row, rows, column, columns;
    bool isExact; // the region is all of the box
  } box{};
  uint32_t level = 0;
  uint64_t cellRow = 0, cellColumn = 0;
  LiveRegion *nextInCell = nullptr, *prevInCell = nullptr;
  LiveRegion *nextInLevel = nullptr, *prevInLevel = nullptr;

  /// Fetches what an exact match reads.
  void prefetch() const {
    const auto *bytes = reinterpret_cast<const char *>(this);
    __builtin_prefetch(bytes, 1);
    __builtin_prefetch(bytes + 64, 1);
    __builtin_prefetch(bytes + 128);
  }
  bool isUnused() const { return writers.isEmpty() && readers.isEmpty(); }
  /// All there is to know of it is one writer.
  bool hasOnlyOneWriter() const {
    return writers.size() == 1 && readers.isEmpty() && neighbours.isEmpty();
  }
};

/// A range of addresses in which regions are looked for: one buffer, or several over the same
/// bytes.
struct Allocation {
  uint64_t id = 0; // never reused
  uintptr_t begin = 0, end = 0;
  uint64_t pitch = 0; // bytes; 0 until the first strided region has shown one
  struct Level {
    uint8_t rowBits, columnBits;
    uint32_t count = 0;
    LiveRegion *first = nullptr;
  };
  std::vector<Level> levels;
  uint64_t numRegions = 0;
  uint64_t lastBuffer = 0;                    // id of the buffer it was last reached through
  std::vector<std::weak_ptr<Buffer>> buffers; // all of them; only with a trace
};

class RegionIndex {
public:
  RegionIndex() : Cells(64) {}

  /// Appends the regions of `region.allocation` that may share a byte with it, itself excluded.
  void query(const LiveRegion &region, std::vector<LiveRegion *> &found) const;
  void insert(LiveRegion &region) {
    place(region);
    insertPlaced(region);
  }
  /// The same for a region that has its box already.
  void insertPlaced(LiveRegion &region);
  void erase(LiveRegion &region);
  /// The box of a region that is not inserted (yet), for query().
  static void place(LiveRegion &region);
  /// Whether inserting `region` should teach its allocation another pitch; then all regions of the
  /// allocation must be erased, the pitch set, and all inserted again.
  static uint64_t betterPitch(const Allocation &allocation, const Region &region);
  void clear();

private:
  struct CellRange {
    uint64_t rowBegin, rowEnd, columnBegin, columnEnd; // inclusive
    bool isLargerThan(uint64_t count) const;
  };
  size_t bucketOf(const Allocation &allocation, uint32_t level, uint64_t row,
                  uint64_t column) const;
  void queryCells(const LiveRegion &region, uint32_t level, const CellRange &range,
                  std::vector<LiveRegion *> &found) const;
  void link(LiveRegion &region);
  void grow();

  std::vector<LiveRegion *> Cells; // heads of the chains; a power of two
  uint64_t Count = 0;
};

} // namespace kiln

#endif // KILN_RUNTIME_ENGINE_REGIONINDEX_H
