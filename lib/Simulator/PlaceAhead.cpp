#include "PlaceAhead.h"

#include "kiln/Program/Signature.h"

using namespace mlir;

namespace kiln::simulator {

PlaceAhead::PlaceAhead(ModuleOp module, const SourceLoc &place) {
  auto isThere = [&](Operation *op) {
    return sourceLocOf(op->getLoc()) == place ? WalkResult::interrupt() : WalkResult::advance();
  };
  for (auto func : module.getOps<ir::FuncOp>())
    if (func->walk(isThere).wasInterrupted()) {
      Kernels.insert(func.getSymName());
      IsInOrchestration |= func.getKind() == ir::FuncKind::Orchestration;
    }
  auto callsOneOfThem = [&](ir::CallOp call) {
    return Kernels.contains(call.getCallee()) ? WalkResult::interrupt() : WalkResult::advance();
  };
  for (bool hasChanged = true; hasChanged;) {
    hasChanged = false;
    for (auto func : module.getOps<ir::FuncOp>())
      if (!Kernels.contains(func.getSymName()) && func->walk(callsOneOfThem).wasInterrupted())
        hasChanged = Kernels.insert(func.getSymName()).second;
  }
}

void PlaceAhead::entryHasEnded(const Trace &trace) {
  if (IsInOrchestration || Kernels.empty())
    return;
  Tasks.emplace();
  for (const TraceTask &task : trace.tasks)
    if (Kernels.contains(task.kernel))
      Tasks->push_back(task.index);
}

bool PlaceAhead::isBehind(const Trace &trace) {
  if (!Tasks)
    return false;
  while (!Tasks->empty() && trace.tasks[Tasks->back()].state != TaskState::Pending)
    Tasks->pop_back();
  return Tasks->empty();
}

} // namespace kiln::simulator
