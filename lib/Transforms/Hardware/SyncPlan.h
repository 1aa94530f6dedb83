//===- SyncPlan.h - where a role needs flags and barriers ------------------------------------===//
//
// Finds them by following the role: for each instruction, which earlier ones its unit cannot know
// to have finished. Where it has to know, a flag from the last of them is added, or a barrier
// within a unit, until nothing is missing. Then each is left out again that the others make
// superfluous.
//
// What a unit does not know is a set of instructions, joined where branches and iterations meet, so
// one walk stands for all executions.
//
//===----------------------------------------------------------------------------===//
#ifndef KILN_LIB_TRANSFORMS_HARDWARE_SYNCPLAN_H
#define KILN_LIB_TRANSFORMS_HARDWARE_SYNCPLAN_H

#include "kiln/Analysis/Instructions.h"

#include "llvm/ADT/BitVector.h"
#include "llvm/ADT/MapVector.h"

#include <array>
#include <map>

namespace kiln {

class SyncPlan {
public:
  SyncPlan(ir::FuncOp func, const Machine &machine);

  /// Finds all that is needed. An error where a role cannot be followed.
  mlir::LogicalResult make();
  /// Puts it into the role.
  void write();

  unsigned numFlags() const { return Flags.size(); }
  unsigned numBarriers() const { return Barriers.size(); }
  unsigned numInstructions() const { return Instructions.size(); }

private:
  /// Set after one operation and waited for before another of the same block. With a loop: set by
  /// one iteration for the next, once more before the first, and waited for after the last.
  struct Flag {
    Unit from, to;
    mlir::Operation *after, *before;
    mlir::scf::ForOp loop;
    int64_t id = 0;
    bool operator==(const Flag &o) const {
      return from == o.from && to == o.to && after == o.after && before == o.before &&
             loop == o.loop;
    }
  };
  /// Without a unit: of all.
  struct Barrier {
    std::optional<Unit> unit;
    mlir::Operation *before;
    bool operator==(const Barrier &o) const { return unit == o.unit && before == o.before; }
  };
  /// An instruction in some iterations of the loops around it, outermost first.
  struct Instance {
    const Instruction *instruction;
    llvm::SmallVector<std::pair<mlir::Operation *, int>, 2> iterations;
  };
  /// What is true at a point, whichever way led there. Sets are of instances.
  struct State {
    llvm::BitVector executed;
    std::array<llvm::BitVector, numUnits> unknown;    ///< Not known to a unit to have finished.
    std::map<const Flag *, llvm::BitVector> finished; ///< What a flag that is set tells.
  };
  struct Missing {
    const Instance *first;
    Instance second;
  };

  bool follow(bool stopsAtFirst);
  void follow(mlir::Block &block, State &state);
  void followFor(mlir::scf::ForOp loop, State &state);
  void followIf(mlir::scf::IfOp branch, State &state);
  void issue(const Instruction &instruction, State &state);
  void set(const Flag &flag, State &state);
  void wait(const Flag &flag, State &state);
  void pass(const Barrier &barrier, State &state);
  static void join(State &into, const State &other);

  void add(const Missing &missing);
  void leaveOutSuperfluous();
  bool number();

  ir::FuncOp Func;
  const Machine &Target;
  llvm::MapVector<mlir::Operation *, Instruction> Instructions;
  std::vector<Flag> Flags;
  std::vector<Barrier> Barriers;

  // While following.
  std::vector<std::unique_ptr<Instance>> Instances;
  llvm::SmallVector<std::pair<mlir::Operation *, int>, 2> Iterations;
  std::vector<Missing> Found;
  bool StopsAtFirst = false;
  ptrdiff_t OldFlags = 0, OldBarriers = 0; ///< How many there were before this round.
};

} // namespace kiln

#endif // KILN_LIB_TRANSFORMS_HARDWARE_SYNCPLAN_H
