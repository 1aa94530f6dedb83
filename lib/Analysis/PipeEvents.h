//===- PipeEvents.h - a group as sequences of pipe events ------------------------------===//
//
// What the proof sees of a group: for each role the pushes, pops and frees it makes, in loops and
// branches whose bounds and conditions are expressions of what the group was given. Everything else
// a role computes is left out.
//
// The lanes of a role run the same events in the same order, because conditions and trip counts
// that differ between lanes are rejected here. The waiting rules treat all lanes alike, so lanes
// can always take each step together: one instance of each role stands for all its lanes.
//
//===----------------------------------------------------------------------------===//
#ifndef KILN_LIB_ANALYSIS_PIPEEVENTS_H
#define KILN_LIB_ANALYSIS_PIPEEVENTS_H

#include "PipeScalars.h"
#include "kiln/Analysis/PipeProof.h"

#include <variant>

namespace kiln::pipes {

struct Event {
  enum class Kind { Push, Pop, Free };
  Kind kind;
  unsigned pipe;
  mlir::Operation *op;
};

struct Loop;
struct Branch;
using Step = std::variant<Event, Loop, Branch>;
using Sequence = std::vector<Step>;

/// Runs `body` `trips` times, never if that is negative, with index = lower, lower + step, ... that
/// is less than `upper`. `op` is the first of the loops that a loop was split into.
struct Loop {
  mlir::Operation *op;
  Atom index;
  Expr lower, upper, step, trips;
  Sequence body;
};

struct Branch {
  mlir::Operation *op;
  Expr condition; ///< 0 or 1.
  Sequence then, otherwise;
};

struct Pipe {
  tile::PipeOp op;
  std::string name;
  int64_t slots;
};

struct Member {
  ir::FuncOp func;
  std::string name;
  Sequence body;
};

struct GroupModel {
  ScalarTable scalars;
  std::vector<Pipe> pipes;
  std::vector<Member> members;
  /// What holds whenever the group runs, as far as trip counts and conditions depend on it:
  /// conditions, each 0 or 1, that always are 1.
  std::vector<Expr> required;
  bool hasJoined = false; ///< Loops that are the parts of one were read as that one.
  /// Pipe operations that not all lanes run alike.
  std::vector<PipeFinding> findings;
  /// What the proof cannot follow.
  std::vector<PipeMessage> unknowns;

  /// The member that plays `role`, if the group calls one.
  std::optional<unsigned> memberOf(llvm::StringRef role) const;
};

/// `required` are conditions, computed in the group, that hold whenever it runs. `joinsLoops`:
/// loops that are the parts of one are read as that one; who writes code for each loop wants them
/// apart.
GroupModel modelGroup(ir::FuncOp group, int64_t defaultSlots, mlir::ValueRange required,
                      bool joinsLoops);

/// Calls `visit` for every expression that decides which events run.
void forEachControl(const GroupModel &model, llvm::function_ref<void(const Expr &)> visit);

/// Calls `visit` for every step of a sequence, and of the sequences inside it.
void forEachStep(const Sequence &sequence, llvm::function_ref<void(const Step &)> visit);

} // namespace kiln::pipes

#endif // KILN_LIB_ANALYSIS_PIPEEVENTS_H
