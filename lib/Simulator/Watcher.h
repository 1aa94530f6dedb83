//===- Watcher.h - what a simulation tells of itself -------------------------------------===//
//
// GlobalMemory tells a watcher of every access, the interpreter of every tile that was computed and
// of every use of a popped tile, the engine of every task that starts. A watcher judges; the
// simulation goes on whatever it finds. A simulation without a watcher asks no more than whether
// there is one.
//
// Ownership: outlives the simulation that it watches. One thread at a time.
//
//===----------------------------------------------------------------------------===//
#ifndef KILN_LIB_SIMULATOR_WATCHER_H
#define KILN_LIB_SIMULATOR_WATCHER_H

#include "Access.h"
#include "TileValue.h"

#include "kiln/Simulator/Simulator.h"
#include "kiln/runtime/ranks.h"
#include "kiln/runtime/signature.h"

#include "mlir/Dialect/SCF/IR/SCF.h"

namespace kiln::simulator {

class Interpreter;

/// Which way an operation goes that a scalar decides: a branch, a choice between two values, the
/// predicate of a launch, a loop.
enum class Side : uint8_t {
  First = 1,  ///< The condition holds; the left operand is the lesser; the loop runs.
  Second = 2, ///< It does not; the right operand is the lesser; the loop runs more than once.
  Neither = 4 ///< The loop does not run.
};

class Watcher {
public:
  virtual ~Watcher() = default;

  //===-- Tasks and blocks ------------------------------------------------------------===//
  /// Before anything runs: a tensor that the caller gives the entry.
  virtual void argumentIsGiven(ir::FuncOp entry, unsigned number, const Tensor &tensor) = 0;
  /// The next task is about to be submitted: by which operation, if it is not the entry itself, and
  /// with what its predicate reads, if it has one.
  virtual void taskIsSubmitted(mlir::Operation *op, std::optional<Access> predicate) = 0;
  /// Before its predicate is read and its blocks run.
  virtual void taskStarts(uint64_t task, const Trace &trace) = 0;
  /// What the blocks that come next are given, and what their kernel promises.
  virtual void argumentsAre(const Signature &signature, const kiln_args &args) = 0;
  /// The task that has just started is a collective: what it reads, and what it writes.
  virtual void collectiveRuns(const Collective &collective, int32_t rank) = 0;
  /// kiln.get: waits for whoever may write the element, then reads it.
  virtual void orchestrationReads(const Access &access, const Trace &trace) = 0;
  /// A launch starts all its blocks at once, on a machine that has so many core groups.
  virtual void blocksStartAtOnce(mlir::Operation *submit, llvm::ArrayRef<int64_t> grid,
                                 const Machine &machine) = 0;
  virtual void blockStarts(std::array<int64_t, 3> block) = 0;
  virtual Agent &addAgent(std::string name) = 0;

  //===-- What happens ----------------------------------------------------------------===//
  /// A scalar has decided how the run goes on.
  virtual void sideIsTaken(mlir::Operation *op, Side side) = 0;
  virtual void memoryIsAllocated(const Tensor &tensor) = 0;
  /// A loop that promises independent iterations; without an agent: of the orchestration.
  virtual void parallelLoopStarts(const Agent *agent, mlir::scf::ForOp loop) = 0;
  virtual void parallelIterationEnds(const Agent *agent, bool isLast) = 0;
  /// Without an agent nothing is checked: the body of a group accesses no memory.
  virtual void memoryIsAccessed(const Access &access, const Footprint &at, AccessKind kind) = 0;
  /// A tile was read from memory; gets the origins of elements that were padding when they were
  /// stored.
  virtual void tileIsLoaded(const Footprint &at, Tile &tile) = 0;
  /// A tile is written to memory, or added to it.
  virtual void tileIsStored(const Access &access, const Footprint &at, AccessKind kind,
                            const Tile &tile) = 0;
  /// An element of a tile becomes a scalar.
  virtual void elementIsTaken(Interpreter &in, mlir::Operation *op, const Tile &tile,
                              llvm::ArrayRef<int64_t> place) = 0;
  /// The result of an operation on tiles; gets the origins of its elements.
  virtual void tileIsComputed(Interpreter &in, mlir::Operation *op, Tile &result) = 0;
  /// An operation has combined the lines of its tiles by its body.
  virtual void linesAreCombined(Interpreter &in, tile::CombiningInterface op) = 0;
  /// The result of an operation on scalars is NaN.
  virtual void scalarIsNan(Interpreter &in, mlir::Operation *op) = 0;
  /// A push, pop or free has been done; `used` of the pipe's slots are in use now.
  virtual void pipeIsUsed(const Agent &agent, mlir::Operation *op, const std::string &pipe,
                          uint64_t used, int64_t slots) = 0;
  /// Of a deadlock: this agent can never go on.
  virtual void agentIsBlocked(const Agent &agent, mlir::Operation *op, const std::string &why) = 0;
  /// A tile was used that `pop` took from a slot which `free` has released since.
  virtual void freedSlotIsUsed(const Agent &agent, mlir::Operation *op, tile::PopOp pop,
                               mlir::Operation *free, const std::string &pipe) = 0;

  /// An instruction, a flag or a barrier of a core whose units work at the same time: what is wrong
  /// with their order, and the other operation that it is wrong with, if there is one.
  virtual void unitsAreOutOfOrder(const Agent &agent, mlir::Operation *op, const std::string &what,
                                  mlir::Operation *other) = 0;

  //===-- What must hold in the end ---------------------------------------------------===//
  /// The run has ended well: what it left of a tensor of the entry for results.
  virtual void outputIsDone(ir::FuncOp entry, unsigned number, const Tensor &tensor) = 0;
};

/// kiln::simulate, watched; `watcher` may be null.
Status simulate(mlir::ModuleOp prepared, ir::FuncOp entry, std::span<const Argument> args,
                const SimulatorOptions &options, SimulationReport *report, Watcher *watcher);

/// kiln::simulateRanks, each rank with a watcher of its own; `watcherOf` may be null.
Status simulateRanks(mlir::ModuleOp prepared, ir::FuncOp entry,
                     std::span<const std::vector<Argument>> args, const SimulatorOptions &options,
                     std::span<SimulationReport> reports,
                     llvm::function_ref<Watcher *(int32_t rank)> watcherOf);

} // namespace kiln::simulator

#endif // KILN_LIB_SIMULATOR_WATCHER_H
