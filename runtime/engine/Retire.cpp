// Waiting for tasks, and what happens to those that have finished.
#include "abi/LargeMemory.h"
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
    Finished.push_back({detail.ticket, node.index});
  if (node.isBad()) {
    Settled.bad.insert(node.index);
    for (uint32_t i = 0; i < detail.numBuffers; ++i)
      BadBuffers.push_back(std::move(detail.buffers[i]));
  }
  if (Options.recordTrace)
    History.tasks[node.index].state = node.state;
  if (node.timesSlot)
    Times.note(node.timesSlot, node.kernel, node.nanoseconds);
  std::destroy_n(detail.buffers, detail.numBuffers);
  if (detail.hasHeapEdges)
    delete[] detail.edges;
  Window.pop();
  Settled.below = Window.begin();
}

namespace {

/// As long as it lives the submitter waits.
struct Waiting {
  explicit Waiting(Scheduler &scheduler) : of(scheduler) { of.noteWaiting(true); }
  ~Waiting() { of.noteWaiting(false); }
  Waiting(const Waiting &) = delete;
  Scheduler &of;
};

} // namespace

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
  Waiting waiting(Sched);
  for (unsigned idleRounds = 0; !hasFinished(index);)
    if (!workOnce(index, idleRounds))
      return false;
  return true;
}

bool Engine::Impl::awaitAll() {
  // The newest first: until it runs nobody else needs its cache line, and then most are done.
  if (!Window.isEmpty() && !await(Window.end() - 1))
    return false;
  retire();
  Waiting waiting(Sched);
  for (unsigned idleRounds = 0; !Window.isEmpty(); retire())
    if (!workOnce(Window.begin(), idleRounds))
      return false;
  return true;
}

//===----------------------------------------------------------------------===//
// Intermediates
//===----------------------------------------------------------------------===//

/// What other ranks may lend their memory to.
static Expected<std::shared_ptr<Buffer>> allocFromHeap(uint64_t bytes) {
  if (bytes < hugePage)
    return Buffer::allocate(bytes);
  void *data = takeLarge(bytes, LargeUse::Intermediate);
  if (!data)
    return Status(StatusCode::OutOfMemory, "cannot allocate " + std::to_string(bytes) + " bytes");
  return Buffer::wrap(data, bytes, [=] { giveLarge(data, bytes); });
}

Expected<Tensor> Engine::Impl::alloc(DType dtype, Dims extents) {
  if (Options.arenaBytes == 0 && !Options.allocate && !Run.lender)
    return Tensor::empty(dtype, extents);
  // A view of no memory: checks the shape and knows size and strides.
  Expected<Tensor> shape = Tensor::view(reinterpret_cast<void *>(Arena::alignment), dtype, extents);
  if (!shape)
    return shape;
  uint64_t bytes = shape->numBytes();
  Expected<std::shared_ptr<Buffer>> buffer = Options.allocate          ? Options.allocate(bytes)
                                             : Options.arenaBytes == 0 ? allocFromHeap(bytes)
                                                                       : allocFromArena(bytes);
  if (!buffer)
    return buffer.status().withPrefix(std::string(toString(dtype)) + toString(extents));
  if (Run.timeline && Options.arenaBytes != 0 && !Options.allocate)
    Run.timeline->recordNow(/*worker=*/0, TimelineEvent::Kind::Arena, Intermediates.bytesInUse());
  return Tensor::view(*buffer, 0, dtype, extents, shape->strides());
}

Expected<std::shared_ptr<Buffer>> Engine::Impl::allocFromArena(uint64_t bytes) {
  for (unsigned idleRounds = 0;; retire()) {
    Expected<std::shared_ptr<Buffer>> buffer = Intermediates.allocate(bytes);
    if (!buffer || *buffer)
      return buffer;
    if (Window.isEmpty() ||
        !Intermediates.wouldFit(bytes, [&](const auto &held) { return isHeldByUser(held); }))
      return arenaTooSmall(bytes);
    if (!workOnce(Window.begin(), idleRounds))
      return Status(StatusCode::Internal, "the arena is full and no task is ready");
  }
}

bool Engine::Impl::isHeldByUser(const std::shared_ptr<Buffer> &buffer) {
  long ofTasks = 1; // `buffer` itself
  for (uint64_t i = Window.begin(); i < Window.end(); ++i) {
    const NodeDetail &detail = *Window[i].detail;
    for (uint32_t k = 0; k < detail.numBuffers; ++k)
      ofTasks += detail.buffers[k] == buffer;
  }
  return buffer.use_count() > ofTasks;
}

Status Engine::Impl::arenaTooSmall(uint64_t bytes) {
  std::string text = std::to_string(bytes) + " bytes do not fit the arena of " +
                     std::to_string(Intermediates.capacity()) + " bytes";
  Arena::Need need =
      Intermediates.need(bytes, [&](const auto &held) { return isHeldByUser(held); });
  if (bytes <= Intermediates.capacity())
    text += ", and waiting would not help: " + std::to_string(need.heldBytes) + " bytes in " +
            std::to_string(need.heldBlocks) +
            " tensors are held by the program, not by tasks that will finish; let go of them first";
  text += "; EngineOptions::arenaBytes of " + std::to_string(need.capacity) + " would do";
  return Status(bytes <= Intermediates.capacity() ? StatusCode::Deadlock : StatusCode::OutOfMemory,
                text);
}

//===----------------------------------------------------------------------===//
// States
//===----------------------------------------------------------------------===//

bool Engine::Impl::isBad(uint64_t index) {
  return index < Window.begin() ? Settled.bad.count(index) != 0 : Window[index].isBad();
}

void Engine::Impl::refreshTrace() {
  std::vector<FinishedTask> finished = Finished;
  for (uint64_t i = Window.begin(); i < Window.end() && Options.recordTrace; ++i)
    if (Node &node = Window[i]; node.isSealed()) {
      History.tasks[i].state = node.state;
      finished.push_back({node.detail->ticket, i});
    }
  std::sort(finished.begin(), finished.end(),
            [](const FinishedTask &a, const FinishedTask &b) { return a.ticket < b.ticket; });
  History.order.clear();
  for (const FinishedTask &task : finished)
    History.order.push_back(task.index);
}
