//===- Control.cpp - recording branches and loops -------------------------------------===//
#include "Tracer.h"

using namespace mlir;

namespace kiln {

//===----------------------------------------------------------------------===//
// Branches and loops
//===----------------------------------------------------------------------===//

namespace detail {

void *beginIf(Cond condition, bool hasElse, Where where) {
  ProgramImpl *tracer = ProgramImpl::current("when", where);
  Value holds = tracer ? tracer->use(condition.value(), "condition", where) : Value();
  if (!holds)
    return nullptr;
  auto branch = scf::IfOp::create(tracer->builder, tracer->loc(where), TypeRange(), holds, hasElse);
  tracer->builder.setInsertionPoint(branch.thenBlock()->getTerminator());
  return branch;
}

void beginElse(void *frame, Where where) {
  if (!frame)
    return;
  auto branch = cast<scf::IfOp>(static_cast<Operation *>(frame));
  ProgramImpl::current("when", where)
      ->builder.setInsertionPoint(branch.elseBlock()->getTerminator());
}

void endIf(void *frame, Where where) {
  if (frame)
    ProgramImpl::current("when", where)
        ->builder.setInsertionPointAfter(static_cast<Operation *>(frame));
}

LoopFrame beginLoop(Index lower, Index upper, Index step, const std::vector<Tile> &carried,
                    const LoopOptions &options, Where where) {
  LoopFrame frame{0, carried, nullptr};
  ProgramImpl *tracer = ProgramImpl::current("loop", where);
  if (!tracer)
    return frame;
  if (step.isConstant() && step.constant() < 1)
    tracer->error(where,
                  "the step of a loop is at least 1, not " + std::to_string(step.constant()));
  if (int(options.stages > 0) + int(options.parallel) + int(options.unroll) > 1)
    tracer->error(where, "a loop is pipelined, parallel or unrolled, not several of them");
  Value lb = tracer->use(lower, where), ub = tracer->use(upper, where),
        by = tracer->use(step, where);
  SmallVector<Value> inits;
  for (const Tile &tile : carried) {
    Value value = tracer->use(tile.value(), "tile", where);
    // A poisoned start would end the tracing of the body; a stand-in keeps it going.
    inits.push_back(value ? value
                          : Value::getFromOpaquePointer(
                                full(tile.dtype(), {tile.rows(), tile.cols()}, 0, where).value()));
    if (!inits.back())
      return frame;
  }
  if (!lb || !ub || !by)
    return frame;
  auto loop = scf::ForOp::create(tracer->builder, tracer->loc(where), lb, ub, by, inits);
  using Kind = ir::LoopKind;
  auto setKind = [&](Kind kind) {
    loop->setAttr(ir::kLoopAttr, ir::LoopAttr::get(&tracer->context, kind,
                                                   kind == Kind::Pipeline ? options.stages : 0));
  };
  if (options.stages > 0)
    setKind(Kind::Pipeline);
  else if (options.parallel)
    setKind(Kind::Parallel);
  else if (options.unroll)
    setKind(Kind::Unroll);
  frame.iv = Index::of(loop.getInductionVar().getAsOpaquePointer());
  for (auto [tile, argument] : llvm::zip(frame.carried, loop.getRegionIterArgs()))
    tile = tracer->handle(argument);
  frame.op = loop;
  if (inits.empty())
    tracer->builder.setInsertionPoint(loop.getBody()->getTerminator());
  else
    tracer->builder.setInsertionPointToStart(loop.getBody());
  return frame;
}

std::vector<Tile> endLoop(const LoopFrame &frame, const std::vector<Tile> &next, Where where) {
  if (!frame.op)
    return frame.carried;
  ProgramImpl *tracer = ProgramImpl::current("loop", where);
  auto loop = cast<scf::ForOp>(static_cast<Operation *>(frame.op));
  SmallVector<Value> yields;
  for (auto [index, tile] : llvm::enumerate(next)) {
    Value carried = loop.getRegionIterArgs()[index];
    Value value = tracer->use(tile.value(), "tile", where);
    if (value && value.getType() != carried.getType()) {
      auto want = cast<tile::TileType>(carried.getType());
      tracer->error(
          where, std::string("the loop carries a tile of ") +
                     shapeText(want.getRows(), want.getCols()) + " but its body returns one of " +
                     shapeText(tile.rows(), tile.cols()) + " of " + toString(tile.dtype()));
      value = {};
    }
    yields.push_back(value ? value : carried);
  }
  if (!yields.empty())
    scf::YieldOp::create(tracer->builder, tracer->loc(where), yields);
  tracer->builder.setInsertionPointAfter(loop);
  std::vector<Tile> results;
  for (Value result : loop.getResults())
    results.push_back(tracer->handle(result));
  return results;
}

} // namespace detail
} // namespace kiln
