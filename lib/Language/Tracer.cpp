#include "Tracer.h"

#include "kiln/Dialect/ProgramText.h"
#include "kiln/Machine/Machine.h"
#include "kiln/Program/OutlineRegion.h"
#include "kiln/Program/Signature.h"

#include "mlir/IR/Verifier.h"
#include "llvm/Support/Format.h"

#include <cmath>

using namespace mlir;

namespace kiln {

// The tracer of this thread's innermost function, and the program that hears of mistakes outside
// any.
static thread_local ProgramImpl *activeTracer = nullptr;
thread_local const SourceLoc *ProgramImpl::foreignLine = nullptr;
static thread_local ProgramImpl *latestProgram = nullptr;

void registerKilnDialects(DialectRegistry &registry) {
  registry.insert<ir::KilnDialect, tile::TileDialect, arith::ArithDialect, scf::SCFDialect>();
}

DiagnosticCollector::DiagnosticCollector(MLIRContext *context, std::vector<Status> &errors)
    : handler(context, [&errors](Diagnostic &diagnostic) {
        if (diagnostic.getSeverity() != DiagnosticSeverity::Error)
          return failure();
        std::string message = diagnostic.str();
        for (Diagnostic &note : diagnostic.getNotes()) {
          SourceLoc loc = sourceLocOf(note.getLocation());
          message += "\n" + (loc.isKnown() ? loc.str() + ": note: " : "  note: ") + note.str();
        }
        bool isInternal = StringRef(message).starts_with("internal error");
        errors.emplace_back(isInternal ? StatusCode::Internal : StatusCode::InvalidArgument,
                            message, sourceLocOf(diagnostic.getLocation()));
        return success();
      }) {}

ProgramImpl::ProgramImpl(const std::string &name, Where where)
    : context(MLIRContext::Threading::DISABLED), builder(&context), name(name) {
  DialectRegistry registry;
  registerKilnDialects(registry);
  context.appendDialectRegistry(registry);
  context.loadAllAvailableDialects();
  context.printOpOnDiagnostic(false); // the user's line says more than the op in generic form
  module = ModuleOp::create(loc(where), name);
  latestProgram = this;
}

ProgramImpl::~ProgramImpl() {
  if (latestProgram == this)
    latestProgram = nullptr;
}

ProgramImpl::Turn::Turn(ProgramImpl &program) : active(activeTracer), latest(latestProgram) {
  activeTracer = program.function ? &program : nullptr;
  latestProgram = &program;
}

ProgramImpl::Turn::~Turn() {
  activeTracer = active;
  latestProgram = latest;
}

ProgramImpl *ProgramImpl::current(const char *what, Where where) {
  if (activeTracer)
    return activeTracer;
  if (latestProgram)
    latestProgram->error(where,
                         std::string(what) +
                             " stands outside any function of a program; call it in the body of "
                             "a kernel, role, group or orchestration");
  return nullptr;
}

ProgramImpl *ProgramImpl::inKernel(const char *what, Where where) {
  ProgramImpl *tracer = current(what, where);
  if (tracer && !tracer->isIn({ir::FuncKind::Incore, ir::FuncKind::Role})) {
    tracer->error(where,
                  std::string(what) + " computes on a core; put it into a kernel, a role or spmd");
    return nullptr;
  }
  return tracer;
}

ProgramImpl *ProgramImpl::inOrchestration(const char *what, Where where) {
  ProgramImpl *tracer = current(what, where);
  if (tracer && !tracer->isIn({ir::FuncKind::Orchestration})) {
    tracer->error(where, std::string(what) +
                             " belongs to an orchestration, not to a kernel, role or group");
    return nullptr;
  }
  return tracer;
}

void ProgramImpl::error(Where where, std::string message) {
  SourceLoc line{where.file_name(), int32_t(where.line()), int32_t(where.column())};
  errors.emplace_back(StatusCode::InvalidArgument, std::move(message),
                      foreignLine ? *foreignLine : line);
}

Location ProgramImpl::loc(Where where) {
  if (foreignLine)
    return FileLineColLoc::get(&context, foreignLine->file, foreignLine->line, foreignLine->col);
  return FileLineColLoc::get(&context, where.file_name(), where.line(), where.column());
}

Value ProgramImpl::use(ValuePtr handle, const char *what, Where where) {
  if (!handle)
    return {};
  Value value = Value::getFromOpaquePointer(handle);
  Region *here = builder.getInsertionBlock()->getParent();
  auto body = dyn_cast<tile::CombiningInterface>(here->getParentOp());
  if (body && value.getParentRegion() != here && value.getParentRegion()->isAncestor(here)) {
    error(where, std::string("this ") + what +
                     " comes from outside the body, which works on its parameters and numbers; "
                     "give it to the reduction or scan as another tile");
    return {};
  }
  if (value.getParentRegion()->isAncestor(here))
    return value;
  SourceLoc made = sourceLocOf(value.getLoc());
  error(where, std::string("this ") + what +
                   " cannot be used here: it belongs to the loop, kernel or role that made it" +
                   (made.isKnown() ? " (" + made.str() + ")" : "") +
                   "; return it from the loop or branch, or pass it as an argument");
  return {};
}

Value ProgramImpl::use(Index index, Where where) {
  return index.isConstant() ? indexConstant(index.constant()) : use(index.value(), "index", where);
}

Value ProgramImpl::use(const detail::Wire &wire, Where where) {
  using Wire = detail::Wire;
  switch (wire.kind) {
  case Wire::OfTile:
    return use(wire.value, "tile", where);
  case Wire::OfIndex:
    return use(wire.value ? Index::of(wire.value) : Index(wire.constant), where);
  case Wire::OfScalar:
    return use(wire.value, "scalar", where);
  case Wire::OfTask:
    return use(wire.value, "task", where);
  }
  return {};
}

detail::Wire ProgramImpl::wire(Value value) {
  using Wire = detail::Wire;
  ValuePtr handle = value.getAsOpaquePointer();
  if (auto tile = dyn_cast<tile::TileType>(value.getType()))
    return {handle, Wire::OfTile, *dtypeOf(tile.getElementType()), tile.getRows(), tile.getCols()};
  if (value.getType().isIndex())
    return {handle, Wire::OfIndex, DType::Index};
  if (isa<ir::TaskType>(value.getType()))
    return {handle, Wire::OfTask};
  return {handle, Wire::OfScalar, *dtypeOf(value.getType())};
}

Type ProgramImpl::typeOf(DType type) {
  switch (type) {
  case DType::F32:
    return builder.getF32Type();
  case DType::F16:
    return builder.getF16Type();
  case DType::BF16:
    return builder.getBF16Type();
  case DType::F8E4M3FN:
    return Float8E4M3FNType::get(&context);
  case DType::F8E5M2:
    return Float8E5M2Type::get(&context);
  case DType::I8:
    return builder.getI8Type();
  case DType::I16:
    return builder.getI16Type();
  case DType::I32:
    return builder.getI32Type();
  case DType::I64:
    return builder.getI64Type();
  case DType::I1:
    return builder.getI1Type();
  case DType::Index:
    return builder.getIndexType();
  }
  return {};
}

tile::TileType ProgramImpl::tileType(DType type, int64_t rows, int64_t cols) {
  return tile::TileType::get(rows, cols, typeOf(type));
}

Tile ProgramImpl::handle(Value value) {
  auto type = cast<tile::TileType>(value.getType());
  return Tile::of(value.getAsOpaquePointer(), type.getRows(), type.getCols(),
                  *dtypeOf(type.getElementType()));
}

Block *ProgramImpl::constantBlock() {
  Operation *op = builder.getInsertionBlock()->getParentOp();
  while (!isa<ir::IncoreOp, ir::FuncOp, tile::CombiningInterface>(op))
    op = op->getParentOp();
  return &op->getRegion(0).front();
}

Value ProgramImpl::constant(TypedAttr value) {
  Block *block = constantBlock();
  auto it = block->begin();
  for (; it != block->end() && isa<arith::ConstantOp>(*it); ++it)
    if (cast<arith::ConstantOp>(*it).getValue() == value)
      return it->getResult(0);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPoint(block, it);
  return arith::ConstantOp::create(builder, block->getParentOp()->getLoc(), value);
}

Value ProgramImpl::numberConstant(double value, Type type, Where where) {
  if (isa<FloatType>(type))
    return constant(builder.getFloatAttr(type, value));
  unsigned width = isa<IndexType>(type) ? 64 : type.getIntOrFloatBitWidth();
  // i1 is 0 or 1; the others are signed.
  double limit = std::ldexp(1.0, int(width) - (width > 1));
  if (value != std::trunc(value) || value >= limit || value < (width > 1 ? -limit : 0)) {
    std::string text;
    llvm::raw_string_ostream os(text);
    os << llvm::format("%g", value) << " is no value of type " << type;
    error(where, text);
    return {};
  }
  return constant(
      builder.getIntegerAttr(type, APInt(width, uint64_t(int64_t(value)), /*isSigned=*/true,
                                         /*implicitTrunc=*/true)));
}

bool ProgramImpl::checkAxis(const char *what, int axis, Where where) {
  if (axis == 0 || axis == 1)
    return true;
  error(where, std::string(what) + " along axis " + std::to_string(axis) +
                   "; it is 0 (rows) or 1 (columns)");
  return false;
}

bool ProgramImpl::checkShape(Shape shape, Where where) {
  auto emit = [&] { return mlir::emitError(loc(where)); };
  DiagnosticCollector collector(&context, errors);
  return succeeded(tile::TileType::verify(emit, shape.rows, shape.cols, typeOf(DType::F32),
                                          tile::Space::Unassigned));
}

Attribute ProgramImpl::padAttr(Pad pad) {
  if (pad == Pad::Zero)
    return {};
  return tile::PadKindAttr::get(&context, static_cast<tile::PadKind>(pad));
}

bool ProgramImpl::mixed(const std::vector<Index> &indices, Where where,
                        SmallVectorImpl<int64_t> &constants, SmallVectorImpl<Value> &values) {
  for (Index index : indices) {
    if (index.isConstant()) {
      constants.push_back(index.constant());
      continue;
    }
    Value value = use(index, where);
    if (!value)
      return false;
    constants.push_back(ShapedType::kDynamic);
    values.push_back(value);
  }
  return true;
}

bool ProgramImpl::isIn(std::initializer_list<ir::FuncKind> kinds) const {
  ir::FuncOp func = function;
  ir::FuncKind kind = func.getKind();
  if (Operation *op = builder.getInsertionBlock()->getParentOp();
      isa<ir::IncoreOp>(op) || op->getParentOfType<ir::IncoreOp>())
    kind = kind == ir::FuncKind::Group ? ir::FuncKind::Role : ir::FuncKind::Incore;
  return llvm::is_contained(kinds, kind);
}

bool ProgramImpl::canNest(Where where) {
  unsigned depth = 0;
  for (Operation *op = builder.getInsertionBlock()->getParentOp(); op; op = op->getParentOp())
    ++depth;
  if (depth < kMaxNesting)
    return true;
  if (!isTooDeep)
    error(where, "loops, branches and scopes are nested more than " + std::to_string(kMaxNesting) +
                     " deep here; a program nests them less deeply");
  isTooDeep = true;
  return false;
}

int64_t ProgramImpl::lanesOfRole() { return function.getLanesOf(role); }

void ProgramImpl::notePop(ValueRange tiles, Value pipe) {
  for (Value tile : tiles)
    poppedFor[tile] = {pipe};
}

Tile ProgramImpl::fromOperands(Tile result, std::initializer_list<TileArg> operands, Where where) {
  SmallVector<Value, 1> pipes;
  for (const TileArg &operand : operands) {
    if (!operand.isTemporary || !operand.value())
      continue;
    for (Value pipe : poppedFor.lookup(Value::getFromOpaquePointer(operand.value()))) {
      if (!llvm::is_contained(pipes, pipe)) {
        pipes.push_back(pipe);
        continue;
      }
      std::string name = givenName(pipe).str();
      error(where, "two tiles are popped from '" + name +
                       "' in one expression, and C++ leaves open which of them comes first; give "
                       "each a name: Tile first = pop(" +
                       name + "); Tile second = pop(" + name + ");");
      return result;
    }
  }
  if (!pipes.empty() && result.value())
    poppedFor[Value::getFromOpaquePointer(result.value())] = pipes;
  return result;
}

void ProgramImpl::suspend() {
  suspended.push_back(
      {function, role, builder.saveInsertionPoint(), stages, areLanesStated, previous});
  role.clear();
}

void ProgramImpl::resume() {
  Suspended state = suspended.back();
  suspended.pop_back();
  function = state.function;
  role = state.role;
  builder.restoreInsertionPoint(state.at);
  stages = state.stages;
  areLanesStated = state.areLanesStated;
  previous = state.previous;
}

//===----------------------------------------------------------------------===//
// Program
//===----------------------------------------------------------------------===//

Program::Program(const std::string &name, Where where)
    : P(std::make_unique<ProgramImpl>(name, where)) {}
Program::Program(Program &&) noexcept = default;
Program &Program::operator=(Program &&) noexcept = default;
Program::~Program() = default;

const std::string &Program::name() const { return P->name; }

std::string Program::str() const {
  std::string text;
  llvm::raw_string_ostream os(text);
  P->module->print(os);
  return text;
}

/// Pipe operations that some lanes would not meet. The roles are complete only now.
static void reportLaneDependence(ModuleOp module) {
  module.walk([](Operation *op) {
    if (!isa<tile::PushOp, tile::PopOp, tile::FreeOp>(op))
      return;
    Operation *control = tile::findLaneDependentControl(op);
    if (!control)
      return;
    InFlightDiagnostic diag =
        op->emitError(op->getName().stripDialect())
        << " happens for some lanes only, or more often for some: what decides about it depends on "
           "the lane; move it out, so that every lane does it";
    diag.attachNote(control->getLoc()) << "decided here";
  });
}

const std::vector<Status> &Program::errors() {
  if (!P->verified) {
    // The verifier sees what tracing could not; what was reported at the same line already says
    // enough.
    std::vector<Status> found;
    DiagnosticCollector collector(&P->context, found);
    if (succeeded(mlir::verify(*P->module)))
      reportLaneDependence(*P->module);
    for (Status &error : found)
      if (llvm::none_of(P->errors, [&](const Status &known) {
            return known.location().file == error.location().file &&
                   known.location().line == error.location().line;
          }))
        P->errors.push_back(error);
    P->verified = true;
  }
  return P->errors;
}

ModuleOp moduleOf(Program &program) { return *program.impl().module; }

static ir::FuncKind kindFromName(StringRef name) { return *ir::symbolizeFuncKind(name); }

/// Reports what a kernel or group cannot ask for.
static bool checkOptions(ProgramImpl &tracer, const std::string &what, int64_t lanes, int64_t slots,
                         int stages, Where where) {
  auto wrong = [&](int64_t number, const char *things) {
    if (number >= 0)
      return false;
    tracer.error(where, what + " has " + std::to_string(number) + " " + things +
                            "; there is at least one, or 0 for what the compiler chooses");
    return true;
  };
  return !wrong(lanes, "lanes") && !wrong(slots, "slots") && !wrong(stages, "stages");
}

detail::FunctionFrame Program::begin(const Header &header, std::vector<detail::ParamType> types,
                                     Where where) {
  const auto &[kind, name, params, options] = header;
  detail::FunctionFrame frame{{}, {}, false};
  P->verified = false;
  auto fail = [&](std::string message) {
    P->error(where, "function '" + name + "': " + message);
    return frame;
  };
  if (P->function && !P->nestsFunctions)
    return fail("a function cannot be defined inside another; define it in the program before");
  if (name.empty())
    return fail("needs a name");
  if (P->module->lookupSymbol(name))
    return fail("the program has a function of this name already");
  if (!checkOptions(*P, "function '" + name + "'", options.lanes, options.slots, options.stages,
                    where))
    return frame;
  if (params.size() != types.size())
    return fail("has " + std::to_string(params.size()) + " parameter names for " +
                std::to_string(types.size()) + " parameters");
  SmallVector<Type> inputs;
  std::vector<std::string> names;
  for (auto [param, type] : llvm::zip(params, types)) {
    if (param.name.empty() || llvm::is_contained(names, param.name))
      return fail("parameter name '" + param.name + "' is " +
                  (param.name.empty() ? "empty" : "used twice") +
                  "; parameters need distinct names");
    names.push_back(param.name);
    if (type.kind != detail::ParamType::TensorKind) {
      if (!param.extents.empty())
        return fail("parameter '" + param.name + "' is a scalar and has no extents");
      inputs.push_back(P->typeOf(type.type));
      frame.ranks.push_back(0);
      continue;
    }
    SmallVector<int64_t> shape(param.extents.begin(), param.extents.end());
    if (shape.empty())
      shape.assign(type.rank, dyn);
    if (shape.size() > size_t(ir::kMaxRank))
      return fail("parameter '" + param.name + "' has rank " + std::to_string(shape.size()) +
                  "; the highest is 5");
    for (int64_t &extent : shape) {
      if (extent < dyn)
        return fail("parameter '" + param.name + "' has the negative extent " +
                    std::to_string(extent));
      if (extent == dyn)
        extent = ShapedType::kDynamic;
    }
    DiagnosticCollector collector(&P->context, P->errors);
    inputs.push_back(ir::TensorType::getChecked([&] { return mlir::emitError(P->loc(where)); },
                                                &P->context, ArrayRef<int64_t>(shape),
                                                P->typeOf(type.type), ArrayRef<int64_t>()));
    if (!inputs.back())
      return frame;
    frame.ranks.push_back(int(shape.size()));
  }
  OpBuilder &builder = P->builder;
  ir::FuncOp outer = P->function;
  if (outer)
    P->suspend();
  builder.setInsertionPointToEnd(P->module->getBody());
  if (outer) // A function stands before those that use it.
    builder.setInsertionPoint(outer);
  auto func = ir::FuncOp::create(builder, P->loc(where), name, builder.getFunctionType(inputs, {}),
                                 kindFromName(kind), StringRef(), names);
  // One lane is what a group without lanes has.
  if (options.lanes > 1 || (options.lanes == 1 && kindFromName(kind) != ir::FuncKind::Group))
    func.setLanes(options.lanes);
  if (options.split)
    func.setSplit(static_cast<tile::Split>(*options.split));
  if (options.slots > 0)
    func.setSlots(options.slots);
  P->areLanesStated = options.lanes > 0;
  P->stages = options.stages;
  for (auto [index, type] : llvm::enumerate(types))
    if (type.kind == detail::ParamType::TensorKind)
      func.setArgDirection(index, static_cast<ir::Direction>(type.access));
  for (BlockArgument argument : func.getBody().getArguments())
    frame.args.push_back(argument.getAsOpaquePointer());
  builder.setInsertionPoint(func.getBody().front().getTerminator());
  P->function = func;
  P->previous = activeTracer;
  activeTracer = P.get();
  frame.ok = true;
  return frame;
}

void Program::abandon(const std::string &what) {
  ir::FuncOp func = P->function;
  Operation *innermost = P->builder.getInsertionBlock()->getParentOp();
  P->errors.emplace_back(StatusCode::InvalidArgument,
                         "function '" + func.getSymName().str() +
                             "': its body threw an exception while it was recorded: " + what,
                         sourceLocOf(innermost->getLoc()));
  // What was recorded is half a program, but handles may still point into it.
  OpBuilder &builder = P->builder;
  builder.setInsertionPoint(func);
  auto empty = cast<ir::FuncOp>(builder.cloneWithoutRegions(*func.getOperation()));
  Block *body = builder.createBlock(&empty.getBody());
  for (BlockArgument argument : func.getArguments())
    body->addArgument(argument.getType(), argument.getLoc());
  ir::FuncOp::ensureTerminator(empty.getBody(), builder, func.getLoc());
  func->remove();
  P->abandoned.emplace_back(func);
  P->role.clear();
}

void Program::end(const detail::FunctionFrame &frame) {
  if (!frame.ok)
    return;
  P->function = nullptr;
  P->stages = 0;
  P->poppedFor.clear();
  activeTracer = P->previous;
  if (!P->suspended.empty())
    P->resume();
}

} // namespace kiln
