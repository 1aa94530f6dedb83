//===- Control.cpp - recording branches and loops -------------------------------------===//
#include "Record/Items.h"

#include "kiln/Dialect/Tile/TileCombine.h"
#include "kiln/Program/Signature.h"

#include "llvm/Support/ScopedPrinter.h"

using namespace mlir;

namespace kiln::record {

/// The value behind a wire. Where a mistake was reported, something of the same type keeps the
/// tracing of the body going.
static Value useOrStandIn(Tracer *tracer, const Wire &wire) {
  if (Value value = tracer->use(wire))
    return value;
  switch (wire.kind) {
  case Wire::OfTile:
    return Value::getFromOpaquePointer(full(wire.type, {wire.rows, wire.cols}, 0).value());
  case Wire::OfIndex:
    return tracer->indexConstant(0);
  case Wire::OfScalar:
    return tracer->numberConstant(0, tracer->typeOf(wire.type));
  case Wire::OfTask:
    return Value::getFromOpaquePointer(join({}).value);
  case Wire::OfNothing:
    return {};
  }
  return {};
}

/// The values behind wires; empty if tracing cannot go on.
static SmallVector<Value> useAll(Tracer *tracer, const Wires &wires) {
  SmallVector<Value> values;
  for (const Wire &wire : wires)
    values.push_back(useOrStandIn(tracer, wire));
  return values;
}

static Wires wiresOf(Tracer *tracer, ValueRange values) {
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
static SmallVector<Value> useAs(Tracer *tracer, const char *what, const Wires &wires,
                                ValueRange otherwise) {
  SmallVector<Value> values;
  for (auto [wire, other] : llvm::zip(wires, otherwise)) {
    Value value = tracer->use(wire);
    if (value && value.getType() != other.getType()) {
      tracer->error(std::string(what) + " " + typeText(other.getType()) + " but its body returns " +
                    typeText(value.getType()));
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

static void beginIf(Recorder &recorder, Cond condition) {
  Tracer *tracer = Tracer::current("when");
  Value holds = tracer ? tracer->use(condition.value, "condition") : Value();
  Frame frame{.kind = Frame::Then};
  if (holds && tracer->canNest()) {
    auto branch = scf::IfOp::create(tracer->builder, tracer->loc(), TypeRange(), holds, false);
    tracer->builder.setInsertionPoint(branch.thenBlock()->getTerminator());
    frame.op = branch;
  }
  recorder.begin(frame);
}

static void beginElse(Recorder &recorder, const Wires &results) {
  Frame frame = recorder.end(Frame::Then, "if");
  frame.kind = Frame::Else;
  frame.results = results;
  if (frame.op) {
    OpBuilder &builder = recorder.program->builder;
    builder.createBlock(&cast<scf::IfOp>(frame.op).getElseRegion());
    builder.setInsertionPoint(scf::YieldOp::create(builder, recorder.program->loc()));
  }
  recorder.begin(frame);
}

/// Gives a recorded side its results.
static void yield(Tracer *tracer, Block *side, ValueRange values) {
  tracer->builder.setInsertionPoint(side->getTerminator());
  scf::YieldOp::create(tracer->builder, tracer->loc(), values);
  side->getTerminator()->erase();
}

static Wires endIf(Recorder &recorder, const Wires &elseValues) {
  bool hasElse = recorder.isIn(Frame::Else);
  Frame frame = recorder.end(hasElse ? Frame::Else : Frame::Then, "if");
  const Wires &thenValues = frame.results;
  if (elseValues.size() != thenValues.size())
    throw BadArgument("has two sides, with " + std::to_string(thenValues.size()) + " and " +
                      std::to_string(elseValues.size()) + " results");
  if (!frame.op)
    return thenValues;
  Tracer *tracer = recorder.program.get();
  auto branch = cast<scf::IfOp>(frame.op);
  OpBuilder &builder = tracer->builder;
  if (thenValues.empty()) {
    builder.setInsertionPointAfter(branch);
    return {};
  }
  // The values of a side are usable inside it only.
  builder.setInsertionPoint(branch.thenBlock()->getTerminator());
  SmallVector<Value> first = useAll(tracer, thenValues);
  builder.setInsertionPoint(branch.elseBlock()->getTerminator());
  SmallVector<Value> second = useAll(tracer, elseValues);
  for (auto [a, b] : llvm::zip(first, second))
    if (!a || !b || a.getType() != b.getType()) {
      if (a && b)
        tracer->error("one side of the branch returns " + typeText(a.getType()) + ", the other " +
                      typeText(b.getType()));
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
  yield(tracer, real.thenBlock(), first);
  yield(tracer, real.elseBlock(), second);
  builder.setInsertionPointAfter(real);
  return wiresOf(tracer, real.getResults());
}

//===----------------------------------------------------------------------===//
// Loops
//===----------------------------------------------------------------------===//

static void setKind(Tracer *tracer, scf::ForOp loop, const LoopOptions &options) {
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

/// A loop, into which is recorded from now on; null if a mistake was reported.
static scf::ForOp openLoop(Index lower, Index upper, Index step, const Wires &carried,
                           const LoopOptions &options) {
  Tracer *tracer = Tracer::current("loop");
  if (!tracer || !tracer->canNest())
    return {};
  if (step.isConstant() && step.constant() < 1)
    tracer->error("the step of a loop is at least 1, not " + std::to_string(step.constant()));
  if (options.stages < 0)
    tracer->error("a loop has 0 stages or more, not " + std::to_string(options.stages));
  if (int(options.stages > 0) + int(options.parallel) + int(options.unroll) > 1)
    tracer->error("a loop is pipelined, parallel or unrolled, not several of them");
  if (options.parallel && !carried.empty())
    tracer->error("a parallel loop carries no values: its iterations are independent; leave out "
                  "parallel, or let each iteration store what it makes");
  Value lb = tracer->use(lower), ub = tracer->use(upper), by = tracer->use(step);
  SmallVector<Value> inits = useAll(tracer, carried);
  if (!lb || !ub || !by || llvm::is_contained(inits, Value()))
    return {};
  auto loop = scf::ForOp::create(tracer->builder, tracer->loc(), lb, ub, by, inits);
  setKind(tracer, loop, options);
  if (inits.empty())
    tracer->builder.setInsertionPoint(loop.getBody()->getTerminator());
  else
    tracer->builder.setInsertionPointToStart(loop.getBody());
  return loop;
}

static void beginLoop(Recorder &recorder, Index lower, Index upper, Index step,
                      const Wires &carried, int64_t stages, bool parallel, bool unroll) {
  scf::ForOp loop = openLoop(lower, upper, step, carried, {stages, parallel, unroll});
  Frame frame{.kind = Frame::Loop, .op = loop, .carried = carried};
  if (loop)
    frame.carried = wiresOf(recorder.program.get(), loop.getRegionIterArgs());
  give(recorder, loop ? Index::of(loop.getInductionVar().getAsOpaquePointer()) : Index(0));
  give(recorder, frame.carried);
  recorder.begin(frame);
}

/// Takes a loop off that ends with the next values of what it carries.
static Frame takeLoop(Recorder &recorder, Frame::Kind kind, const char *what, const Wires &next) {
  Frame frame = recorder.end(kind, what);
  if (next.size() != frame.carried.size())
    throw BadArgument("carries " + std::to_string(frame.carried.size()) + " values, not " +
                      std::to_string(next.size()));
  return frame;
}

static Wires endLoop(Recorder &recorder, const Wires &next) {
  Frame frame = takeLoop(recorder, Frame::Loop, "loop", next);
  if (!frame.op)
    return frame.carried;
  Tracer *tracer = recorder.program.get();
  auto loop = cast<scf::ForOp>(frame.op);
  if (!next.empty())
    scf::YieldOp::create(tracer->builder, tracer->loc(),
                         useAs(tracer, "the loop carries", next, loop.getRegionIterArgs()));
  tracer->builder.setInsertionPointAfter(loop);
  return wiresOf(tracer, loop.getResults());
}

static Wires beginWhile(Recorder &recorder, const Wires &carried) {
  Frame frame{.kind = Frame::Condition, .carried = carried};
  Tracer *tracer = Tracer::current("loop_while");
  bool canBegin = tracer && tracer->canNest();
  SmallVector<Value> inits = canBegin ? useAll(tracer, carried) : SmallVector<Value>();
  if (canBegin && !llvm::is_contained(inits, Value())) {
    OpBuilder &builder = tracer->builder;
    SmallVector<Type> types(ValueRange(inits).getTypes());
    SmallVector<Location> locs(types.size(), tracer->loc());
    auto loop = scf::WhileOp::create(builder, tracer->loc(), types, inits);
    builder.createBlock(&loop.getAfter(), {}, types, locs);
    Block *before = builder.createBlock(&loop.getBefore(), {}, types, locs);
    frame.carried = wiresOf(tracer, before->getArguments());
    frame.op = loop;
  }
  recorder.begin(frame);
  return frame.carried;
}

static Wires beginWhileBody(Recorder &recorder, Cond condition) {
  Frame frame = recorder.end(Frame::Condition, "the condition of a loop");
  frame.kind = Frame::While;
  if (frame.op) {
    Tracer *tracer = recorder.program.get();
    auto loop = cast<scf::WhileOp>(frame.op);
    Value holds = tracer->use(condition.value, "condition");
    if (!holds)
      holds = tracer->constant(tracer->builder.getBoolAttr(false));
    scf::ConditionOp::create(tracer->builder, tracer->loc(), holds, loop.getBeforeArguments());
    tracer->builder.setInsertionPointToStart(loop.getAfterBody());
    frame.carried = wiresOf(tracer, loop.getAfterArguments());
  }
  recorder.begin(frame);
  return frame.carried;
}

static Wires endWhile(Recorder &recorder, const Wires &next) {
  Frame frame = takeLoop(recorder, Frame::While, "while", next);
  if (!frame.op)
    return frame.carried;
  Tracer *tracer = recorder.program.get();
  auto loop = cast<scf::WhileOp>(frame.op);
  scf::YieldOp::create(tracer->builder, tracer->loc(),
                       useAs(tracer, "the loop carries", next, loop.getAfterArguments()));
  tracer->builder.setInsertionPointAfter(loop);
  return wiresOf(tracer, loop.getResults());
}

//===----------------------------------------------------------------------===//
// Bodies that combine
//===----------------------------------------------------------------------===//

/// What a tile of this type starts with, which is reported if it does not fit.
static Value useStart(Tracer *tracer, const TileOperand &start, tile::TileType line) {
  if (start.isNumber)
    return tracer->numberConstant(start.number, line.getElementType());
  Value value = tracer->use(start.value, start.isTile ? "tile" : "scalar");
  if (!value || value.getType() == line || value.getType() == line.getElementType())
    return value;
  tracer->error("the start of " + typeText(line) + " is a number or as much, not " +
                typeText(value.getType()));
  return {};
}

/// The op of a reduction, or with options of a scan, whose body is recorded from now on; null if a
/// mistake was reported.
static Operation *openBody(const Wires &tiles, int64_t axis, const std::vector<TileOperand> &starts,
                           const std::optional<ScanOptions> &options) {
  const char *what = options ? "scan" : "reduce";
  Tracer *tracer = Tracer::inKernel(what);
  if (!tracer || !tracer->checkAxis(what, axis) || !tracer->canNest())
    return nullptr;
  SmallVector<Value> values, firsts;
  for (auto [wire, start] : llvm::zip(tiles, starts)) {
    Value tile = tracer->use(wire);
    if (!tile)
      return nullptr;
    auto line = tile::linesOf(cast<tile::TileType>(tile.getType()), axis);
    Value first = useStart(tracer, start, line);
    if (!first)
      return nullptr;
    values.push_back(tile);
    firsts.push_back(first);
  }
  OpBuilder &builder = tracer->builder;
  Location loc = tracer->loc();
  SmallVector<Type> types(ValueRange(values).getTypes()), lines;
  for (Type type : types)
    lines.push_back(tile::linesOf(cast<tile::TileType>(type), axis));
  Operation *op = options ? tile::ScanWithOp::create(builder, loc, types, values, firsts, axis,
                                                     options->exclusive, options->reverse)
                                .getOperation()
                          : tile::ReduceWithOp::create(builder, loc, lines, values, firsts, axis);
  SmallVector<Type> arguments = lines;
  llvm::append_range(arguments, lines);
  builder.createBlock(&op->getRegion(0), {}, arguments,
                      SmallVector<Location>(arguments.size(), loc));
  return op;
}

/// Begins a body, and gives the lines combined so far and those that come next.
static void beginBody(Recorder &recorder, const Wires &tiles, int64_t axis,
                      const std::vector<TileOperand> &starts,
                      const std::optional<ScanOptions> &options) {
  for (const Wire &tile : tiles)
    if (tile.kind != Wire::OfTile)
      throw BadArgument("combines tiles");
  if (tiles.empty() || tiles.size() != starts.size())
    throw BadArgument("has " + std::to_string(tiles.size()) + " tiles and " +
                      std::to_string(starts.size()) + " starts; each tile has one");
  Frame frame{.kind = Frame::Body, .op = openBody(tiles, axis, starts, options)};
  Wires next;
  if (frame.op) {
    auto given = ValueRange(frame.op->getRegion(0).getArguments());
    frame.carried = wiresOf(recorder.program.get(), given.take_front(tiles.size()));
    next = wiresOf(recorder.program.get(), given.drop_front(tiles.size()));
  } else { // tiles of the shapes that there would be
    frame.poisoned = tiles;
    for (Wire &tile : frame.poisoned)
      tile.value = nullptr;
    next = frame.poisoned;
    for (Wire &line : next)
      (axis == 0 ? line.rows : line.cols) = 1;
    frame.carried = next;
    if (!options)
      frame.poisoned = next;
  }
  give(recorder, frame.carried);
  give(recorder, next);
  recorder.begin(frame);
}

static Wires endBody(Recorder &recorder, const Wires &combined) {
  Frame frame = recorder.end(Frame::Body, "a body");
  if (combined.size() != frame.carried.size())
    throw BadArgument("combines " + std::to_string(frame.carried.size()) + " tiles, not " +
                      std::to_string(combined.size()));
  if (!frame.op)
    return frame.poisoned;
  Tracer *tracer = recorder.program.get();
  ValueRange soFar =
      ValueRange(frame.op->getRegion(0).getArguments()).take_front(frame.carried.size());
  tile::YieldOp::create(tracer->builder, tracer->loc(),
                        useAs(tracer, "the reduction or scan combines", combined, soFar));
  tracer->builder.setInsertionPointAfter(frame.op);
  return wiresOf(tracer, frame.op->getResults());
}

//===----------------------------------------------------------------------===//
// Operations
//===----------------------------------------------------------------------===//

void addControlOperations(std::vector<RecordedOp> &list) {
  list.push_back(operation(
      "loop.begin", "Begins a loop: its index, then the carried values.",
      {"lower", "upper", "step", "carried?", "stages?", "parallel?", "unroll?"}, beginLoop));
  list.push_back(operation("loop.end",
                           "Ends it, with the next values of what it carries: their last ones.",
                           {"next?"}, endLoop));
  list.push_back(operation(
      "while.begin", "Begins the condition of a loop: the carried values, of which it is made.",
      {"carried"}, beginWhile));
  list.push_back(operation("while.body",
                           "Ends the condition and begins the body: the carried values.",
                           {"condition"}, beginWhileBody));
  list.push_back(operation("while.end", "Ends the loop: the last values of what it carries.",
                           {"next"}, endWhile));
  list.push_back(
      operation("if.begin", "Begins what is done if a condition holds.", {"condition"}, beginIf));
  list.push_back(operation("if.else",
                           "Ends that, with what it results in; begins what is done otherwise.",
                           {"results?"}, beginElse));
  list.push_back(operation(
      "if.end", "Ends the branch, with what this side results in: the results of the branch.",
      {"results?"}, endIf));
  list.push_back(operation(
      "reduce.begin",
      "Begins the body of a reduction: the lines combined so far, then those that come next.",
      {"tiles", "axis", "starts"},
      [](Recorder &recorder, const Wires &tiles, int64_t axis,
         const std::vector<TileOperand> &starts) {
        beginBody(recorder, tiles, axis, starts, std::nullopt);
      }));
  list.push_back(
      operation("scan.begin",
                "Begins the body of a scan: the lines combined so far, then those that come next.",
                {"tiles", "axis", "starts", "exclusive?", "reverse?"},
                [](Recorder &recorder, const Wires &tiles, int64_t axis,
                   const std::vector<TileOperand> &starts, bool exclusive, bool reverse) {
                  beginBody(recorder, tiles, axis, starts, ScanOptions{exclusive, reverse});
                }));
  list.push_back(operation("body.end", "Ends it, with the two combined: what the whole results in.",
                           {"combined"}, endBody));
}

} // namespace kiln::record
