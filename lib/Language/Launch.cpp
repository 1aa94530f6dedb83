//===- Launch.cpp - recording functions, launches, roles and pipes ---------------------===//
#include "Record/Items.h"

#include "kiln/Machine/Machine.h"
#include "kiln/Program/OutlineRegion.h"

using namespace mlir;

namespace kiln::record {

//===----------------------------------------------------------------------===//
// Functions and scopes
//===----------------------------------------------------------------------===//

static void beginFunction(Recorder &recorder, const std::string &kind, const std::string &name,
                          const std::vector<ParamSpec> &params, std::optional<Split> split,
                          int64_t lanes, int64_t slots, int64_t stages) {
  std::optional<ir::FuncKind> known = ir::symbolizeFuncKind(kind);
  if (!known || *known == ir::FuncKind::Role)
    throw BadArgument("begins an orchestration, incore or group, not '" + kind + "'");
  if (!recorder.program)
    throw NotRecorded();
  std::optional<ValueRange> arguments =
      recorder.program->beginFunction(*known, name, params, {split, lanes, slots, stages});
  if (!arguments)
    throw NotRecorded();
  for (auto [param, argument] : llvm::zip(params, *arguments)) {
    static constexpr kiln_value_kind kinds[] = {KILN_VALUE_TENSOR, KILN_VALUE_SCALAR,
                                                KILN_VALUE_INDEX}; // in the order of the enum
    auto tensor = dyn_cast<ir::TensorType>(argument.getType());
    recorder.give({kinds[*param.kind], argument.getAsOpaquePointer(), param.type, 1, 1,
                   tensor ? int(tensor.getRank()) : 0, param.access});
  }
  recorder.begin({.kind = Frame::Function});
}

static void endFunction(Recorder &recorder) {
  if (recorder.program && !recorder.program->errors.empty())
    recorder.endAllInFunction(); // after a mistake something may not have been ended
  recorder.end(Frame::Function, "a function");
  recorder.program->endFunction();
}

static void abandonFunction(Recorder &recorder, const std::string &what) {
  recorder.endAllInFunction();
  if (!recorder.isIn(Frame::Function))
    throw BadArgument("abandons a function, and none was begun");
  recorder.program->abandonFunction(what);
}

static void beginScope(Recorder &recorder, bool manual) {
  Frame frame{.kind = Frame::Scope};
  if (Tracer *tracer = Tracer::inOrchestration("scope"); tracer && tracer->canNest()) {
    auto op = ir::ScopeOp::create(tracer->builder, tracer->loc(), manual);
    tracer->builder.setInsertionPointToStart(tracer->builder.createBlock(&op.getBody()));
    frame.op = op;
  }
  recorder.begin(frame);
}

static void endScope(Recorder &recorder) {
  if (Operation *op = recorder.end(Frame::Scope, "scope").op)
    recorder.program->builder.setInsertionPointAfter(op);
}

//===----------------------------------------------------------------------===//
// Launches
//===----------------------------------------------------------------------===//

/// Grid, deps and predicate in the form the launch ops take.
struct LaunchOperands {
  SmallVector<int64_t> grid;
  SmallVector<Value> gridValues, deps;
  Value predicate;
  SmallVector<Value> predicateValues;
  DenseI64ArrayAttr predicateAt;
  arith::CmpIPredicateAttr compare;
  IntegerAttr constant;

