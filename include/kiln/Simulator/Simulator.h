//===- Simulator.h - executes a program's IR and checks it while it runs -------------===//
//
// One interpreter of the IR. Orchestrations are interpreted and launch through the runtime's
// engine, so order, dumps and traces are the engine's; the blocks of kernels and groups are
// interpreted too, the roles of a group as cooperating instances that switch at every pipe
// operation. A seed picks one reproducible schedule; results never depend on it. See
// docs/simulator.md.
//
// Ownership: borrows the module, the machine and the caller's tensors for the length of the call.
// Threads: one simulation runs on the calling thread alone; several modules may be simulated
// concurrently.
//
//===----------------------------------------------------------------------------===//
#ifndef KILN_SIMULATOR_SIMULATOR_H
#define KILN_SIMULATOR_SIMULATOR_H

#include "kiln/Dialect/Tile/TileDialect.h"
#include "kiln/Machine/Machine.h"
#include "kiln/Program/Arguments.h"
#include "kiln/runtime/dump.h"
#include "kiln/runtime/engine.h"
#include "kiln/runtime/task.h"

#include <array>
#include <functional>
#include <optional>
#include <span>
#include <string>

namespace kiln {

struct SimulatorOptions {
  /// 0: tasks in submission order, blocks row-major, roles round robin. Anything else: a
  /// reproducible random order of all three.
  uint64_t seed = 0;
  /// Gives what the program leaves to the machine, such as the slots of a pipe. None: two slots.
  const Machine *machine = nullptr;
  /// Steps after which the simulation is stopped. A step is about what a scalar operation costs;
  /// work on tiles counts by their elements.
  uint64_t maxSteps = UINT64_MAX;
  DumpOptions dump;
  /// For people reading the dump.
  std::string program, platform = "sim";
  /// For SimulationReport::timeline; needs a report.
  bool recordTimeline = false;
  /// Launches the tasks of the entry instead of the interpreter: a compiled orchestration, whose
  /// kernels are still simulated. Given the entry's arguments in parameter order.
  std::function<Status(Engine &engine, std::span<const Argument> args)> orchestrate;
  /// Runs all blocks of a task instead of the interpreter: another way to execute the same kernel.
  /// Given the task's arguments in parameter order.
  std::function<Status(ir::FuncOp kernel, std::span<const Argument> args,
                       std::array<int64_t, 3> grid)>
      runTask;
  /// If it is known: as soon as nothing that is left can come to this place of the source, the
  /// other tasks do nothing, and the run ends well.
  SourceLoc until = {};
  /// Where the entry runs as one rank of several. Null: it is the only one.
  Transport *ranks = nullptr;
  /// Called when a task has run, with its kernel and the tensors it writes.
  std::function<void(const std::string &kernel, std::span<const Tensor> written)> onTaskEnd;
};

/// What a simulation did, up to its end or its first failure.
struct SimulationReport {
  Trace trace;
  Timeline timeline;         ///< If it was asked for.
  uint64_t blocks = 0;       ///< Blocks of all launches.
  uint64_t operations = 0;   ///< IR operations executed, terminators included.
  uint64_t steps = 0;        ///< What they cost; see SimulatorOptions::maxSteps.
  bool isOutOfSteps = false; ///< It was stopped at SimulatorOptions::maxSteps.
  std::optional<TaskFailure> failure;
};

/// Runs `entry` of a prepared module (see buildPreparePipeline). A kernel or group is launched as
/// one task of one block. Errors: InvalidArgument or FailedPrecondition for bad arguments or a
/// module that is not prepared, Deadlock, KernelFailed for every other fault of the program,
/// Unsupported for an op the simulator does not know; each with the user's source location.
Status simulate(mlir::ModuleOp prepared, ir::FuncOp entry, std::span<const Argument> args,
                const SimulatorOptions &options = {}, SimulationReport *report = nullptr);

/// Runs `entry` on as many ranks as there are lists of arguments, in turns on one thread at a time,
/// so that the order depends on the seed alone. The dump of each is in a folder of its own,
/// rankDirectory(). Errors as those of simulate(), with the rank that failed first.
Status simulateRanks(mlir::ModuleOp prepared, ir::FuncOp entry,
                     std::span<const std::vector<Argument>> args,
                     const SimulatorOptions &options = {},
                     std::span<SimulationReport> reports = {});

/// Whether the simulator executes this operation; a test holds it against both dialects.
bool isSimulated(mlir::OperationName name);

} // namespace kiln

#endif // KILN_SIMULATOR_SIMULATOR_H
