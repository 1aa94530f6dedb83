//===- Launch.cpp - recording launches, groups, roles and pipes ---------------------===//
#include "Tracer.h"

#include "kiln/Transforms/OutlineRegion.h"

using namespace mlir;

namespace kiln {

static ProgramImpl *inOrchestration(const char *what, Where where) {
  ProgramImpl *tracer = ProgramImpl::current(what, where);
  if (tracer && !tracer->isIn({ir::FuncKind::Orchestration})) {
    tracer->error(where, std::string(what) +
                             " belongs to an orchestration, not to a kernel, role or group");
    return nullptr;
  }
  return tracer;
}

TensorRef alloc(const std::string &name, DType type, std::vector<Index> extents, Where where) {
  TensorRef failed = TensorRef::of(nullptr, type, int(extents.size()), Access::InOut);
  ProgramImpl *tracer = inOrchestration("alloc", where);
  if (!tracer)
    return failed;
  if (extents.empty() || extents.size() > size_t(ir::kMaxRank)) {
    tracer->error(where,
                  "alloc of rank " + std::to_string(extents.size()) + "; a tensor has rank 1 to 5");
    return failed;
  }
  SmallVector<int64_t> shape;
  SmallVector<Value> sizes;
  if (!tracer->mixed(extents, where, shape, sizes))
    return failed;
  for (int64_t extent : shape)
    if (!ShapedType::isDynamic(extent) && extent < 0) {
      tracer->error(where, "alloc with the negative extent " + std::to_string(extent));
      return failed;
    }
  DiagnosticCollector collector(&tracer->context, tracer->errors);
  auto tensor = ir::TensorType::getChecked([&] { return mlir::emitError(tracer->loc(where)); },
                                           &tracer->context, ArrayRef<int64_t>(shape),
                                           tracer->typeOf(type), ArrayRef<int64_t>());
  if (!tensor)
    return failed;
  auto op = ir::AllocOp::create(tracer->builder, tracer->loc(where), tensor, sizes,
                                tracer->builder.getStringAttr(name));
  return TensorRef::of(Value(op).getAsOpaquePointer(), type, int(extents.size()), Access::InOut);
}

TensorRef slice(const TensorRef &tensor, std::vector<Index> offsets, std::vector<Index> sizes,
                Where where) {
  TensorRef failed = TensorRef::of(nullptr, tensor.dtype(), tensor.rank(), tensor.access());
  ProgramImpl *tracer = ProgramImpl::current("slice", where);
  Value from = tracer ? tracer->use(tensor.value(), "tensor", where) : Value();
  SmallVector<int64_t> at, extents;
  SmallVector<Value> atValues, extentValues;
  if (!from || !tracer->mixed(offsets, where, at, atValues) ||
      !tracer->mixed(sizes, where, extents, extentValues))
    return failed;
  if (int(at.size()) != tensor.rank() || int(extents.size()) != tensor.rank()) {
    tracer->error(where, "slice of a tensor of rank " + std::to_string(tensor.rank()) +
                             " takes one offset and one size per axis");
    return failed;
  }
  for (int64_t extent : extents)
    if (!ShapedType::isDynamic(extent) && extent < 0) {
      tracer->error(where, "slice with the negative size " + std::to_string(extent));
      return failed;
    }
  OpBuilder &builder = tracer->builder;
  auto op = ir::SliceOp::create(
      builder, tracer->loc(where), ir::TensorType::get(extents, tracer->typeOf(tensor.dtype())),
      from, atValues, extentValues, builder.getDenseI64ArrayAttr(at),
      builder.getDenseI64ArrayAttr(extents), builder.getDenseI64ArrayAttr({}));
  return TensorRef::of(Value(op).getAsOpaquePointer(), tensor.dtype(), tensor.rank(),
                       tensor.access());
}

namespace detail {

void *beginScope(bool manual, Where where) {
  ProgramImpl *tracer = inOrchestration("scope", where);
  if (!tracer)
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

/// Grid and deps in the form the launch ops take.
struct LaunchOperands {
  SmallVector<int64_t> grid;
  SmallVector<Value> gridValues, deps;
  bool collect(ProgramImpl *tracer, const std::vector<Index> &extents,
               const std::vector<TaskRef> &tasks, Where where) {
    for (TaskRef task : tasks) {
      Value value = tracer->use(task.value(), "task", where);
      if (!value)
        return false;
      deps.push_back(value);
    }
    return tracer->mixed(extents, where, grid, gridValues);
  }
};

TaskRef submit(const Kernel &kernel, std::vector<LaunchArg> args, SubmitOptions options,
               Where where) {
  TaskRef failed = TaskRef::of(nullptr);
  ProgramImpl *tracer = inOrchestration("submit", where);
  LaunchOperands launch;
  if (!tracer || !launch.collect(tracer, options.grid, options.deps, where))
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
      Value(), ValueRange(), DenseI64ArrayAttr(), arith::CmpIPredicateAttr(), IntegerAttr());
  return TaskRef::of(Value(op.getTask()).getAsOpaquePointer());
}

namespace detail {

SpmdFrame beginSpmd(const std::string &name, const std::vector<Index> &grid, size_t arity,
                    const SpmdOptions &options, Where where) {
  SpmdFrame frame{std::vector<Index>(arity, Index(0)), nullptr, TaskRef::of(nullptr)};
  ProgramImpl *tracer = inOrchestration("spmd", where);
  if (!tracer)
    return frame;
  // A mistake in the launch does not keep the body from being traced: it stands in for a right one.
  LaunchOperands launch;
  bool launched = launch.collect(tracer, grid, options.deps, where);
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
  if (options.split != Split::None)
    split = tile::SplitAttr::get(&tracer->context, static_cast<tile::Split>(options.split));
  auto op = ir::IncoreOp::create(builder, tracer->loc(where), name, launch.gridValues,
                                 builder.getDenseI64ArrayAttr(launch.grid), launch.deps,
                                 options.syncStart, Value(), ValueRange(), DenseI64ArrayAttr(),
                                 arith::CmpIPredicateAttr(), IntegerAttr(), split);
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
  ProgramImpl::current("spmd", Where::current())->builder.setInsertionPointAfter(op);
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
  auto holder = ir::IncoreOp::create(builder, tracer->loc(where), name, ValueRange(),
                                     builder.getDenseI64ArrayAttr({}), ValueRange(), false, Value(),
                                     ValueRange(), DenseI64ArrayAttr(), arith::CmpIPredicateAttr(),
                                     IntegerAttr(), tile::SplitAttr());
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

Pipe pipe(const std::string &name, CoreRole from, CoreRole to, DType type, Shape shape,
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
  auto tile = tile::TileType::getChecked(emit, &tracer->context, shape.rows, shape.cols,
                                         tracer->typeOf(type), tile::Space::Unassigned);
  if (!tile)
    return Pipe::of(nullptr);
  auto pipeType = tile::PipeType::getChecked(emit, &tracer->context, StringRef(from.name),
                                             StringRef(to.name), ArrayRef<tile::TileType>(tile),
                                             static_cast<tile::Split>(options.split));
  if (!pipeType)
    return Pipe::of(nullptr);
  IntegerAttr slots;
  if (options.slots != 0)
    slots = tracer->builder.getI64IntegerAttr(options.slots);
  auto op = tile::PipeOp::create(tracer->builder, tracer->loc(where), pipeType, slots,
                                 tracer->builder.getStringAttr(name));
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

void push(Pipe pipe, const Tile &tile, Where where) {
  ProgramImpl *tracer = inRole("push", where);
  Value to = pipeEnd(tracer, pipe, true, "push", where);
  Value value = to ? tracer->use(tile.value(), "tile", where) : Value();
  if (value)
    tile::PushOp::create(tracer->builder, tracer->loc(where), value, to);
}

Tile pop(Pipe pipe, Where where) {
  ProgramImpl *tracer = inRole("pop", where);
  Value from = pipeEnd(tracer, pipe, false, "pop", where);
  if (!from)
    return ProgramImpl::poison(DType::F32, 1, 1);
  auto type = cast<tile::PipeType>(from.getType());
  // Only the role with lanes sees a share; the others see the whole tile.
  tile::TileType tile =
      tile::laneShare(type.getPayload()[0], type.getSplit(), tracer->lanesOfRole());
  return tracer->handle(
      tile::PopOp::create(tracer->builder, tracer->loc(where), TypeRange(tile), from).getResult(0));
}

void free(Pipe pipe, Where where) {
  ProgramImpl *tracer = inRole("free", where);
  if (Value from = pipeEnd(tracer, pipe, false, "free", where))
    tile::FreeOp::create(tracer->builder, tracer->loc(where), from);
}

} // namespace kiln
