#include "LoopGuard.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace mlir;

namespace kiln {

void replaceLoop(scf::ForOp loop,
                 llvm::function_ref<SmallVector<Value>(OpBuilder &builder, Value trips)> build) {
  OpBuilder builder(loop);
  Location loc = loop.getLoc();
  Value span = builder.createOrFold<arith::SubIOp>(loc, loop.getUpperBound(), loop.getLowerBound());
  Value trips = builder.createOrFold<arith::CeilDivSIOp>(loc, span, loop.getStep());
  SmallVector<Value> results;
  if (std::optional<int64_t> number = getConstantIntValue(trips); number && *number > 0) {
    results = build(builder, trips);
  } else {
    // Said of the number of trips, which the proof compares.
    Value none = arith::ConstantIndexOp::create(builder, loc, 0);
    Value runs = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::sgt, trips, none);
    bool hasResults = loop.getNumResults() > 0;
    auto guard = scf::IfOp::create(builder, loc, loop.getResultTypes(), runs, hasResults);
    OpBuilder inside = hasResults ? guard.getThenBodyBuilder() : OpBuilder(guard.thenYield());
    SmallVector<Value> yielded = build(inside, trips);
    if (hasResults) {
      scf::YieldOp::create(inside, loc, yielded);
      OpBuilder otherwise = guard.getElseBodyBuilder();
      scf::YieldOp::create(otherwise, loc, loop.getInitArgs());
    }
    llvm::append_range(results, guard.getResults());
  }
  loop.replaceAllUsesWith(results);
  loop.erase();
}

Value lastIndexOf(scf::ForOp loop, OpBuilder &builder, Value trips) {
  Location loc = loop.getLoc();
  Value offset = builder.createOrFold<arith::MulIOp>(loc, trips, loop.getStep());
  Value end = builder.createOrFold<arith::AddIOp>(loc, loop.getLowerBound(), offset);
  return builder.createOrFold<arith::SubIOp>(loc, end, loop.getStep());
}

} // namespace kiln
