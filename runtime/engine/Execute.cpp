// Running one task: predicate, grid, kernel, failure.
#include "engine/Scheduler.h"
#include "engine/Verify.h"
#include "kiln/runtime/interrupt.h"
#include "kiln/runtime/ranks.h"

#include <algorithm>
#include <chrono>

using namespace kiln;

/// Pieces a grid is cut into for each worker: enough to even out pieces of different length.
static constexpr int64_t piecesPerWorker = 4;

template <typename T> static bool compare(Compare how, T a, T b) {
  switch (how) {
  case Compare::Eq:
    return a == b;
  case Compare::Ne:
    return a != b;
  case Compare::Lt:
    return a < b;
  case Compare::Le:
    return a <= b;
  case Compare::Gt:
    return a > b;
  case Compare::Ge:
    return a >= b;
  }
  return false;
}

bool kiln::satisfies(DType type, const void *element, Compare how, const ScalarBits &constant) {
  if (!isFloat(type) && !isFloat(constant.type))
    return compare(how, loadElementInt(type, element), constant.asInt());
  return compare(how, loadElement(type, element), constant.asDouble());
}

static bool holds(const NodePredicate &predicate) {
  return satisfies(predicate.type, predicate.element, predicate.compare, predicate.constant);
}

//===----------------------------------------------------------------------===//
// One call of a kernel
//===----------------------------------------------------------------------===//

/// Who failed, why and where, from what the kernel returned and reported.
static TaskFailure describeFailure(const Node &node, TaskId id, int32_t code,
                                   const CallReport &report) {
  TaskFailure failure;
  failure.task = id;
  failure.kernel = node.kernel->name;
  int64_t blamed = int64_t{code} - KILN_FAIL_ARG_BASE;
  if (blamed >= 0 && blamed < node.numTensors + node.numScalars)
    failure.argument = argumentName(node.kernel, static_cast<size_t>(blamed));
  if (report.isReported)
    failure.message = report.message;
  else if (!failure.argument.empty())
    failure.message = "the kernel rejected it";
  else
    failure.message = "returned error code " + std::to_string(code);
  failure.loc =
      report.isReported && report.loc.isKnown() ? report.loc : node.detail->loc.toSourceLoc();
  return failure;
}

void Scheduler::latchFailure(const Node &node, StatusCode code, TaskFailure failure) {
  SourceLoc launch = node.detail->loc.toSourceLoc();
  std::string text =
      "kernel '" + failure.kernel + "' (task " + std::to_string(failure.task.index) + ")";
  if (!failure.argument.empty())
    text += ", argument '" + failure.argument + "'";
  text += ": " + failure.message;
  if (launch.isKnown() && failure.loc != launch)
    text += " (launched at " + launch.str() + ")";
  Status status(code, std::move(text), failure.loc);
  Run.ranks->fail(status); // nobody is to wait for what this rank will not come to
  Run.failures.latch(std::move(failure), std::move(status));
}

void Scheduler::latchInterruption(const Node &node) {
  Status why = interruptedAt(node.index, node.kernel);
  TaskFailure failure{
      {node.index, Run.id}, node.kernel ? node.kernel->name : "", "", why.message(), {}};
  Run.failures.latch(std::move(failure), std::move(why));
}

/// Makes sure the scratch has this many bytes.
static Status growScratch(std::shared_ptr<Buffer> &scratch, uint64_t bytes) {
  if (bytes <= (scratch ? scratch->bytes() : 0))
    return Status::ok();
  scratch.reset();
  Expected<std::shared_ptr<Buffer>> grown = Buffer::allocate(bytes);
  if (grown)
    scratch = *grown;
  return grown.status();
}

/// False when there is no memory, which is reported then.
static bool lendScratch(Worker &worker, uint64_t bytes, kiln_context &ctx) {
  if (Status bad = growScratch(worker.scratch, bytes); !bad.isOk()) {
    worker.report = {true, "no workspace: " + bad.message(), {}};
    return false;
  }
  ctx.scratch = worker.scratch->data();
  ctx.scratch_bytes = worker.scratch->bytes();
  return true;
}

static void fillGrid(int64_t *grid, const Node &node, const kiln_blocks &blocks) {
  std::copy(std::begin(blocks.end), std::end(blocks.end), grid);
  if (!node.isPlain && node.detail->grid)
    std::copy(node.detail->grid->extent.begin(), node.detail->grid->extent.end(), grid);
}

