//===- Launch.cpp - recording launches, groups, roles and pipes ---------------------===//
#include "Tracer.h"

#include "kiln/Machine/Machine.h"
#include "kiln/Program/OutlineRegion.h"

using namespace mlir;

namespace kiln {

namespace detail {

void *beginScope(bool manual, Where where) {
  ProgramImpl *tracer = ProgramImpl::inOrchestration("scope", where);
  if (!tracer || !tracer->canNest(where))
    return nullptr;
  auto op = ir::ScopeOp::create(tracer->builder, tracer->loc(where), manual);
  tracer->builder.setInsertionPointToStart(tracer->builder.createBlock(&op.getBody()));
  return op;
}

void endScope(void *frame) {
  if (frame)
    ProgramImpl::current("scope", Where::current())
        ->builder.setInsertionPointAfter(static_cast<Operation *>(frame));
}

} // namespace detail

/// Grid, deps and predicate in the form the launch ops take.
struct LaunchOperands {
  SmallVector<int64_t> grid;
  SmallVector<Value> gridValues, deps;
  Value predicate;
  SmallVector<Value> predicateValues;
  DenseI64ArrayAttr predicateAt;
  arith::CmpIPredicateAttr compare;
  IntegerAttr constant;

  bool collect(ProgramImpl *tracer, const std::vector<Index> &extents,
               const std::vector<TaskRef> &tasks, const std::optional<ElementTest> &condition,
               Where where) {
    for (TaskRef task : tasks) {
      Value value = tracer->use(task.value(), "task", where);
      if (!value)
        return false;
      deps.push_back(value);
    }
    return tracer->mixed(extents, where, grid, gridValues) &&
           (!condition || collect(tracer, *condition, where));
  }

private:
  bool collect(ProgramImpl *tracer, const ElementTest &condition, Where where) {
    using Cmp = arith::CmpIPredicate;
    static constexpr Cmp kinds[] = {Cmp::eq,  Cmp::ne,  Cmp::slt,
                                    Cmp::sle, Cmp::sgt, Cmp::sge}; // in the order of the enum
    const TensorRef &tensor = condition.element.tensor();
    predicate = tracer->use(tensor.value(), "tensor", where);
    if (!predicate)
      return false;
    if (int(condition.element.at().size()) != tensor.rank() || isFloat(tensor.dtype())) {
      tracer->error(where, "a predicate compares one element of an integer tensor: flags[{i}] > 0");
      return false;
    }
    SmallVector<int64_t> at;
    if (!tracer->mixed(condition.element.at(), where, at, predicateValues))
      return false;
    predicateAt = tracer->builder.getDenseI64ArrayAttr(at);
    compare = arith::CmpIPredicateAttr::get(&tracer->context, kinds[condition.compare]);
    constant = tracer->builder.getI64IntegerAttr(condition.constant);
    return true;
  }
};

TaskRef submit(const Kernel &kernel, std::vector<LaunchArg> args, SubmitOptions options,
               Where where) {
  TaskRef failed = TaskRef::of(nullptr);
  ProgramImpl *tracer = ProgramImpl::inOrchestration("submit", where);
  LaunchOperands launch;
  if (!tracer || !launch.collect(tracer, options.grid, options.deps, options.predicate, where))
    return failed;
  auto callee = tracer->module->lookupSymbol<ir::FuncOp>(kernel.name());
  if (!callee) {
    tracer->error(where, "this program has no kernel '" + kernel.name() + "'");
    return failed;
  }
  if (args.size() != callee.getNumArguments()) {
    tracer->error(where, "'" + kernel.name() + "' takes " +
                             std::to_string(callee.getNumArguments()) + " arguments, not " +
                             std::to_string(args.size()));
    return failed;
  }
  SmallVector<Value> values;
  for (auto [index, arg] : llvm::enumerate(args)) {
    Type want = callee.getArgumentTypes()[index];
    if (arg.isNumber && isa<ir::TensorType>(want)) {
      tracer->error(where, "argument '" + callee.getArgName(index).str() + "' of '" +
                               kernel.name() + "' is a tensor, not a number");
      return failed;
    }
    Value value = arg.isNumber ? tracer->numberConstant(arg.number, want, where)
                               : tracer->use(arg.value, "argument", where);
    if (!value)
      return failed;
    values.push_back(value);
  }
  OpBuilder &builder = tracer->builder;
  auto op = ir::SubmitOp::create(
      builder, tracer->loc(where), FlatSymbolRefAttr::get(callee.getSymNameAttr()), values,
      launch.gridValues, builder.getDenseI64ArrayAttr(launch.grid), launch.deps, options.syncStart,
      launch.predicate, launch.predicateValues, launch.predicateAt, launch.compare,
      launch.constant);
  return TaskRef::of(Value(op.getTask()).getAsOpaquePointer());
}

TaskRef join(std::vector<TaskRef> tasks, Where where) {
  ProgramImpl *tracer = ProgramImpl::inOrchestration("join", where);
  LaunchOperands launch;
  if (!tracer || !launch.collect(tracer, {}, tasks, {}, where))
    return TaskRef::of(nullptr);
  auto op = ir::SubmitOp::create(
      tracer->builder, tracer->loc(where), FlatSymbolRefAttr(), ValueRange(), ValueRange(),
      tracer->builder.getDenseI64ArrayAttr({}), launch.deps, false, Value(), ValueRange(),
      DenseI64ArrayAttr(), arith::CmpIPredicateAttr(), IntegerAttr());
  return TaskRef::of(Value(op.getTask()).getAsOpaquePointer());
}

namespace detail {

SpmdFrame beginSpmd(const std::string &name, const std::vector<Index> &grid, size_t arity,
                    const SpmdOptions &options, Where where) {
  SpmdFrame frame{std::vector<Index>(arity, Index(0)), nullptr, TaskRef::of(nullptr)};
  ProgramImpl *tracer = ProgramImpl::inOrchestration("spmd", where);
  if (!tracer)
    return frame;
  // A mistake in the launch does not keep the body from being traced: it stands in for a right one.
  LaunchOperands launch;
  bool launched = launch.collect(tracer, grid, options.deps, options.predicate, where);
  if (grid.size() != arity) {
    tracer->error(where, "spmd '" + name + "' has a grid of " + std::to_string(grid.size()) +
                             " dimensions but its body takes " + std::to_string(arity) +
                             " block indices");
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
  auto op = ir::IncoreOp::create(builder, tracer->loc(where), name, launch.gridValues,
                                 builder.getDenseI64ArrayAttr(launch.grid), launch.deps,
                                 options.syncStart, launch.predicate, launch.predicateValues,
                                 launch.predicateAt, launch.compare, launch.constant,
                                 numberOf(options.lanes), split, numberOf(options.slots));
  if (options.stages < 0)
    tracer->error(where, "spmd '" + name + "' has " + std::to_string(options.stages) +
                             " stages; a loop has at least one, or 0 where it is not pipelined");
  tracer->stages = options.stages;
  Block *body = builder.createBlock(&op.getBody());
  builder.setInsertionPointToStart(body);
  for (size_t dim = 0; dim < arity; ++dim)
    frame.blocks[dim] = blockIdx(int(dim), where);
  frame.op = op;
  frame.task = TaskRef::of(Value(op.getTask()).getAsOpaquePointer());
  return frame;
}

void endSpmd(const SpmdFrame &frame) {
  if (!frame.op)
    return;
  auto *op = static_cast<Operation *>(frame.op);
  ProgramImpl *tracer = ProgramImpl::current("spmd", Where::current());
  tracer->builder.setInsertionPointAfter(op);
  tracer->stages = 0;
}

void *beginRole(const std::string &name, CoreRole role, Where where) {
  ProgramImpl *tracer = ProgramImpl::current("role", where);
  if (!tracer)
    return nullptr;
  if (!tracer->isIn({ir::FuncKind::Group})) {
    tracer->error(where, "role '" + name + "' (" + role.name + ") belongs to a group");
    return nullptr;
  }
  OpBuilder &builder = tracer->builder;
  // The role is recorded in place, where it sees the group's tensors and pipes, and made a function
  // at the end.
  auto holder = ir::IncoreOp::create(
      builder, tracer->loc(where), name, ValueRange(), builder.getDenseI64ArrayAttr({}),
      ValueRange(), false, Value(), ValueRange(), DenseI64ArrayAttr(), arith::CmpIPredicateAttr(),
      IntegerAttr(), IntegerAttr(), tile::SplitAttr(), IntegerAttr());
  builder.setInsertionPointToStart(builder.createBlock(&holder.getBody()));
  tracer->role = role.name;
  return holder;
}

void endRole(void *frame, const std::string &name, CoreRole role) {
  if (!frame)
    return;
  ProgramImpl *tracer = ProgramImpl::current("role", Where::current());
  auto holder = cast<ir::IncoreOp>(static_cast<Operation *>(frame));
  OutlinedRegion outlined = outlineRegion(holder.getBody(), name, ir::FuncKind::Role, role.name);
  tracer->role.clear();
  OpBuilder &builder = tracer->builder;
  builder.setInsertionPoint(holder);
  ir::CallOp::create(builder, holder.getLoc(), TypeRange(),
                     FlatSymbolRefAttr::get(outlined.func.getSymNameAttr()), outlined.args);
  builder.setInsertionPointAfter(holder);
  holder.erase();
}

} // namespace detail

//===----------------------------------------------------------------------===//
// Pipes
//===----------------------------------------------------------------------===//

/// A pipe with a split gives its group lanes, where their number is not stated.
static bool chooseLanes(ProgramImpl *tracer, const std::string &name, tile::PipeType type,
                        Where where) {
  int64_t most = std::max(findRole(type.getFrom())->maxLanes, findRole(type.getTo())->maxLanes);
  if (tracer->areLanesStated || type.getSplit() == tile::Split::None || most == 1 ||
      tracer->function.getNumLanes() == most)
    return true;
  if (!tracer->function.getBody().getOps<ir::CallOp>().empty()) {
    tracer->error(where, "pipe '" + name +
                             "' has a split, which gives the group lanes, but comes after a role; "
                             "make it before the roles, or state the number of lanes");
    return false;
  }
  tracer->function.setLanes(most);
  return true;
}

Pipe pipe(const std::string &name, CoreRole from, CoreRole to, std::vector<PipeTile> payload,
          PipeOptions options, Where where) {
  ProgramImpl *tracer = ProgramImpl::current("pipe", where);
  if (!tracer)
    return Pipe::of(nullptr);
  if (!tracer->isIn({ir::FuncKind::Group})) {
    tracer->error(where,
                  "pipe '" + name + "' is made outside a group; pipes join the roles of a group");
    return Pipe::of(nullptr);
  }
  DiagnosticCollector collector(&tracer->context, tracer->errors);
  auto emit = [&] { return mlir::emitError(tracer->loc(where)); };
  SmallVector<tile::TileType> tiles;
  for (const PipeTile &tile : payload) {
    tiles.push_back(tile::TileType::getChecked(emit, &tracer->context, tile.shape.rows,
                                               tile.shape.cols, tracer->typeOf(tile.type),
                                               tile::Space::Unassigned));
    if (!tiles.back())
      return Pipe::of(nullptr);
  }
  auto type = tile::PipeType::getChecked(emit, &tracer->context, StringRef(from.name),
                                         StringRef(to.name), ArrayRef<tile::TileType>(tiles),
                                         static_cast<tile::Split>(options.split));
  if (!type || !chooseLanes(tracer, name, type, where))
    return Pipe::of(nullptr);
  IntegerAttr slots;
  if (options.slots != 0)
    slots = tracer->builder.getI64IntegerAttr(options.slots);
  auto op = tile::PipeOp::create(tracer->builder, tracer->loc(where), type, slots,
                                 tracer->builder.getStringAttr(name));
  // Roles ask at once for each lane's share of a tile, so there has to be one.
  if (failed(op.verify())) {
    op.erase();
    return Pipe::of(nullptr);
  }
  return Pipe::of(Value(op).getAsOpaquePointer());
}

/// The pipe, if the role that is being traced is this end of it.
static Value pipeEnd(ProgramImpl *tracer, Pipe pipe, bool isProducer, const char *what,
                     Where where) {
  Value value = tracer ? tracer->use(pipe.value(), "pipe", where) : Value();
  if (!value)
    return {};
  auto type = cast<tile::PipeType>(value.getType());
  StringRef end = isProducer ? type.getFrom() : type.getTo();
  if (tracer->role == end)
    return value;
  tracer->error(where, std::string(what) + " by role " +
                           (tracer->role.empty() ? "?" : tracer->role) + ", but '" +
                           givenName(value).str() + "' is a pipe from " + type.getFrom().str() +
                           " to " + type.getTo().str());
  return {};
}

static ProgramImpl *inRole(const char *what, Where where) {
  ProgramImpl *tracer = ProgramImpl::current(what, where);
  if (tracer && tracer->role.empty()) {
    tracer->error(where,
                  std::string(what) +
                      " stands outside a role; only the roles of a group talk through pipes");
    return nullptr;
  }
  return tracer;
}

void push(Pipe pipe, const std::vector<Tile> &tiles, Where where) {
  ProgramImpl *tracer = inRole("push", where);
  Value to = pipeEnd(tracer, pipe, true, "push", where);
  if (!to)
    return;
  SmallVector<Value> values;
  for (const Tile &tile : tiles)
    values.push_back(tracer->use(tile.value(), "tile", where));
  if (!llvm::is_contained(values, Value()))
    tile::PushOp::create(tracer->builder, tracer->loc(where), values, to);
}
void push(Pipe pipe, const Tile &tile, Where where) { push(pipe, std::vector{tile}, where); }

std::vector<Tile> pop_all(Pipe pipe, Where where) {
  ProgramImpl *tracer = inRole("pop", where);
  Value from = pipeEnd(tracer, pipe, false, "pop", where);
  if (!from)
    return {};
  auto type = cast<tile::PipeType>(from.getType());
  // Only the role with lanes sees shares; the others see the whole tiles.
  SmallVector<Type> shares;
  for (tile::TileType tile : type.getPayload())
    shares.push_back(tile::laneShare(tile, type.getSplit(), tracer->lanesOfRole()));
  auto op = tile::PopOp::create(tracer->builder, tracer->loc(where), shares, from);
  tracer->notePop(op.getResults(), from);
  std::vector<Tile> tiles;
  for (Value tile : op.getResults())
    tiles.push_back(tracer->handle(tile));
  return tiles;
}

Tile pop(Pipe pipe, Where where) {
  std::vector<Tile> tiles = pop_all(pipe, where);
  if (tiles.size() == 1)
    return tiles[0];
  Value from = Value::getFromOpaquePointer(pipe.value());
  bool isToken = from && cast<tile::PipeType>(from.getType()).getPayload().empty();
  if (ProgramImpl *tracer = inRole("pop", where); tracer && (isToken || !tiles.empty()))
    tracer->error(where, "pop takes one tile, but this pipe carries " +
                             std::to_string(tiles.size()) + " at a time; use pop_all");
  return ProgramImpl::poison(DType::F32, 1, 1);
}

Part part(Shape whole, Split split, Where where) {
  Part all{whole, 0, 0, whole};
  ProgramImpl *tracer = inRole("part", where);
  if (!tracer || !tracer->checkShape(whole, where))
    return all;
  int64_t lanes = tracer->lanesOfRole();
  if (split == Split::None || lanes == 1)
    return all;
  bool byRows = split == Split::UpDown;
  int64_t extent = byRows ? whole.rows : whole.cols, share = extent / lanes;
  if (extent % lanes != 0) {
    tracer->error(where, std::to_string(lanes) + " lanes cannot share the " +
                             std::to_string(extent) + (byRows ? " rows" : " columns") +
                             " of a tile of " + shapeText(whole.rows, whole.cols) + " evenly");
    return all;
  }
  Index start = IndexOperand(lane(where), where) * IndexOperand(share, where);
  return byRows ? Part{{share, whole.cols}, start, 0, whole}
                : Part{{whole.rows, share}, 0, start, whole};
}

Part part(Pipe pipe, Where where) {
  ProgramImpl *tracer = inRole("part", where);
  Value value = tracer ? tracer->use(pipe.value(), "pipe", where) : Value();
  if (!value)
    return {{1, 1}, 0, 0, {1, 1}};
  auto type = cast<tile::PipeType>(value.getType());
  if (type.getPayload().size() != 1) {
    tracer->error(where, "part of a pipe that carries " + std::to_string(type.getPayload().size()) +
                             " tiles at a time; use part(shape, split) for each");
    return {{1, 1}, 0, 0, {1, 1}};
  }
  tile::TileType tile = type.getPayload().front();
  return part({tile.getRows(), tile.getCols()}, static_cast<Split>(type.getSplit()), where);
}

void free(Pipe pipe, Where where) {
  ProgramImpl *tracer = inRole("free", where);
  if (Value from = pipeEnd(tracer, pipe, false, "free", where))
    tile::FreeOp::create(tracer->builder, tracer->loc(where), from);
}

} // namespace kiln
