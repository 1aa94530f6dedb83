// Waiting for tasks, and what happens to those that have finished.
#include "engine/EngineImpl.h"

#include <algorithm>
#include <memory>

using namespace kiln;

void Engine::Impl::retire() {
  while (!Window.isEmpty() && Window[Window.begin()].isSealed())
    retireOldest();
}

void Engine::Impl::retireOldest() {
  Node &node = Window[Window.begin()];
  NodeDetail &detail = *node.detail;
  if (Options.recordTrace)
    Finished.push_back({node.ticket, node.index});
  if (node.isBad()) {
    Settled.bad.insert(node.index);
    for (uint32_t i = 0; i < detail.numBuffers; ++i)
      BadBuffers.push_back(std::move(detail.buffers[i]));
  }
  if (Options.recordTrace)
    History.tasks[node.index].state = node.state;
  std::destroy_n(detail.buffers, detail.numBuffers);
  if (detail.hasHeapEdges)
    delete[] detail.edges;
  Window.pop();
  Settled.below = Window.begin();
}

bool Engine::Impl::workOnce(uint64_t awaited, unsigned &idleRounds) {
  if (Sched.runOne()) {
    idleRounds = 0;
    return true;
  }
  if (Sched.isInline())
    return false;
  Sched.rest(Window[awaited], ++idleRounds);
  return true;
}

bool Engine::Impl::await(uint64_t index) {
  for (unsigned idleRounds = 0; !hasFinished(index);)
    if (!workOnce(index, idleRounds))
      return false;
  return true;
}

bool Engine::Impl::awaitAll() {
  retire();
  for (unsigned idleRounds = 0; !Window.isEmpty(); retire())
    if (!workOnce(Window.begin(), idleRounds))
      return false;
  return true;
}

bool Engine::Impl::isBad(uint64_t index) {
  return index < Window.begin() ? Settled.bad.count(index) != 0 : Window[index].isBad();
}

void Engine::Impl::refreshTrace() {
  std::vector<FinishedTask> finished = Finished;
  for (uint64_t i = Window.begin(); i < Window.end() && Options.recordTrace; ++i)
    if (Node &node = Window[i]; node.isSealed()) {
      History.tasks[i].state = node.state;
      finished.push_back({node.ticket, i});
    }
  std::sort(finished.begin(), finished.end(),
            [](const FinishedTask &a, const FinishedTask &b) { return a.ticket < b.ticket; });
  History.order.clear();
  for (const FinishedTask &task : finished)
    History.order.push_back(task.index);
}
