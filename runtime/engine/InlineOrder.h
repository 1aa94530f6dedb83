//===- InlineOrder.h - a reproducible order for one worker ---------------===//
//
// What: the ready tasks of an engine that runs everything on the calling thread. Seed 0 gives them
//   back in submission order, any other seed in a random order that depends on nothing but the
//   seed and the program. The simulator relies on it.
//
// Threads: the submitter only. Internal to the engine.
//
//===---------------------------------------------------------------------===//
#ifndef KILN_RUNTIME_ENGINE_INLINEORDER_H
#define KILN_RUNTIME_ENGINE_INLINEORDER_H

#include "engine/Node.h"

#include <algorithm>
#include <deque>
#include <vector>

namespace kiln {

class InlineOrder {
public:
  explicit InlineOrder(uint64_t seed) : Seed(seed), RandomState(seed) {}

  /// A run's schedule depends on its seed, not on earlier runs.
  void startRun() { RandomState = Seed; }

  void push(Node &node) {
    if (Seed == 0 && (InOrder.empty() || node.index > InOrder.back().index)) {
      InOrder.push_back({node.index, &node});
      return;
    }
    Ready.push_back({node.index, &node});
    if (Seed == 0)
      std::push_heap(Ready.begin(), Ready.end(), isLater);
  }

  /// Null when nothing is ready.
  Node *pop() {
    if (!InOrder.empty() && (Ready.empty() || isLater(Ready.front(), InOrder.front()))) {
      Node *node = InOrder.front().node;
      InOrder.pop_front();
      return node;
    }
    if (Ready.empty())
      return nullptr;
    if (Seed == 0) // edges only point forward, so the first among the ready is submission order
      std::pop_heap(Ready.begin(), Ready.end(), isLater);
    else
      std::swap(Ready[random() % Ready.size()], Ready.back());
    Node *node = Ready.back().node;
    Ready.pop_back();
    return node;
  }

private:
  struct Entry {
    uint64_t index;
    Node *node;
  };
  static bool isLater(const Entry &a, const Entry &b) { return a.index > b.index; }

  /// splitmix64: tiny, well distributed and the same on every machine.
  uint64_t random() {
    uint64_t x = RandomState += 0x9e3779b97f4a7c15u;
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
    x = (x ^ x >> 27) * 0x94d049bb133111ebu;
    return x ^ x >> 31;
  }

  const uint64_t Seed;
  uint64_t RandomState;
  std::vector<Entry> Ready; // seed 0: a heap
  // Seed 0 only: those that became ready in the order of their submission, as nearly all do.
  std::deque<Entry> InOrder;
};

} // namespace kiln

#endif // KILN_RUNTIME_ENGINE_INLINEORDER_H
