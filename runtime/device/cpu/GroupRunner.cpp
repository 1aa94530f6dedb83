#include "device/cpu/GroupRunner.h"

#include "abi/CBoundary.h"
#include "abi/CheckedMath.h"

using namespace kiln;

const kiln_pipe_functions GroupRunner::PipeFunctions = {beginPush, endPush, pop, free};
const kiln_block_functions GroupRunner::BlockFunctions = {meet, allocate, release};

GroupRunner::Instance::Instance(GroupRunner &runner)
    : runner(runner), fiber(GroupRunner::runInstances, this) {}

std::string GroupRunner::Instance::name() const {
  return role->lanes > 1 ? role->name + "#" + std::to_string(ctx.lane) : role->name;
}

static uint64_t countBlocks(const kiln_blocks &blocks) {
  uint64_t count = 1;
  for (int axis = 0; axis < KILN_MAX_GRID_DIMS; ++axis)
    count *= static_cast<uint64_t>(blocks.end[axis] - blocks.begin[axis]);
  return count;
}

/// Block `number` of a rectangle, counted along the last axis first.
static kiln_blocks blockOf(const kiln_blocks &blocks, uint64_t number) {
  kiln_blocks block;
  for (int axis = KILN_MAX_GRID_DIMS; axis-- > 0;) {
    auto extent = static_cast<uint64_t>(blocks.end[axis] - blocks.begin[axis]);
    block.begin[axis] = blocks.begin[axis] + static_cast<int64_t>(number % extent);
    block.end[axis] = block.begin[axis] + 1;
    number /= extent;
  }
  return block;
}

//===----------------------------------------------------------------------===//
// Before a block
//===----------------------------------------------------------------------===//

static Status noMemory(const std::string &what) {
  return Status(StatusCode::OutOfMemory, "no memory for " + what + " of the group");
}

/// Adds `bytes`, rounded up to where the next thing may start. False: beyond 63 bits.
static bool addAligned(int64_t &total, uint64_t bytes) {
  constexpr uint64_t most = uint64_t{1} << 62;
  if (bytes > most)
    return false;
  uint64_t aligned = (bytes + PipeRing::alignment - 1) & ~(PipeRing::alignment - 1);
  return checkedAdd(total, static_cast<int64_t>(aligned), total);
}

Status GroupRunner::prepare(const GroupSpec &group, uint32_t numBlocks) {
  Group = nullptr; // until everything is there
  Pipes.clear();
  Handles.clear();
  for (uint32_t block = 0; block < numBlocks; ++block)
    for (const PipeSpec &pipe : group.pipes) {
      Pipes.emplace_back(pipe, group.roles[pipe.from].lanes, group.roles[pipe.to].lanes);
      Handles.push_back(&Pipes.back());
    }
  CrewSize = group.numInstances();
  NumInstances = numBlocks * CrewSize;
  while (Instances.size() < NumInstances) {
    Instances.push_back(std::make_unique<Instance>(*this));
    if (!Instances.back()->fiber.isUsable()) {
      Instances.pop_back();
      return noMemory("a stack");
    }
  }
  int64_t bytes = 0;
  bool fits = true;
  for (const RoleSpec &role : group.roles)
    for (uint32_t i = 0; i < numBlocks * role.lanes; ++i)
      fits = fits && addAligned(bytes, role.workspaceBytes);
  for (const kiln_pipe &pipe : Pipes)
    fits = fits && addAligned(bytes, pipe.bytes());
  if (!fits)
    return noMemory("the workspace");
  if (!Memory || Memory->bytes() < static_cast<uint64_t>(bytes)) {
    Memory.reset();
    Expected<std::shared_ptr<Buffer>> memory =
        Buffer::allocate(std::max<uint64_t>(static_cast<uint64_t>(bytes), PipeRing::alignment));
    if (!memory)
      return memory.status();
    Memory = *memory;
  }
  Group = &group;
  NumBlocks = numBlocks;
  Crews.resize(numBlocks);
  return Status::ok();
}