bool Scheduler::call(Worker &worker, const Node &node, const kiln_blocks &blocks) {
  const KernelRecord &kernel = *node.kernel;
  if (kernel.group) [[unlikely]]
    return callGroup(worker, node, blocks);
  CallReport &report = worker.report;
  kiln_args args{node.tensors(), node.scalars, node.numTensors, node.numScalars};
  kiln_context ctx{};
  ctx.abi_version = KILN_ABI_VERSION;
  ctx.lanes = 1;
  fillGrid(ctx.grid, node, blocks);
  ctx.user = kernel.user;
  ctx.report = reportFromKernel;
  ctx.runtime = &report;
  int32_t code = KILN_FAIL;
  if (kernel.workspaceBytes == 0 || lendScratch(worker, kernel.workspaceBytes, ctx)) {
    TimelineSpan span(Run.timeline, worker.number, TimelineEvent::Kind::Call, node.index, &blocks);
    NowRunning running(worker, node);
    code = callKernel(kernel.function, args, blocks, ctx);
  }
  if (code == KILN_OK && !report.isReported)
    return true;
  if (isInterrupted()) // its loops have seen that, too
    latchInterruption(node);
  else
    latchFailure(node, StatusCode::KernelFailed,
                 describeFailure(node, {node.index, Run.id}, code, report));
  report.isReported = false;
  return false;
}

//===----------------------------------------------------------------------===//
// One call of a group
//===----------------------------------------------------------------------===//

/// A group's failure in the words of a task's.
static TaskFailure describeFailure(const Node &node, TaskId id, GroupFailure group) {
  CallReport report{!group.message.empty(), std::move(group.message), std::move(group.loc)};
  TaskFailure failure = describeFailure(node, id, group.code, report);
  if (!group.role.empty() && group.role != failure.kernel)
    failure.message = "role '" + group.role + "': " + failure.message;
  if (!node.isPlain && node.detail->grid && group.block)
    failure.message += " (block " + toString(Dims(group.block->begin, KILN_MAX_GRID_DIMS)) + ")";
  return failure;
}

bool Scheduler::callGroup(Worker &worker, const Node &node, const kiln_blocks &blocks) {
  if (!worker.groups)
    worker.groups = std::make_unique<GroupRunner>();
  kiln_args args{node.tensors(), node.scalars, node.numTensors, node.numScalars};
  int64_t grid[KILN_MAX_GRID_DIMS];
  fillGrid(grid, node, blocks);
  TimelineSpan span(Run.timeline, worker.number, TimelineEvent::Kind::Call, node.index, &blocks);
  NowRunning running(worker, node);
  std::optional<GroupFailure> failed = worker.groups->run(*node.kernel->group, args, blocks, grid);
  if (!failed)
    return true;
  StatusCode status = failed->status;
  if (isInterrupted())
    latchInterruption(node);
  else
    latchFailure(node, status, describeFailure(node, {node.index, Run.id}, std::move(*failed)));
  return false;
}

//===----------------------------------------------------------------------===//
// Grids
//===----------------------------------------------------------------------===//

void Scheduler::cutGrid(GridLaunch &grid, const KernelRecord &kernel) const {
  const auto &extent = grid.extent;
  // Cut along the outermost axis that gives every worker its pieces; the inner ones stay whole, so
  // that a kernel can reuse what it has packed.
  int64_t wanted = grid.isWhole || numWorkers() == 1 ? 1 : numWorkers() * piecesPerWorker;
  int64_t lines = 1;
  grid.axis = 0;
  while (grid.axis < 2 && lines * extent[grid.axis] < wanted)
    lines *= extent[grid.axis++];
  int64_t perLine = std::max<int64_t>(1, std::min(extent[grid.axis], wanted / lines));
  // Larger where blocks share work, as long as there are two for each worker: with one, all would
  // wait for who comes last.
  int64_t fewest = (int64_t(2) * numWorkers() + lines - 1) / lines;
  int64_t shared = std::min(kernel.blocksPerCall[size_t(grid.axis)], extent[grid.axis] / fewest);
  grid.chunk = std::max((extent[grid.axis] + perLine - 1) / perLine, shared);
  grid.piecesPerLine = (extent[grid.axis] + grid.chunk - 1) / grid.chunk;
  grid.numPieces = lines * grid.piecesPerLine;
}