  bool collect(Tracer *tracer, const LaunchOptions &options) {
    for (TaskRef task : options.deps) {
      Value value = tracer->use(task.value, "task");
      if (!value)
        return false;
      deps.push_back(value);
    }
    return tracer->mixed(options.grid, grid, gridValues) &&
           (!options.predicate || collect(tracer, *options.predicate));
  }

private:
  bool collect(Tracer *tracer, const ElementTest &condition) {
    using Cmp = arith::CmpIPredicate;
    static constexpr Cmp kinds[] = {Cmp::eq,  Cmp::ne,  Cmp::slt,
                                    Cmp::sle, Cmp::sgt, Cmp::sge}; // in the order of the enum
    const TensorRef &tensor = condition.tensor;
    predicate = tracer->use(tensor.value(), "tensor");
    if (!predicate)
      return false;
    if (int(condition.at.size()) != tensor.rank() || isFloat(tensor.dtype())) {
      tracer->error("a predicate compares one element of an integer tensor: flags[{i}] > 0");
      return false;
    }
    SmallVector<int64_t> at;
    if (!tracer->mixed(condition.at, at, predicateValues))
      return false;
    predicateAt = tracer->builder.getDenseI64ArrayAttr(at);
    compare = arith::CmpIPredicateAttr::get(&tracer->context, kinds[condition.compare]);
    constant = tracer->builder.getI64IntegerAttr(condition.constant);
    return true;
  }
};

static TaskRef submit(const std::string &kernel, const std::vector<LaunchArg> &args,
                      const LaunchOptions &options) {
  TaskRef failed = TaskRef{nullptr};
  Tracer *tracer = Tracer::inOrchestration("submit");
  LaunchOperands launch;
  if (!tracer || !launch.collect(tracer, options))
    return failed;
  auto callee = tracer->module->lookupSymbol<ir::FuncOp>(kernel);
  if (!callee) {
    tracer->error("this program has no kernel '" + kernel + "'");
    return failed;
  }
  if (args.size() != callee.getNumArguments()) {
    tracer->error("'" + kernel + "' takes " + std::to_string(callee.getNumArguments()) +
                  " arguments, not " + std::to_string(args.size()));
    return failed;
  }
  SmallVector<Value> values;
  for (auto [index, arg] : llvm::enumerate(args)) {
    Type want = callee.getArgumentTypes()[index];
    if (arg.isNumber && isa<ir::TensorType>(want)) {
      tracer->error("argument '" + callee.getArgName(index).str() + "' of '" + kernel +
                    "' is a tensor, not a number");
      return failed;
    }
    Value value = arg.isNumber ? tracer->numberConstant(arg.number, want)
                               : tracer->use(arg.value, "argument");
    if (!value)
      return failed;
    values.push_back(value);
  }
  OpBuilder &builder = tracer->builder;
  auto op =
      ir::SubmitOp::create(builder, tracer->loc(), FlatSymbolRefAttr::get(callee.getSymNameAttr()),
                           values, launch.gridValues, builder.getDenseI64ArrayAttr(launch.grid),
                           launch.deps, options.syncStart, launch.predicate, launch.predicateValues,
                           launch.predicateAt, launch.compare, launch.constant);
  return TaskRef{Value(op.getTask()).getAsOpaquePointer()};
}

TaskRef join(const std::vector<TaskRef> &tasks) {
  Tracer *tracer = Tracer::inOrchestration("join");
  LaunchOperands launch;
  if (!tracer || !launch.collect(tracer, {.deps = tasks}))
    return TaskRef{nullptr};
  auto op = ir::SubmitOp::create(tracer->builder, tracer->loc(), FlatSymbolRefAttr(), ValueRange(),
                                 ValueRange(), tracer->builder.getDenseI64ArrayAttr({}),
                                 launch.deps, false, Value(), ValueRange(), DenseI64ArrayAttr(),
                                 arith::CmpIPredicateAttr(), IntegerAttr());
  return TaskRef{Value(op.getTask()).getAsOpaquePointer()};
}

/// The incore op of a kernel that is launched in place, or null. Block indices come from it.
static ir::IncoreOp beginSpmd(const std::string &name, int64_t arity, const KernelOptions &options,
                              const LaunchOptions &how, Indices &blocks) {
  Tracer *tracer = Tracer::inOrchestration("spmd");
  if (!tracer)
    return {};
  // A mistake in the launch does not keep the body from being traced: it stands in for a right one.
  LaunchOperands launch;
  bool launched = launch.collect(tracer, how);
  if (int64_t(how.grid.size()) != arity) {
    tracer->error("spmd '" + name + "' has a grid of " + std::to_string(how.grid.size()) +
                  " dimensions but its body takes " + std::to_string(arity) + " block indices");
    launched = false;
  }
  if (!launched)
    launch = LaunchOperands();
  OpBuilder &builder = tracer->builder;
  tile::SplitAttr split;
  if (options.split)
    split = tile::SplitAttr::get(&tracer->context, static_cast<tile::Split>(*options.split));
  // What is negative the verifier reports at this line.
  auto numberOf = [&](int64_t number) {
    return number == 0 ? IntegerAttr() : builder.getI64IntegerAttr(number);
  };
  auto op = ir::IncoreOp::create(
      builder, tracer->loc(), name, launch.gridValues, builder.getDenseI64ArrayAttr(launch.grid),
      launch.deps, how.syncStart, launch.predicate, launch.predicateValues, launch.predicateAt,
      launch.compare, launch.constant, numberOf(options.lanes), split, numberOf(options.slots));
  if (options.stages < 0)
    tracer->error("spmd '" + name + "' has " + std::to_string(options.stages) +
                  " stages; a loop has at least one, or 0 where it is not pipelined");
  tracer->stages = options.stages;
  Block *body = builder.createBlock(&op.getBody());
  builder.setInsertionPointToStart(body);
  for (auto [dim, block] : llvm::enumerate(blocks))
    block = blockIdx(int64_t(dim));
  return op;
}

static void beginSpmd(Recorder &recorder, const std::string &name, const Indices &grid,
                      std::optional<Split> split, int64_t lanes, int64_t slots, int64_t stages,
                      const std::vector<TaskRef> &deps, bool syncStart,
                      const std::optional<ElementTest> &predicate, int64_t blocks) {
  int64_t arity = blocks == 0 ? int64_t(grid.size()) : blocks;
  if (arity < 1 || arity > 3)
    throw BadArgument("has a grid of one to three dimensions, not " + std::to_string(arity));
  Indices indices(size_t(arity), Index(0));
  ir::IncoreOp op = beginSpmd(name, arity, {split, lanes, slots, stages},
                              {grid, deps, syncStart, predicate}, indices);
  for (Index block : indices)
    give(recorder, block);
  give(recorder, TaskRef{op ? Value(op.getTask()).getAsOpaquePointer() : nullptr});
  recorder.begin({.kind = Frame::Spmd, .op = op});
}

static void endSpmd(Recorder &recorder) {
  if (Operation *op = recorder.end(Frame::Spmd, "spmd").op) {
    recorder.program->builder.setInsertionPointAfter(op);
    recorder.program->stages = 0;
  }
}

//===----------------------------------------------------------------------===//
// Roles
//===----------------------------------------------------------------------===//

/// What a role is recorded into, or null.
static Operation *holderOfRole(const std::string &name, CoreRole role) {
  Tracer *tracer = Tracer::current("role");
  if (!tracer)
    return nullptr;
  if (!tracer->isIn({ir::FuncKind::Group})) {
    tracer->error("role '" + name + "' (" + std::string(role.name) + ") belongs to a group");
    return nullptr;
  }
  OpBuilder &builder = tracer->builder;
  // The role is recorded in place, where it sees the group's tensors and pipes, and made a function
  // at the end.
  auto holder = ir::IncoreOp::create(
      builder, tracer->loc(), name, ValueRange(), builder.getDenseI64ArrayAttr({}), ValueRange(),
      false, Value(), ValueRange(), DenseI64ArrayAttr(), arith::CmpIPredicateAttr(), IntegerAttr(),
      IntegerAttr(), tile::SplitAttr(), IntegerAttr());
  builder.setInsertionPointToStart(builder.createBlock(&holder.getBody()));
  tracer->role = role.name;
  return holder;
}

static void beginRole(Recorder &recorder, const std::string &name, CoreRole role) {
  recorder.begin({.kind = Frame::Role, .op = holderOfRole(name, role), .name = name, .role = role});
}

static void endRole(Recorder &recorder) {
  Frame frame = recorder.end(Frame::Role, "role");
  if (!frame.op)
    return;
  auto holder = cast<ir::IncoreOp>(frame.op);
  OutlinedRegion outlined =
      outlineRegion(holder.getBody(), frame.name, ir::FuncKind::Role, frame.role.name);
  recorder.program->role.clear();
  OpBuilder &builder = recorder.program->builder;
  builder.setInsertionPoint(holder);
  ir::CallOp::create(builder, holder.getLoc(), TypeRange(),
                     FlatSymbolRefAttr::get(outlined.func.getSymNameAttr()), outlined.args);
  builder.setInsertionPointAfter(holder);
  holder.erase();
}

//===----------------------------------------------------------------------===//
// Pipes
//===----------------------------------------------------------------------===//

/// A pipe with a split gives its group lanes, where their number is not stated.
static bool chooseLanes(Tracer *tracer, const std::string &name, tile::PipeType type) {
  int64_t most = std::max(findRole(type.getFrom())->maxLanes, findRole(type.getTo())->maxLanes);
  if (tracer->areLanesStated || type.getSplit() == tile::Split::None || most == 1 ||
      tracer->function.getNumLanes() == most)
    return true;
  if (!tracer->function.getBody().getOps<ir::CallOp>().empty()) {
    tracer->error("pipe '" + name +
                  "' has a split, which gives the group lanes, but comes after a role; "
                  "make it before the roles, or state the number of lanes");
    return false;
  }
  tracer->function.setLanes(most);
  return true;
}

static Pipe pipe(const std::string &name, CoreRole from, CoreRole to,
                 const std::vector<PipeTile> &payload, Split split, int64_t slots) {
  Tracer *tracer = Tracer::current("pipe");
  if (!tracer)
    return Pipe{nullptr};
  if (!tracer->isIn({ir::FuncKind::Group})) {
    tracer->error("pipe '" + name + "' is made outside a group; pipes join the roles of a group");
    return Pipe{nullptr};
  }
  DiagnosticCollector collector(&tracer->context, tracer->errors);
  auto emit = [&] { return mlir::emitError(tracer->loc()); };
  SmallVector<tile::TileType> tiles;
  for (const PipeTile &tile : payload) {
    tiles.push_back(tile::TileType::getChecked(emit, &tracer->context, tile.shape.rows,
                                               tile.shape.cols, tracer->typeOf(tile.type),
                                               tile::Space::Unassigned));
    if (!tiles.back())
      return Pipe{nullptr};
  }
  auto type =
      tile::PipeType::getChecked(emit, &tracer->context, StringRef(from.name), StringRef(to.name),
                                 ArrayRef<tile::TileType>(tiles), static_cast<tile::Split>(split));
  if (!type || !chooseLanes(tracer, name, type))
    return Pipe{nullptr};
  IntegerAttr number;
  if (slots != 0)
    number = tracer->builder.getI64IntegerAttr(slots);
  auto op = tile::PipeOp::create(tracer->builder, tracer->loc(), type, number,
                                 tracer->builder.getStringAttr(name));
  // Roles ask at once for each lane's share of a tile, so there has to be one.
  if (failed(op.verify())) {
    op.erase();
    return Pipe{nullptr};
  }
  return Pipe{Value(op).getAsOpaquePointer()};
}

/// The pipe, if the role that is being traced is this end of it.
static Value pipeEnd(Tracer *tracer, Pipe pipe, bool isProducer, const char *what) {
  Value value = tracer ? tracer->use(pipe.value, "pipe") : Value();
  if (!value)
    return {};
  auto type = cast<tile::PipeType>(value.getType());
  StringRef end = isProducer ? type.getFrom() : type.getTo();
  if (tracer->role == end)
    return value;
  tracer->error(std::string(what) + " by role " + (tracer->role.empty() ? "?" : tracer->role) +
                ", but '" + givenName(value).str() + "' is a pipe from " + type.getFrom().str() +
                " to " + type.getTo().str());
  return {};
}

static void push(Pipe pipe, const std::vector<Tile> &tiles) {
  Tracer *tracer = Tracer::inRole("push");
  Value to = pipeEnd(tracer, pipe, true, "push");
  if (!to)
    return;
  SmallVector<Value> values;
  for (const Tile &tile : tiles)
    values.push_back(tracer->use(tile.value(), "tile"));
  if (!llvm::is_contained(values, Value()))
    tile::PushOp::create(tracer->builder, tracer->loc(), values, to);
}

static std::vector<Tile> popAll(Pipe pipe) {
  Tracer *tracer = Tracer::inRole("pop");
  Value from = pipeEnd(tracer, pipe, false, "pop");
  if (!from)
    return {};
  auto type = cast<tile::PipeType>(from.getType());
  // Only the role with lanes sees shares; the others see the whole tiles.
  SmallVector<Type> shares;
  for (tile::TileType tile : type.getPayload())
    shares.push_back(tile::laneShare(tile, type.getSplit(), tracer->lanesOfRole()));
  auto op = tile::PopOp::create(tracer->builder, tracer->loc(), shares, from);
  tracer->notePop(op.getResults(), from);
  std::vector<Tile> tiles;
  for (Value tile : op.getResults())
    tiles.push_back(tracer->handle(tile));
  return tiles;
}

static Tile pop(Pipe pipe) {
  std::vector<Tile> tiles = popAll(pipe);
  if (tiles.size() == 1)
    return tiles[0];
  Value from = Value::getFromOpaquePointer(pipe.value);
  bool isToken = from && cast<tile::PipeType>(from.getType()).getPayload().empty();
  if (Tracer *tracer = Tracer::inRole("pop"); tracer && (isToken || !tiles.empty()))
    tracer->error("pop takes one tile, but this pipe carries " + std::to_string(tiles.size()) +
                  " at a time; use pop_all");
  return Tracer::poison(DType::F32, 1, 1);
}

static Part part(Shape whole, Split split) {
  Part all{whole, 0, 0, whole};
  Tracer *tracer = Tracer::inRole("part");
  if (!tracer || !tracer->checkShape(whole))
    return all;
  int64_t lanes = tracer->lanesOfRole();
  if (split == Split::None || lanes == 1)
    return all;
  bool byRows = split == Split::UpDown;
  int64_t extent = byRows ? whole.rows : whole.cols, share = extent / lanes;
  if (extent % lanes != 0) {
    tracer->error(std::to_string(lanes) + " lanes cannot share the " + std::to_string(extent) +
                  (byRows ? " rows" : " columns") + " of a tile of " +
                  shapeText(whole.rows, whole.cols) + " evenly");
    return all;
  }
  Index start = multiply(lane(), share);
  return byRows ? Part{{share, whole.cols}, start, 0, whole}
                : Part{{whole.rows, share}, 0, start, whole};
}

static Part part(Pipe pipe) {
  Tracer *tracer = Tracer::inRole("part");
  Value value = tracer ? tracer->use(pipe.value, "pipe") : Value();
  if (!value)
    return {{1, 1}, 0, 0, {1, 1}};
  auto type = cast<tile::PipeType>(value.getType());
  if (type.getPayload().size() != 1) {
    tracer->error("part of a pipe that carries " + std::to_string(type.getPayload().size()) +
                  " tiles at a time; use part(shape, split) for each");
    return {{1, 1}, 0, 0, {1, 1}};
  }
  tile::TileType tile = type.getPayload().front();
  return part({tile.getRows(), tile.getCols()}, static_cast<Split>(type.getSplit()));
}

static void free(Pipe pipe) {
  Tracer *tracer = Tracer::inRole("free");
  if (Value from = pipeEnd(tracer, pipe, false, "free"))
    tile::FreeOp::create(tracer->builder, tracer->loc(), from);
}

//===----------------------------------------------------------------------===//
// Operations
//===----------------------------------------------------------------------===//

static void addFrames(std::vector<RecordedOp> &list) {
  list.push_back(operation(
      "function.begin", "Begins an orchestration, a kernel (incore) or a group.",
      {"kind", "name", "parameters?", "split?", "lanes?", "slots?", "stages?"}, beginFunction));
  list.push_back(operation("function.end", "Ends it.", {}, endFunction));
  list.push_back(operation("function.abandon",
                           "Leaves the innermost function empty, because what records it failed.",
                           {"what"}, abandonFunction));
  list.push_back(operation(
      "spmd.begin",
      "Begins a kernel that is launched in place: one block index for each dimension of the grid, "
      "then the task.",
      {"name", "grid", "split?", "lanes?", "slots?", "stages?", "deps?", "sync_start?",
       "predicate?", "blocks?"},
      [](Recorder &recorder, const std::string &name, const Indices &grid,
         std::optional<Split> split, int64_t lanes, int64_t slots, int64_t stages,
         const std::vector<TaskRef> &deps, bool syncStart,
         const std::optional<ElementTest> &predicate, int64_t blocks) {
        beginSpmd(recorder, name, grid, split, lanes, slots, stages, deps, syncStart, predicate,
                  blocks);
      }));
  list.push_back(operation("spmd.end", "Ends it.", {}, endSpmd));
  list.push_back(operation("role.begin", "Begins what one role of a group does.", {"name", "role"},
                           beginRole));
  list.push_back(operation("role.end", "Ends it.", {}, endRole));
  list.push_back(operation("scope.begin", "Begins a block: what is allocated in it ends with it.",
                           {"manual?"}, beginScope));
  list.push_back(operation("scope.end", "Ends it.", {}, endScope));
}

static void addPipes(std::vector<RecordedOp> &list) {
  list.push_back(operation(
      "pipe",
      "A pipe from one role to another. Several tiles travel together; none make it a token.",
      {"name", "from", "to", "payload", "split?", "slots?"}, pipe));
  list.push_back(operation(
      "push",
      "Puts tiles into a pipe; waits for a free slot. With a split, a lane pushes its own part.",
      {"pipe", "tiles"}, push));
  list.push_back(operation("pop", "Takes the oldest tile out of a pipe; waits for a full slot.",
                           {"pipe"}, pop));
  list.push_back(operation("pop_all",
                           "The same for a pipe in which several tiles travel together, or none.",
                           {"pipe"}, popAll));
  list.push_back(operation("free",
                           "Releases the oldest popped slot; with none the compiler places them.",
                           {"pipe"}, free));
  list.push_back(operation(
      "part", "The rows and columns of this lane's part of a tile, and where it begins.",
      {"shape", "split"}, [](Recorder &recorder, Shape shape, Split split) {
        Part mine = part(shape, split);
        for (Index each : {Index(mine.shape.rows), Index(mine.shape.cols), mine.row, mine.col})
          give(recorder, each);
      }));
  list.push_back(
      operation("pipe_part", "The same of what this lane pushes into a pipe or pops from it.",
                {"pipe"}, [](Recorder &recorder, Pipe pipe) {
                  Part mine = part(pipe);
                  for (Index each : {Index(mine.shape.rows), Index(mine.shape.cols), mine.row,
                                     mine.col, Index(mine.whole.rows), Index(mine.whole.cols)})
                    give(recorder, each);
                }));
}

void addLaunchOperations(std::vector<RecordedOp> &list) {
  list.push_back(operation("submit", "Launches a kernel or group.",
                           {"kernel", "arguments", "grid?", "deps?", "sync_start?", "predicate?"},
                           [](const KernelName &kernel, const std::vector<LaunchArg> &arguments,
                              const Indices &grid, const std::vector<TaskRef> &deps, bool syncStart,
                              const std::optional<ElementTest> &predicate) {
                             return submit(kernel.name, arguments,
                                           {grid, deps, syncStart, predicate});
                           }));
  list.push_back(
      operation("join", "A task that does nothing but wait for others.", {"tasks"}, join));
  addPipes(list);
  addFrames(list);
}

} // namespace kiln::record
