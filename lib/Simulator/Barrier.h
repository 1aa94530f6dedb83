//===- Barrier.h - where the blocks of a launch meet ------------------------------------===//
//
// A launch whose kernel, or the roles of whose group, contain tile.barrier runs all its blocks
// together: one scheduler gives turns to the instances of all of them. Every instance of a function
// that contains a barrier is a member; an instance that comes to a barrier waits until all members
// have come as often.
//
// Ownership: a launch lives for one call of run(). One thread at a time.
//
//===----------------------------------------------------------------------------===//
#ifndef KILN_LIB_SIMULATOR_BARRIER_H
#define KILN_LIB_SIMULATOR_BARRIER_H

#include "Group.h"

namespace kiln::simulator {

class Barrier {
public:
  void addMember() { ++Members; }
  /// A member comes. Returns the round it takes part in, which is over when all have come.
  uint64_t arrive() {
    uint64_t round = Round;
    if (++Arrived == Members) {
      Arrived = 0;
      ++Round;
    }
    return round;
  }
  bool isOver(uint64_t round) const { return Round > round; }

private:
  uint64_t Members = 0, Arrived = 0, Round = 0;
};

/// All blocks of a launch, run together.
class BlocksTogether {
public:
  BlocksTogether(ir::FuncOp func, const std::vector<Value> &args, llvm::ArrayRef<Place> places,
                 BlockContext context);

  /// To the end of all blocks, or to the first fault or deadlock.
  Status run();

private:
  Status runTurns();
  Status reportDeadlock() const;

  Barrier Meeting;
  BlockContext Context;
  std::vector<std::unique_ptr<GroupBlock>> Blocks;
};

} // namespace kiln::simulator

#endif // KILN_LIB_SIMULATOR_BARRIER_H