/// The rectangle of blocks that is piece `number`.
static kiln_blocks blocksOf(const GridLaunch &grid, int64_t number) {
  kiln_blocks blocks{};
  std::copy(grid.extent.begin(), grid.extent.end(), blocks.end);
  int64_t line = number / grid.piecesPerLine;
  blocks.begin[grid.axis] = number % grid.piecesPerLine * grid.chunk;
  blocks.end[grid.axis] = std::min(grid.extent[grid.axis], blocks.begin[grid.axis] + grid.chunk);
  for (int axis = grid.axis; axis-- > 0; line /= grid.extent[axis]) {
    blocks.begin[axis] = line % grid.extent[axis];
    blocks.end[axis] = blocks.begin[axis] + 1;
  }
  return blocks;
}

void Scheduler::runPieces(Worker &worker, Node &node) {
  GridLaunch &grid = *node.detail->grid;
  bool mayInvite = !Order;
  while (!grid.hasFailed.load(std::memory_order_relaxed)) {
    int64_t piece = grid.nextPiece.fetch_add(1, std::memory_order_relaxed);
    if (piece >= grid.numPieces)
      return;
    if (isInterrupted()) {
      latchInterruption(node);
      grid.hasFailed.store(true, std::memory_order_relaxed);
      return;
    }
    if (mayInvite && piece + 1 < grid.numPieces) {
      // Each participant invites one more, which keeps a task to one entry in the queues.
      mayInvite = false;
      grid.participants.fetch_add(1, std::memory_order_relaxed);
      publishFrom(worker, node);
    }
    if (!call(worker, node, blocksOf(grid, piece)))
      grid.hasFailed.store(true, std::memory_order_relaxed);
  }
}

//===----------------------------------------------------------------------===//
// Blocks that meet
//===----------------------------------------------------------------------===//

/// The runner is the task's until it is finished: this worker may leave and run another group.
static std::unique_ptr<GroupRunner> takeRunner(Worker &worker) {
  return worker.groups ? std::move(worker.groups) : std::make_unique<GroupRunner>();
}

void Scheduler::runTogether(Worker &worker, Node &node) {
  GridLaunch &grid = *node.detail->grid;
  kiln_blocks all = blocksOf(grid, 0);
  TimelineSpan span(Run.timeline, worker.number, TimelineEvent::Kind::Call, node.index, &all);
  if (grid.together) {
    grid.isInvited.store(false, std::memory_order_relaxed); // the entry is this worker's now
  } else {
    kiln_args args{node.tensors(), node.scalars, node.numTensors, node.numScalars};
    grid.together = takeRunner(worker).release();
    grid.together->startTogether(*node.kernel->group, args, all, grid.extent.data());
  }
  NowRunning running(worker, node);
  grid.together->workTogether([&] {
    if (Order || grid.isInvited.exchange(true, std::memory_order_relaxed))
      return; // a task has at most one entry in the queues
    grid.participants.fetch_add(1, std::memory_order_relaxed);
    publishFrom(worker, node);
  });
}

void Scheduler::finishTogether(Worker &worker, Node &node) {
  GridLaunch &grid = *node.detail->grid;
  std::unique_ptr<GroupRunner> runner(std::exchange(grid.together, nullptr));
  if (std::optional<GroupFailure> failed = runner->finishTogether()) {
    StatusCode status = failed->status;
    latchFailure(node, status, describeFailure(node, {node.index, Run.id}, std::move(*failed)));
    grid.hasFailed.store(true, std::memory_order_relaxed);
  }
  if (!worker.groups)
    worker.groups = std::move(runner);
}

//===----------------------------------------------------------------------===//
// One task
//===----------------------------------------------------------------------===//

DumpTask kiln::dumpTask(const Node &node) {
  const NodeDetail &detail = *node.detail;
  return {node.index,        *node.kernel, {node.tensors(), node.numTensors}, detail.buffers,
          detail.directions, detail.marks, {node.scalars, node.numScalars},   detail.scalarTypes};
}

/// Other ranks may still read what the task writes, or this rank what is theirs.
static void ownWhatIsWritten(Transport &lender, const Node &node) {
  const KernelRecord *kernel = node.kernel;
  if (!kernel)
    return;
  for (uint8_t i = 0; i < node.numTensors; ++i) {
    Direction direction = kernel->signature && i < kernel->signature->tensors.size()
                              ? kernel->signature->tensors[i].direction
                              : Direction::InOut;
    if (direction != Direction::In || kernel->isCollective)
      lender.own(node.tensors()[i], direction == Direction::In ? MemoryAccess::Send
                                    : kernel->isCollective && direction == Direction::Out
                                        ? MemoryAccess::Replace
                                        : MemoryAccess::Write);
  }
}

