#include "device/cpu/GroupRunner.h"

#include "abi/CheckedMath.h"

using namespace kiln;

const kiln_pipe_functions GroupRunner::Functions = {beginPush, endPush, pop, free};

GroupRunner::Instance::Instance(GroupRunner &runner, uint32_t number)
    : runner(runner), number(number), fiber(GroupRunner::runInstances, this) {}

std::string GroupRunner::Instance::name() const {
  return role->lanes > 1 ? role->name + "#" + std::to_string(ctx.lane) : role->name;
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

Status GroupRunner::prepare(const GroupSpec &group) {
  Group = nullptr; // until everything is there
  Pipes.clear();
  Handles.clear();
  for (const PipeSpec &pipe : group.pipes) {
    Pipes.emplace_back(pipe, group.roles[pipe.from].lanes, group.roles[pipe.to].lanes);
    Handles.push_back(&Pipes.back());
  }
  NumInstances = group.numInstances();
  while (Instances.size() < NumInstances) {
    auto number = static_cast<uint32_t>(Instances.size());
    Instances.push_back(std::make_unique<Instance>(*this, number));
    if (!Instances.back()->fiber.isUsable()) {
      Instances.pop_back();
      return noMemory("a stack");
    }
  }
  int64_t bytes = 0;
  bool fits = true;
  for (const RoleSpec &role : group.roles)
    for (uint32_t lane = 0; lane < role.lanes; ++lane)
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
  return Status::ok();
}

void GroupRunner::start(const kiln_args &args, const kiln_blocks &block, const int64_t *grid) {
  Args = &args;
  Block = &block;
  NumDone = 0;
  IsEnding = false;
  Failure.reset();
  auto *memory = static_cast<std::byte *>(Memory->data());
  auto take = [&](uint64_t bytes) {
    return std::exchange(memory,
                         memory + ((bytes + PipeRing::alignment - 1) & ~(PipeRing::alignment - 1)));
  };
  auto next = Instances.begin();
  for (uint32_t index = 0; index < Group->roles.size(); ++index) {
    const RoleSpec &role = Group->roles[index];
    for (uint32_t lane = 0; lane < role.lanes; ++lane) {
      Instance *instance = (next++)->get();
      instance->role = &role;
      instance->roleIndex = index;
      instance->isDone = false;
      instance->awaited = nullptr;
      instance->isReported = false;
      kiln_context &ctx = instance->ctx;
      ctx = {};
      ctx.abi_version = KILN_ABI_VERSION;
      ctx.lane = lane;
      ctx.lanes = role.lanes;
      ctx.num_pipes = static_cast<uint32_t>(Handles.size());
      std::copy_n(grid, KILN_MAX_GRID_DIMS, ctx.grid);
      ctx.scratch = role.workspaceBytes ? take(role.workspaceBytes) : nullptr;
      ctx.scratch_bytes = role.workspaceBytes;
      ctx.pipes = Handles.data();
      ctx.user = role.user;
      ctx.report = reportFromKernel;
      ctx.runtime = static_cast<CallReport *>(instance);
      ctx.pipe_functions = &Functions;
    }
  }
  for (kiln_pipe &pipe : Pipes)
    pipe.reset(take(pipe.bytes()));
}

std::optional<GroupFailure> GroupRunner::run(const GroupSpec &group, const kiln_args &args,
                                             const kiln_blocks &block, const int64_t *grid) {
  if (Group != &group)
    if (Status bad = prepare(group); !bad.isOk())
      return GroupFailure{bad.code(), KILN_FAIL, bad.message(), "", {}};
  start(args, block, grid);
  Times = RoleTimeline::current();
  Caller.switchTo(Instances.front()->fiber);
  if (!Failure)
    checkPipesEmpty();
  return std::move(Failure);
}

//===----------------------------------------------------------------------===//
// Taking turns
//===----------------------------------------------------------------------===//

void GroupRunner::runInstances(void *argument) {
  auto &self = *static_cast<Instance *>(argument);
  GroupRunner &runner = self.runner;
  while (true) { // once a block
    if (!runner.IsEnding) {
      self.sliceBegin = runner.Times ? runner.Times->now() : 0;
      int32_t code = callKernel(self.role->function, *runner.Args, *runner.Block, self.ctx);
      if (code != KILN_OK || self.isReported)
        runner.failRole(self, code);
      runner.endSlice(self, /*isWait=*/false);
    }
    self.isDone = true;
    ++runner.NumDone;
    Instance *next = runner.next(self);
    if (!next && runner.NumDone < runner.NumInstances) {
      runner.failDeadlock();
      next = runner.next(self);
    }
    self.fiber.switchTo(next ? next->fiber : runner.Caller);
  }
}

bool GroupRunner::canGoOn(const Instance &instance) {
  if (instance.isDone)
    return false;
  if (!instance.awaited || instance.runner.IsEnding)
    return true;
  return instance.awaitsPush ? !instance.awaited->mustWaitToPush(instance.ctx.lane)
                             : !instance.awaited->mustWaitToPop(instance.ctx.lane);
}

GroupRunner::Instance *GroupRunner::next(const Instance &self) {
  uint32_t number = self.number;
  for (uint32_t i = 1; i < NumInstances; ++i) {
    number = number + 1 == NumInstances ? 0 : number + 1;
    if (canGoOn(*Instances[number]))
      return Instances[number].get();
  }
  return nullptr;
}

bool GroupRunner::await(Instance &self, const kiln_pipe &pipe, bool isPush) {
  if (IsEnding)
    return false;
  uint32_t lane = self.ctx.lane;
  if (isPush ? !pipe.mustWaitToPush(lane) : !pipe.mustWaitToPop(lane))
    return true;
  self.awaited = &pipe;
  self.awaitsPush = isPush;
  endSlice(self, /*isWait=*/false);
  if (Instance *other = next(self))
    self.fiber.switchTo(other->fiber);
  else
    failDeadlock();
  endSlice(self, /*isWait=*/true);
  self.awaited = nullptr;
  return !IsEnding;
}

void GroupRunner::recordSlice(Instance &instance, bool isWait) {
  std::string what = instance.role->name;
  if (isWait)
    what = (instance.awaitsPush ? "wait to push into " : "wait to pop from ") +
           instance.awaited->spec().name;
  int64_t now = Times->now();
  Times->add({0, instance.name(), std::move(what), isWait, instance.sliceBegin, now});
  instance.sliceBegin = now;
}

//===----------------------------------------------------------------------===//
// What roles call
//===----------------------------------------------------------------------===//

GroupRunner::Instance *GroupRunner::callerAt(kiln_context *ctx, const kiln_pipe &pipe,
                                             bool isProducer) {
  auto &self = static_cast<Instance &>(*static_cast<CallReport *>(ctx->runtime));
  const PipeSpec &spec = pipe.spec();
  if (self.roleIndex == (isProducer ? spec.from : spec.to))
    return &self;
  self.runner.failMisuse(self, pipe,
                         isProducer ? "pushes into it, which is not its end"
                                    : "pops from it, which is not its end");
  return nullptr;
}

void *GroupRunner::beginPush(kiln_context *ctx, kiln_pipe *pipe) {
  Instance *self = callerAt(ctx, *pipe, true);
  if (!self)
    return nullptr;
  if (pipe->isPushing(ctx->lane)) {
    self->runner.failMisuse(*self, *pipe, "begins a push before it has ended the last");
    return nullptr;
  }
  return self->runner.await(*self, *pipe, true) ? pipe->beginPush(ctx->lane) : nullptr;
}

int32_t GroupRunner::endPush(kiln_context *ctx, kiln_pipe *pipe) {
  Instance *self = callerAt(ctx, *pipe, true);
  if (!self || self->runner.IsEnding)
    return KILN_FAIL;
  if (!pipe->isPushing(ctx->lane)) {
    self->runner.failMisuse(*self, *pipe, "ends a push it has not begun");
    return KILN_FAIL;
  }
  pipe->endPush(ctx->lane);
  return KILN_OK;
}

void *GroupRunner::pop(kiln_context *ctx, kiln_pipe *pipe) {
  Instance *self = callerAt(ctx, *pipe, false);
  return self && self->runner.await(*self, *pipe, false) ? pipe->pop(ctx->lane) : nullptr;
}

int32_t GroupRunner::free(kiln_context *ctx, kiln_pipe *pipe) {
  Instance *self = callerAt(ctx, *pipe, false);
  if (!self || self->runner.IsEnding)
    return KILN_FAIL;
  if (pipe->numUnfreed(ctx->lane) == 0) {
    self->runner.failMisuse(*self, *pipe, "frees a message, but has freed all those it has popped");
    return KILN_FAIL;
  }
  pipe->free(ctx->lane);
  return KILN_OK;
}

//===----------------------------------------------------------------------===//
// Failures
//===----------------------------------------------------------------------===//

void GroupRunner::fail(GroupFailure failure) {
  IsEnding = true;
  if (!Failure)
    Failure = std::move(failure);
}

void GroupRunner::failRole(const Instance &instance, int32_t code) {
  fail({StatusCode::KernelFailed, code, instance.isReported ? instance.message : "",
        instance.name(), instance.isReported ? instance.loc : SourceLoc()});
}

void GroupRunner::failMisuse(const Instance &instance, const kiln_pipe &pipe, const char *what) {
  fail({StatusCode::KernelFailed,
        KILN_FAIL,
        "pipe '" + pipe.spec().name + "': " + what,
        instance.name(),
        {}});
}

void GroupRunner::failDeadlock() {
  std::string text = "deadlock in the group: ", ended;
  const char *separator = "";
  for (uint32_t i = 0; i < NumInstances; ++i) {
    const Instance &instance = *Instances[i];
    if (instance.isDone) {
      ended += (ended.empty() ? "; ended: " : ", ") + instance.name();
      continue;
    }
    const kiln_pipe &pipe = *instance.awaited;
    uint64_t used = instance.awaitsPush ? pipe.slotsUsedByPush(instance.ctx.lane)
                                        : pipe.slotsUsedByPop(instance.ctx.lane);
    text += separator + instance.name() +
            (instance.awaitsPush ? " waits to push into '" : " waits to pop from '") +
            pipe.spec().name + "' (" + std::to_string(used) + " of " +
            std::to_string(pipe.spec().slots) + " slots full)";
    separator = ", ";
  }
  fail({StatusCode::Deadlock, KILN_FAIL, text + ended, "", {}});
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