void GroupRunner::startInstance(Instance &instance, uint32_t lane, kiln_pipe *const *pipes) {
  const RoleSpec &role = *instance.role;
  instance.isDone = false;
  instance.awaits = Awaits::Nothing;
  instance.isReported = false;
  instance.allocated.releaseAll();
  NumMeeting += role.meets;
  kiln_context &ctx = instance.ctx;
  ctx = {};
  ctx.abi_version = KILN_ABI_VERSION;
  ctx.lane = lane;
  ctx.lanes = role.lanes;
  ctx.num_pipes = static_cast<uint32_t>(Group->pipes.size());
  std::copy_n(Grid, KILN_MAX_GRID_DIMS, ctx.grid);
  ctx.scratch_bytes = role.workspaceBytes;
  ctx.pipes = pipes;
  ctx.user = role.user;
  ctx.report = reportFromKernel;
  ctx.runtime = static_cast<CallReport *>(&instance);
  ctx.pipe_functions = &PipeFunctions;
  ctx.block_functions = &BlockFunctions;
}

void GroupRunner::start(const kiln_blocks &blocks) {
  IsEnding.store(false, std::memory_order_relaxed);
  NumDone.store(0, std::memory_order_relaxed);
  NumArrived.store(0, std::memory_order_relaxed);
  NumMeeting = Round = 0;
  auto *memory = static_cast<std::byte *>(Memory->data());
  auto take = [&](uint64_t bytes) {
    return std::exchange(memory,
                         memory + ((bytes + PipeRing::alignment - 1) & ~(PipeRing::alignment - 1)));
  };
  auto next = Instances.begin();
  for (uint32_t block = 0; block < NumBlocks; ++block) {
    Crews[block] = {block * CrewSize};
    for (uint32_t index = 0, place = 0; index < Group->roles.size(); ++index) {
      const RoleSpec &role = Group->roles[index];
      for (uint32_t lane = 0; lane < role.lanes; ++lane) {
        Instance &instance = **next++;
        instance.crew = &Crews[block];
        instance.place = place++;
        instance.role = &role;
        instance.roleIndex = index;
        instance.block = blockOf(blocks, block);
        startInstance(instance, lane, Handles.data() + block * Group->pipes.size());
        instance.ctx.scratch = role.workspaceBytes ? take(role.workspaceBytes) : nullptr;
      }
    }
  }
  for (kiln_pipe &pipe : Pipes)
    pipe.reset(take(pipe.bytes()));
  NumLeft.store(NumBlocks, std::memory_order_relaxed);
  NextBlock.store(0, std::memory_order_release);
}

void GroupRunner::startTogether(const GroupSpec &group, const kiln_args &args,
                                const kiln_blocks &blocks, const int64_t *grid) {
  Failure.reset();
  auto refuse = [&](StatusCode code, std::string message) {
    NumBlocks = 0; // nothing to claim
    Group = nullptr;
    Failure = GroupFailure{code, KILN_FAIL, std::move(message), "", {}};
  };
  uint64_t count = countBlocks(blocks);
  if (uint64_t most = GroupSpec::maxInstancesTogether / group.numInstances(); count > most)
    return refuse(StatusCode::Unsupported,
                  "its blocks meet at a barrier, so all run at once: " + std::to_string(count) +
                      " of them; at most " + std::to_string(most) + " can");
  if (Group != &group || NumBlocks != count)
    if (Status bad = prepare(group, static_cast<uint32_t>(count)); !bad.isOk())
      return refuse(bad.code(), bad.message());
  Args = args;
  std::copy_n(grid, KILN_MAX_GRID_DIMS, Grid);
  start(blocks);
}

std::optional<GroupFailure> GroupRunner::finishTogether() {
  if (!Failure)
    checkPipesEmpty();
  if (Instances.size() > GroupSpec::maxInstances) { // stacks that few launches need
    Instances.resize(GroupSpec::maxInstances);
    Group = nullptr;
  }
  return std::exchange(Failure, std::nullopt);
}

std::optional<GroupFailure> GroupRunner::run(const GroupSpec &group, const kiln_args &args,
                                             const kiln_blocks &blocks, const int64_t *grid) {
  auto runTogether = [&](const kiln_blocks &some) {
    startTogether(group, args, some, grid);
    workTogether([] {});
    return finishTogether();
  };
  if (group.meets())
    return runTogether(blocks);
  // One block at a time: each has pipes of its own, and ends with them empty.
  for (uint64_t number = 0, count = countBlocks(blocks); number < count; ++number)
    if (std::optional<GroupFailure> failed = runTogether(blockOf(blocks, number))) {
      failed->block = blockOf(blocks, number);
      return failed;
    }
  return std::nullopt;
}

