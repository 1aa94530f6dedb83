//===- TaskWindow.h - the tasks between submission and retirement --------===//
//
// What: a ring of the unretired tasks in order of submission, and the ring of bytes their blocks
//   live in. Tasks finish in any order and retire in order, so both are plain rings: no free list,
//   no generation counter, and "index < begin()" means retired.
//
// Cost: a long task at the head keeps later ones from retiring; the window bounds by how much.
//
// Ownership: the memory. Threads: the submitter only (the blocks themselves are shared, see
//   Node.h). Internal to the engine.
//
//===---------------------------------------------------------------------===//
#ifndef KILN_RUNTIME_ENGINE_TASKWINDOW_H
#define KILN_RUNTIME_ENGINE_TASKWINDOW_H

#include "engine/Node.h"

#include <bit>
#include <cstddef>
#include <vector>

namespace kiln {

/// Stands for tasks that have finished and need no block.
struct SettledNode : Node {
  SettledNode() : Node{} {
    successors.store(sealed(), std::memory_order_relaxed);
    state = TaskState::Done;
    detail = &Nothing;
  }

private:
  NodeDetail Nothing{};
};

class TaskWindow {
public:
  explicit TaskWindow(uint64_t maxTasks)
      : Slots(std::bit_ceil(std::max<uint64_t>(maxTasks, 64))),
        Capacity(std::bit_ceil(Slots.size() * bytesPerTask + 2 * maxBlock)),
        Bytes(static_cast<std::byte *>(::operator new(Capacity, std::align_val_t(alignof(Node))))) {
  }

  /// Of the oldest task that has not retired.
  uint64_t begin() const { return First; }
  /// Of the next task to be submitted.
  uint64_t end() const { return Last; }
  bool isEmpty() const { return First == Last; }
  uint64_t maxTasks() const { return Slots.size(); }

  Node &operator[](uint64_t index) { return *slot(index).node; }

  bool hasRoom(uint32_t bytes) const {
    return Last - First < Slots.size() && Head + padding(bytes) + bytes - Tail <= Capacity;
  }

  /// Memory for the block of task end(), which does not exist yet. Requires hasRoom(bytes).
  Node *draft(uint32_t bytes) const {
    return reinterpret_cast<Node *>(Bytes.get() + ((Head + padding(bytes)) & (Capacity - 1)));
  }

  /// The same, and the task exists from now on.
  Node *push(uint32_t bytes) {
    Node *node = draft(bytes);
    Head += padding(bytes) + bytes;
    slot(Last++) = {node, Head};
    return node;
  }

  /// Blocks lie where workers wrote to earlier ones. The lines of the one after the next, of as
  /// many bytes most likely, are fetched, so that filling it does not wait for them.
  void fetchAhead(uint32_t bytes) const {
    const std::byte *begin = Bytes.get() + ((Head + bytes) & (Capacity - 1));
    for (uint32_t at = 0; at < bytes; at += 64)
      prefetchToWrite(begin + at);
  }

  /// Task end() exists from now on, has finished and has no block.
  void pushSettled() {
    if (isEmpty())
      First = ++Last;
    else
      slot(Last++) = {&Settled, Head};
  }

  /// Takes back the block of task begin(). Once there is no other, the bytes are used from their
  /// beginning again: a window is made for many tasks, and few should not walk through memory that
  /// nobody has touched yet.
  void pop() {
    Tail = slot(First++).end;
    if (isEmpty())
      Head = Tail = 0;
  }

  /// Forgets everything: indices start from 0 again. Nothing may be left in the window.
  void reset() { First = Last = Head = Tail = 0; }

private:
  struct Slot {
    Node *node;
    uint64_t end; // of its bytes
  };
  struct Free {
    void operator()(std::byte *bytes) const {
      ::operator delete(bytes, std::align_val_t(alignof(Node)));
    }
  };
  static constexpr uint64_t bytesPerTask = 512;
  static constexpr uint64_t maxBlock = 1 << 16; // 255 tensors and as many scalars take 38 KB

  Slot &slot(uint64_t index) { return Slots[index & (Slots.size() - 1)]; }
  /// What to skip so that the block does not wrap around.
  uint64_t padding(uint32_t bytes) const {
    uint64_t left = Capacity - (Head & (Capacity - 1));
    return left < bytes ? left : 0;
  }

  std::vector<Slot> Slots;
  uint64_t First = 0, Last = 0;
  uint64_t Capacity, Head = 0, Tail = 0; // byte positions only grow while there are tasks
  SettledNode Settled;                   // of all tasks of pushSettled()
  std::unique_ptr<std::byte, Free> Bytes;
};

} // namespace kiln

#endif // KILN_RUNTIME_ENGINE_TASKWINDOW_H
