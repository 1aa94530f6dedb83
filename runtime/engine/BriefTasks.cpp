// Tasks that take less time than handing them over would: the submitter runs them on the spot if
// nothing holds them up. They leave nothing behind: whoever comes later finds them finished.
#include "engine/EngineImpl.h"

using namespace kiln;

bool Engine::Impl::isInFlight(const Use &use) {
  if (ReaderEpochs::isEpoch(use.task)) // its readers are no longer known one by one
    return true;
  // A task that has failed, or not finished, is something to wait for or to be stopped by.
  return use.task < Window.begin() || !use.node->isSealed() || use.node->isBad();
}

bool Engine::Impl::isForSubmitter(const Task &task, KernelTimes::Slot slot) {
  if (Times.isBrief(slot))
    return hasNothingToWaitFor(task) || catchUp(task);
  // Nothing retires here: the oldest task's line is the one that a worker is about to write.
  return Times.isShort(slot) && Sched.hasPlenty() && isFree(task);
}

bool Engine::Impl::hasNothingToWaitFor(const Task &task) {
  retire();
  return isFree(task);
}

bool Engine::Impl::isFree(const Task &task) {
  if (!Settled.bad.empty())
    return false;
  if (Window.isEmpty())
    return true;
  for (TaskId dep : task.deps())
    if (!hasFinished(dep.index) || isBad(dep.index))
      return false;
  for (const TaskTensor &arg : task.tensors()) {
    Region region = Region::of(arg.tensor);
    if (!region.isEmpty() && Map.hasUse(arg.tensor.buffer(), region, writes(arg.direction),
                                        [&](const Use &use) { return isInFlight(use); }))
      return false;
  }
  return true;
}

bool Engine::Impl::catchUp(const Task &task) {
  // Brief tasks that have been handed over keep those that follow from running here, although the
  // workers may be only a little behind. Waiting for that now and then ends it; where it does not,
  // because something long is in front, the next try is further away.
  if (Window.end() < CatchUp.next)
    return false;
  for (int tries = 0; tries < 64; ++tries) {
    Scheduler::pauseABit();
    if (!hasNothingToWaitFor(task))
      continue;
    CatchUp.interval = 64;
    return true;
  }
  CatchUp.next = Window.end() + CatchUp.interval;
  CatchUp.interval = std::min<uint64_t>(2 * CatchUp.interval, 1 << 16);
  return false;
}

TaskId Engine::Impl::runHere(const Task &task, const KernelRecord &kernel, KernelTimes::Slot slot) {
  // Nobody else sees the node, so only what calling the kernel needs is there: no detail but the
  // place to blame.
  auto numTensors = static_cast<uint8_t>(task.tensors().size());
  auto numScalars = static_cast<uint8_t>(task.scalars().size());
  auto *node = new (Window.draft(NodeLayout::bound(numTensors, numScalars))) Node;
  NodeDetail detail;
  const SourceLoc &loc = task.location();
  detail.loc = {loc.isKnown() ? loc.file.c_str() : nullptr, loc.line, loc.col};
  node->numTensors = numTensors;
  node->numScalars = numScalars;
  node->index = Window.end();
  node->kernel = &kernel;
  node->scalars = reinterpret_cast<uint64_t *>(node->tensors() + numTensors);
  node->detail = &detail;
  node->isPlain = true;
  node->timesSlot = Times.wantsTime(slot);
  fillArguments(*node, task);
  TaskId id{node->index, Run.id};
  Sched.runHere(*node);
  if (node->timesSlot)
    Times.note(slot, &kernel, node->nanoseconds);
  if (node->isBad()) {
    recordFailed(task, kernel);
    return id;
  }
  Window.pushSettled();
  Settled.below = Window.begin();
  return id;
}

void Engine::Impl::recordFailed(const Task &task, const KernelRecord &kernel) {
  noteAccesses(task);
  findProducers(task);
  Node &node = makeNode(task, &kernel);
  holdBuffers(node, task, nullptr);
  node.timesSlot = 0;
  node.state = TaskState::Failed;
  node.successors.store(Node::sealed(), std::memory_order_relaxed);
  recordAccesses();
}
