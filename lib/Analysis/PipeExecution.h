//===- PipeExecution.h - the events of all members, executed together ------------------===//
//
// Runs the event sequences of a group's members over counted pipes. Each member runs until it has
// to wait; since a push, pop or free of one member never takes away what another one can do, the
// order in which members get their turn does not matter: one execution decides.
//
// An execution is a value. The search copies it to follow several paths.
//
//===----------------------------------------------------------------------------===//
#ifndef KILN_LIB_ANALYSIS_PIPEEXECUTION_H
#define KILN_LIB_ANALYSIS_PIPEEXECUTION_H

#include "PipeEvents.h"

namespace kiln::pipes {

/// Why a member does not go on by itself.
enum class Stop {
  Done,
  Blocked,  ///< In a push or pop that has to wait.
  AtBranch, ///< The condition is not a constant.
  AtLoop,   ///< At the head of a loop whose trip count is not a constant, or is a large one.
  Arrived,  ///< It made its share of one round of a joint loop.
  BadFree,  ///< A free without a popped slot.
  Exhausted ///< It took more steps than it may.
};

/// A sequence somebody is in the middle of.
struct Frame {
  const Sequence *sequence;
  size_t next = 0;
  const Loop *loop = nullptr; ///< None: a branch, or the body of a member.
  bool atHead = false;
  Expr remaining = 0; ///< Iterations not begun yet, as if a negative number were one.
  Expr index = 0;     ///< Of the iteration to begin.
  int64_t stride = 0; ///< In a joint loop: iterations of each round, else 0.
  int64_t made = 0;   ///< In this round.
};

class Execution {
public:
  struct Counts {
    int64_t pushed = 0, popped = 0, freed = 0;
    mlir::Operation *lastPush = nullptr;
    int64_t full() const { return pushed - popped; }
    int64_t taken() const { return popped - freed; }
  };

  /// `slots` of each pipe. Loops whose trip count is a constant of at most `unrolled` just run.
  Execution(GroupModel &model, std::vector<int64_t> slots, int64_t unrolled, int64_t maxSteps);

  /// From now on nobody waits: runs everything there is, to count it.
  void ignoreWaits() { IsWaiting = false; }

  Stop run(unsigned member);
  /// Goes on from Stop::AtBranch.
  void choose(unsigned member, bool condition);

  /// The event a member is about to make.
  const Event &pending(unsigned member) const;
  const Branch &pendingBranch(unsigned member) const;
  bool isDone(unsigned member) const { return Stacks[member].empty(); }
  Frame &top(unsigned member) { return Stacks[member].back(); }
  llvm::ArrayRef<Frame> stack(unsigned member) const { return Stacks[member]; }
  void beginIteration(Frame &frame);

  const Counts &counts(unsigned pipe) const { return Pipes[pipe]; }
  /// As long as it stays the same, nobody who waits can go on.
  int64_t eventsMade() const { return EventsMade; }
  int64_t slots(unsigned pipe) const { return Slots[pipe]; }
  /// Whether every pipe is empty and every popped slot freed.
  bool isBalanced() const;

  GroupModel &model() const { return *Model; }
  Env &env() { return Values; }
  const Env &env() const { return Values; }
  Expr evaluate(const Expr &expr) {
    std::optional<int64_t> number = Model->scalars.valueOf(expr, Values);
    return number ? Expr(*number) : Model->scalars.substitute(expr, Values);
  }
  int64_t stepsLeft() const { return StepsLeft; }
  /// Replaces an atom by an expression everywhere.
  void replace(Atom atom, const Expr &by);

private:
  bool canMake(const Event &event) const;
  void make(const Event &event);
  /// At the end of an iteration, or at a loop's head; false if the member stops there.
  bool passHead(std::vector<Frame> &stack, Stop &stop);
  void endIteration(Frame &frame);

  GroupModel *Model;
  std::vector<int64_t> Slots;
  int64_t Unrolled, StepsLeft, EventsMade = 0;
  std::vector<std::vector<Frame>> Stacks;
  std::vector<Counts> Pipes;
  Env Values;
  bool IsWaiting = true;
};

} // namespace kiln::pipes

#endif // KILN_LIB_ANALYSIS_PIPEEXECUTION_H
