#include "Interpreter.h"

#include "Barrier.h"
#include "Pipe.h"
#include "Units.h"
#include "Watcher.h"

#include "kiln/Dialect/Tile/TilePipes.h"
#include "kiln/Program/Signature.h"

using namespace mlir;

namespace kiln::simulator {

//===----------------------------------------------------------------------===//
// The stack machine
//===----------------------------------------------------------------------===//

Interpreter::Interpreter(ir::FuncOp func, std::vector<Value> args, Place place, Host &host,
                         GlobalMemory &memory)
    : Where(place), Surroundings(host), Memory(memory) {
  enterFunction(func, std::move(args), nullptr);
}

void Interpreter::separateUnits(const Machine &machine) {
  Core = std::make_shared<Units>(machine, *Where.agent, *Memory.watcher());
}

Operation *Interpreter::pendingPipeOp() const {
  if (isDone() || Frames.back().next == Frames.back().block->end())
    return nullptr;
  Operation *op = &*Frames.back().next;
  return tile::isPipeUse(op) ? op : nullptr;
}

Operation *Interpreter::pendingBarrier() const {
  return Waiting && !Waiting->barrier->isOver(Waiting->round) ? Waiting->op : nullptr;
}

bool Interpreter::canResume() {
  Operation *op = pendingPipeOp();
  return !isDone() && !pendingBarrier() && (!op || canExecutePipeOp(*this, op));
}

/// The error as its reader needs it: what was executing and where.
static Status explain(const Status &status, Operation *op) {
  return status.asFaultOfProgram()
      .withPrefix(op->getName().getStringRef().str())
      .withLocation(sourceLocOf(op->getLoc()));
}

static Status explain(const tile::TileMemory::Fault &found, Operation *op) {
  std::string by;
  if (found.other)
    if (SourceLoc loc = sourceLocOf(found.other->getLoc()); loc.isKnown())
      by = " (from " + loc.str() + ")";
  return explain(fault(found.message + by), op);
}

static Status unknownOp(Interpreter &, Operation *op) {
  if (isa<ir::IncoreOp>(op))
    return Status(StatusCode::FailedPrecondition, "is still in place; run kiln-outline first");
  return Status(StatusCode::Unsupported, "the simulator does not know this operation");
}

/// What an operation costs, in steps.
static uint64_t costOf(Operation *op) {
  auto elements = [](mlir::Value value) -> uint64_t {
    auto type = dyn_cast<tile::TileType>(value.getType());
    return type ? type.getRows() * type.getCols() : 0;
  };
  if (isa<ir::SubmitOp>(op) || ir::collectiveOf(op))
    return 1000; // what it takes to order and run a task, and to remember it
  if (auto product = dyn_cast<tile::ProductInterface>(op)) {
    auto result = cast<tile::TileType>(op->getResult(0).getType());
    return 1 + elements(product.getLhs()) * result.getCols() / 256;
  }
  uint64_t touched = 0;
  for (mlir::Value result : op->getResults())
    touched += elements(result);
  if (op->getNumResults() == 0 && op->getNumOperands() > 0)
    touched += elements(op->getOperand(0)); // a store or a push
  return 1 + touched / 32;
}

Status Interpreter::resume() {
  assert(canResume() && "resumed where it has to wait");
  Waiting.reset();
  for (bool moved = false; !Frames.empty(); moved = true) {
    Frame &frame = Frames.back();
    if (frame.next == frame.block->end()) {
      // Of the blocks that run only a scope's has no terminator.
      auto scope = cast<ir::ScopeOp>(frame.op);
      leaveBlock();
      if (Status bad = Surroundings.endScope(scope); !bad.isOk())
        return explain(bad, scope);
      continue;
    }
    Operation *op = &*frame.next;
    if (moved && tile::isPipeUse(op))
      return Status::ok();
    ++frame.next;
    if (Status bad = execute(op); !bad.isOk())
      return bad;
    if (Waiting)
      return Status::ok();
  }
  if (Core)
    Core->finish();
  return Status::ok();
}

Status Interpreter::execute(Operation *op) {
  Steps &steps = Surroundings.steps();
  ++steps.operations;
  steps.taken += costOf(op);
  if (steps.areUsedUp())
    return explain(fault("the simulation was stopped here after " + std::to_string(steps.most) +
                         " steps; --steps N allows more"),
                   op);
  if (!Slots.empty())
    checkSlots(op);
  if (Local)
    if (std::optional<tile::TileMemory::Fault> found = Local->use(op))
      return explain(*found, op);
  OpTable::Handler run = OpTable::get().find(op->getName());
  Agent *agent = Where.agent;
  if (Core)
    Where.agent = &Core->begin(op);
  Status status = (run ? run : unknownOp)(*this, op);
  Where.agent = agent;
  if (!status.isOk())
    return explain(status, op);
  if (Local)
    if (std::optional<tile::TileMemory::Fault> found = Local->make(op))
      return explain(*found, op);
  return Status::ok();
}

void Interpreter::checkSlots(Operation *op) {
  for (mlir::Value operand : op->getOperands()) {
    auto it = Slots.find(operand);
    if (it == Slots.end())
      continue;
    Slot slot = it->second;
    if (Operation *free = slot.pipe->freeOf(Where.lane, slot.message))
      Memory.watcher()->freedSlotIsUsed(*Where.agent, op, slot.pop, free, slot.pipe->name());
    if (auto facts = dyn_cast<tile::TileOpInterface>(op);
        facts && facts.getView() == tile::View::Whole)
      Slots[op->getResult(0)] = slot;
  }
}

const Value &Interpreter::get(mlir::Value value) const {
  static const Value none;
  const auto &values = Activations.back().values;
  auto it = values.find(value);
  return it == values.end() ? none : it->second;
}

std::vector<Value> Interpreter::getAll(ValueRange values) const {
  std::vector<Value> contents;
  contents.reserve(values.size());
  for (mlir::Value value : values)
    contents.push_back(get(value));
  return contents;
}

void Interpreter::setAll(ValueRange values, std::vector<Value> contents) {
  for (auto [value, content] : llvm::zip_equal(values, contents))
    set(value, std::move(content));
}

std::vector<int64_t> Interpreter::indices(ArrayRef<int64_t> constants, ValueRange values) const {
  std::vector<int64_t> list(constants.begin(), constants.end());
  auto next = values.begin();
  for (int64_t &entry : list)
    if (ShapedType::isDynamic(entry))
      entry = index(*next++);
  return list;
}

void Interpreter::enterFunction(ir::FuncOp func, std::vector<Value> args, ir::CallOp call) {
  for (auto [number, arg] : llvm::enumerate(args))
    if (auto *tensor = std::get_if<Tensor>(&arg);
        tensor && func.getArgDirection(number) == ir::Direction::In)
      *tensor = tensor->asReadOnly();
  Activations.emplace_back().call = call;
  setAll(func.getArguments(), std::move(args));
  enterBlock(func, func.getBody().front());
}

void Interpreter::leaveFunction(ValueRange results) {
  std::vector<Value> contents = getAll(results);
  ir::CallOp call = Activations.back().call;
  leaveBlock();
  Activations.pop_back();
  if (call)
    setAll(call.getResults(), std::move(contents));
}

void Interpreter::enterBlock(Operation *op, Block &block, uint64_t iterations) {
  Frames.push_back({op, &block, block.begin(), iterations});
}

void Interpreter::restartAt(Block &block) {
  Frames.back().block = &block;
  Frames.back().next = block.begin();
}

//===----------------------------------------------------------------------===//
// Hosts
//===----------------------------------------------------------------------===//

Status Host::call(Interpreter &in, ir::CallOp op) {
  in.enterFunction(lookup(op.getCallee()), in.getAll(op.getArgs()), op);
  return Status::ok();
}

Expected<Tensor> Host::alloc(DType dtype, Dims extents) { return Tensor::empty(dtype, extents); }

static Status misplaced() {
  return Status(StatusCode::Unsupported, "cannot stand in this kind of function");
}

Status Host::makePipe(Interpreter &, tile::PipeOp) { return misplaced(); }
Status Host::meet(Interpreter &, tile::BarrierOp) { return misplaced(); }
Status Host::submit(Interpreter &, ir::SubmitOp) { return misplaced(); }
Status Host::get(Interpreter &, ir::GetOp) { return misplaced(); }
Status Host::collect(Interpreter &, const ir::Collective &) { return misplaced(); }
Expected<int64_t> Host::rank(ir::AlongAttr, bool) { return misplaced(); }
Status Host::beginScope(ir::ScopeOp) { return misplaced(); }
Status Host::endScope(ir::ScopeOp) { return misplaced(); }

//===----------------------------------------------------------------------===//
// Control flow and what the host decides
//===----------------------------------------------------------------------===//

/// How often a loop runs. Exact for all bounds: the distance of two int64_t always fits a uint64_t.
/// Slots hold integers sign-extended, which keeps their unsigned order; the distance of narrow ones
/// is that of their low bits.
static uint64_t tripCount(scf::ForOp op, ScalarBits lower, ScalarBits upper, int64_t step) {
  bool runs = op.getUnsignedCmp() ? lower.bits < upper.bits : lower.asInt() < upper.asInt();
  uint64_t distance = (upper.bits - lower.bits) & (UINT64_MAX >> (64 - 8 * sizeOf(lower.type)));
  return runs ? (distance - 1) / static_cast<uint64_t>(step) + 1 : 0;
}

/// Whether a loop promises that its iterations are independent.
static bool isParallel(scf::ForOp loop) {
  auto kind = loop->getAttrOfType<ir::LoopAttr>(ir::kLoopAttr);
  return kind && kind.getKind() == ir::LoopKind::Parallel;
}

static Status runFor(Interpreter &in, scf::ForOp op) {
  int64_t step = in.index(op.getStep());
  if (step <= 0)
    return fault("the step of the loop is " + std::to_string(step) + "; it must be positive");
  uint64_t trips =
      tripCount(op, in.scalar(op.getLowerBound()), in.scalar(op.getUpperBound()), step);
  if (Watcher *watcher = in.memory().watcher()) {
    watcher->sideIsTaken(op, trips > 0 ? Side::First : Side::Neither);
    if (trips > 1)
      watcher->sideIsTaken(op, Side::Second);
  }
  std::vector<Value> carried = in.getAll(op.getInitArgs());
  if (trips == 0) {
    in.setAll(op.getResults(), std::move(carried));
    return Status::ok();
  }
  in.set(op.getInductionVar(), in.get(op.getLowerBound()));
  in.setAll(op.getRegionIterArgs(), std::move(carried));
  in.enterBlock(op, *op.getBody(), trips);
  if (Watcher *watcher = in.memory().watcher(); watcher && isParallel(op))
    watcher->parallelLoopStarts(in.place().agent, op);
  return Status::ok();
}

static Status runIf(Interpreter &in, scf::IfOp op) {
  bool holds = in.scalar(op.getCondition()).bits != 0;
  if (Watcher *watcher = in.memory().watcher())
    watcher->sideIsTaken(op, holds ? Side::First : Side::Second);
  Region &taken = holds ? op.getThenRegion() : op.getElseRegion();
  if (!taken.empty())
    in.enterBlock(op, taken.front());
  return Status::ok();
}

static Status runWhile(Interpreter &in, scf::WhileOp op) {
  in.setAll(op.getBeforeArguments(), in.getAll(op.getInits()));
  in.enterBlock(op, *op.getBeforeBody());
  return Status::ok();
}

static Status runCondition(Interpreter &in, scf::ConditionOp op) {
  auto loop = cast<scf::WhileOp>(in.enclosingOp());
  std::vector<Value> passed = in.getAll(op.getArgs());
  if (in.scalar(op.getCondition()).bits) {
    in.setAll(loop.getAfterArguments(), std::move(passed));
    in.restartAt(*loop.getAfterBody());
  } else {
    in.leaveBlock();
    in.setAll(loop.getResults(), std::move(passed));
  }
  return Status::ok();
}

static Status runYield(Interpreter &in, scf::YieldOp op) {
  std::vector<Value> yielded = in.getAll(op.getResults());
  Operation *parent = in.enclosingOp();
  if (auto loop = dyn_cast<scf::WhileOp>(parent)) {
    in.setAll(loop.getBeforeArguments(), std::move(yielded));
    in.restartAt(*loop.getBeforeBody());
    return Status::ok();
  }
  auto loop = dyn_cast<scf::ForOp>(parent);
  bool goesOn = loop && in.hasNextIteration();
  if (Watcher *watcher = in.memory().watcher(); watcher && loop && isParallel(loop))
    watcher->parallelIterationEnds(in.place().agent, /*isLast=*/!goesOn);
  if (goesOn) {
    ScalarBits at = in.scalar(loop.getInductionVar());
    auto next = static_cast<int64_t>(at.bits + in.scalar(loop.getStep()).bits);
    in.set(loop.getInductionVar(), ScalarBits::fromInt(at.type, next));
    in.setAll(loop.getRegionIterArgs(), std::move(yielded));
    in.restartAt(*loop.getBody());
    return Status::ok();
  }
  in.leaveBlock();
  in.setAll(parent->getResults(), std::move(yielded));
  return Status::ok();
}

static Status runReturn(Interpreter &in, ir::ReturnOp op) {
  in.leaveFunction(op.getArgs());
  return Status::ok();
}

static Status runScope(Interpreter &in, ir::ScopeOp op) {
  if (Status bad = in.host().beginScope(op); !bad.isOk())
    return bad;
  in.enterBlock(op, op.getBody().front());
  return Status::ok();
}

static Status runDump(Interpreter &in, ir::DumpOp op) {
  in.host().mark(in.tensor(op.getTensor()));
  return Status::ok();
}

/// Launches and the entry have been judged before they began; what an orchestration calls has not.
static Status runRequire(Interpreter &in, ir::RequireOp op) {
  return in.scalar(op.getCondition()).bits ? Status::ok()
                                           : fault("does not hold: " + op.getMessage().str());
}

void addControlOps(OpTable &table) {
  table.add<scf::ForOp, runFor>();
  table.add<scf::IfOp, runIf>();
  table.add<scf::WhileOp, runWhile>();
  table.add<scf::ConditionOp, runCondition>();
  table.add<scf::YieldOp, runYield>();
  table.add<ir::ReturnOp, runReturn>();
  table.add<ir::ScopeOp, runScope>();
  table.add<ir::CallOp, [](Interpreter &in, ir::CallOp op) { return in.host().call(in, op); }>();
  table.add<ir::SubmitOp,
            [](Interpreter &in, ir::SubmitOp op) { return in.host().submit(in, op); }>();
  table.add<ir::GetOp, [](Interpreter &in, ir::GetOp op) { return in.host().get(in, op); }>();
  table.add<ir::DumpOp, runDump>();
  table.add<ir::RequireOp, runRequire>();
  table.add<tile::PipeOp,
            [](Interpreter &in, tile::PipeOp op) { return in.host().makePipe(in, op); }>();
  table.add<tile::BarrierOp,
            [](Interpreter &in, tile::BarrierOp op) { return in.host().meet(in, op); }>();
}

OpTable::OpTable() {
  addControlOps(*this);
  addScalarOps(*this);
  addTensorOps(*this);
  addTileOps(*this);
  addCombineOps(*this);
  addGatherOps(*this);
  addRandomOps(*this);
  addPipeOps(*this);
  addRankOps(*this);
  addUnitOps(*this);
}

const OpTable &OpTable::get() {
  static const OpTable table;
  return table;
}

} // namespace kiln::simulator
