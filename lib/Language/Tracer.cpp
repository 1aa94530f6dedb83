//===- Tracer.cpp - what recording needs of the program --------------------------------===//
#include "Tracer.h"

#include "kiln/Dialect/ProgramText.h"
#include "kiln/Dialect/Sync/SyncDialect.h"
#include "kiln/Dialect/Tile/TilePipes.h"
#include "kiln/Machine/Machine.h"
#include "kiln/Program/OutlineRegion.h"
#include "kiln/Program/Signature.h"

#include "mlir/IR/Verifier.h"
#include "llvm/Support/Format.h"

#include <cmath>

using namespace mlir;

namespace kiln {

void registerKilnDialects(DialectRegistry &registry) {
  registry.insert<ir::KilnDialect, sync::SyncDialect, tile::TileDialect, arith::ArithDialect,
                  scf::SCFDialect>();
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

namespace record {

static thread_local Tracer *currentTracer = nullptr;

Tracer::Tracer(const std::string &name, Where where)
    : context(MLIRContext::Threading::DISABLED), builder(&context), line(where) {
  DialectRegistry registry;
  registerKilnDialects(registry);
  context.appendDialectRegistry(registry);
  context.loadAllAvailableDialects();
  context.printOpOnDiagnostic(false); // the user's line says more than the op in generic form
  module = ModuleOp::create(loc(), name);
}

Tracer::Turn::Turn(Tracer *tracer, Where where) : before(currentTracer) {
  currentTracer = tracer;
  if (tracer)
    tracer->line = where;
}

Tracer::Turn::~Turn() { currentTracer = before; }

Tracer *Tracer::current(const char *what) {
  if (!currentTracer)
    throw NotRecorded();
  if (currentTracer->function)
    return currentTracer;
  currentTracer->error(std::string(what) +
                       " stands outside any function of a program; call it in the body of a "
                       "kernel, role, group or orchestration");
  return nullptr;
}

Tracer *Tracer::inKernel(const char *what) {
  Tracer *tracer = current(what);
  if (tracer && !tracer->isIn({ir::FuncKind::Incore, ir::FuncKind::Role})) {
    tracer->error(std::string(what) + " computes on a core; put it into a kernel, a role or spmd");
    return nullptr;
  }
  return tracer;
}

Tracer *Tracer::inOrchestration(const char *what) {
  Tracer *tracer = current(what);
  if (tracer && !tracer->isIn({ir::FuncKind::Orchestration})) {
    tracer->error(std::string(what) +
                  " belongs to an orchestration, not to a kernel, role or group");
    return nullptr;
  }
  return tracer;
}

Tracer *Tracer::inRole(const char *what) {
  Tracer *tracer = current(what);
  if (tracer && tracer->role.empty()) {
    tracer->error(std::string(what) +
                  " stands outside a role; only the roles of a group talk through pipes");
    return nullptr;
  }
  return tracer;
}

void Tracer::error(std::string message) {
  errors.emplace_back(
      StatusCode::InvalidArgument, std::move(message),
      SourceLoc{line.file ? line.file : "", int32_t(line.line), int32_t(line.column)});
}

Location Tracer::loc() {
  return FileLineColLoc::get(&context, line.file ? line.file : "", line.line, line.column);
}

Value Tracer::use(ValuePtr handle, const char *what) {
  if (!handle)
    return {};
  Value value = Value::getFromOpaquePointer(handle);
  Region *here = builder.getInsertionBlock()->getParent();
  auto body = dyn_cast<tile::CombiningInterface>(here->getParentOp());
  if (body && value.getParentRegion() != here && value.getParentRegion()->isAncestor(here)) {
    error(std::string("this ") + what +
          " comes from outside the body, which works on its parameters and numbers; "
          "give it to the reduction or scan as another tile");
    return {};
  }
  if (value.getParentRegion()->isAncestor(here))
    return value;
  SourceLoc made = sourceLocOf(value.getLoc());
  bool isOfScope = isa<ir::ScopeOp>(value.getParentRegion()->getParentOp());
  error(std::string("this ") + what + " cannot be used here: it belongs to the " +
        (isOfScope ? "scope" : "loop, kernel or role") + " that made it" +
        (made.isKnown() ? " (" + made.str() + ")" : "") +
        (isOfScope ? "; use it inside the scope. What comes after a scope is ordered by the "
                     "tensors that it reads and writes"
                   : "; return it from the loop or branch, or pass it as an argument"));
  return {};
}

Value Tracer::use(Index index) {
  return index.isConstant() ? indexConstant(index.constant()) : use(index.value(), "index");
}

Value Tracer::use(const Number &number, DType type) {
  return number.isNumber ? numberConstant(number.number, typeOf(type))
                         : use(number.value, "scalar");
}

Value Tracer::use(const Wire &wire) {
  switch (wire.kind) {
  case Wire::OfTile:
    return use(wire.value, "tile");
  case Wire::OfIndex:
    return use(wire.value ? Index::of(wire.value) : Index(wire.constant));
  case Wire::OfScalar:
    return use(wire.value, "scalar");
  case Wire::OfTask:
    return use(wire.value, "task");
  case Wire::OfNothing:
    return {};
  }
  return {};
}

Wire Tracer::wire(Value value) {
  ValuePtr handle = value.getAsOpaquePointer();
  if (auto tile = dyn_cast<tile::TileType>(value.getType()))
    return {handle, Wire::OfTile, *dtypeOf(tile.getElementType()), tile.getRows(), tile.getCols()};
  if (value.getType().isIndex())
    return {handle, Wire::OfIndex, DType::Index};
  if (isa<ir::TaskType>(value.getType()))
    return {handle, Wire::OfTask};
  return {handle, Wire::OfScalar, *dtypeOf(value.getType())};
}

Type Tracer::typeOf(DType type) {
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

tile::TileType Tracer::tileType(DType type, int64_t rows, int64_t cols) {
  return tile::TileType::get(rows, cols, typeOf(type));
}

Tile Tracer::handle(Value value) {
  auto type = cast<tile::TileType>(value.getType());
  return Tile(value.getAsOpaquePointer(), type.getRows(), type.getCols(),
              *dtypeOf(type.getElementType()));
}

Block *Tracer::constantBlock() {
  Operation *op = builder.getInsertionBlock()->getParentOp();
  while (!isa<ir::IncoreOp, ir::FuncOp, tile::CombiningInterface>(op))
    op = op->getParentOp();
  return &op->getRegion(0).front();
}

Value Tracer::constant(TypedAttr value) {
  Block *block = constantBlock();
  auto it = block->begin();
  for (; it != block->end() && isa<arith::ConstantOp>(*it); ++it)
    if (cast<arith::ConstantOp>(*it).getValue() == value)
      return it->getResult(0);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPoint(block, it);
  return arith::ConstantOp::create(builder, block->getParentOp()->getLoc(), value);
}

Value Tracer::numberConstant(double value, Type type) {
  if (isa<FloatType>(type))
    return constant(builder.getFloatAttr(type, value));
  unsigned width = isa<IndexType>(type) ? 64 : type.getIntOrFloatBitWidth();
  // i1 is 0 or 1; the others are signed.
  double limit = std::ldexp(1.0, int(width) - (width > 1));
  if (value != std::trunc(value) || value >= limit || value < (width > 1 ? -limit : 0)) {
    std::string text;
    llvm::raw_string_ostream os(text);
    os << llvm::format("%g", value) << " is no value of type " << type;
    error(text);
    return {};
  }
  return constant(
      builder.getIntegerAttr(type, APInt(width, uint64_t(int64_t(value)), /*isSigned=*/true,
                                         /*implicitTrunc=*/true)));
}

bool Tracer::checkAxis(const char *what, int64_t axis) {
  if (axis == 0 || axis == 1)
    return true;
  error(std::string(what) + " along axis " + std::to_string(axis) +
        "; it is 0 (rows) or 1 (columns)");
  return false;
}

bool Tracer::checkShape(Shape shape) {
  auto emit = [&] { return mlir::emitError(loc()); };
  DiagnosticCollector collector(&context, errors);
  return succeeded(tile::TileType::verify(emit, shape.rows, shape.cols, typeOf(DType::F32),
                                          tile::Space::Unassigned));
}

Attribute Tracer::padAttr(Pad pad) {
  if (pad == Pad::Zero)
    return {};
  return tile::PadKindAttr::get(&context, static_cast<tile::PadKind>(pad));
}

bool Tracer::mixed(const Indices &indices, SmallVectorImpl<int64_t> &constants,
                   SmallVectorImpl<Value> &values) {
  for (Index index : indices) {
    if (index.isConstant()) {
      constants.push_back(index.constant());
      continue;
    }
    Value value = use(index);
    if (!value)
      return false;
    constants.push_back(ShapedType::kDynamic);
    values.push_back(value);
  }
  return true;
}

bool Tracer::isIn(std::initializer_list<ir::FuncKind> kinds) const {
  ir::FuncOp func = function;
  ir::FuncKind kind = func.getKind();
  if (Operation *op = builder.getInsertionBlock()->getParentOp();
      isa<ir::IncoreOp>(op) || op->getParentOfType<ir::IncoreOp>())
    kind = kind == ir::FuncKind::Group ? ir::FuncKind::Role : ir::FuncKind::Incore;
  return llvm::is_contained(kinds, kind);
}

bool Tracer::canNest() {
  unsigned depth = 0;
  for (Operation *op = builder.getInsertionBlock()->getParentOp(); op; op = op->getParentOp())
    ++depth;
  if (depth < kMaxNesting)
    return true;
  if (!isTooDeep)
    error("loops, branches and scopes are nested more than " + std::to_string(kMaxNesting) +
          " deep here; a program nests them less deeply");
  isTooDeep = true;
  return false;
}

int64_t Tracer::lanesOfRole() { return function.getLanesOf(role); }

void Tracer::notePop(ValueRange tiles, Value pipe) {
  for (Value tile : tiles)
    poppedFor[tile] = {pipe};
}

Tile Tracer::fromOperands(Tile result, std::initializer_list<TileArg> operands) {
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
      error("two tiles are popped from '" + name +
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

void Tracer::suspend() {
  suspended.push_back({function, role, builder.saveInsertionPoint(), stages, areLanesStated});
  role.clear();
}

void Tracer::resume() {
  Suspended state = suspended.back();
  suspended.pop_back();
  function = state.function;
  role = state.role;
  builder.restoreInsertionPoint(state.at);
  stages = state.stages;
  areLanesStated = state.areLanesStated;
}

//===----------------------------------------------------------------------===//
// The whole program
//===----------------------------------------------------------------------===//

/// Pipe operations that some lanes would not meet. The roles are complete only now.
static void reportLaneDependence(ModuleOp module) {
  module.walk([](Operation *op) {
    if (!tile::isPipeUse(op))
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

void Tracer::verify() {
  if (verified)
    return;
  // The verifier sees what recording could not; what was reported at the same line already says
  // enough.
  std::vector<Status> found;
  DiagnosticCollector collector(&context, found);
  if (succeeded(mlir::verify(*module)))
    reportLaneDependence(*module);
  for (Status &error : found)
    if (llvm::none_of(errors, [&](const Status &known) {
          return known.location().file == error.location().file &&
                 known.location().line == error.location().line;
        }))
      errors.push_back(error);
  verified = true;
}

//===----------------------------------------------------------------------===//
// Functions
//===----------------------------------------------------------------------===//

/// What a kernel or group cannot ask for; empty if there is nothing.
static std::string wrongOption(const KernelOptions &options) {
  auto wrong = [&](int64_t number, const char *things) {
    return number >= 0 ? std::string()
                       : " has " + std::to_string(number) + " " + things +
                             "; there is at least one, or 0 for what the compiler chooses";
  };
  for (std::string mistake : {wrong(options.lanes, "lanes"), wrong(options.slots, "slots"),
                              wrong(options.stages, "stages")})
    if (!mistake.empty())
      return mistake;
  return {};
}

/// What is wrong with the names of the parameters; empty if nothing is.
static std::string wrongNames(const std::vector<ParamSpec> &params) {
  auto names = llvm::count_if(params, [](const ParamSpec &param) { return bool(param.name); });
  auto types = llvm::count_if(params, [](const ParamSpec &param) { return bool(param.kind); });
  if (names != types || size_t(names) != params.size())
    return "has " + std::to_string(names) + " parameter names for " + std::to_string(types) +
           " parameters";
  std::vector<std::string> known;
  for (const ParamSpec &param : params) {
    if (param.name->empty() || llvm::is_contained(known, *param.name))
      return "parameter name '" + *param.name + "' is " +
             (param.name->empty() ? "empty" : "used twice") + "; parameters need distinct names";
    known.push_back(*param.name);
  }
  return {};
}

Type Tracer::parameterType(const ParamSpec &param, std::string &mistake) {
  std::string what = "parameter '" + *param.name + "'";
  if (*param.kind != ParamSpec::OfTensor) {
    if (!param.extents.empty())
      mistake = what + " is a scalar and has no extents";
    return mistake.empty() ? typeOf(param.type) : Type();
  }
  SmallVector<int64_t> shape(param.extents.begin(), param.extents.end());
  if (shape.empty())
    shape.assign(param.rank, -1);
  if (shape.size() > size_t(ir::kMaxRank))
    mistake = what + " has rank " + std::to_string(shape.size()) + "; the highest is 5";
  else if (param.rank > 0 && shape.size() != size_t(param.rank))
    mistake = what + " has " + std::to_string(shape.size()) + " extents, but its type says rank " +
              std::to_string(param.rank) + "; write the rank in the type, as in In<f32, " +
              std::to_string(shape.size()) + ">";
  for (int64_t &extent : shape) {
    if (extent < -1 && mistake.empty())
      mistake = what + " has the negative extent " + std::to_string(extent);
    if (extent == -1)
      extent = ShapedType::kDynamic;
  }
  if (!mistake.empty())
    return {};
  DiagnosticCollector collector(&context, errors);
  return ir::TensorType::getChecked([&] { return mlir::emitError(loc()); }, &context,
                                    ArrayRef<int64_t>(shape), typeOf(param.type),
                                    ArrayRef<int64_t>());
}

std::optional<ValueRange> Tracer::beginFunction(ir::FuncKind kind, const std::string &name,
                                                const std::vector<ParamSpec> &params,
                                                const KernelOptions &options) {
  verified = false;
  auto fail = [&](const std::string &message) {
    error("function '" + name + "'" + message);
    return std::nullopt;
  };
  if (function && !nestsFunctions)
    return fail(": a function cannot be defined inside another; define it in the program before");
  if (name.empty())
    return fail(": needs a name");
  if (module->lookupSymbol(name))
    return fail(": the program has a function of this name already");
  if (std::string mistake = wrongOption(options); !mistake.empty())
    return fail(mistake);
  if (std::string mistake = wrongNames(params); !mistake.empty())
    return fail(": " + mistake);
  SmallVector<Type> inputs;
  std::vector<std::string> names;
  for (const ParamSpec &param : params) {
    std::string mistake;
    Type type = parameterType(param, mistake);
    if (!mistake.empty())
      return fail(": " + mistake);
    if (!type)
      return std::nullopt;
    inputs.push_back(type);
    names.push_back(*param.name);
  }
  ir::FuncOp outer = function;
  if (outer)
    suspend();
  builder.setInsertionPointToEnd(module->getBody());
  if (outer) // A function stands before those that use it.
    builder.setInsertionPoint(outer);
  function = ir::FuncOp::create(builder, loc(), name, builder.getFunctionType(inputs, {}), kind,
                                StringRef(), names);
  // One lane is what a group without lanes has.
  if (options.lanes > 1 || (options.lanes == 1 && kind != ir::FuncKind::Group))
    function.setLanes(options.lanes);
  if (options.split)
    function.setSplit(static_cast<tile::Split>(*options.split));
  if (options.slots > 0)
    function.setSlots(options.slots);
  areLanesStated = options.lanes > 0;
  stages = options.stages;
  for (auto [index, param] : llvm::enumerate(params))
    if (*param.kind == ParamSpec::OfTensor)
      function.setArgDirection(index, static_cast<ir::Direction>(param.access));
  builder.setInsertionPoint(function.getBody().front().getTerminator());
  return ValueRange(function.getBody().getArguments());
}

void Tracer::abandonFunction(const std::string &what) {
  ir::FuncOp func = function;
  Operation *innermost = builder.getInsertionBlock()->getParentOp();
  errors.emplace_back(StatusCode::InvalidArgument,
                      "function '" + func.getSymName().str() +
                          "': its body threw an exception while it was recorded: " + what,
                      sourceLocOf(innermost->getLoc()));
  // What was recorded is half a program, but handles may still point into it.
  builder.setInsertionPoint(func);
  auto empty = cast<ir::FuncOp>(builder.cloneWithoutRegions(*func.getOperation()));
  Block *body = builder.createBlock(&empty.getBody());
  for (BlockArgument argument : func.getArguments())
    body->addArgument(argument.getType(), argument.getLoc());
  ir::FuncOp::ensureTerminator(empty.getBody(), builder, func.getLoc());
  func->remove();
  abandoned.emplace_back(func);
  role.clear();
}

void Tracer::endFunction() {
  function = nullptr;
  stages = 0;
  poppedFor.clear();
  if (!suspended.empty())
    resume();
}

} // namespace record
} // namespace kiln
