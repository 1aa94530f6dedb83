#include "Checker.h"

#include "Origins.h"
#include "Padding.h"
#include "Simulator/Interpreter.h"
#include "Simulator/Orchestration.h"

#include "kiln/Dialect/Kiln/Collective.h"
#include "kiln/Program/Signature.h"

#include <cmath>

using namespace mlir;

namespace kiln::simulator {

//===----------------------------------------------------------------------===//
// Tasks
//===----------------------------------------------------------------------===//

void Checker::argumentIsGiven(ir::FuncOp entry, unsigned number, const Tensor &tensor) {
  using Content = ShadowMemory::Content;
  Shadow.addArgument(tensor, entry.getArgDirection(number) == ir::Direction::Out ? Content::Nothing
                             : Found.isUndeclared(number) ? Content::Undeclared
                                                          : Content::Values);
}

void Checker::taskIsSubmitted(Operation *op, std::optional<Access> predicate) {
  Happens.taskIsSubmitted();
  if (predicate)
    Predicates[Submits.size()] = {predicate->op, predicate->name, predicate->tensor,
                                  std::move(predicate->indices)};
  Submits.push_back(op);
  OfTasks.push_back(OfOrchestration);
}

void Checker::taskStarts(uint64_t task, const Trace &trace) {
  Happens.update(trace);
  CurrentTask = task;
  auto predicate = Predicates.find(task);
  if (predicate == Predicates.end())
    return;
  const auto &[op, name, tensor, indices] = predicate->second;
  Happens.beginBlock(task, {0, 0, 0});
  Agent &agent = Happens.addAgent("the predicate");
  agent.clock.phase = 0; // before any block
  Access access{op, name, tensor, indices, {}, &agent};
  memoryIsAccessed(access, footprintOf(access), AccessKind::Read);
  auto submit = cast<ir::SubmitOp>(op);
  bool holds =
      satisfies(tensor.dtype(), addressOf(access), *comparisonOf(*submit.getPredicateCmp()),
                ScalarBits::fromInt(DType::I64, *submit.getPredicateConstant()));
  sideIsTaken(op, holds ? Side::First : Side::Second);
  Predicates.erase(predicate);
}

Agent &Checker::addAgent(std::string name) {
  Agent &agent = Happens.addAgent(std::move(name));
  if (Steps)
    Steps->add(agent, Schedule::Kind::Start, nullptr, "starts");
  return agent;
}

/// Every row of a tensor, as an access of all its columns.
static void forEachRow(const Access &access,
                       llvm::function_ref<void(const Access &, const Footprint &)> visit) {
  const Tensor &tensor = access.tensor;
  int last = tensor.rank() - 1;
  if (tensor.numElements() == 0)
    return;
  for (Access row = access;;) {
    Footprint at = footprintOf(row);
    at.cols = tensor.extent(last);
    at.colStride = tensor.stride(last) * at.elementSize;
    at.colAxis = last;
    visit(row, at);
    int axis = last - 1;
    while (axis >= 0 && ++row.indices[axis] == tensor.extent(axis))
      row.indices[axis--] = 0;
    if (axis < 0)
      return;
  }
}

void Checker::collectiveRuns(const Collective &collective, int32_t rank) {
  Happens.beginBlock(CurrentTask, {0, 0, 0});
  Agent &agent = Happens.addAgent(toString(collective.kind));
  Operation *op = Submits[CurrentTask];
  std::optional<ir::Collective> asked = ir::collectiveOf(op);
  auto touch = [&](const kiln_tensor &abi, mlir::Value name, AccessKind kind) {
    Expected<Tensor> tensor =
        Tensor::view(abi.data, static_cast<DType>(abi.dtype), Dims(abi.extents, abi.rank),
                     Dims(abi.strides, abi.rank));
    if (!tensor)
      return;
    Boxes = {};
    Access all{op, name, *tensor, std::vector<int64_t>(abi.rank, 0), {}, &agent};
    forEachRow(all,
               [&](const Access &row, const Footprint &at) { memoryIsAccessed(row, at, kind); });
  };
  if (collective.source.rank > 0)
    touch(collective.source, asked->source, AccessKind::Read);
  if (collective.target.rank == 0)
    return;
  bool isRoot =
      collective.kind == CollectiveKind::Broadcast && collective.line.at(collective.peer) == rank;
  if (collective.kind == CollectiveKind::AllReduce || isRoot)
    touch(collective.target, asked->target, AccessKind::Read);
  if (!isRoot)
    touch(collective.target, asked->target, AccessKind::Write);
}

void Checker::orchestrationReads(const Access &access, const Trace &trace) {
  std::vector<int64_t> ones(access.indices.size(), 1);
  Happens.orchestrationReads(*access.tensor.slice(access.indices, ones), trace);
  if (!Shadow.isWritten(addressOf(access)))
    tellUnwritten(access);
  scalarIsTaken(access.op, nullptr, Padded.originAt(addressOf(access)),
                "element " + toString(Dims(access.indices)) + " of a tensor");
}

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

std::vector<int64_t> indicesOf(const Access &access, const Footprint &at, int64_t row,
                               int64_t col) {
  std::vector<int64_t> indices = access.indices;
  if (at.rowAxis >= 0)
    indices[at.rowAxis] += at.top + row;
  if (at.colAxis >= 0)
    indices[at.colAxis] += at.left + col;
  return indices;
}

void Checker::memoryIsAccessed(const Access &access, const Footprint &at, AccessKind kind) {
  if (kind != AccessKind::Read)
    Padded.forget(at);
  else if (isa<ir::ReadOp>(access.op))
    scalarIsTaken(access.op, access.agent, Padded.originAt(at.origin),
                  "element " + toString(Dims(access.indices)) + " of a tensor");
  if (!access.agent)
    return;
  if (Steps)
    Steps->addAccess(access, at, kind);
  if (std::optional<std::string> promise = Boxes.findBroken(at, access.agent->block))
    tellBrokenBox(access, *promise);
  checkIterations(access, at, kind, OfTasks[access.agent->task]);
  if (auto running = OfAgents.find(access.agent->core); running != OfAgents.end())
    checkIterations(access, at, kind, running->second);
  for (const ShadowMemory::Problem &problem : Shadow.access(at, kind, *access.agent, access.op)) {
    Access element{
        access.op, access.name, access.tensor, indicesOf(access, at, problem.row, problem.col),
        {},        access.agent};
    if (problem.other)
      tellRace(element, kind, *problem.other);
    else if (problem.isUndeclared)
      tellUndeclaredSum(element);
    else
      tellUnwritten(element);
  }
}

//===----------------------------------------------------------------------===//
// Tiles
//===----------------------------------------------------------------------===//

/// Whether an element comes from outside a tensor, where NaN harms nobody. What the program masks
/// itself lies inside.
static bool mayBeNan(Origin origin) {
  return origin.isPadding() && cast<tile::TileOpInterface>(origin.filler()).getWork() == CopyWork;
}

/// The first NaN among the elements that count.
static std::optional<std::array<int64_t, 2>> findNan(const Tile &tile) {
  for (auto [at, value] : llvm::enumerate(tile.floats))
    if (std::isnan(value) && !mayBeNan(tile.originAt(at)))
      return {{static_cast<int64_t>(at) / tile.cols, static_cast<int64_t>(at) % tile.cols}};
  return std::nullopt;
}

void Checker::tileIsComputed(Interpreter &in, Operation *op, Tile &result) {
  traceOrigins(in, op, result);
  if (std::optional<Harm> harm = findHarm(in, op, result)) {
    tellPadding(*in.place().agent, op, *harm, *in.tile(harm->operand));
    tile::Padding::Kind kind = paddingOf(op).kind;
    if (kind == tile::Padding::Ordered || kind == tile::Padding::Elementwise)
      result.origins.clear(); // what follows from it is not told again
  }
  if (Found.wantsNan)
    if (std::optional<std::array<int64_t, 2>> nan = findNan(result))
      tellNan(in, op, *nan);
}

/// Whether data of a tile are not stored because they lie outside the tensor. Where padding is
/// stored at the same time, the tile may lie the wrong way round.
static bool losesData(const Access &access, const Footprint &at, const Tile &tile) {
  if (!tile.hasPadding())
    return false;
  int64_t rows = access.valid.empty() ? tile.rows : std::min(access.valid[0], tile.rows);
  int64_t cols = access.valid.empty() ? tile.cols : std::min(access.valid[1], tile.cols);
  for (int64_t row = 0; row < rows; ++row)
    for (int64_t col = 0; col < cols; ++col) {
      bool isInside =
          row >= at.top && row < at.top + at.rows && col >= at.left && col < at.left + at.cols;
      if (!isInside && tile.originAt(size_t(row * tile.cols + col)).isData())
        return true;
    }
  return false;
}

void Checker::tileIsStored(const Access &access, const Footprint &at, AccessKind kind,
                           const Tile &tile) {
  if (kind == AccessKind::Write)
    return Padded.remember(at, tile, losesData(access, at, tile) ? access.op : nullptr);
  if (!access.agent)
    return;
  if (std::optional<Harm> harm = findHarmInSum(access.op, at, tile))
    tellPadding(*access.agent, access.op, *harm, tile);
}

void Checker::elementIsTaken(Interpreter &in, Operation *op, const Tile &tile,
                             llvm::ArrayRef<int64_t> place) {
  scalarIsTaken(op, in.place().agent, tile.originAt(size_t(place[0] * tile.cols + place[1])),
                "element " + toString(Dims(place)) + " out of a tile");
}

void Checker::scalarIsTaken(Operation *op, const Agent *agent, Origin origin,
                            const std::string &what) {
  if (!origin.isPadding())
    return;
  Finding *finding = Found.add(FindingKind::PaddingTaken, op);
  if (!finding)
    return;
  if (agent)
    setPlace(*finding, *agent);
  finding->message = "takes " + what +
                     ", which is padding; "
                     "whether what becomes of it is right is not followed";
  finding->notes.push_back({"filled up here", sourceLocOf(origin.filler()->getLoc())});
  finding->notes.push_back(
      {"take only elements that are data; kiln.dim says how many there are", {}});
}

//===----------------------------------------------------------------------===//
// Words
//===----------------------------------------------------------------------===//

void setPlace(Finding &finding, const Agent &agent) {
  finding.task = agent.task;
  finding.block = agent.block;
  finding.instance = agent.name;
}

static std::string describeBlock(const Agent &agent) {
  return "block " + toString(Dims(std::span(agent.block)));
}

static constexpr const char *kOrderUnits =
    "the units of a core work at the same time: order the two with a flag (sync.set behind the "
    "first, sync.wait before the second), or with sync.barrier";

namespace {
/// Two agents by what tells them apart, and what would order them.
struct Rivals {
  std::string one, other, remedy;
};
} // namespace

static Rivals describe(const Agent &one, const Agent &other, bool hasBarrier) {
  auto task = [](const Agent &agent) {
    return "task " + std::to_string(agent.task) + " (" + agent.name + ")";
  };
  if (one.task != other.task)
    return {task(one), task(other),
            "give the later submit deps(...) on the earlier, or take both out of the manual scope"};
  if (one.blockRun != other.blockRun)
    return {
        describeBlock(one), describeBlock(other) + " of the same launch",
        std::string("the blocks of a launch run in any order") +
            (hasBarrier ? " between two barriers: put a tile.barrier between the two, " : ": ") +
            "let each have elements of its own, or add with tile.store ... atomic(add)"};
  if (one.core == other.core)
    return {one.name, other.name, kOrderUnits};
  return {one.name, other.name,
          "the instances of a group run side by side: let each have elements of its own "
          "(tile.lane), or order them with a pipe"};
}

const char *verb(AccessKind kind) {
  switch (kind) {
  case AccessKind::Read:
    return "reads";
  case AccessKind::Write:
    return "writes";
  case AccessKind::AtomicAdd:
    return "adds to";
  }
  return "accesses";
}

std::string describeElement(const Access &access) {
  return "element " + toString(Dims(access.indices)) + " of " +
         describe(access.name, access.tensor);
}

static std::string valueAt(const Access &access) {
  DType dtype = access.tensor.dtype();
  const std::byte *at = addressOf(access);
  return toString(isFloat(dtype) ? ScalarBits::fromDouble(dtype, loadElement(dtype, at))
                                 : ScalarBits::fromInt(dtype, loadElementInt(dtype, at)));
}

void Checker::tellRace(const Access &element, AccessKind kind, const ShadowMemory::Record &other) {
  Finding *finding = Found.add(FindingKind::Race, element.op, other.op);
  if (!finding)
    return;
  const Agent &agent = *element.agent;
  setPlace(*finding, agent);
  const Agent &rival = Happens.agent(other.moment.agent);
  if (Steps)
    finding->schedule = Steps->steps(&rival, other.op);
  bool hasBarrier = element.op->getParentOfType<ir::FuncOp>()
                        .walk([](tile::BarrierOp) { return WalkResult::interrupt(); })
                        .wasInterrupted();
  auto [one, two, remedy] = describe(agent, rival, hasBarrier);
  finding->message = "race: " + one + " " + verb(kind) + " " + describeElement(element) +
                     ", which " + two + " " + verb(other.kind) +
                     ", and nothing orders the two; it holds " + valueAt(element);
  finding->notes.push_back({two + " " + verb(other.kind) + " it here (in " + rival.name + ", " +
                                describeBlock(rival) + " of task " + std::to_string(rival.task) +
                                ")",
                            sourceLocOf(other.op->getLoc())});
  if (agent.task != rival.task)
    for (uint64_t task : {agent.task, rival.task})
      finding->notes.push_back({"task " + std::to_string(task) + " is submitted here",
                                sourceLocOf(Submits[task]->getLoc())});
  finding->notes.push_back({remedy, {}});
}

void Checker::tellUnwritten(const Access &element) {
  Finding *finding = Found.add(FindingKind::UnwrittenRead, element.op);
  if (!finding)
    return;
  if (element.agent)
    setPlace(*finding, *element.agent);
  finding->message = "reads " + describeElement(element) + ", which nobody has written";
  if (Operation *alloc = ir::rootOf(element.name).getDefiningOp())
    finding->notes.push_back({"allocated here", sourceLocOf(alloc->getLoc())});
}

void Checker::tellUndeclaredSum(const Access &element) {
  Finding *finding = Found.add(FindingKind::UndeclaredOutput, element.op);
  if (!finding)
    return;
  setPlace(*finding, *element.agent);
  finding->message = "adds to " + describeElement(element) +
                     ", which nobody has set and whose direction in the entry is not declared";
  finding->notes.push_back({"declare it inout if the sum starts from what the caller put there; or "
                            "declare it out and store zeros first",
                            {}});
}

void Checker::tellBrokenBox(const Access &access, const std::string &promise) {
  Finding *finding = Found.add(FindingKind::Fault, access.op);
  if (!finding)
    return;
  setPlace(*finding, *access.agent);
  finding->message = describeBlock(*access.agent) + " goes beyond what the signature says of " +
                     promise + "; this is a defect of Kiln, not of the program";
}

/// The operation of the program that a move was made for: where it is used.
static Operation *userOf(Operation *op) {
  while (isa<tile::MoveOp>(op) && !op->use_empty() && (*op->user_begin())->getLoc() == op->getLoc())
    op = *op->user_begin();
  return op;
}

void Checker::freedSlotIsUsed(const Agent &agent, Operation *op, tile::PopOp pop, Operation *free,
                              const std::string &pipe) {
  op = userOf(op); // so that two moves for one operation are one finding
  Finding *finding = Found.add(FindingKind::UseAfterFree, op, free);
  if (!finding)
    return;
  setPlace(*finding, agent);
  finding->message = op->getName().getStringRef().str() + " uses a tile popped from pipe '" + pipe +
                     "' after its slot was freed: the next push may have overwritten it";
  finding->notes.push_back({"popped here", sourceLocOf(pop.getLoc())});
  finding->notes.push_back({"freed here; free after the last use, or write no tile.free of this "
                            "pipe and have them placed",
                            sourceLocOf(free->getLoc())});
}

void Checker::unitsAreOutOfOrder(const Agent &agent, Operation *op, const std::string &what,
                                 Operation *other) {
  Finding *finding = Found.add(FindingKind::Race, op, other);
  if (!finding)
    return;
  setPlace(*finding, agent);
  finding->message = "race: " + op->getName().getStringRef().str() + " " + what;
  if (other)
    finding->notes.push_back({other->getName().getStringRef().str() + " is here (in " +
                                  Happens.agent(agent.core).name + ")",
                              sourceLocOf(other->getLoc())});
  finding->notes.push_back({kOrderUnits, {}});
}

void Checker::tellPadding(const Agent &agent, Operation *op, const Harm &harm, const Tile &tile) {
  Finding *finding = Found.add(FindingKind::PaddedReduction, op);
  if (!finding)
    return;
  setPlace(*finding, agent);
  describe(harm, op, tile, *finding);
}

/// Whether the data of a float operand has NaN already.
static bool hasNan(Interpreter &in, mlir::Value operand) {
  if (isa<tile::TileType>(operand.getType()))
    return findNan(*in.tile(operand)).has_value();
  return isa<FloatType>(operand.getType()) && std::isnan(in.scalar(operand).asDouble());
}

/// The element of an operand that is combined into `element` of the result.
static ScalarBits operandAt(Interpreter &in, mlir::Value operand, std::array<int64_t, 2> element) {
  if (!isa<tile::TileType>(operand.getType()))
    return in.scalar(operand);
  TilePtr tile = in.tile(operand);
  return elementAt(*tile, std::min(element[0], tile->rows - 1),
                   std::min(element[1], tile->cols - 1));
}

void Checker::tellNan(Interpreter &in, Operation *op, std::array<int64_t, 2> element) {
  if (!Found.wantsNan || op->getNumOperands() == 0 ||
      llvm::any_of(op->getOperands(), [&](mlir::Value operand) { return hasNan(in, operand); }))
    return;
  Finding *finding = Found.add(FindingKind::NanBirth, op);
  if (!finding)
    return;
  if (in.place().agent)
    setPlace(*finding, *in.place().agent);
  bool isTile = isa<tile::TileType>(op->getResult(0).getType());
  finding->message = op->getName().getStringRef().str() + " makes NaN";
  if (isTile)
    finding->message += " at " + toString(Dims(std::span(element)));
  if (isTile && !op->hasTrait<tile::ElementwiseArithmetic>())
    finding->message += "; no operand has NaN";
  else
    for (auto [number, operand] : llvm::enumerate(op->getOperands()))
      finding->message += (number ? " and " : " of ") + toString(operandAt(in, operand, element));
}

} // namespace kiln::simulator
