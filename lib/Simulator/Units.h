//===- Units.h - the units of a core, which work at the same time --------------------------===//
//
// A role that has flags and barriers (the dialect `sync`) runs on a core whose units each have a
// queue of instructions (kiln/Machine/Hardware.h). Here each unit is an agent of its own: what it
// does is ordered with what other units do by flags and barriers, and by nothing else. What units
// touch in global memory is judged as everybody's accesses are; the core's own memories are watched
// here. Operations still compute in the order of the program, so results never depend on flags:
// what could have come out of order in any schedule is told to the watcher.
//
// Ownership: belongs to one instance; borrows its agent, the machine and the watcher. One thread at
// a time.
//
//===----------------------------------------------------------------------------===//
#ifndef KILN_LIB_SIMULATOR_UNITS_H
#define KILN_LIB_SIMULATOR_UNITS_H

#include "Order.h"
#include "Watcher.h"

#include "kiln/Analysis/Instructions.h"
#include "kiln/Dialect/Sync/SyncDialect.h"

namespace kiln::simulator {

class Units {
public:
  /// `scalar` is the agent of the instance: its scalar unit, which hands out all instructions.
  Units(const Machine &machine, Agent &scalar, Watcher &watcher);

  /// Hands out `op`, and says who executes it: its unit, or the scalar one if it is none's.
  Agent &begin(mlir::Operation *op);
  void set(sync::SetOp op);
  Status wait(sync::WaitOp op);
  void pass(sync::BarrierOp op);
  /// The role has ended.
  void finish();

private:
  /// An instruction that was handed out; of each operation only the last, since whoever knows that
  /// one to be finished knows it of those before.
  struct Issued {
    const Instruction *instruction;
    uint32_t epoch; ///< Of its unit.
  };
  struct Flag {
    Clock before; ///< What happened before it was set.
    mlir::Operation *setter;
  };

  Agent &agentOf(Unit unit) { return *Agents[static_cast<size_t>(unit)]; }
  const Instruction *instructionFor(mlir::Operation *op);
  /// What is handed out from now on to `unit` begins after `other` happened.
  void learn(Unit unit, const Clock &other);
  void checkOrder(const Instruction &instruction);
  bool isFinished(const Issued &earlier, Unit to) const;
  template <typename Op> std::array<unsigned, 3> keyOf(Op op) const;

  const Machine &Target;
  Watcher &Watch;
  std::array<Agent *, numUnits> Agents;
  /// By unit: its epoch up to which it knows itself to have finished.
  std::array<uint32_t, numUnits> Finished{};
  std::map<mlir::Operation *, std::optional<Instruction>> Instructions; // they do not move
  llvm::MapVector<mlir::Operation *, Issued> Log;
  std::map<std::array<unsigned, 3>, Flag> Flags;
};

/// Whether a function has flags or barriers.
bool hasSync(ir::FuncOp func);

} // namespace kiln::simulator

#endif // KILN_LIB_SIMULATOR_UNITS_H
