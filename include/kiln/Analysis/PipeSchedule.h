//===- PipeSchedule.h - an order in which one function can run all members of a group ---===//
//
// Looks for an order of the pushes, pops and frees of all members of a group that is the same for
// all values of its parameters but for branches at run time: one of the orders in which the members
// could have run side by side, so whoever executes it waits for nobody. See docs/merge-groups.md.
//
// Ownership: borrows the group and the functions it calls, and points at their operations. Threads:
// any thread that may read the module.
//
//===----------------------------------------------------------------------------===//
#ifndef KILN_ANALYSIS_PIPESCHEDULE_H
#define KILN_ANALYSIS_PIPESCHEDULE_H

#include "kiln/Dialect/Tile/TileDialect.h"

#include <optional>
#include <string>
#include <vector>

namespace kiln {

struct ScheduleStep;
using ScheduleSteps = std::vector<ScheduleStep>;

/// What happens next. A member runs everything in front of the operation a step names as part of
/// that step, or earlier; lanes of a role make each step together.
struct ScheduleStep {
  enum class Kind {
    Event,          ///< `member` makes the push, pop or free `op`.
    EnterLoop,      ///< `member` stands in front of the first iteration of `op`.
    BeginIteration, ///< ... begins the next iteration of the loop it stands at.
    EndIteration,   ///< ... comes to its end, and stands in front of the next.
    LeaveLoop,      ///< ... goes on after the loop.
    EnterBranch,    ///< ... goes into the region of `op` that `number` says: 1 then, 0 else.
    LeaveBranch,    ///< ... comes out of it.
    Finish,         ///< ... runs to its end.
    Rounds,         ///< A loop: `parts[0]` again and again, with the iterations that `shares` say.
    Split           ///< Runs `parts[0]` if the condition of `op`, a branch, holds for `member`; if
                    ///< `op` is a loop: if at least `number` iterations are left. Else `parts[1]`.
                    ///< Always the last step: the parts go on to the end.
  };
  /// What one member does in a loop of Rounds: `stride` iterations of the loop it stands at in
  /// every round, until `leftover` iterations are left.
  struct Share {
    unsigned member;
    int64_t stride, leftover;
    /// How far its index is from that of the first share, where that is a constant.
    std::optional<int64_t> distance;
  };

  Kind kind;
  unsigned member = 0;
  mlir::Operation *op = nullptr;
  int64_t number = 0;
  std::vector<Share> shares = {};
  std::vector<ScheduleSteps> parts = {};
};

struct PipeSchedule {
  ScheduleSteps steps;
  /// Index parameters of the group that have to be counts: the order holds if none is negative.
  llvm::SmallVector<mlir::BlockArgument> counts = {};
};

/// The schedule of a group whose pipes are proved, given what it requires; members are numbered as
/// the group calls them. Nothing if none was found; `reason` then says why.
std::optional<PipeSchedule> schedulePipes(ir::FuncOp group, int64_t defaultSlots,
                                          std::string &reason);

} // namespace kiln

#endif // KILN_ANALYSIS_PIPESCHEDULE_H