//===----------------------------------------------------------------------===//
// Taking turns
//===----------------------------------------------------------------------===//

void GroupRunner::runCrew(Crew &crew) {
  Fiber caller;
  crew.caller = &caller;
  // Those of several blocks would overlap on one track.
  crew.times = NumBlocks == 1 ? RoleTimeline::current() : nullptr;
  crew.numArrived = 0;
  uint32_t numDone = crew.numDone;
  if (Instance *first = next(crew, CrewSize - 1))
    caller.switchTo(first->fiber);
  NumDone.fetch_add(crew.numDone - numDone, std::memory_order_relaxed);
  NumArrived.fetch_add(crew.numArrived, std::memory_order_relaxed);
}

void GroupRunner::startNextRound() {
  bool isOver = NumDone.load(std::memory_order_relaxed) == NumInstances;
  if (!isOver && !IsEnding.load(std::memory_order_relaxed)) {
    if (NumMeeting != 0 && NumArrived.load(std::memory_order_relaxed) == NumMeeting)
      ++Round;
    else
      failDeadlock();
  }
  if (isOver)
    return; // all blocks have been claimed, and stay so
  NumArrived.store(0, std::memory_order_relaxed);
  NumLeft.store(NumBlocks, std::memory_order_relaxed);
  NextBlock.store(0, std::memory_order_release);
}

void GroupRunner::runInstances(void *argument) {
  auto &self = *static_cast<Instance *>(argument);
  GroupRunner &runner = self.runner;
  while (true) { // once a block
    if (!runner.IsEnding.load(std::memory_order_relaxed)) {
      self.sliceBegin = self.crew->times ? self.crew->times->now() : 0;
      int32_t code = callKernel(self.role->function, runner.Args, self.block, self.ctx);
      if (code != KILN_OK || self.isReported)
        runner.failRole(self, code);
      runner.endSlice(self, /*isWait=*/false);
    }
    self.isDone = true;
    Crew &crew = *self.crew;
    ++crew.numDone;
    Instance *next = runner.next(crew, self.place);
    self.fiber.switchTo(next ? next->fiber : *crew.caller);
  }
}

bool GroupRunner::canGoOn(const Instance &instance) {
  if (instance.isDone)
    return false;
  if (instance.runner.IsEnding.load(std::memory_order_relaxed))
    return true;
  switch (instance.awaits) {
  case Awaits::Nothing:
    return true;
  case Awaits::Push:
    return !instance.pipe->mustWaitToPush(instance.ctx.lane);
  case Awaits::Pop:
    return !instance.pipe->mustWaitToPop(instance.ctx.lane);
  case Awaits::Others:
    return instance.runner.Round != instance.round;
  }
  return true;
}

GroupRunner::Instance *GroupRunner::next(const Crew &crew, uint32_t place) {
  for (uint32_t i = 0; i < CrewSize; ++i) {
    place = place + 1 == CrewSize ? 0 : place + 1;
    if (Instance *instance = Instances[crew.first + place].get(); canGoOn(*instance))
      return instance;
  }
  return nullptr;
}

bool GroupRunner::yield(Instance &self) {
  endSlice(self, /*isWait=*/false);
  Instance *other = next(*self.crew, self.place);
  if (other != &self) // another thread may have ended the group just now
    self.fiber.switchTo(other ? other->fiber : *self.crew->caller);
  endSlice(self, /*isWait=*/true);
  self.awaits = Awaits::Nothing;
  return !IsEnding.load(std::memory_order_relaxed);
}

bool GroupRunner::await(Instance &self, const kiln_pipe &pipe, Awaits what) {
  if (IsEnding.load(std::memory_order_relaxed))
    return false;
  uint32_t lane = self.ctx.lane;
  if (what == Awaits::Push ? !pipe.mustWaitToPush(lane) : !pipe.mustWaitToPop(lane))
    return true;
  self.pipe = &pipe;
  self.awaits = what;
  return yield(self);
}

