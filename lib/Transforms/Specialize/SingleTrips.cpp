#include "kiln/Transforms/Passes.h"

#include "kiln/Dialect/Kiln/LoopAttributes.h"
#include "kiln/Dialect/Tile/TileDialect.h"

#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/IRMapping.h"

using namespace mlir;

namespace kiln {
#define GEN_PASS_DEF_TILESINGLETRIPS
#include "kiln/Transforms/Passes.h.inc"

namespace {

/// Whether two loops run over the same indices.
bool haveSameBounds(scf::ForOp a, scf::ForOp b) {
  return a.getLowerBound() == b.getLowerBound() && a.getUpperBound() == b.getUpperBound() &&
         a.getStep() == b.getStep();
}

bool isWalk(scf::ForOp loop) {
  std::optional<int64_t> step = getConstantIntValue(loop.getStep());
  auto kind = loop->getAttrOfType<ir::LoopAttr>(ir::kLoopAttr);
  return loop.getInductionVar().getType().isIndex() && !loop.getUnsignedCmp() && step &&
         *step > 0 && !(kind && kind.getKind() == ir::LoopKind::Pipeline);
}

/// Whether `b` loads, at its own index, what `a` loads at its own.
bool loadsTheSame(scf::ForOp a, scf::ForOp b) {
  auto isSame = [&](tile::LoadOp one, tile::LoadOp other) {
    return one.getTensor() == other.getTensor() && one.getType() == other.getType() &&
           one.getStaticIndices() == other.getStaticIndices() &&
           llvm::equal(one.getIndices(), other.getIndices(), [&](Value x, Value y) {
             return x == y || (x == a.getInductionVar() && y == b.getInductionVar());
           });
  };
  for (auto one : a.getBody()->getOps<tile::LoadOp>())
    for (auto other : b.getBody()->getOps<tile::LoadOp>())
      if (isSame(one, other))
        return true;
  return false;
}

/// The loops of a kernel along one row; fewer than two if a version for short rows gains nothing.
SmallVector<scf::ForOp> loopsAlongRow(ir::FuncOp func) {
  bool hasProducts =
      func.walk([](tile::ProductInterface) { return WalkResult::interrupt(); }).wasInterrupted();
  if (hasProducts || func.getBody().empty())
    return {};
  SmallVector<scf::ForOp> loops;
  bool loadAgain = false;
  for (auto loop : func.getBody().front().getOps<scf::ForOp>()) {
    if (!isWalk(loop) || (!loops.empty() && !haveSameBounds(loops.front(), loop)))
      return {};
    loadAgain |= llvm::any_of(loops, [&](scf::ForOp other) { return loadsTheSame(other, loop); });
    loops.push_back(loop);
  }
  return loadAgain ? loops : SmallVector<scf::ForOp>();
}

/// The body of a loop with one iteration, in its place.
void inlineOnlyTrip(scf::ForOp loop) {
  IRMapping map;
  map.map(loop.getInductionVar(), loop.getLowerBound());
  map.map(loop.getRegionIterArgs(), loop.getInits());
  OpBuilder builder(loop);
  for (Operation &op : loop.getBody()->without_terminator())
    builder.clone(op, map);
  for (auto [result, yielded] : llvm::zip_equal(loop.getResults(), loop.getYieldedValues()))
    result.replaceAllUsesWith(map.lookupOrDefault(yielded));
  loop.erase();
}

/// From the first loop to the end: once more, for a row of one tile.
void addVersion(ArrayRef<scf::ForOp> loops) {
  scf::ForOp first = loops.front();
  Location loc = first.getLoc();
  OpBuilder builder(first);
  Value lower = first.getLowerBound(), upper = first.getUpperBound();
  Value end = arith::AddIOp::create(builder, loc, lower, first.getStep());
  using P = arith::CmpIPredicate;
  Value begins = arith::CmpIOp::create(builder, loc, P::slt, lower, upper);
  Value ends = arith::CmpIOp::create(builder, loc, P::sle, upper, end);
  Value isShort = arith::AndIOp::create(builder, loc, begins, ends);
  auto either = scf::IfOp::create(builder, loc, isShort, /*withElseRegion=*/true);
  either->setAttr(ir::kOneTileAttr, builder.getUnitAttr());
  SmallVector<Operation *> rest;
  for (Operation *op = either->getNextNode(); !op->hasTrait<OpTrait::IsTerminator>();
       op = op->getNextNode())
    rest.push_back(op);
  IRMapping map;
  auto once = OpBuilder::atBlockBegin(either.thenBlock());
  for (Operation *op : rest)
    once.clone(*op, map);
  for (auto loop : llvm::make_early_inc_range(either.thenBlock()->getOps<scf::ForOp>()))
    inlineOnlyTrip(loop);
  for (Operation *op : rest)
    op->moveBefore(either.elseBlock()->getTerminator());
}

struct SingleTrips : impl::TileSingleTripsBase<SingleTrips> {
  using TileSingleTripsBase::TileSingleTripsBase;

  void runOnOperation() override {
    for (auto func : getOperation().getOps<ir::FuncOp>()) {
      if (func.getKind() != ir::FuncKind::Incore)
        continue;
      SmallVector<scf::ForOp> loops = loopsAlongRow(func);
      if (loops.empty())
        continue;
      if (report)
        loops.front().emitRemark("there is a version for rows of one tile, which loads it once");
      addVersion(loops);
    }
  }
};
} // namespace
} // namespace kiln
