//===- TensorMap.h - who last touched which bytes ------------------------===//
//
// What: the accesses of live tasks, grouped by allocation, and the question "which of them
//   conflict with this new one?". Allocations are told apart by address range, not by Buffer
//   object, because two views of the caller's memory made separately are two Buffers over the
//   same bytes: ranges that overlap are merged into one group.
//
// Cost: linear in the live accesses of one allocation. (Indexing comes with the concurrent
//   engine.)
//
// Ownership: holds no buffer alive. An unfinished task holds its buffers; a finished task's
//   access is kept only for the trace and dropped once its buffer is gone, so reused addresses
//   never look like conflicts.
//
// Threads: the submitting thread only. Internal to the engine.
//
//===---------------------------------------------------------------------===//
#ifndef KILN_RUNTIME_ENGINE_TENSORMAP_H
#define KILN_RUNTIME_ENGINE_TENSORMAP_H

#include "engine/Region.h"
#include "kiln/runtime/tensor.h"

#include <cstdint>
#include <map>
#include <memory>
#include <vector>

namespace kiln {

struct Access {
  Region region;
  uint64_t task = 0;
  uint32_t scope = 0;
  int32_t arg = -1; // of the task; -1 for its predicate
  bool reads = false, writes = false;
  uint64_t bufferId = 0;
  std::weak_ptr<Buffer> buffer;
};

class TensorMap {
public:
  /// Whoever uses the map knows how far tasks have come.
  class Oracle {
  public:
    /// The access can no longer matter.
    virtual bool isRetired(const Access &access) const = 0;

  protected:
    ~Oracle() = default;
  };

  explicit TensorMap(const Oracle &oracle) : Tasks(oracle) {}

  /// Appends the recorded accesses that may share bytes with `region` (of `tensor`) in the order
  /// they were recorded. Pointers hold until the next call.
  void findOverlaps(const Tensor &tensor, const Region &region, std::vector<const Access *> &found);

  /// Records an access. `supersedes(old)` says whether the new task runs after the old one in any
  /// schedule; what such an old access touched and this one wholly overwrites need not be
  /// remembered.
  template <typename Supersedes>
  void record(const Tensor &tensor, Access access, Supersedes supersedes) {
    if (access.region.isEmpty())
      return;
    Group &group = groupOf(tensor);
    if (access.writes)
      std::erase_if(group.accesses, [&](const Access &old) {
        return old.task != access.task && covers(access.region, old.region) && supersedes(old);
      });
    group.accesses.push_back(std::move(access));
  }

  void clear() { Groups.clear(); }

private:
  struct Group {
    uintptr_t end = 0;
    std::vector<Access> accesses;
  };
  /// The group of the tensor's allocation, made or merged as needed, free of retired accesses.
  Group &groupOf(const Tensor &tensor);

  const Oracle &Tasks;
  std::map<uintptr_t, Group> Groups; // by first address; ranges are disjoint
};

} // namespace kiln

#endif // KILN_RUNTIME_ENGINE_TENSORMAP_H
