#include "Order.h"

#include "llvm/Support/MathExtras.h"

#include <algorithm>

namespace kiln::simulator {

void Agent::acquire(const Clock &other) {
  if (clock.entries.size() < other.entries.size())
    clock.entries.resize(other.entries.size());
  for (size_t i = 0; i < other.entries.size(); ++i)
    clock.entries[i] = std::max(clock.entries[i], other.entries[i]);
  clock.phase = std::max(clock.phase, other.phase);
}

Clock Agent::release() {
  Clock released = clock;
  ++clock.entries[instance];
  return released;
}

void Agent::meet() {
  arrivals.push_back(release());
  clock.phase = static_cast<uint32_t>(arrivals.size()) + 1;
}

static void unite(llvm::BitVector &into, const llvm::BitVector &from) {
  if (into.size() < from.size())
    into.resize(from.size());
  into |= from;
}

static void insert(llvm::BitVector &into, uint64_t task) {
  if (into.size() <= task)
    into.resize(task + 1);
  into.set(task);
}

/// Whether `offset`, in elements from the first one, is an element of a strided box, whose axes
/// from `axis` on are left.
static bool isElement(const TraceTensor &box, int64_t offset, size_t axis = 0) {
  if (axis == box.extents.size())
    return offset == 0;
  int64_t rest = 0; // how far the axes after this one reach
  for (size_t later = axis + 1; later < box.extents.size(); ++later)
    rest += (box.extents[later] - 1) * box.strides[later];
  int64_t extent = box.extents[axis], stride = box.strides[axis];
  if (extent <= 1 || stride == 0)
    return extent > 0 && isElement(box, offset, axis + 1);
  int64_t first = std::max<int64_t>(0, llvm::divideCeilSigned(offset - rest, stride));
  int64_t last = std::min(extent - 1, llvm::divideFloorSigned(offset, stride));
  for (int64_t index = first; index <= last; ++index)
    if (isElement(box, offset - index * stride, axis + 1))
      return true;
  return false;
}

void Order::orchestrationReads(const Tensor &element, const Trace &trace) {
  update(trace);
  int64_t at = static_cast<int64_t>(element.byteOffset());
  auto writes = [&](const TraceTensor &arg) {
    int64_t size = sizeOf(arg.dtype), distance = at - static_cast<int64_t>(arg.byteOffset);
    // Views of another element type may begin in the middle of an element.
    return arg.direction != Direction::In && arg.bufferId == element.buffer()->id() &&
           isElement(arg, llvm::divideFloorSigned(distance, size));
  };
  for (const TraceTask &task : trace.tasks)
    if (std::any_of(task.tensors.begin(), task.tensors.end(), writes)) {
      unite(Waited, Before[task.index]);
      insert(Waited, task.index);
    }
}

void Order::update(const Trace &trace) {
  // Edges point forward and come sorted by their end, so what is before `from` is complete.
  for (; EdgesSeen < trace.edges.size(); ++EdgesSeen) {
    const TraceEdge &edge = trace.edges[EdgesSeen];
    unite(Before[edge.to], Before[edge.from]);
    insert(Before[edge.to], edge.from);
  }
}

void Order::beginBlock(uint64_t task, std::array<int64_t, 3> block) {
  CurrentTask = task;
  CurrentBlock = block;
  ++BlockRuns;
  InstancesOfBlock = 0;
}

Agent &Order::addAgent(std::string name) {
  Agent &agent = Agents.emplace_back(Agent{static_cast<uint32_t>(Agents.size()), InstancesOfBlock++,
                                           CurrentTask, BlockRuns, CurrentBlock, std::move(name)});
  agent.clock.entries.resize(agent.instance + 1);
  agent.clock.entries[agent.instance] = 1;
  return agent;
}

bool Order::isBefore(const Moment &earlier, const Agent &agent) const {
  const Agent &other = Agents[earlier.agent];
  if (&other == &agent)
    return true;
  if (other.task != agent.task) {
    const llvm::BitVector &before = Before[agent.task];
    return other.task < before.size() && before.test(other.task);
  }
  if (earlier.phase == 0) // the launch's predicate
    return true;
  auto knows = [&](const Clock &clock) {
    return other.instance < clock.entries.size() && clock.entries[other.instance] >= earlier.epoch;
  };
  if (other.blockRun == agent.blockRun && knows(agent.clock))
    return true;
  if (agent.phase() <= 1)
    return false;
  // Before the last barrier the agent knows of is what somebody of the other's block knew who came
  // to it. The agents of a block have successive numbers.
  size_t barrier = agent.phase() - 2;
  for (size_t at = other.number - other.instance;
       at < Agents.size() && Agents[at].blockRun == other.blockRun; ++at)
    if (barrier < Agents[at].arrivals.size() && knows(Agents[at].arrivals[barrier]))
      return true;
  return false;
}

} // namespace kiln::simulator
