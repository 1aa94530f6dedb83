// Runs, scopes, get and wait. See engine.h for the contract, EngineImpl.h for the state.
#include "engine/EngineImpl.h"

#include <atomic>
#include <cerrno>
#include <cstdlib>

using namespace kiln;

static Status invalid(std::string message) {
  return Status(StatusCode::InvalidArgument, std::move(message));
}

Engine::Impl::Impl(const KernelRegistry &registry, EngineOptions options, uint64_t seed)
    : Registry(registry), Options(options), Seed(seed), RandomState(seed), Map(*this), Scopes(1) {}

Engine::Impl::~Impl() = default;

Engine::Engine(std::unique_ptr<Impl> impl) : P(std::move(impl)) {}

Engine::~Engine() { P->abandonRun(); }

static Expected<uint64_t> seedFromEnvironment() {
  const char *text = std::getenv("KILN_SEED");
  if (!text)
    return uint64_t{0};
  char *end = nullptr;
  errno = 0;
  unsigned long long value = std::strtoull(text, &end, 0);
  if (*text < '0' || *text > '9' || *end != '\0' || errno != 0)
    return invalid("KILN_SEED='" + std::string(text) + "' is not a number between 0 and 2^64-1");
  return uint64_t{value};
}

Expected<std::unique_ptr<Engine>> Engine::create(const KernelRegistry &registry,
                                                 EngineOptions options) {
  if (options.maxPending == 0)
    return invalid("EngineOptions::maxPending must be at least 1");
  Expected<uint64_t> seed =
      options.seed ? Expected<uint64_t>(*options.seed) : seedFromEnvironment();
  if (!seed)
    return seed.status();
  return std::unique_ptr<Engine>(new Engine(std::make_unique<Impl>(registry, options, *seed)));
}

static Status verifyRunOptions(const RunOptions &options) {
  const DumpOptions &dump = options.dump;
  if (dump.level < 0 || dump.level > 3)
    return invalid("dump level " + std::to_string(dump.level) + " does not exist: 0 to 3");
  if (dump.level == 1 || dump.level == 3)
    return Status(StatusCode::Unsupported,
                  "dump level " + std::to_string(dump.level) +
                      " is not supported yet: use 0 (off) or 2 (everything)");
  if (dump.level > 0 && dump.directory.empty())
    return invalid("dump level " + std::to_string(dump.level) + " needs a directory");
  return Status::ok();
}

Status Engine::Impl::startRun(RunOptions options) {
  if (RunOpen)
    return Status(StatusCode::FailedPrecondition, "a run is open already: finish() it first");
  if (Status bad = verifyRunOptions(options); !bad.isOk())
    return bad;
  // Unique across engines, so that a TaskId of another run or engine is recognised.
  static std::atomic<uint64_t> nextRun{1};
  RunId = nextRun.fetch_add(1, std::memory_order_relaxed);
  RunOpen = true;
  RandomState = Seed; // a run's schedule depends on its seed, not on earlier runs
  Run = std::move(options);
  RunFailure = Status::ok();
  States.clear();
  Nodes.clear();
  NumPending = Waited = 0;
  Ready.clear();
  Map.clear();
  Scopes.assign(1, Scope());
  CurrentScope = 0;
  Latched = Status::ok();
  Failure.reset();
  Reported.reset();
  History = Trace();
  if (Run.dump.level > 0)
    Dump = std::make_unique<DumpWriter>(Run.dump);
  return Status::ok();
}

Status Engine::Impl::drain() {
  while (runNext()) {
  }
  if (NumPending != 0)
    return Status(StatusCode::Internal,
                  std::to_string(NumPending) + " tasks wait and none is ready");
  Status result = Latched;
  Reported = std::move(Failure);
  Failure.reset();
  Latched = Status::ok();
  Nodes.clear(); // failed and cancelled tasks let go of their tensors
  Nodes.resize(States.size());
  Map.clear();
  Waited = States.size();
  return result;
}

Status Engine::Impl::finishRun() {
  if (!RunOpen)
    return Status::ok();
  Status result = drain();
  if (result.isOk() && CurrentScope != 0)
    result = Status(StatusCode::FailedPrecondition,
                    "the run ends inside a scope: endScope() is missing");
  Status dumped = closeRun();
  return result.isOk() ? dumped : result;
}

