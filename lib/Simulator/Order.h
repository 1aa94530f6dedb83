//===- Order.h - what happens before what --------------------------------------------===//
//
// Two accesses race unless one happens before the other in every schedule. What orders them is
// known on three levels, and each has its own representation, so that no clock is as long as the
// program has blocks:
//
//   tasks      the edges the engine found, and what a kiln.get waited for: the set of all tasks
//              before each task
//   blocks     of one launch: only barriers, counted as phases; a function without a barrier takes
//   no
//              part in them and learns of them through pipes
//   instances  of one block: program order, push before pop, free before the push that reuses the
//              slot: a vector clock with one entry per instance
//
// Ownership: an Order belongs to one simulation and outlives its agents' use. One thread at a time.
//
//===----------------------------------------------------------------------------===//
#ifndef KILN_LIB_SIMULATOR_ORDER_H
#define KILN_LIB_SIMULATOR_ORDER_H

#include "kiln/runtime/engine.h"

#include "llvm/ADT/BitVector.h"
#include "llvm/ADT/SmallVector.h"

#include <array>
#include <cstdint>
#include <deque>
#include <string>
#include <vector>

namespace kiln::simulator {

/// What one instance knows to have happened.
struct Clock {
  llvm::SmallVector<uint32_t, 4> entries; ///< How far each instance of its block has come, or 0.
  /// Barriers that all blocks have come to, plus 1: the launch's predicate is read in phase 0.
  uint32_t phase = 1;
};

/// Who accesses memory: one instance of a function in one block of one task. What it does is in
/// program order.
struct Agent {
  uint32_t number;   ///< In the simulation.
  uint32_t instance; ///< In its block.
  uint64_t task;
  uint64_t blockRun; ///< The block, counted over all launches of the simulation.
  std::array<int64_t, 3> block;
  std::string name; ///< The function, with `#lane` where the role has lanes.
  /// The number of the agent that runs the function: this one, unless it is a unit of that core
  /// which works beside it (Units.h).
  uint32_t core = number;
  Clock clock = {}; ///< Its own entry starts at 1 and counts what it released to others.
  std::vector<Clock> arrivals = {}; ///< What it knew when it came to each barrier.

  uint32_t epoch() const { return clock.entries[instance]; }
  uint32_t phase() const { return clock.phase; }
  /// What `other` did happened before what this agent does from now on.
  void acquire(const Clock &other);
  /// Hands on all that happened up to now; what happens from now on is not part of it.
  Clock release();
  /// Comes to a barrier; goes on only when all who take part have come to it.
  void meet();
};

/// A moment in an agent's program order.
struct Moment {
  uint32_t agent = 0, epoch = 0, phase = 0;
};

class Order {
public:
  //===-- Tasks -----------------------------------------------------------------------===//
  /// The next task is about to be submitted; it runs after everything the orchestration waited for.
  void taskIsSubmitted() { Before.push_back(Waited); }
  /// The orchestration read an element (kiln.get): it waited for the tasks that may write it.
  void orchestrationReads(const Tensor &element, const Trace &trace);
  /// Learns the edges the engine has found since the last call.
  void update(const Trace &trace);

  //===-- Agents ----------------------------------------------------------------------===//
  /// A block starts to run; its agents come next.
  void beginBlock(uint64_t task, std::array<int64_t, 3> block);
  Agent &addAgent(std::string name);
  const Agent &agent(uint32_t number) const { return Agents[number]; }

  /// Whether that moment comes before what `agent` does now, in every schedule.
  bool isBefore(const Moment &earlier, const Agent &agent) const;

private:
  std::vector<llvm::BitVector> Before; ///< By task: the tasks that end before it starts.
  llvm::BitVector Waited;
  size_t EdgesSeen = 0;
  std::deque<Agent> Agents;
  uint64_t BlockRuns = 0, CurrentTask = 0;
  std::array<int64_t, 3> CurrentBlock{};
  uint32_t InstancesOfBlock = 0;
};

} // namespace kiln::simulator

#endif // KILN_LIB_SIMULATOR_ORDER_H
