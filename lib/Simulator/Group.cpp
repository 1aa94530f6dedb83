#include "Group.h"

#include "Barrier.h"
#include "Units.h"
#include "Watcher.h"

#include "kiln/Machine/Machine.h"
#include "kiln/Program/Signature.h"

using namespace mlir;

namespace kiln::simulator {

GroupBlock::GroupBlock(ir::FuncOp func, std::vector<Value> args, Place place,
                       const BlockContext &context)
    : Func(func), Args(std::move(args)), Where(place), Context(context), Kernels(context) {}

//===----------------------------------------------------------------------===//
// Instances and pipes
//===----------------------------------------------------------------------===//

/// Runs the body of a group, which makes the pipes and calls the members: a call adds the member's
/// instances.
class GroupBlock::GroupHost final : public Host {
public:
  explicit GroupHost(GroupBlock &block)
      : Host(block.Context.symbols, block.Context.steps), Block(block) {}

  Status makePipe(Interpreter &in, tile::PipeOp op) override {
    tile::PipeType type = op.getPipe().getType();
    int64_t slots = op.getSlots().value_or(Block.defaultSlots());
    Block.Pipes.push_back(std::make_unique<Pipe>(pipeName(op), type, slots, lanesOf(type.getFrom()),
                                                 lanesOf(type.getTo())));
    in.set(op.getPipe(), Block.Pipes.back().get());
    std::optional<tile::GlobalRing> ring = tile::ringOf(op);
    if (!ring)
      return Status::ok();
    const Tensor &rings = in.tensor(ring->bytes);
    int64_t row = ring->isShared ? 0 : in.place().blockNumber();
    if (row >= rings.extent(0))
      return fault("block number " + std::to_string(row) + " has no ring: there are rows for " +
                   std::to_string(rings.extent(0)) + " blocks in " + describe(ring->bytes, rings));
    Block.Pipes.back()->keepIn({rings, row, *ring});
    return Status::ok();
  }

  Status call(Interpreter &in, ir::CallOp op) override {
    ir::FuncOp member = lookup(op.getCallee());
    Block.addInstances(member, in.getAll(op.getArgs()), lanesOf(*member.getRole()));
    return Status::ok();
  }

private:
  int64_t lanesOf(StringRef role) { return Block.Func.getLanesOf(role); }