void Engine::Impl::abandonRun() {
  if (!RunOpen)
    return;
  // The caller's memory behind pending tasks may be gone already: an engine that is dropped, on an
  // error path say, must not touch it.
  if (NumPending != 0 && RunFailure.isOk())
    RunFailure = Status(StatusCode::FailedPrecondition, "the engine was destroyed with " +
                                                            std::to_string(NumPending) +
                                                            " tasks still to run");
  Nodes.clear();
  // Whoever wanted the status called finish(); here it only matters that the dump is not lost.
  (void)closeRun();
}

Status Engine::Impl::closeRun() {
  RunOpen = false;
  Scratch.reset();
  if (!Dump)
    return Status::ok();
  DumpWriter::RunSummary summary;
  summary.program = Run.program;
  summary.platform = Run.platform;
  summary.seed = Seed;
  summary.tasks = States.size();
  summary.failure = RunFailure;
  Status dumped = Dump->finish(summary);
  Dump.reset();
  return dumped;
}

bool Engine::Impl::isManualBetween(uint32_t a, uint32_t b) const {
  while (a != b) {
    uint32_t &deeper = Scopes[a].depth >= Scopes[b].depth ? a : b;
    deeper = Scopes[deeper].parent;
  }
  return Scopes[a].manual;
}

bool Engine::Impl::isInsideManual(uint32_t scope) const {
  for (; scope != 0; scope = Scopes[scope].parent)
    if (Scopes[scope].manual)
      return true;
  return false;
}

bool Engine::Impl::isRetired(const Access &access) const {
  // What failed stays: whoever touches it later is downstream of the failure.
  TaskState state = States[access.task];
  if (state != TaskState::Done && state != TaskState::Skipped)
    return false;
  return !Options.recordTrace || access.buffer.expired();
}

Expected<ScalarBits> Engine::Impl::get(const Tensor &tensor, Dims indices) {
  Expected<void *> address = tensor.elementAddress(indices);
  if (!address)
    return address.status().withPrefix("get");
  std::vector<int64_t> ones(indices.size(), 1);
  Expected<Tensor> element = tensor.slice(indices, ones);
  if (!element)
    return element.status().withPrefix("get");

  std::vector<uint64_t> producers;
  std::vector<const Access *> overlaps;
  Map.findOverlaps(*element, Region::of(*element), overlaps);
  for (const Access *access : overlaps)
    if (access->writes)
      producers.push_back(access->task);
  for (uint64_t producer : producers) {
    while (!isFinished(producer))
      if (!runNext())
        return Status(StatusCode::Internal,
                      "get waits for task " + std::to_string(producer) + " and none is ready");
    if (States[producer] == TaskState::Failed || States[producer] == TaskState::Cancelled) {
      Reported = Failure;
      return Latched.withPrefix("get");
    }
  }
  if (isFloat(tensor.dtype()))
    return ScalarBits::fromDouble(tensor.dtype(), loadElement(tensor.dtype(), *address));
  return ScalarBits::fromInt(tensor.dtype(), loadElementInt(tensor.dtype(), *address));
}

Status Engine::begin(RunOptions options) { return P->startRun(std::move(options)); }

Expected<TaskId> Engine::submit(Task task) { return P->submit(std::move(task)); }

Expected<Tensor> Engine::alloc(DType dtype, Dims extents) {
  Expected<Tensor> tensor = Tensor::empty(dtype, extents);
  return tensor ? tensor : tensor.status().withPrefix("alloc");
}

void Engine::beginScope(bool manual) {
  if (!P->RunOpen)
    (void)P->startRun({}); // cannot fail: the default options are valid and no run is open
  P->Scopes.push_back({P->CurrentScope, P->Scopes[P->CurrentScope].depth + 1, manual});
  P->CurrentScope = static_cast<uint32_t>(P->Scopes.size() - 1);
}

Status Engine::endScope() {
  if (P->CurrentScope == 0 || !P->RunOpen)
    return Status(StatusCode::FailedPrecondition, "endScope() without beginScope()");
  P->CurrentScope = P->Scopes[P->CurrentScope].parent;
  return Status::ok();
}

Expected<ScalarBits> Engine::get(const Tensor &tensor, Dims indices) {
  return P->get(tensor, indices);
}
Status Engine::wait() { return P->drain(); }
Status Engine::finish() { return P->finishRun(); }
const std::optional<TaskFailure> &Engine::lastFailure() const { return P->Reported; }
const Trace &Engine::trace() const { return P->History; }
uint64_t Engine::seed() const { return P->Seed; }
