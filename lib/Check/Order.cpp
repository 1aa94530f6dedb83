#include "Order.h"

#include <algorithm>

namespace kiln::sim {

void Agent::acquire(const Clock &other) {
  if (clock.size() < other.size())
    clock.resize(other.size());
  for (size_t i = 0; i < other.size(); ++i)
    clock[i] = std::max(clock[i], other[i]);
}

Clock Agent::release() {
  Clock released = clock;
  ++clock[instance];
  return released;
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

void Order::orchestrationReads(const Tensor &element, const Trace &trace) {
  update(trace);
  uint64_t at = element.byteOffset(), buffer = element.buffer()->id();
  // The engine asks whether a region contains the element; the span of the region suffices here:
  // at worst a task counts as waited for that was not.
  auto mayWrite = [&](const TraceTensor &arg) {
    uint64_t span = 1;
    for (size_t axis = 0; axis < arg.extents.size(); ++axis)
      span +=
          static_cast<uint64_t>(std::max<int64_t>(arg.extents[axis] - 1, 0) * arg.strides[axis]);
    return arg.direction != Direction::In && arg.bufferId == buffer && arg.byteOffset <= at &&
           at < arg.byteOffset + span * static_cast<uint64_t>(sizeOf(arg.dtype));
  };
  for (const TraceTask &task : trace.tasks)
    if (std::any_of(task.tensors.begin(), task.tensors.end(), mayWrite)) {
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
  agent.clock.resize(agent.instance + 1);
  agent.clock[agent.instance] = 1;
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
  if (earlier.phase < agent.phase)
    return true;
  return other.blockRun == agent.blockRun && other.instance < agent.clock.size() &&
         agent.clock[other.instance] >= earlier.epoch;
}

} // namespace kiln::sim
