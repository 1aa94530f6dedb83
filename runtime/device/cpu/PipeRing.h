//===- PipeRing.h - a bounded queue of messages between roles ------------===//
//
// What: the counts behind a pipe, and where its messages lie. Messages are numbered as they are
//   pushed; message n lies in slot n modulo the slots. Each end counts what it has pushed, popped
//   and freed per lane; who must wait follows from comparing counts:
//
//   | from -> to     | a push of lane p waits until ...  | a pop of lane c waits until ... |
//   |----------------|-----------------------------------|---------------------------------|
//   | one -> one     | the consumer freed that slot      | the producer pushed it          |
//   | one -> lanes   | all lanes freed that slot         | the producer pushed it          |
//   | lanes -> one   | the consumer freed that slot      | all lanes pushed their parts    |
//   | lanes -> lanes | lane p freed it                   | lane c pushed it                |
//
// Ownership: borrows its memory. Threads: one at a time. Internal to the runtime.
//
//===---------------------------------------------------------------------===//
#ifndef KILN_RUNTIME_DEVICE_CPU_PIPERING_H
#define KILN_RUNTIME_DEVICE_CPU_PIPERING_H

#include "kiln/runtime/group.h"
#include "kiln/runtime/pipe_slots.h"

#include <algorithm>
#include <cstddef>
#include <vector>

namespace kiln {

class PipeRing {
public:
  static constexpr uint64_t alignment = 64;

  PipeRing(const PipeSpec &spec, uint32_t producers, uint32_t consumers)
      : Spec(&spec), Producers(producers), Consumers(consumers),
        CopyBytes((spec.payloadBytes + alignment - 1) & ~(alignment - 1)),
        // Without a split, lanes that push to lanes have a message each.
        CopiesPerSlot(isLaneToLane() && spec.split == PipeSplit::None ? producers : 1) {}

  const PipeSpec &spec() const { return *Spec; }
  uint64_t bytes() const { return CopyBytes * CopiesPerSlot * Spec->slots; }

  /// Empties it; its messages lie at `memory` from now on.
  void reset(std::byte *memory) {
    Memory = memory;
    std::fill(Producers.begin(), Producers.end(), Producer());
    std::fill(Consumers.begin(), Consumers.end(), Consumer());
  }

  bool mustWaitToPush(uint32_t lane) const {
    return Producers[lane].pushed - slowestFor(lane).freed >= Spec->slots;
  }
  bool mustWaitToPop(uint32_t lane) const { return pushedFor(lane) <= Consumers[lane].popped; }

  // The four operations. Nothing here waits: the caller has made sure that it need not, and that
  // the calls of a lane are in order.
  bool isPushing(uint32_t lane) const { return Producers[lane].isPushing; }
  void *beginPush(uint32_t lane) {
    Producers[lane].isPushing = true;
    return messageAt(Producers[lane].pushed, lane);
  }
  void endPush(uint32_t lane) {
    Producers[lane].isPushing = false;
    ++Producers[lane].pushed;
  }
  void *pop(uint32_t lane) { return messageAt(Consumers[lane].popped++, lane); }
  uint64_t numUnfreed(uint32_t lane) const {
    return Consumers[lane].popped - Consumers[lane].freed;
  }
  void free(uint32_t lane) { ++Consumers[lane].freed; }

  /// How the slots stand as a push or a pop of `lane` sees it.
  std::string describeForPush(uint32_t lane) const {
    return describe(Producers[lane].pushed, slowestFor(lane));
  }
  std::string describeForPop(uint32_t lane) const {
    return describe(pushedFor(lane), Consumers[lane]);
  }
  /// Slots that hold a message which was pushed, whole or in part, and not freed by all.
  uint64_t numUsed() const {
    uint64_t used = 0;
    for (uint32_t lane = 0; lane < Producers.size(); ++lane)
      used = std::max(used, Producers[lane].pushed - slowestFor(lane).freed);
    return used;
  }
  /// Messages that somebody should still pop.
  uint64_t numLeft() const {
    uint64_t left = 0;
    for (uint32_t lane = 0; lane < Consumers.size(); ++lane)
      for (uint32_t i = 0; i < Producers.size(); ++i)
        if (!isLaneToLane() || i == lane)
          left = std::max(left, Producers[i].pushed -
                                    std::min(Producers[i].pushed, Consumers[lane].popped));
    return left;
  }

private:
  struct Producer {
    uint64_t pushed = 0;
    bool isPushing = false;
  };
  struct Consumer {
    uint64_t popped = 0, freed = 0;
  };

  bool isLaneToLane() const { return Producers.size() > 1 && Consumers.size() > 1; }
  /// Of those who pop what `lane` pushes, one that has freed the fewest messages.
  const Consumer &slowestFor(uint32_t lane) const {
    if (isLaneToLane())
      return Consumers[lane];
    const Consumer *slowest = &Consumers[0];
    for (uint32_t i = 1; i < Consumers.size(); ++i)
      if (Consumers[i].freed < slowest->freed)
        slowest = &Consumers[i];
    return *slowest;
  }
  std::string describe(uint64_t pushed, const Consumer &consumer) const {
    return describeSlots(std::max(pushed, consumer.popped) - consumer.popped,
                         consumer.popped - consumer.freed, Spec->slots);
  }
  /// How many messages are complete for `lane` to pop.
  uint64_t pushedFor(uint32_t lane) const {
    if (isLaneToLane())
      return Producers[lane].pushed;
    uint64_t pushed = Producers[0].pushed;
    for (uint32_t i = 1; i < Producers.size(); ++i)
      pushed = std::min(pushed, Producers[i].pushed);
    return pushed;
  }
  void *messageAt(uint64_t number, uint32_t lane) const {
    uint64_t copy = number % Spec->slots * CopiesPerSlot + (CopiesPerSlot > 1 ? lane : 0);
    return Memory + copy * CopyBytes;
  }

  const PipeSpec *Spec;
  std::vector<Producer> Producers;
  std::vector<Consumer> Consumers;
  uint64_t CopyBytes;
  uint32_t CopiesPerSlot;
  std::byte *Memory = nullptr;
};

} // namespace kiln

#endif // KILN_RUNTIME_DEVICE_CPU_PIPERING_H
