// Loops and branches. Scalars become phis; tiles that are carried or yielded are copied into the
// buffer of whoever takes them, unless they are there already.
#include "KernelEmitter.h"

#include "kiln/abi.h"

using namespace mlir;

namespace kiln::llvmir {
namespace {

bool isTile(Value value) { return isa<tile::TileType>(value.getType()); }

Values scalarsOf(KernelEmitter &e, ValueRange values) {
  Values scalars;
  for (Value value : values)
    if (!isTile(value))
      scalars.push_back(e.scalar(value));
  return scalars;
}

void setScalars(KernelEmitter &e, ValueRange values, ArrayRef<llvm::Value *> made) {
  const auto *next = made.begin();
  for (Value value : values)
    if (!isTile(value))
      e.setScalar(value, *next++);
}

Values makePhis(Builder &b, ArrayRef<llvm::Value *> incoming, llvm::BasicBlock *from) {
  Values phis;
  for (llvm::Value *value : incoming) {
    llvm::PHINode *phi = b.CreatePHI(value->getType(), 2);
    phi->addIncoming(value, from);
    phis.push_back(phi);
  }
  return phis;
}

void addIncoming(ArrayRef<llvm::Value *> phis, ArrayRef<llvm::Value *> values,
                 llvm::BasicBlock *from) {
  for (auto [phi, value] : llvm::zip_equal(phis, values))
    cast<llvm::PHINode>(phi)->addIncoming(value, from);
}

/// After how many iterations somebody may want to end a loop; a power of two. One over scalars
/// alone makes a billion a second.
uint64_t patienceWith(scf::ForOp op) {
  auto works = [&](Operation *inner) {
    bool isWork = llvm::any_of(inner->getResults(), isTile) ||
                  llvm::any_of(inner->getOperands(), isTile) ||
                  (inner != op && isa<LoopLikeOpInterface>(inner));
    return isWork ? WalkResult::interrupt() : WalkResult::advance();
  };
  return op.walk(works).wasInterrupted() ? 1 : 1 << 16;
}

/// Lets a loop that may take long end early; `left` iterations follow this one.
void checkInterruption(KernelEmitter &e, scf::ForOp op, llvm::Value *left) {
  uint64_t patience = patienceWith(op);
  std::optional<llvm::APInt> trips = op.getStaticTripCount();
  if (trips && trips->ule(std::max<uint64_t>(64, patience)))
    return;
  if (patience == 1)
    return e.checkInterruption(op);
  Builder &b = e.b;
  llvm::Value *rest = b.CreateAnd(left, b.bits(left, patience - 1));
  b.choose(
      b.CreateICmpEQ(rest, b.bits(left, 0)),
      [&] {
        e.checkInterruption(op);
        return Values();
      },
      [] { return Values(); });
}

void emitFor(KernelEmitter &e, scf::ForOp op) {
  Builder &b = e.b;
  auto [lower, step, runs, most] = tripsOf(e, op);
  e.passTiles(op, op.getInitArgs(), op.getRegionIterArgs());
  Values initial = scalarsOf(e, op.getInitArgs());
  llvm::BasicBlock *before = b.GetInsertBlock(), *inside = b.block("for"), *after = b.block("end");
  b.CreateCondBr(runs, inside, after);
  b.SetInsertPoint(inside);
  Values control = makePhis(b, {lower, most}, before);
  Values carried = makePhis(b, initial, before);
  e.setScalar(op.getInductionVar(), control[0]);
  setScalars(e, op.getRegionIterArgs(), carried);
  checkInterruption(e, op, control[1]);
  e.emitBlock(*op.getBody());
  Values next = scalarsOf(e, op.getYieldedValues());
  llvm::BasicBlock *end = b.GetInsertBlock();
  llvm::Value *isLast = b.CreateICmpEQ(control[1], b.bits(most, 0));
  addIncoming(control, {b.CreateAdd(control[0], step), b.CreateSub(control[1], b.bits(most, 1))},
              end);
  addIncoming(carried, next, end);
  b.CreateCondBr(isLast, after, inside);
  b.SetInsertPoint(after);
  Values results = makePhis(b, initial, before);
  addIncoming(results, next, end);
  setScalars(e, op.getResults(), results);
}

void emitIf(KernelEmitter &e, scf::IfOp op) {
  auto side = [&](Region &region) {
    if (region.empty())
      return Values();
    e.emitBlock(region.front());
    return scalarsOf(e, region.front().getTerminator()->getOperands());
  };
  Values results = e.b.choose(
      e.scalar(op.getCondition()), [&] { return side(op.getThenRegion()); },
      [&] { return side(op.getElseRegion()); });
  setScalars(e, op.getResults(), results);
}

void emitWhile(KernelEmitter &e, scf::WhileOp op) {
  Builder &b = e.b;
  e.passTiles(op, op.getInits(), op.getBeforeArguments());
  Values initial = scalarsOf(e, op.getInits());
  llvm::BasicBlock *start = b.GetInsertBlock(), *before = b.block("while"), *after = b.block("do"),
                   *done = b.block("done");
  b.CreateBr(before);
  b.SetInsertPoint(before);
  Values carried = makePhis(b, initial, start);
  setScalars(e, op.getBeforeArguments(), carried);
  e.emitBlock(*op.getBeforeBody());
  scf::ConditionOp condition = op.getConditionOp();
  Values passed = scalarsOf(e, condition.getArgs());
  b.CreateCondBr(e.scalar(condition.getCondition()), after, done);
  b.SetInsertPoint(after);
  setScalars(e, op.getAfterArguments(), passed);
  e.checkInterruption(op);
  e.emitBlock(*op.getAfterBody());
  addIncoming(carried, scalarsOf(e, op.getYieldOp().getOperands()), b.GetInsertBlock());
  b.CreateBr(before);
  b.SetInsertPoint(done);
  setScalars(e, op.getResults(), passed);
}

void emitCondition(KernelEmitter &e, scf::ConditionOp op) {
  e.passTiles(op, op.getArgs(), cast<scf::WhileOp>(op->getParentOp()).getAfterArguments());
}

void emitYield(KernelEmitter &e, scf::YieldOp op) {
  Operation *parent = op->getParentOp();
  if (auto loop = dyn_cast<scf::ForOp>(parent))
    return e.passTiles(op, op.getOperands(), loop.getRegionIterArgs());
  if (auto loop = dyn_cast<scf::WhileOp>(parent))
    return e.passTiles(op, op.getOperands(), loop.getBeforeArguments());
  e.passTiles(op, op.getOperands(), parent->getResults());
}

/// The runtime marked the parameter when it made the task.
void emitDump(KernelEmitter &, ir::DumpOp) {}
/// The launch was judged when it was made.
void emitRequire(KernelEmitter &, ir::RequireOp) {}
/// The end of a block; what follows the body returns.
void emitReturn(KernelEmitter &, ir::ReturnOp) {}

} // namespace

Trips tripsOf(KernelEmitter &e, scf::ForOp op) {
  Builder &b = e.b;
  llvm::Value *lower = e.scalar(op.getLowerBound()), *upper = e.scalar(op.getUpperBound());
  llvm::Value *step = e.scalar(op.getStep());
  e.check(b.CreateICmpSGT(step, b.bits(step, 0)), op,
          Message("the step of the loop is ") << step << std::string("; it must be positive"));
  // Counting trips is exact for all bounds; adding the step could run over the end.
  llvm::Value *runs =
      op.getUnsignedCmp() ? b.CreateICmpULT(lower, upper) : b.CreateICmpSLT(lower, upper);
  llvm::Value *distance = b.CreateSub(b.CreateSub(upper, lower), b.bits(lower, 1));
  return {lower, step, runs, b.CreateUDiv(distance, step)};
}

void addControlOps(OpTable &table) {
  table.add<scf::ForOp, emitFor>();
  table.add<scf::IfOp, emitIf>();
  table.add<scf::WhileOp, emitWhile>();
  table.add<scf::ConditionOp, emitCondition>();
  table.add<scf::YieldOp, emitYield>();
  table.add<ir::DumpOp, emitDump>();
  table.add<ir::RequireOp, emitRequire>();
  table.add<ir::ReturnOp, emitReturn>();
}

} // namespace kiln::llvmir
