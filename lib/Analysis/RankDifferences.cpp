#include "RankDifferences.h"

#include "kiln/Dialect/Tile/TileDialect.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;

namespace kiln {

static Difference worse(Difference a, Difference b) { return a.kind >= b.kind ? a : b; }

RankDifferences::RankDifferences(ir::FuncOp entry) : Module(entry->getParentOfType<ModuleOp>()) {
  Functions.insert(entry);
  for (size_t i = 0; i < Functions.size(); ++i) {
    ir::FuncOp func = Functions[i];
    func.walk([&](ir::CallOp call) {
      if (auto callee = Module.lookupSymbol<ir::FuncOp>(call.getCallee()))
        Functions.insert(callee);
    });
  }
  // Nothing differs until something shows that it does, and what once differs does so for good.
  do {
    HasChanged = false;
    for (ir::FuncOp func : Functions)
      visit(func.getBody().front());
  } while (HasChanged);
}

Difference RankDifferences::ofAll(ValueRange values) const {
  Difference all;
  for (Value value : values)
    all = worse(all, of(value));
  return all;
}

void RankDifferences::raise(Value value, Difference by) {
  if (by.kind <= of(value).kind)
    return;
  Values[value] = by;
  HasChanged = true;
}

void RankDifferences::visit(Block &block) {
  Difference control = of(&block);
  for (Operation &op : block)
    visit(op, control);
}

void RankDifferences::visit(Operation &op, Difference control) {
  if (auto loop = dyn_cast<scf::ForOp>(op))
    return visitLoop(loop, control);
  if (auto branch = dyn_cast<scf::IfOp>(op))
    return visitBranch(branch, control);
  if (auto call = dyn_cast<ir::CallOp>(op))
    visitCall(call, control);
  for (Value result : op.getResults())
    raise(result, ofResult(op));
  if (isa<ir::ScopeOp>(op))
    return visitRegions(op, control);
  if (isa<ir::IncoreOp>(op))
    return; // a kernel is one rank's own business
  for (Region &region : op.getRegions())
    for (BlockArgument argument : region.getArguments())
      raise(argument, {Difference::ByData, &op});
  visitRegions(op, {Difference::ByData, &op});
}

void RankDifferences::visitRegions(Operation &op, Difference inside) {
  for (Region &region : op.getRegions())
    for (Block &block : region) {
      if (inside.kind > of(&block).kind) {
        Blocks[&block] = inside;
        HasChanged = true;
      }
      visit(block);
    }
}

void RankDifferences::visitLoop(scf::ForOp loop, Difference control) {
  Difference bounds = ofAll({loop.getLowerBound(), loop.getUpperBound(), loop.getStep()});
  raise(loop.getInductionVar(), bounds);
  for (auto [argument, init] : llvm::zip(loop.getRegionIterArgs(), loop.getInits()))
    raise(argument, of(init));
  visitRegions(*loop, worse(control, bounds));
  // What comes out depends on how many iterations there were, too.
  for (auto [argument, yielded, result] :
       llvm::zip(loop.getRegionIterArgs(), loop.getYieldedValues(), loop.getResults())) {
    raise(argument, of(yielded));
    raise(result, worse(of(argument), bounds));
  }
}

void RankDifferences::visitBranch(scf::IfOp branch, Difference control) {
  Difference condition = of(branch.getCondition());
  visitRegions(*branch, worse(control, condition));
  for (OpResult result : branch.getResults())
    for (Region &region : branch->getRegions())
      raise(result,
            worse(condition,
                  of(region.front().getTerminator()->getOperand(result.getResultNumber()))));
}

void RankDifferences::visitCall(ir::CallOp call, Difference control) {
  auto callee = Module.lookupSymbol<ir::FuncOp>(call.getCallee());
  if (!callee)
    return;
  for (auto [parameter, arg] : llvm::zip(callee.getArguments(), call.getArgs()))
    raise(parameter, of(arg));
  Block *body = &callee.getBody().front();
  if (control.kind > of(body).kind) {
    Blocks[body] = control;
    HasChanged = true;
  }
}

/// What an operation without regions makes of its operands.
Difference RankDifferences::ofResult(Operation &op) const {
  if (isa<ir::RankIdOp>(op))
    return {Difference::ByRank, &op};
  if (isa<ir::RankCountOp>(op))
    return {};
  if (auto alloc = dyn_cast<ir::AllocOp>(op))
    return ofAll(alloc.getSizes());
  if (auto slice = dyn_cast<ir::SliceOp>(op))
    return ofAll(slice.getSizes());
  if (auto reshape = dyn_cast<ir::ReshapeOp>(op))
    return ofAll(reshape.getSizes());
  bool isMadeOfOperands =
      isa<ir::TransposeOp, ir::DimOp>(op) || isa<arith::ArithDialect>(op.getDialect());
  return isMadeOfOperands ? ofAll(op.getOperands())
                          : Difference{Difference::ByData, &op}; // kiln.get, and what nobody knows
}

} // namespace kiln
