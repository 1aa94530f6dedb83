//===- ReaderEpochs.h - many readers of a region as one producer ---------===//
//
// What: an epoch joins tasks that read one region, so that whoever writes to it next waits for one
//   thing instead of for each of them: m readers and n writers of parts are m + n edges, not m * n.
//   It is a node that runs nothing: it has the readers as producers and is finished by the last of
//   them. Readers join it until the first writer asks for it; from then on it is closed.
//
// Ownership: the pool owns the epochs. One is used again when it has finished and its readers have
//   retired; an id names an epoch only until then, and is known to be settled afterwards.
//
// Threads: the submitter only, but for the node and the edges, which readers' workers touch until
//   they have sealed the node. Internal to the engine.
//
//===---------------------------------------------------------------------===//
#ifndef KILN_RUNTIME_ENGINE_READEREPOCHS_H
#define KILN_RUNTIME_ENGINE_READEREPOCHS_H

#include "engine/Node.h"

#include <deque>
#include <vector>

namespace kiln {

class ReaderEpochs {
public:
  /// Stands where else the index of a task does: never the index of one.
  static bool isEpoch(uint64_t id) { return id >> 63; }

  /// A new epoch without readers. Those with only readers below `retired` may be used again.
  uint64_t open(uint64_t retired);
  /// Makes task `reader` part of an epoch that is open. `node` is null when it has retired.
  void join(uint64_t id, uint64_t reader, Node *node);
  /// Whether it takes more readers.
  bool isOpen(uint64_t id) const;

  /// The node to wait for, closed if it was not; null when there is nothing to wait for.
  Node *close(uint64_t id);
  /// Closes all, at the end of a run: everything has retired.
  void closeAll();

  /// Whether all its readers are among the tasks below `retired`. Then nobody will ask again.
  bool isSettled(uint64_t id, uint64_t retired);

private:
  struct Epoch {
    Node node;
    uint64_t generation = 0;
    uint64_t lastReader = 0;
    bool isOpen = false;
    // Workers hold pointers to edges: they do not move.
    std::vector<std::unique_ptr<Edge[]>> edges;
    uint64_t numEdges = 0;
  };
  static constexpr uint64_t slotBits = 24;

  Epoch &slot(uint64_t id) { return Epochs[id & ((uint64_t{1} << slotBits) - 1)]; }
  const Epoch &slot(uint64_t id) const { return Epochs[id & ((uint64_t{1} << slotBits) - 1)]; }
  bool isCurrent(uint64_t id) const { return slot(id).generation == (id << 1 >> 1 >> slotBits); }
  static bool canReuse(const Epoch &epoch, uint64_t retired);
  void closeSlot(Epoch &epoch);

  std::deque<Epoch> Epochs;
  std::deque<uint64_t> InUse; // slots, about oldest first
};

} // namespace kiln

#endif // KILN_RUNTIME_ENGINE_READEREPOCHS_H
