#include "kiln/Transforms/Passes.h"

#include "kiln/Dialect/Kiln/Contracts.h"

using namespace mlir;

namespace kiln {
#define GEN_PASS_DEF_KILNSPREADREQUIRES
#include "kiln/Transforms/Passes.h.inc"

namespace {

/// An op that calls or launches a function, with what it passes.
struct Launch {
  Operation *op;
  ir::FuncOp caller;
  ValueRange args;

  /// Whether it is executed whenever the caller is.
  bool isCertain() { return op->getParentOp() == caller; }
};

SmallVector<ir::RequireOp> requirementsOf(ir::FuncOp func) {
  return llvm::to_vector(ir::requirementsIn(func));
}

/// The same extent, asked for twice.
bool isSameExtent(Value a, Value b) {
  auto one = a.getDefiningOp<ir::DimOp>(), other = b.getDefiningOp<ir::DimOp>();
  return one && other && one.getTensor() == other.getTensor() && one.getDim() == other.getDim();
}

/// Makes what a callee requires a requirement of its caller, where that is given all it is about.
void copyUp(ir::FuncOp callee, Launch launch) {
  IRMapping values;
  for (auto [parameter, arg] : llvm::zip(callee.getArguments(), launch.args))
    if (isa<ir::TensorType>(arg.getType()) ? isa<BlockArgument>(arg)
                                           : !ir::findObstacle(arg, launch.caller.getBody()))
      values.map(parameter, arg);
  OpBuilder builder(launch.op);
  for (ir::RequireOp require : requirementsOf(callee))
    ir::copyRequire(builder, require, values);
}

/// Makes what the caller requires a requirement of a callee, where all launches pass on what it is
/// about.
void copyDown(ir::FuncOp callee, ArrayRef<Launch> launches) {
  ir::FuncOp caller = launches.front().caller;
  if (llvm::any_of(launches, [&](const Launch &launch) { return launch.caller != caller; }))
    return;
  OpBuilder builder(&callee.getBody().front(), callee.getBody().front().begin());
  for (ir::RequireOp require : requirementsOf(caller)) {
    IRMapping values;
    for (auto [number, parameter] : llvm::enumerate(callee.getArguments())) {
      Value arg = launches.front().args[number];
      if (!llvm::all_of(launches, [&](const Launch &launch) {
            return launch.args[number] == arg || isSameExtent(launch.args[number], arg);
          }))
        continue;
      values.map(arg, parameter);
      for (Operation *op : ir::conditionOps(require))
        if (isSameExtent(op->getResult(0), arg))
          values.map(op->getResult(0), parameter);
    }
    ir::copyRequire(builder, require, values);
  }
}

/// Moves requirements, and what they are made of, before everything that does something.
void moveToFront(ir::FuncOp func) {
  Block &body = func.getBody().front();
  auto first = llvm::find_if(body, [](Operation &op) {
    return op.hasTrait<OpTrait::IsTerminator>() ||
           (!isMemoryEffectFree(&op) && !isa<ir::RequireOp>(op));
  });
  Operation *front = &*first;
  for (ir::RequireOp require : requirementsOf(func)) {
    SmallVector<Operation *> ops = ir::conditionOps(require);
    ops.push_back(require);
    for (Operation *op : ops)
      if (front->isBeforeInBlock(op))
        op->moveBefore(front);
  }
}

struct SpreadRequires : impl::KilnSpreadRequiresBase<SpreadRequires> {
  llvm::MapVector<Operation *, SmallVector<Launch>> Launches; ///< Of each function.
  SmallVector<ir::FuncOp> Order;                              ///< Callees before callers.

  void visit(ir::FuncOp func, SymbolTable &symbols) {
    if (!Launches.insert({func, {}}).second)
      return;
    // What a kernel or group calls runs as a part of it, and requires nothing.
    if (func.getKind() == ir::FuncKind::Orchestration)
      func.walk([&](Operation *op) {
        FlatSymbolRefAttr name;
        ValueRange args;
        if (auto call = dyn_cast<ir::CallOp>(op))
          name = call.getCalleeAttr(), args = call.getArgs();
        else if (auto submit = dyn_cast<ir::SubmitOp>(op))
          name = submit.getCalleeAttr(), args = submit.getArgs();
        if (!name || op->getParentOfType<ir::IncoreOp>())
          return;
        auto callee = symbols.lookup<ir::FuncOp>(name.getValue());
        visit(callee, symbols);
        Launches[callee].push_back({op, func, args});
      });
    Order.push_back(func);
  }

  void runOnOperation() override {
    Launches.clear();
    Order.clear();
    SymbolTable symbols(getOperation());
    for (auto func : getOperation().getOps<ir::FuncOp>())
      visit(func, symbols);
    for (ir::FuncOp func : Order)
      for (Launch &launch : Launches[func])
        if (launch.isCertain())
          copyUp(func, launch);
    for (ir::FuncOp func : llvm::reverse(Order))
      if (!Launches[func].empty())
        copyDown(func, Launches[func]);
    for (ir::FuncOp func : Order)
      moveToFront(func);
  }
};
} // namespace
} // namespace kiln
