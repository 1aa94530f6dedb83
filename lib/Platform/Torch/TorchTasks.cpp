//===- TorchTasks.cpp - the PyTorch reference, task by task ---------------------------===//
//
// A dump of the reference: the orchestration runs as on a simulator, through the engine, which
// dumps arguments as ever; each task is one call of the reference, over its whole grid. So the dump
// has the same tasks as a simulator's, and `kiln dump --diff` finds the first that computes
// otherwise.
//
//===----------------------------------------------------------------------------===//
#include "TorchTasks.h"

#include "kiln/Platform/Reference.h"
#include "kiln/Simulator/Simulator.h"

using namespace mlir;

namespace kiln {

/// A program whose entry launches `kernel` over `grid` with its own arguments.
static OwningOpRef<ModuleOp> programOfTask(ModuleOp module, ir::FuncOp kernel,
                                           ArrayRef<int64_t> grid, std::string &entry) {
  OwningOpRef<ModuleOp> copy = module.clone();
  for (entry = "task"; copy->lookupSymbol(entry);)
    entry += "_";
  OpBuilder builder(copy->getContext());
  builder.setInsertionPointToEnd(copy->getBody());
  Location loc = kernel.getLoc();
  auto type = FunctionType::get(copy->getContext(), kernel.getArgumentTypes(), {});
  auto task = ir::FuncOp::create(builder, loc, entry, type, ir::FuncKind::Orchestration);
  for (unsigned number = 0; number < kernel.getNumArguments(); ++number) {
    task.setArgName(number, kernel.getArgName(number));
    if (std::optional<ir::Direction> direction = kernel.getArgDirection(number))
      task.setArgDirection(number, *direction);
  }
  builder.setInsertionPointToStart(&task.getBody().front());
  ir::SubmitOp::create(builder, loc, builder.getType<ir::TaskType>(),
                       FlatSymbolRefAttr::get(kernel.getSymNameAttr()), task.getArguments(),
                       ValueRange(), builder.getDenseI64ArrayAttr(grid), ValueRange(),
                       ir::findBarrier(kernel) ? builder.getUnitAttr() : UnitAttr(), Value(),
                       ValueRange(), DenseI64ArrayAttr(), arith::CmpIPredicateAttr(),
                       IntegerAttr());
  return copy;
}

Status runReferenceByTask(const Platform &platform, const RunRequest &request) {
  SimulatorOptions simulator;
  simulator.program = request.program;
  simulator.platform = platform.name();
  simulator.dump = request.dump;
  simulator.runTask = [&](ir::FuncOp kernel, std::span<const Argument> taskArgs,
                          std::array<int64_t, 3> grid) -> Status {
    std::string name;
    OwningOpRef<ModuleOp> program = programOfTask(request.module, kernel, grid, name);
    return runReference(*program, program->lookupSymbol<ir::FuncOp>(name), request.text, taskArgs);
  };
  return simulate(request.module, request.entry, request.args, simulator);
}

} // namespace kiln
