#include "kiln/Program/Launched.h"

using namespace mlir;

std::vector<kiln::ir::FuncOp> kiln::launchedFunctions(ModuleOp module) {
  llvm::DenseSet<Operation *> members, launched;
  bool hasOrchestration = false;
  module.walk([&](Operation *op) {
    if (auto call = dyn_cast<ir::CallOp>(op))
      members.insert(module.lookupSymbol<ir::FuncOp>(call.getCallee()));
    else if (auto submit = dyn_cast<ir::SubmitOp>(op); submit && submit.getCallee())
      launched.insert(module.lookupSymbol<ir::FuncOp>(*submit.getCallee()));
    else if (auto func = dyn_cast<ir::FuncOp>(op))
      hasOrchestration |= func.getKind() == ir::FuncKind::Orchestration;
  });
  std::vector<ir::FuncOp> functions;
  for (auto func : module.getOps<ir::FuncOp>())
    if (func.getKind() != ir::FuncKind::Orchestration &&
        (hasOrchestration ? launched.contains(func) : !members.contains(func)))
      functions.push_back(func);
  return functions;
}
