// Picking the next task and running it.
#include "engine/EngineImpl.h"

#include <algorithm>
#include <exception>

using namespace kiln;

void Engine::Impl::makeReady(uint64_t index) {
  if (Nodes[index]->isDoomed)
    return retire(index, TaskState::Cancelled);
  Ready.push_back(index);
  if (Seed == 0)
    std::push_heap(Ready.begin(), Ready.end(), std::greater<>());
}

bool Engine::Impl::runNext() {
  if (Ready.empty())
    return false;
  if (Seed == 0) {
    // The first submitted among the ready: since edges only point forward this is submission order.
    std::pop_heap(Ready.begin(), Ready.end(), std::greater<>());
  } else {
    // splitmix64: tiny, well distributed and the same on every machine.
    uint64_t x = RandomState += 0x9e3779b97f4a7c15u;
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
    x = (x ^ x >> 27) * 0x94d049bb133111ebu;
    std::swap(Ready[(x ^ x >> 31) % Ready.size()], Ready.back());
  }
  uint64_t index = Ready.back();
  Ready.pop_back();
  retire(index, execute(*Nodes[index]));
  return true;
}

void Engine::Impl::retire(uint64_t index, TaskState state) {
  // A list, not recursion: a failure may cancel a chain of any length.
  std::vector<std::pair<uint64_t, TaskState>> finished{{index, state}};
  for (size_t i = 0; i < finished.size(); ++i) {
    auto [task, how] = finished[i];
    States[task] = how;
    --NumPending;
    if (Options.recordTrace) {
      History.tasks[task].state = how;
      History.order.push_back(task);
    }
    bool bad = how == TaskState::Failed || how == TaskState::Cancelled;
    std::vector<uint64_t> successors = std::move(Nodes[task]->successors);
    if (!bad)
      Nodes[task].reset(); // its tensors may go
    for (uint64_t next : successors) {
      Node &successor = *Nodes[next];
      successor.isDoomed |= bad;
      if (--successor.unmet != 0)
        continue;
      if (successor.isDoomed)
        finished.emplace_back(next, TaskState::Cancelled);
      else
        makeReady(next);
    }
  }
}

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

static bool holds(const Predicate &predicate) {
  Expected<void *> element = predicate.tensor.elementAddress(predicate.indices);
  if (!element)
    return true; // cannot happen: submit checked
  DType type = predicate.tensor.dtype();
  if (!isFloat(type) && !isFloat(predicate.constant.type))
    return compare(predicate.compare, loadElementInt(type, *element), predicate.constant.asInt());
  return compare(predicate.compare, loadElement(type, *element), predicate.constant.asDouble());
}

TaskState Engine::Impl::execute(Node &node) {
  if (Options.onTaskStart)
    Options.onTaskStart({node.index, RunId});
  if (node.task.predicate() && !holds(*node.task.predicate()))
    return TaskState::Skipped;
  bool isEmpty = std::find(node.grid.begin(), node.grid.end(), 0) != node.grid.end();
  if (!node.kernel || isEmpty)
    return TaskState::Done;
  return runKernel(node);
}

namespace {
/// One call's error sink, behind kiln_context::runtime.
struct CallReport {
  bool reported = false;
  std::string message;
  SourceLoc loc;
};
} // namespace

static void reportFromKernel(kiln_context *ctx, const char *message, const char *file, int line) {
  auto *report = static_cast<CallReport *>(ctx->runtime);
  if (report->reported)
    return; // the first one is the cause
  report->reported = true;
  report->message = message ? message : "(no message)";
  if (file)
    report->loc = {file, line, 0};
}

/// Exceptions end here: a kernel may be anybody's code.
static int32_t callKernel(const KernelRecord &kernel, const kiln_args &args,
                          const kiln_blocks &blocks, kiln_context &ctx) {
  try {
    return kernel.function(&args, &blocks, &ctx);
  } catch (const std::exception &error) {
    std::string message = std::string("threw an exception: ") + error.what();
    reportFromKernel(&ctx, message.c_str(), nullptr, 0);
  } catch (...) {
    reportFromKernel(&ctx, "threw an exception of unknown type", nullptr, 0);
  }
  return KILN_FAIL;
}

