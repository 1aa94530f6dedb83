//===- ReadyQueue.h - tasks that may run ---------------------------------===//
//
// What: a bounded queue with one producer. Everybody, the producer too, takes from its head: one
//   task, or a share of what is there, in one compare-and-swap. First in, first out.
//
// Invariant: at most `capacity` entries exist at a time. The engine guarantees it: a task has at
//   most one entry in all queues together, and the window bounds the tasks.
//
// Threads: push() by the owning thread only, take() by any. Internal to the engine.
//
//===---------------------------------------------------------------------===//
#ifndef KILN_RUNTIME_ENGINE_READYQUEUE_H
#define KILN_RUNTIME_ENGINE_READYQUEUE_H

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <memory>

namespace kiln {

struct Node;

class ReadyQueue {
public:
  /// `capacity` is a power of two.
  explicit ReadyQueue(uint64_t capacity)
      : Slots(new std::atomic<Node *>[capacity]()), Mask(capacity - 1) {}

  void push(Node *node) {
    Slots[Pushed & Mask].store(node, std::memory_order_relaxed);
    Tail.store(++Pushed, std::memory_order_release);
  }

  bool isEmpty() const {
    return Head.load(std::memory_order_seq_cst) >= Tail.load(std::memory_order_seq_cst);
  }

  /// By the owning thread only: what there is at least, but for what others take meanwhile.
  uint64_t size() const { return Pushed - Head.load(std::memory_order_relaxed); }

  /// Takes up to `max` entries, but not more than one in `share` of those there (rounded up).
  unsigned take(Node **nodes, unsigned max, unsigned share) {
    uint64_t head = Head.load(std::memory_order_acquire);
    while (true) {
      uint64_t tail = Tail.load(std::memory_order_acquire);
      if (head >= tail)
        return 0;
      auto count =
          static_cast<unsigned>(std::min<uint64_t>(max, (tail - head + share - 1) / share));
      // Read first, then claim: once the head has moved the producer may overwrite the slots. If
      // somebody else was faster what was read here is thrown away.
      for (unsigned i = 0; i < count; ++i)
        nodes[i] = Slots[(head + i) & Mask].load(std::memory_order_relaxed);
      if (Head.compare_exchange_weak(head, head + count, std::memory_order_acq_rel,
                                     std::memory_order_acquire))
        return count;
    }
  }

private:
  const std::unique_ptr<std::atomic<Node *>[]> Slots;
  const uint64_t Mask;
  alignas(64) std::atomic<uint64_t> Head{0};
  alignas(64) std::atomic<uint64_t> Tail{0};
  uint64_t Pushed = 0; // the producer's copy of Tail
};

} // namespace kiln

#endif // KILN_RUNTIME_ENGINE_READYQUEUE_H
