#include "Order.h"

#include <algorithm>

namespace kiln::sim {

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

} // namespace kiln::sim