void GroupRunner::recordSlice(Instance &instance, bool isWait) {
  std::string what = instance.role->name;
  if (isWait && instance.awaits == Awaits::Others) {
    what = "wait for the other blocks";
  } else if (isWait) {
    const PipeSpec &pipe = instance.pipe->spec();
    what = instance.awaits == Awaits::Push
               ? "wait to push into " + pipe.name + ", emptied by " + Group->roles[pipe.to].name
               : "wait to pop from " + pipe.name + ", filled by " + Group->roles[pipe.from].name;
  }
  RoleTimeline &times = *instance.crew->times;
  int64_t now = times.now();
  times.add({0, instance.name(), std::move(what), isWait, instance.sliceBegin, now});
  instance.sliceBegin = now;
}

void GroupRunner::recordLevel(const Instance &instance, const kiln_pipe &pipe) {
  RoleTimeline &times = *instance.crew->times;
  times.add(TimelinePipeLevel{pipe.spec().name, pipe.spec().slots, pipe.numUsed(), times.now()});
}

//===----------------------------------------------------------------------===//
// What roles call
//===----------------------------------------------------------------------===//

GroupRunner::Instance &GroupRunner::caller(kiln_context *ctx) {
  return static_cast<Instance &>(*static_cast<CallReport *>(ctx->runtime));
}

GroupRunner::Instance *GroupRunner::callerAt(kiln_context *ctx, const kiln_pipe &pipe,
                                             bool isProducer) {
  Instance &self = caller(ctx);
  const PipeSpec &spec = pipe.spec();
  if (self.roleIndex == (isProducer ? spec.from : spec.to))
    return &self;
  self.runner.failMisuse(self, pipe,
                         isProducer ? "pushes into it, which is not its end"
                                    : "pops from it, which is not its end");
  return nullptr;
}

void *GroupRunner::beginPush(kiln_context *ctx, kiln_pipe *pipe, const kiln_source *where) {
  Instance *self = callerAt(ctx, *pipe, true);
  if (!self)
    return nullptr;
  if (pipe->isPushing(ctx->lane)) {
    self->runner.failMisuse(*self, *pipe, "begins a push before it has ended the last");
    return nullptr;
  }
  self->setPlace(where);
  return self->runner.await(*self, *pipe, Awaits::Push) ? pipe->beginPush(ctx->lane) : nullptr;
}

int32_t GroupRunner::endPush(kiln_context *ctx, kiln_pipe *pipe) {
  Instance *self = callerAt(ctx, *pipe, true);
  if (!self || self->runner.IsEnding.load(std::memory_order_relaxed))
    return KILN_FAIL;
  if (!pipe->isPushing(ctx->lane)) {
    self->runner.failMisuse(*self, *pipe, "ends a push it has not begun");
    return KILN_FAIL;
  }
  pipe->endPush(ctx->lane);
  self->runner.noteLevel(*self, *pipe);
  return KILN_OK;
}

void *GroupRunner::pop(kiln_context *ctx, kiln_pipe *pipe, const kiln_source *where) {
  Instance *self = callerAt(ctx, *pipe, false);
  if (self)
    self->setPlace(where);
  return self && self->runner.await(*self, *pipe, Awaits::Pop) ? pipe->pop(ctx->lane) : nullptr;
}

int32_t GroupRunner::free(kiln_context *ctx, kiln_pipe *pipe) {
  Instance *self = callerAt(ctx, *pipe, false);
  if (!self || self->runner.IsEnding.load(std::memory_order_relaxed))
    return KILN_FAIL;
  if (pipe->numUnfreed(ctx->lane) == 0) {
    self->runner.failMisuse(*self, *pipe, "frees a message, but has freed all those it has popped");
    return KILN_FAIL;
  }
  pipe->free(ctx->lane);
  self->runner.noteLevel(*self, *pipe);
  return KILN_OK;
}

