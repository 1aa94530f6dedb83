#include "engine/ReaderEpochs.h"

using namespace kiln;

static constexpr uint64_t edgesPerChunk = 32;
/// A region that everybody reads and nobody writes must not gather edges for ever.
static constexpr uint64_t maxEdges = 1024;

bool ReaderEpochs::canReuse(const Epoch &epoch, uint64_t retired) {
  return !epoch.isOpen && epoch.lastReader < retired && epoch.node.isSealed();
}

bool ReaderEpochs::isOpen(uint64_t id) const {
  return isCurrent(id) && slot(id).isOpen && slot(id).numEdges < maxEdges;
}

uint64_t ReaderEpochs::open(uint64_t retired) {
  uint64_t index = Epochs.size();
  for (size_t tries = std::min<size_t>(InUse.size(), 2); tries-- > 0 && index == Epochs.size();) {
    uint64_t oldest = InUse.front();
    InUse.pop_front();
    if (canReuse(Epochs[oldest], retired))
      index = oldest;
    else
      InUse.push_back(oldest); // its turn comes again
  }
  if (index == Epochs.size())
    Epochs.emplace_back();
  InUse.push_back(index);
  Epoch &epoch = Epochs[index];
  Node &node = epoch.node;
  node.successors.store(nullptr, std::memory_order_relaxed);
  node.unmet.store(1, std::memory_order_relaxed); // as long as it is open
  node.isDoomed.store(false, std::memory_order_relaxed);
  node.state = TaskState::Pending;
  node.lastSuccessor = UINT64_MAX;
  node.isEpoch = true;
  ++epoch.generation;
  epoch.lastReader = 0;
  epoch.isOpen = true;
  epoch.numEdges = 0;
  return uint64_t{1} << 63 | epoch.generation << slotBits | index;
}

void ReaderEpochs::join(uint64_t id, uint64_t reader, Node *node) {
  Epoch &epoch = slot(id);
  epoch.lastReader = std::max(epoch.lastReader, reader);
  if (!node)
    return;
  if (epoch.numEdges == epoch.edges.size() * edgesPerChunk)
    epoch.edges.emplace_back(new Edge[edgesPerChunk]);
  Edge &edge = epoch.edges[epoch.numEdges / edgesPerChunk][epoch.numEdges % edgesPerChunk];
  ++epoch.numEdges;
  edge.consumer = &epoch.node;
  epoch.node.unmet.fetch_add(1, std::memory_order_relaxed);
  if (node->addSuccessor(edge))
    return;
  epoch.node.unmet.fetch_sub(1, std::memory_order_relaxed); // not the last: it is open
  if (node->isBad())
    epoch.node.isDoomed.store(true, std::memory_order_relaxed);
}

void ReaderEpochs::closeSlot(Epoch &epoch) {
  if (!epoch.isOpen)
    return;
  epoch.isOpen = false;
  if (epoch.node.unmet.fetch_sub(1, std::memory_order_acq_rel) == 1)
    epoch.node.sealEpoch(); // nobody waits for it yet
}

Node *ReaderEpochs::close(uint64_t id) {
  if (!isCurrent(id))
    return nullptr;
  Epoch &epoch = slot(id);
  closeSlot(epoch);
  return &epoch.node;
}

void ReaderEpochs::closeAll() {
  for (uint64_t index : InUse) {
    closeSlot(Epochs[index]);
    Epochs[index].lastReader = 0;
  }
}

bool ReaderEpochs::isSettled(uint64_t id, uint64_t retired) {
  if (!isCurrent(id))
    return true;
  Epoch &epoch = slot(id);
  if (epoch.lastReader >= retired)
    return false;
  closeSlot(epoch);
  return true;
}
