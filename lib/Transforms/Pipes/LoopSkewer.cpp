#include "LoopSkewer.h"

#include "LoopGuard.h"

#include "kiln/Dialect/Tile/TileDialect.h"

#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;

namespace kiln {

bool LoopSkewer::pushesAndPops(scf::ForOp loop) {
  bool pushes = false, pops = false;
  loop.walk([&](Operation *op) {
    pushes |= isa<tile::PushOp>(op);
    pops |= isa<tile::PopOp>(op);
  });
  return pushes && pops;
}

//===----------------------------------------------------------------------===//
// What can run ahead
//===----------------------------------------------------------------------===//

LoopSkewer::LoopSkewer(scf::ForOp loop) : Loop(loop) {
  bool ordersMemory = false;
  loop.walk([&](Operation *op) {
    // A token orders accesses of two roles; they must stay where they are.
    if (auto push = dyn_cast<tile::PushOp>(op))
      ordersMemory |= push.getTiles().empty();
    else if (auto pop = dyn_cast<tile::PopOp>(op))
      ordersMemory |= pop.getTiles().empty();
    ordersMemory |= isa<tile::BarrierOp>(op);
  });
  std::optional<int64_t> step = getConstantIntValue(loop.getStep());
  if (ordersMemory)
    Reason = "tokens or barriers order its accesses to memory";
  else if (!step || *step <= 0)
    Reason = "its step is not a positive constant";
  else if (loop.getUnsignedCmp())
    Reason = "its bounds are compared as unsigned numbers";
  else
    choosePushes();
  if (Reason.empty())
    divideBody();
}

/// Whether an operation only reads what this role never writes.
bool LoopSkewer::isReadable(Operation *op) {
  SmallVector<tile::TensorAccess, 2> reads = tile::tensorAccesses(op);
  if (reads.empty() || llvm::any_of(reads, [](const tile::TensorAccess &a) { return a.writes; }))
    return false;
  bool isWritten = false;
  Loop->getParentOfType<ir::FuncOp>().walk([&](Operation *other) {
    for (const tile::TensorAccess &access : tile::tensorAccesses(other))
      for (const tile::TensorAccess &read : reads)
        isWritten |= access.writes && ir::rootOf(access.tensor) == ir::rootOf(read.tensor);
  });
  return !isWritten;
}

bool LoopSkewer::collect(Value value, llvm::SetVector<Operation *> &ops,
                         llvm::SetVector<unsigned> &args) {
  if (auto argument = dyn_cast<BlockArgument>(value)) {
    if (argument.getOwner() != Loop.getBody() || argument == Loop.getInductionVar())
      return true;
    unsigned index = argument.getArgNumber() - 1;
    return !args.insert(index) || collect(Loop.getYieldedValues()[index], ops, args);
  }
  Operation *op = value.getDefiningOp();
  if (op->getBlock() != Loop.getBody() || ops.contains(op))
    return true;
  if (op->getNumRegions() > 0 || !(isMemoryEffectFree(op) || isReadable(op)))
    return false;
  ops.insert(op);
  return llvm::all_of(op->getOperands(),
                      [&](Value operand) { return collect(operand, ops, args); });
}

void LoopSkewer::choosePushes() {
  // The tiles of a pipe stay in order: all pushes into it run ahead, or none.
  llvm::SmallPtrSet<Value, 4> staying;
  llvm::SmallPtrSet<Operation *, 4> fit;
  Loop.walk([&](tile::PushOp push) {
    llvm::SetVector<Operation *> ops;
    llvm::SetVector<unsigned> args;
    bool fits = push->getBlock() == Loop.getBody() &&
                llvm::all_of(push.getTiles(), [&](Value tile) { return collect(tile, ops, args); });
    if (!fits)
      staying.insert(push.getPipe());
  });
  for (auto push : Loop.getBody()->getOps<tile::PushOp>())
    if (!staying.contains(push.getPipe())) {
      Pushes.push_back(push);
      for (Value tile : push.getTiles())
        (void)collect(tile, Ahead, AheadArgs);
      Ahead.insert(push);
    }
  if (Pushes.empty())
    Reason = "each waits for a pop of its own iteration, or of the one before";
}

bool LoopSkewer::isRecomputed(Operation *op) {
  auto isTile = [](Type type) { return isa<tile::TileType>(type); };
  if (!isMemoryEffectFree(op) || llvm::any_of(op->getOperandTypes(), isTile) ||
      llvm::any_of(op->getResultTypes(), isTile))
    return false;
  return llvm::all_of(op->getOperands(), [&](Value operand) {
    Operation *def = operand.getDefiningOp();
    if (!def || def->getBlock() != Loop.getBody())
      return !isa<BlockArgument>(operand) || operand == Loop.getInductionVar() ||
             cast<BlockArgument>(operand).getOwner() != Loop.getBody();
    return isRecomputed(def);
  });
}

/// Finds what the rest needs of the ahead part.
void LoopSkewer::divideBody() {
  SmallVector<Value> used;
  for (Operation &op : *Loop.getBody()) {
    if (Ahead.contains(&op))
      continue;
    if (&op == Loop.getBody()->getTerminator()) {
      for (auto [index, operand] : llvm::enumerate(op.getOperands()))
        if (!AheadArgs.contains(index))
          used.push_back(operand);
      continue;
    }
    op.walk([&](Operation *inside) { llvm::append_range(used, inside->getOperands()); });
  }
  while (!used.empty()) {
    Value value = used.pop_back_val();
    if (auto argument = dyn_cast<BlockArgument>(value)) {
      if (argument.getOwner() == Loop.getBody() && argument != Loop.getInductionVar() &&
          AheadArgs.contains(argument.getArgNumber() - 1))
        Handed.insert(value);
      continue;
    }
    Operation *op = value.getDefiningOp();
    if (!Ahead.contains(op))
      continue;
    if (!isRecomputed(op))
      Handed.insert(value);
    else if (Recomputed.insert(op))
      llvm::append_range(used, op->getOperands());
  }
}

//===----------------------------------------------------------------------===//
// Skewing
//===----------------------------------------------------------------------===//

void LoopSkewer::cloneAhead(OpBuilder &builder, IRMapping &values) {
  for (Operation &op : *Loop.getBody())
    if (Ahead.contains(&op))
      builder.clone(op, values);
}

void LoopSkewer::cloneRest(OpBuilder &builder, IRMapping &values) {
  for (Operation &op : Loop.getBody()->without_terminator())
    if (!Ahead.contains(&op) || Recomputed.contains(&op))
      builder.clone(op, values);
}

/// Prologue, steady state and epilogue of a loop that runs at least once.
scf::ForOp LoopSkewer::build(OpBuilder &builder, Value trips, SmallVector<Value> &results) {
  Location loc = Loop.getLoc();
  Value lower = Loop.getLowerBound(), upper = Loop.getUpperBound(), step = Loop.getStep();
  unsigned numCarried = Loop.getNumRegionIterArgs();
  auto yieldedBy = [&](const IRMapping &values, unsigned index) {
    return values.lookupOrDefault(Loop.getYieldedValues()[index]);
  };

  // Carried: the loop's own values, those of the ahead part one iteration further; then what the
  // ahead part hands to the rest of its iteration.
  IRMapping first;
  first.map(Loop.getInductionVar(), lower);
  first.map(Loop.getRegionIterArgs(), Loop.getInitArgs());
  cloneAhead(builder, first);
  SmallVector<Value> inits;
  for (unsigned index = 0; index < numCarried; ++index)
    inits.push_back(AheadArgs.contains(index) ? yieldedBy(first, index)
                                              : Loop.getInitArgs()[index]);
  for (Value value : Handed)
    inits.push_back(first.lookup(value));

  Value last = builder.createOrFold<arith::SubIOp>(loc, upper, step);
  auto steady = scf::ForOp::create(
      builder, loc, lower, last, step, inits,
      [&](OpBuilder &body, Location, Value index, ValueRange carried) {
        IRMapping ahead, rest;
        ahead.map(Loop.getInductionVar(), body.createOrFold<arith::AddIOp>(loc, index, step));
        rest.map(Loop.getInductionVar(), index);
        ahead.map(Loop.getRegionIterArgs(), carried.take_front(numCarried));
        rest.map(Loop.getRegionIterArgs(), carried.take_front(numCarried));
        rest.map(Handed.getArrayRef(), carried.drop_front(numCarried));
        cloneAhead(body, ahead);
        cloneRest(body, rest);
        SmallVector<Value> next;
        for (unsigned number = 0; number < numCarried; ++number)
          next.push_back(yieldedBy(AheadArgs.contains(number) ? ahead : rest, number));
        for (Value value : Handed)
          next.push_back(ahead.lookup(value));
        scf::YieldOp::create(body, loc, next);
      });
  steady->setDiscardableAttrs(Loop->getDiscardableAttrDictionary());

  IRMapping rest;
  rest.map(Loop.getInductionVar(), lastIndexOf(Loop, builder, trips));
  rest.map(Loop.getRegionIterArgs(), steady.getResults().take_front(numCarried));
  rest.map(Handed.getArrayRef(), steady.getResults().drop_front(numCarried));
  cloneRest(builder, rest);
  for (unsigned index = 0; index < numCarried; ++index)
    results.push_back(AheadArgs.contains(index) ? steady.getResult(index) : yieldedBy(rest, index));
  return steady;
}

scf::ForOp LoopSkewer::skew() {
  scf::ForOp steady;
  replaceLoop(Loop, [&](OpBuilder &builder, Value trips) {
    SmallVector<Value> results;
    steady = build(builder, trips, results);
    return results;
  });
  return steady;
}

} // namespace kiln