int32_t GroupRunner::meet(kiln_context *ctx, const kiln_source *where) {
  Instance &self = caller(ctx);
  GroupRunner &runner = self.runner;
  if (runner.IsEnding.load(std::memory_order_relaxed))
    return KILN_FAIL;
  if (!self.role->meets) {
    runner.fail({StatusCode::KernelFailed,
                 KILN_FAIL,
                 "comes to a barrier, but was registered without KILN_ROLE_MEETS",
                 self.name(),
                 {},
                 self.block});
    return KILN_FAIL;
  }
  ++self.crew->numArrived;
  self.round = runner.Round;
  self.setPlace(where);
  self.awaits = Awaits::Others;
  return runner.yield(self) ? KILN_OK : KILN_FAIL;
}

void *GroupRunner::allocate(kiln_context *ctx, uint64_t bytes) {
  return caller(ctx).allocated.allocate(bytes);
}

void GroupRunner::release(kiln_context *ctx) { caller(ctx).allocated.release(); }

//===----------------------------------------------------------------------===//
// Failures
//===----------------------------------------------------------------------===//

void GroupRunner::fail(GroupFailure failure) {
  std::lock_guard lock(FailureMutex);
  if (!Failure)
    Failure = std::move(failure);
  // Whoever is told to end fails too, but later.
  IsEnding.store(true, std::memory_order_release);
}

void GroupRunner::failRole(const Instance &instance, int32_t code) {
  fail({StatusCode::KernelFailed, code, instance.isReported ? instance.message : "",
        instance.name(), instance.isReported ? instance.loc : SourceLoc(), instance.block});
}

void GroupRunner::failMisuse(const Instance &instance, const kiln_pipe &pipe, const char *what) {
  fail({StatusCode::KernelFailed,
        KILN_FAIL,
        "pipe '" + pipe.spec().name + "': " + what,
        instance.name(),
        {},
        instance.block});
}

std::string GroupRunner::describeWait(const Instance &instance) {
  std::string place = placeOf(&instance.waitsAt).str();
  if (!place.empty())
    place = " at " + place;
  if (instance.awaits == Awaits::Others)
    return " waits at the barrier" + place;
  bool isPush = instance.awaits == Awaits::Push;
  const kiln_pipe &pipe = *instance.pipe;
  return (isPush ? " waits to push into '" : " waits to pop from '") + pipe.spec().name + "' (" +
         (isPush ? pipe.describeForPush(instance.ctx.lane)
                 : pipe.describeForPop(instance.ctx.lane)) +
         ")" + place;
}

void GroupRunner::failDeadlock() {
  constexpr unsigned most = 16; // of many blocks the first ones tell
  unsigned numWaiting = 0, numEnded = 0;
  std::string waiting, ended;
  SourceLoc first; // where somebody waits
  auto add = [](std::string &list, unsigned &count, const std::string &entry) {
    if (count++ < most)
      list += (list.empty() ? "" : ", ") + entry;
  };
  for (uint32_t i = 0; i < NumInstances; ++i) {
    const Instance &instance = *Instances[i];
    std::string name = instance.name();
    if (NumBlocks > 1)
      name += " (block " + toString(Dims(instance.block.begin, KILN_MAX_GRID_DIMS)) + ")";
    if (instance.isDone) {
      add(ended, numEnded, name);
      continue;
    }
    add(waiting, numWaiting, name + describeWait(instance));
    if (numWaiting == 1)
      first = placeOf(&instance.waitsAt);
  }
  auto finish = [](std::string &list, unsigned count) {
    if (count > most)
      list += " and " + std::to_string(count - most) + " more";
  };
  finish(waiting, numWaiting);
  finish(ended, numEnded);
  fail({StatusCode::Deadlock, KILN_FAIL,
        (NumBlocks > 1 ? "deadlock of the blocks: " : "deadlock in the group: ") + waiting +
            (ended.empty() ? "" : "; ended: " + ended),
        "", first});
}

void GroupRunner::checkPipesEmpty() {
  for (const kiln_pipe &pipe : Pipes)
    if (uint64_t left = pipe.numLeft())
      return fail({StatusCode::KernelFailed,
                   KILN_FAIL,
                   std::to_string(left) + (left == 1 ? " message is" : " messages are") +
                       " left in pipe '" + pipe.spec().name + "' when the group ends; role '" +
                       Group->roles[pipe.spec().to].name + "' should have popped " +
                       (left == 1 ? "it" : "them"),
                   "",
                   {}});
}