/// Who failed, why and where, from what the kernel returned and reported.
static TaskFailure describeFailure(const Node &node, TaskId id, int32_t code,
                                   const CallReport &report) {
  TaskFailure failure;
  failure.task = id;
  failure.kernel = node.kernel->name;
  size_t numArgs = node.task.tensors().size() + node.task.scalars().size();
  int64_t blamed = int64_t{code} - KILN_FAIL_ARG_BASE;
  if (blamed >= 0 && blamed < static_cast<int64_t>(numArgs))
    failure.argument = argumentName(node.kernel, static_cast<size_t>(blamed));
  if (report.reported)
    failure.message = report.message;
  else if (!failure.argument.empty())
    failure.message = "the kernel rejected it";
  else
    failure.message = "returned error code " + std::to_string(code);
  failure.loc = report.loc.isKnown() ? report.loc : node.task.location();
  return failure;
}

static Status statusOf(const TaskFailure &failure, const SourceLoc &launch) {
  std::string text =
      "kernel '" + failure.kernel + "' (task " + std::to_string(failure.task.index) + ")";
  if (!failure.argument.empty())
    text += ", argument '" + failure.argument + "'";
  text += ": " + failure.message;
  if (launch.isKnown() && failure.loc != launch)
    text += " (launched at " + launch.str() + ")";
  return Status(StatusCode::KernelFailed, std::move(text), failure.loc);
}

void Engine::Impl::latch(TaskFailure failure, Status status) {
  if (RunFailure.isOk())
    RunFailure = status;
  if (!Latched.isOk())
    return;
  Latched = std::move(status);
  Failure = std::move(failure);
}

/// Makes sure the engine's scratch has this many bytes.
static Status growScratch(std::shared_ptr<Buffer> &scratch, uint64_t bytes) {
  if (bytes <= (scratch ? scratch->bytes() : 0))
    return Status::ok();
  scratch.reset();
  Expected<std::shared_ptr<Buffer>> grown = Buffer::allocate(bytes);
  if (grown)
    scratch = *grown;
  return grown.status();
}

TaskState Engine::Impl::runKernel(Node &node) {
  const KernelRecord &kernel = *node.kernel;
  CallReport report;
  int32_t code = KILN_FAIL;
  if (Status bad = growScratch(Scratch, kernel.workspaceBytes); !bad.isOk()) {
    report = {true, "no workspace: " + bad.message(), {}};
  } else {
    std::vector<kiln_tensor> tensors;
    for (const TaskTensor &arg : node.task.tensors()) {
      tensors.push_back(arg.tensor.toAbi());
      if (arg.direction == Direction::In)
        tensors.back().flags |= KILN_TENSOR_READ_ONLY;
    }
    std::vector<uint64_t> scalars;
    for (const ScalarBits &scalar : node.task.scalars())
      scalars.push_back(scalar.bits);
    kiln_args args{tensors.data(), scalars.data(), static_cast<uint32_t>(tensors.size()),
                   static_cast<uint32_t>(scalars.size())};
    kiln_blocks blocks{};
    std::copy(node.grid.begin(), node.grid.end(), blocks.end);
    kiln_context ctx{};
    ctx.abi_version = KILN_ABI_VERSION;
    ctx.lanes = 1;
    std::copy(node.grid.begin(), node.grid.end(), ctx.grid);
    if (kernel.workspaceBytes != 0) {
      ctx.scratch = Scratch->data();
      ctx.scratch_bytes = Scratch->bytes();
    }
    ctx.user = kernel.user;
    ctx.report = reportFromKernel;
    ctx.runtime = &report;
    if (Dump)
      Dump->beforeDispatch(node.index, node.task, kernel);
    code = callKernel(kernel, args, blocks, ctx);
  }
  if (code != KILN_OK || report.reported) {
    TaskFailure failure = describeFailure(node, {node.index, RunId}, code, report);
    Status status = statusOf(failure, node.task.location());
    latch(std::move(failure), std::move(status));
    return TaskState::Failed;
  }
  if (Dump)
    Dump->afterCompletion(node.index, node.task, kernel);
  return TaskState::Done;
}