  GroupBlock &Block;
};

Status GroupBlock::KernelHost::meet(Interpreter &in, tile::BarrierOp op) {
  in.waitFor(*Meeting, Meeting->arrive(), op);
  if (Agent *agent = in.place().agent)
    agent->meet();
  return Status::ok();
}

void GroupBlock::addInstances(ir::FuncOp func, const std::vector<Value> &args, int64_t lanes) {
  bool meetsOthers = Context.barrier && ir::findBarrier(func);
  for (int64_t lane = 0; lane < lanes; ++lane) {
    std::string name = func.getSymName().str() + (lanes > 1 ? "#" + std::to_string(lane) : "");
    Place place = Where;
    place.lane = lane;
    if (Watcher *watcher = Context.memory.watcher())
      place.agent = &watcher->addAgent(name);
    Instances.push_back(std::make_unique<Instance>(
        Instance{name, func.getRole().value_or("").str(),
                 Interpreter(func, args, place, Kernels, Context.memory), meetsOthers}));
    if (Context.machine)
      Instances.back()->interpreter.limitMemory(*Context.machine);
    if (place.agent && Context.machine && hardwareOf(*Context.machine) && hasSync(func))
      Instances.back()->interpreter.separateUnits(*Context.machine);
    if (meetsOthers)
      Context.barrier->addMember();
  }
}

int64_t GroupBlock::defaultSlots() const { return defaultSlotsOf(Context.machine); }

Status GroupBlock::makeInstances() {
  if (Watcher *watcher = Context.memory.watcher())
    watcher->blockStarts(Where.block);
  if (Func.getKind() != ir::FuncKind::Group) {
    addInstances(Func, Args, 1);
    return Status::ok();
  }
  // Nothing else bounds the number, and every lane is an instance with values of its own.
  if (constexpr int64_t most = 64; Func.getNumLanes() > most)
    return Status(StatusCode::Unsupported,
                  "the group has " + std::to_string(Func.getNumLanes()) +
                      " lanes; the simulator runs at most " + std::to_string(most),
                  sourceLocOf(Func.getLoc()));
  GroupHost host(*this);
  Interpreter body(Func, Args, Where, host, Context.memory);
  return body.resume();
}

//===----------------------------------------------------------------------===//
// Scheduling
//===----------------------------------------------------------------------===//

GroupBlock::Instance *GroupBlock::pickNext() {
  SmallVector<size_t> ready;
  for (size_t i = 0; i < Instances.size(); ++i)
    if (size_t turn = (Turn + i) % Instances.size(); Instances[turn]->interpreter.canResume())
      ready.push_back(turn);
  if (ready.empty())
    return nullptr;
  size_t picked = Context.random ? ready[Context.random->below(ready.size())] : ready.front();
  Turn = picked + 1;
  return Instances[picked].get();
}

Status GroupBlock::run() {
  if (Status bad = start(); !bad.isOk())
    return bad;
  RoleTimeline *timeline =
      Func.getKind() == ir::FuncKind::Group ? RoleTimeline::current() : nullptr;
  for (auto &instance : Instances)
    if (timeline && !instance->interpreter.canResume())
      instance->waitsSince = timeline->now();
  if (timeline)
    recordLevels(*timeline);
  while (true) {
    Expected<bool> moved = step(timeline);
    if (moved && *moved)
      continue;
    if (timeline) // a deadlock ends in waits
      for (auto &instance : Instances)
        recordWait(*instance, *timeline);
    return moved ? finish() : moved.status();
  }
}

void GroupBlock::recordLevels(RoleTimeline &timeline) {
  bool areNew = Levels.empty();
  Levels.resize(Pipes.size());
  for (auto [pipe, level] : llvm::zip_equal(Pipes, Levels))
    if (uint64_t used = pipe->used(); areNew || used != level) {
      level = used;
      timeline.add(TimelinePipeLevel{pipe->name(), static_cast<uint64_t>(pipe->slots()), used,
                                     timeline.now()});
    }
}

void GroupBlock::recordWait(Instance &instance, RoleTimeline &timeline) const {
  if (instance.waitsSince < 0)
    return;
  Operation *op = instance.interpreter.pendingPipeOp();
  std::string what = "wait";
  if (isa_and_nonnull<tile::PushOp, tile::PopOp>(op)) {
    Wait wait = waitOf(instance);
    what = (wait.isPush ? "wait to push into " : "wait to pop from ") + wait.pipe->name() +
           (wait.isPush ? ", emptied by " : ", filled by ") + wait.role;
  }
  timeline.add({0, instance.track(), what, true, instance.waitsSince, timeline.now()});
  instance.waitsSince = -1;
}

Expected<bool> GroupBlock::step(RoleTimeline *timeline) {
  Instance *instance = pickNext();
  if (!instance)
    return false;
  if (timeline)
    recordWait(*instance, *timeline);
  int64_t begin = timeline ? timeline->now() : 0;
  Status status = instance->interpreter.resume();
  if (timeline) {
    int64_t end = timeline->now();
    timeline->add({0, instance->track(), instance->name, false, begin, end});
    recordLevels(*timeline);
    // Who was waiting for this one may go on now; everybody else begins to wait.
    if (!instance->interpreter.isDone() && !instance->interpreter.canResume())
      instance->waitsSince = end;
  }
  if (!status.isOk())
    return locate(status, instance->name);
  return true;
}

Status GroupBlock::start() {
  Status status = makeInstances();
  return status.isOk() ? status : locate(status, "@" + Func.getSymName().str());
}

Expected<bool> GroupBlock::step() { return step(nullptr); }

Status GroupBlock::finish() {
  Status status = isDone() ? checkPipesEmpty() : reportDeadlock();
  return status.isOk() ? status : locate(status, "@" + Func.getSymName().str());
}

Status GroupBlock::locate(const Status &status, const std::string &who) const {
  std::string where = " (in " + who + ", block " + toString(Dims(std::span(Where.block))) + ")";
  return Status(status.code(), status.message() + where, status.location());
}

bool GroupBlock::isDone() const {
  return llvm::all_of(Instances, [](auto &instance) { return instance->interpreter.isDone(); });
}

//===----------------------------------------------------------------------===//
// Reports
//===----------------------------------------------------------------------===//

static std::string at(Operation *op) {
  SourceLoc loc = sourceLocOf(op->getLoc());
  return loc.isKnown() ? " at " + loc.str() : "";
}

Status GroupBlock::checkPipesEmpty() const {
  for (const auto &pipe : Pipes) {
    Pipe::Leftover left = pipe->leftover();
    if (left.messages == 0)
      continue;
    size_t payload = pipe->type().getPayload().size();
    std::string what = payload == 0 ? "token" : payload == 1 ? "tile" : "message";
    std::string text = std::to_string(left.messages) + " " + what +
                       (left.messages == 1 ? " is" : "s are") + " left in pipe '" + pipe->name() +
                       "' when the group ends; pushed";
    for (auto [which, push] : llvm::enumerate(left.pushes))
      text += (which ? "," : "") + at(push);
    return Status(StatusCode::KernelFailed, text, sourceLocOf(left.pushes.front()->getLoc()));
  }
  return Status::ok();
}

GroupBlock::Wait GroupBlock::waitOf(const Instance &instance) const {
  const Interpreter &in = instance.interpreter;
  int64_t lane = in.place().lane;
  Wait wait;
  wait.op = in.pendingPipeOp();
  if (auto push = dyn_cast<tile::PushOp>(wait.op)) {
    wait.pipe = &in.pipe(push.getPipe());
    wait.isPush = true;
    wait.slots = wait.pipe->describeForPush(lane);
    wait.role = wait.pipe->type().getTo().str();
    wait.lanes = wait.pipe->pushWaitsFor(lane);
  } else {
    wait.pipe = &in.pipe(cast<tile::PopOp>(wait.op).getPipe());
    wait.slots = wait.pipe->describeForPop(lane);
    wait.role = wait.pipe->type().getFrom().str();
    wait.lanes = wait.pipe->popWaitsFor(lane);
  }
  return wait;
}

const GroupBlock::Instance *GroupBlock::find(StringRef role, int64_t lane) const {
  for (const auto &instance : Instances)
    if (instance->role == role && instance->interpreter.place().lane == lane)
      return instance.get();
  return nullptr;
}

/// Follows the waits from one blocked instance until they come back or end at somebody who will
/// never move again.
std::string GroupBlock::describeCycle(const Instance &first) const {
  SmallVector<const Instance *> path{&first};
  while (true) {
    Wait wait = waitOf(*path.back());
    const Instance *next = find(wait.role, wait.lanes.front());
    if (!next)
      return path.back()->name + " waits for role " + wait.role + ", which the group does not call";
    if (next->interpreter.isDone())
      return path.back()->name + " waits for " + next->name + ", which has ended";
    if (!llvm::is_contained(path, next)) {
      path.push_back(next);
      continue;
    }
    std::string text = "cycle of waits: ";
    for (const Instance *one :
         ArrayRef(path).drop_until([&](const Instance *one) { return one == next; }))
      text += one->name + " -> ";
    return text + next->name;
  }
}

std::string GroupBlock::describeWait(const Instance &instance) const {
  Wait wait = waitOf(instance);
  return instance.name + (wait.isPush ? " waits to push into '" : " waits to pop from '") +
         wait.pipe->name() + "' (" + wait.slots + ")" + at(wait.op);
}

void GroupBlock::addTo(BarrierReport &report) const {
  std::string block = " (block " + toString(Dims(std::span(Where.block))) + ")";
  for (const auto &instance : Instances) {
    const Interpreter &in = instance->interpreter;
    if (Operation *barrier = in.pendingBarrier()) {
      report.waiting.push_back(instance->name + block + at(barrier));
      report.barrier = barrier;
      if (Watcher *watcher = Context.memory.watcher())
        watcher->agentIsBlocked(*in.place().agent, barrier, "waits at a barrier");
    } else if (in.isDone() && instance->meetsOthers) {
      report.ended.push_back(instance->name + block);
    } else if (!in.isDone()) {
      report.blocked.push_back(describeWait(*instance) + block);
    }
  }
}

void GroupBlock::tellBlocked(Watcher &watcher, const Instance &instance) const {
  Wait wait = waitOf(instance);
  watcher.agentIsBlocked(*instance.interpreter.place().agent, wait.op,
                         (wait.isPush ? "waits to push into '" : "waits to pop from '") +
                             wait.pipe->name() + "' (" + wait.slots + ")");
}

Status GroupBlock::reportDeadlock() const {
  std::string text = "Cross-core simulation deadlock; tasks blocked: [";
  const Instance *first = nullptr;
  for (const auto &instance : Instances) {
    if (instance->interpreter.isDone())
      continue;
    text += (first ? ", " : "") + describeWait(*instance);
    if (!first)
      first = instance.get();
  }
  text += "]; " + describeCycle(*first);
  if (Watcher *watcher = Context.memory.watcher())
    for (const auto &instance : Instances)
      if (!instance->interpreter.isDone())
        tellBlocked(*watcher, *instance);
  return Status(StatusCode::Deadlock, text, sourceLocOf(waitOf(*first).op->getLoc()));
}

} // namespace kiln::simulator