bool Scheduler::mayRun(Node &node) {
  if (Run.isAbandoned.load(std::memory_order_relaxed)) {
    Run.numAbandoned.fetch_add(1, std::memory_order_relaxed);
    node.state = TaskState::Cancelled;
    return false;
  }
  if (isInterrupted()) {
    latchInterruption(node);
    node.state = TaskState::Cancelled;
    return false;
  }
  if (node.isDoomed.load(std::memory_order_relaxed)) {
    node.state = TaskState::Cancelled;
    return false;
  }
  if (Run.onTaskStart)
    Run.onTaskStart({node.index, Run.id});
  if (Run.lender) [[unlikely]]
    ownWhatIsWritten(*Run.lender, node);
  if (node.isPlain)
    return true;
  const NodeDetail &detail = *node.detail;
  bool isSkipped = detail.predicate && !holds(*detail.predicate);
  node.state = isSkipped ? TaskState::Skipped : TaskState::Done;
  bool isEmpty =
      detail.grid && std::count(detail.grid->extent.begin(), detail.grid->extent.end(), 0) != 0;
  return !isSkipped && node.kernel && !isEmpty;
}

bool Scheduler::callOnce(Worker &worker, Node &node) {
  static constexpr kiln_blocks oneBlock{{0, 0, 0}, {1, 1, 1}};
  if (!node.timesSlot)
    return call(worker, node, oneBlock);
  using Clock = std::chrono::steady_clock;
  Clock::time_point start = Clock::now();
  bool isGood = call(worker, node, oneBlock);
  int64_t time = (Clock::now() - start) / std::chrono::nanoseconds(1);
  node.nanoseconds = static_cast<uint32_t>(std::clamp<int64_t>(time, 0, UINT32_MAX));
  return isGood;
}

bool Scheduler::execute(Worker &worker, Node &node) {
  if (node.kernel && node.kernel->isCollective) [[unlikely]]
    return startCollective(worker, node);
  if (!node.isPlain && node.detail->grid)
    return executeGrid(worker, node);
  TimelineSpan span(Run.timeline, worker.number, TimelineEvent::Kind::Task, node.index);
  if (!mayRun(node))
    return true;
  if (Run.dump)
    Run.dump->beforeDispatch(worker.number, dumpTask(node));
  node.state = callOnce(worker, node) ? TaskState::Done : TaskState::Failed;
  if (Run.dump && node.state == TaskState::Done)
    Run.dump->afterCompletion(worker.number, dumpTask(node));
  return true;
}

void Scheduler::runHere(Node &node) {
  if (Run.onTaskStart)
    Run.onTaskStart({node.index, Run.id});
  if (Run.lender) [[unlikely]]
    ownWhatIsWritten(*Run.lender, node);
  node.state = callOnce(Workers.front(), node) ? TaskState::Done : TaskState::Failed;
}

static bool meets(const Node &node) { return node.kernel->group && node.kernel->group->meets(); }

bool Scheduler::executeGrid(Worker &worker, Node &node) {
  GridLaunch &grid = *node.detail->grid;
  {
    // Ends before this worker leaves: from then on the task may be finished by another.
    TimelineSpan span(Run.timeline, worker.number, TimelineEvent::Kind::Task, node.index);
    if (!grid.isStarted) { // before anybody else was invited
      if (!mayRun(node))
        return true;
      cutGrid(grid, *node.kernel);
      grid.isStarted = true;
      if (Run.dump)
        Run.dump->beforeDispatch(worker.number, dumpTask(node));
    }
    if (meets(node))
      runTogether(worker, node);
    else
      runPieces(worker, node);
  }
  if (grid.participants.fetch_sub(1, std::memory_order_acq_rel) != 1)
    return false; // the last to leave finishes the task
  if (grid.together)
    finishTogether(worker, node);
  node.state = grid.hasFailed.load(std::memory_order_relaxed) ? TaskState::Failed : TaskState::Done;
  if (Run.dump && node.state == TaskState::Done)
    Run.dump->afterCompletion(worker.number, dumpTask(node));
  return true;
}
