//===- Control.cpp - recording branches and loops -------------------------------------===//
#include "Tracer.h"

#include "kiln/Dialect/Tile/TileCombine.h"
#include "kiln/Language/Combine.h"
#include "kiln/Program/Signature.h"

#include "llvm/Support/ScopedPrinter.h"

using namespace mlir;

namespace kiln::detail {

/// The value behind a wire. Where a mistake was reported, something of the same type keeps the
/// tracing of the body going.
static Value useOrStandIn(ProgramImpl *tracer, const Wire &wire, Where where) {
  if (Value value = tracer->use(wire, where))
    return value;
  switch (wire.kind) {
  case Wire::OfTile:
    return Value::getFromOpaquePointer(full(wire.type, {wire.rows, wire.cols}, 0, where).value());
  case Wire::OfIndex:
    return tracer->indexConstant(0);
  case Wire::OfScalar:
    return tracer->numberConstant(0, tracer->typeOf(wire.type), where);
  case Wire::OfTask:
    return Value::getFromOpaquePointer(join({}, where).value());
  }
  return {};
}

/// The values behind wires; empty if tracing cannot go on.
static SmallVector<Value> useAll(ProgramImpl *tracer, const Wires &wires, Where where) {
  SmallVector<Value> values;
  for (const Wire &wire : wires)
    values.push_back(useOrStandIn(tracer, wire, where));
  return values;
}

static Wires wiresOf(ProgramImpl *tracer, ValueRange values) {
  Wires wires;
  for (Value value : values)
    wires.push_back(tracer->wire(value));
  return wires;
}

static std::string typeText(Type type) {
  if (auto tile = dyn_cast<tile::TileType>(type))
    return "a tile of " + shapeText(tile.getRows(), tile.getCols()) + " of " +
           toString(*dtypeOf(tile.getElementType()));
  return llvm::to_string(type);
}

/// What a body returns, each of the type that is wanted; `otherwise` where it is not, which is
/// reported.
static SmallVector<Value> useAs(ProgramImpl *tracer, const char *what, const Wires &wires,
                                ValueRange otherwise, Where where) {
  SmallVector<Value> values;
  for (auto [wire, other] : llvm::zip(wires, otherwise)) {
    Value value = tracer->use(wire, where);
    if (value && value.getType() != other.getType()) {
      tracer->error(where, std::string(what) + " " + typeText(other.getType()) +
                               " but its body returns " + typeText(value.getType()));
      value = {};
    }
    values.push_back(value ? value : other);
  }
  return values;
}

//===----------------------------------------------------------------------===//
// Branches
//===----------------------------------------------------------------------===//

// What the sides result in is known only when both have been traced. So they are recorded into a
// branch without results, whose blocks then move into the real one.

void *beginIf(Cond condition, Where where) {
  ProgramImpl *tracer = ProgramImpl::current("when", where);
  Value holds = tracer ? tracer->use(condition.value(), "condition", where) : Value();
  if (!holds || !tracer->canNest(where))
    return nullptr;
  auto branch = scf::IfOp::create(tracer->builder, tracer->loc(where), TypeRange(), holds, false);
  tracer->builder.setInsertionPoint(branch.thenBlock()->getTerminator());
  return branch;
}

void beginElse(void *frame, Where where) {
  if (!frame)
    return;
  ProgramImpl *tracer = ProgramImpl::current("when", where);
  auto branch = cast<scf::IfOp>(static_cast<Operation *>(frame));
  OpBuilder &builder = tracer->builder;
  builder.createBlock(&branch.getElseRegion());
  builder.setInsertionPoint(scf::YieldOp::create(builder, tracer->loc(where)));
}

/// Gives a recorded side its results.
static void yield(ProgramImpl *tracer, Block *side, ValueRange values, Where where) {
  tracer->builder.setInsertionPoint(side->getTerminator());
  scf::YieldOp::create(tracer->builder, tracer->loc(where), values);
  side->getTerminator()->erase();
}

Wires endIf(void *frame, const Wires &thenValues, const Wires &elseValues, Where where) {
  if (!frame)
    return thenValues;
  ProgramImpl *tracer = ProgramImpl::current("when", where);
  auto branch = cast<scf::IfOp>(static_cast<Operation *>(frame));
  OpBuilder &builder = tracer->builder;
  if (thenValues.empty()) {
    builder.setInsertionPointAfter(branch);
    return {};
  }
  // The values of a side are usable inside it only.
  builder.setInsertionPoint(branch.thenBlock()->getTerminator());
  SmallVector<Value> first = useAll(tracer, thenValues, where);
  builder.setInsertionPoint(branch.elseBlock()->getTerminator());
  SmallVector<Value> second = useAll(tracer, elseValues, where);
  for (auto [a, b] : llvm::zip(first, second))
    if (a.getType() != b.getType()) {
      tracer->error(where, "one side of the branch returns " + typeText(a.getType()) +
                               ", the other " + typeText(b.getType()));
      builder.setInsertionPointAfter(branch);
      Wires failed = thenValues;
      for (Wire &wire : failed)
        wire.value = nullptr;
      return failed;
    }
  builder.setInsertionPoint(branch);
  auto real = scf::IfOp::create(builder, branch.getLoc(), TypeRange(ValueRange(first)),
                                branch.getCondition(), true);
  real.getThenRegion().takeBody(branch.getThenRegion());
  real.getElseRegion().takeBody(branch.getElseRegion());
  branch.erase();
  yield(tracer, real.thenBlock(), first, where);
  yield(tracer, real.elseBlock(), second, where);
  builder.setInsertionPointAfter(real);
  return wiresOf(tracer, real.getResults());
}

//===----------------------------------------------------------------------===//
// Loops
//===----------------------------------------------------------------------===//

static void setKind(ProgramImpl *tracer, scf::ForOp loop, const LoopOptions &options) {
  using Kind = ir::LoopKind;
  std::optional<Kind> kind;
  int stages = options.stages;
  if (stages > 0)
    kind = Kind::Pipeline;
  else if (options.parallel)
    kind = Kind::Parallel;
  else if (options.unroll)
    kind = Kind::Unroll;
  else if (stages = tracer->stages; stages > 0)
    kind = Kind::Pipeline;
  if (kind)
    loop->setAttr(ir::kLoopAttr,
                  ir::LoopAttr::get(&tracer->context, *kind, *kind == Kind::Pipeline ? stages : 0));
}

LoopFrame beginLoop(Index lower, Index upper, Index step, const Wires &carried,
                    const LoopOptions &options, Where where) {
  LoopFrame frame{0, carried, nullptr};
  ProgramImpl *tracer = ProgramImpl::current("loop", where);
  if (!tracer || !tracer->canNest(where))
    return frame;
  if (step.isConstant() && step.constant() < 1)
    tracer->error(where,
                  "the step of a loop is at least 1, not " + std::to_string(step.constant()));
  if (options.stages < 0)
    tracer->error(where, "a loop has 0 stages or more, not " + std::to_string(options.stages));
  if (int(options.stages > 0) + int(options.parallel) + int(options.unroll) > 1)
    tracer->error(where, "a loop is pipelined, parallel or unrolled, not several of them");
  Value lb = tracer->use(lower, where), ub = tracer->use(upper, where),
        by = tracer->use(step, where);
  SmallVector<Value> inits = useAll(tracer, carried, where);
  if (!lb || !ub || !by || llvm::is_contained(inits, Value()))
    return frame;
  auto loop = scf::ForOp::create(tracer->builder, tracer->loc(where), lb, ub, by, inits);
  setKind(tracer, loop, options);
  frame.iv = Index::of(loop.getInductionVar().getAsOpaquePointer());
  frame.carried = wiresOf(tracer, loop.getRegionIterArgs());
  frame.op = loop;
  if (inits.empty())
    tracer->builder.setInsertionPoint(loop.getBody()->getTerminator());
  else
    tracer->builder.setInsertionPointToStart(loop.getBody());
  return frame;
}

Wires endLoop(const LoopFrame &frame, const Wires &next, Where where) {
  if (!frame.op)
    return frame.carried;
  ProgramImpl *tracer = ProgramImpl::current("loop", where);
  auto loop = cast<scf::ForOp>(static_cast<Operation *>(frame.op));
  if (!next.empty())
    scf::YieldOp::create(tracer->builder, tracer->loc(where),
                         useAs(tracer, "the loop carries", next, loop.getRegionIterArgs(), where));
  tracer->builder.setInsertionPointAfter(loop);
  return wiresOf(tracer, loop.getResults());
}

LoopFrame beginWhile(const Wires &carried, Where where) {
  LoopFrame frame{0, carried, nullptr};
  ProgramImpl *tracer = ProgramImpl::current("loop_while", where);
  if (!tracer || !tracer->canNest(where))
    return frame;
  SmallVector<Value> inits = useAll(tracer, carried, where);
  if (llvm::is_contained(inits, Value()))
    return frame;
  OpBuilder &builder = tracer->builder;
  SmallVector<Type> types(ValueRange(inits).getTypes());
  SmallVector<Location> locs(types.size(), tracer->loc(where));
  auto loop = scf::WhileOp::create(builder, tracer->loc(where), types, inits);
  builder.createBlock(&loop.getAfter(), {}, types, locs);
  Block *before = builder.createBlock(&loop.getBefore(), {}, types, locs);
  frame.carried = wiresOf(tracer, before->getArguments());
  frame.op = loop;
  return frame;
}

Wires beginWhileBody(const LoopFrame &frame, Cond condition, Where where) {
  if (!frame.op)
    return frame.carried;
  ProgramImpl *tracer = ProgramImpl::current("loop_while", where);
  auto loop = cast<scf::WhileOp>(static_cast<Operation *>(frame.op));
  Value holds = tracer->use(condition.value(), "condition", where);
  if (!holds)
    holds = tracer->constant(tracer->builder.getBoolAttr(false));
  scf::ConditionOp::create(tracer->builder, tracer->loc(where), holds, loop.getBeforeArguments());
  tracer->builder.setInsertionPointToStart(loop.getAfterBody());
  return wiresOf(tracer, loop.getAfterArguments());
}

Wires endWhile(const LoopFrame &frame, const Wires &next, Where where) {
  if (!frame.op)
    return frame.carried;
  ProgramImpl *tracer = ProgramImpl::current("loop_while", where);
  auto loop = cast<scf::WhileOp>(static_cast<Operation *>(frame.op));
  scf::YieldOp::create(tracer->builder, tracer->loc(where),
                       useAs(tracer, "the loop carries", next, loop.getAfterArguments(), where));
  tracer->builder.setInsertionPointAfter(loop);
  return wiresOf(tracer, loop.getResults());
}

//===----------------------------------------------------------------------===//
// Bodies that combine
//===----------------------------------------------------------------------===//

/// What a tile of this type starts with, which is reported if it does not fit.
static Value useStart(ProgramImpl *tracer, const TileOperand &start, tile::TileType line,
                      Where where) {
  if (start.isNumber)
    return tracer->numberConstant(start.number, line.getElementType(), where);
  Value value = tracer->use(start.value, start.isTile ? "tile" : "scalar", where);
  if (!value || value.getType() == line || value.getType() == line.getElementType())
    return value;
  tracer->error(where, "the start of " + typeText(line) + " is a number or as much, not " +
                           typeText(value.getType()));
  return {};
}

/// Where a mistake was reported: tiles of the shapes that there would be.
static BodyFrame failedBody(Wires tiles, int axis, bool keepsSteps) {
  for (Wire &tile : tiles)
    tile.value = nullptr;
  Wires lines = tiles;
  for (Wire &line : lines)
    (axis == 0 ? line.rows : line.cols) = 1;
  return {lines, lines, nullptr, keepsSteps ? tiles : lines};
}

BodyFrame beginBody(const Wires &tiles, int axis, const std::vector<TileOperand> &starts,
                    const ScanOptions *options, Where where) {
  BodyFrame failed = failedBody(tiles, axis, options != nullptr);
  const char *what = options ? "scan" : "reduce";
  ProgramImpl *tracer = ProgramImpl::inKernel(what, where);
  if (!tracer || !tracer->checkAxis(what, axis, where) || !tracer->canNest(where))
    return failed;
  SmallVector<Value> values, firsts;
  for (auto [wire, start] : llvm::zip(tiles, starts)) {
    Value tile = tracer->use(wire, where);
    if (!tile)
      return failed;
    auto line = tile::linesOf(cast<tile::TileType>(tile.getType()), axis);
    Value first = useStart(tracer, start, line, where);
    if (!first)
      return failed;
    values.push_back(tile);
    firsts.push_back(first);
  }
  OpBuilder &builder = tracer->builder;
  Location loc = tracer->loc(where);
  SmallVector<Type> types(ValueRange(values).getTypes()), lines;
  for (Type type : types)
    lines.push_back(tile::linesOf(cast<tile::TileType>(type), axis));
  Operation *op = options ? tile::ScanWithOp::create(builder, loc, types, values, firsts, axis,
                                                     options->exclusive, options->reverse)
                                .getOperation()
                          : tile::ReduceWithOp::create(builder, loc, lines, values, firsts, axis);
  SmallVector<Type> arguments = lines;
  llvm::append_range(arguments, lines);
  Block *body = builder.createBlock(&op->getRegion(0), {}, arguments,
                                    SmallVector<Location>(arguments.size(), loc));
  auto given = ValueRange(body->getArguments());
  return {wiresOf(tracer, given.take_front(lines.size())),
          wiresOf(tracer, given.drop_front(lines.size())),
          op,
          {}};
}

Wires endBody(const BodyFrame &frame, const Wires &combined, Where where) {
  if (!frame.op)
    return frame.poisoned;
  ProgramImpl *tracer = ProgramImpl::current("reduce", where);
  auto *op = static_cast<Operation *>(frame.op);
  ValueRange soFar = ValueRange(op->getRegion(0).getArguments()).take_front(frame.soFar.size());
  tile::YieldOp::create(tracer->builder, tracer->loc(where),
                        useAs(tracer, "the reduction or scan combines", combined, soFar, where));
  tracer->builder.setInsertionPointAfter(op);
  return wiresOf(tracer, op->getResults());
}

} // namespace kiln::detail
