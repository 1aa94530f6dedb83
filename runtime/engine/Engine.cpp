// Runs, scopes, get and wait. See engine.h for the contract, EngineImpl.h for the state.
#include "abi/Environment.h"
#include "abi/ParseNumber.h"
#include "engine/EngineImpl.h"
#include "engine/Verify.h"

#include <algorithm>
#include <atomic>
#include <thread>

using namespace kiln;

/// Bounds that only a mistake exceeds.
static constexpr uint64_t maxMaxPending = 1 << 24;
static constexpr uint64_t maxArenaBytes = uint64_t{1} << 46;

static Status invalid(std::string message) {
  return Status(StatusCode::InvalidArgument, std::move(message));
}

static uint64_t roundUpArena(uint64_t bytes) {
  return (bytes + Arena::alignment - 1) / Arena::alignment * Arena::alignment;
}

Engine::Impl::Impl(const KernelRegistry &registry, const EngineOptions &options, uint64_t seed,
                   unsigned numWorkers)
    : Registry(&registry), Times(options.handOverNs), Options(options), Seed(seed),
      Window(options.maxPending), Map(Settled, options.recordTrace),
      Intermediates(roundUpArena(options.arenaBytes)), Scopes(1),
      Sched(Run, numWorkers, seed, Window.maxTasks()) {
  Run.recordsOrder = options.recordTrace;
  Run.onTaskStart = options.onTaskStart;
}

Engine::Engine(std::unique_ptr<Impl> impl) : P(std::move(impl)) {}

Engine::~Engine() { P->abandonRun(); }

Expected<unsigned> kiln::parseWorkers(const std::string &text, const std::string &name) {
  unsigned number = 0;
  if (!parseAll(text, number) || number < 1 || number > maxWorkers)
    return invalid(name + "=" + text + ": expected a number of workers, from 1 to " +
                   std::to_string(maxWorkers));
  return number;
}

Expected<unsigned> kiln::defaultWorkers() {
  if (std::string text = textFromEnvironment("KILN_WORKERS"); !text.empty())
    return parseWorkers(text, "KILN_WORKERS");
  return std::clamp(std::thread::hardware_concurrency(), 1u, maxWorkers);
}

Expected<std::unique_ptr<Engine>> Engine::create(const KernelRegistry &registry,
                                                 EngineOptions options) {
  if (options.maxPending == 0)
    return invalid("EngineOptions::maxPending must be at least 1");
  if (options.maxPending > maxMaxPending)
    return invalid("EngineOptions::maxPending must be at most " + std::to_string(maxMaxPending));
  if (options.arenaBytes > maxArenaBytes)
    return invalid("EngineOptions::arenaBytes must be at most " + std::to_string(maxArenaBytes));
  if (options.workers > maxWorkers)
    return invalid("EngineOptions::workers must be at most " + std::to_string(maxWorkers));
  std::optional<uint64_t> seed = options.seed;
  if (!seed) {
    Expected<std::optional<uint64_t>> fromEnvironment = numberFromEnvironment("KILN_SEED");
    if (!fromEnvironment)
      return fromEnvironment.status();
    seed = *fromEnvironment;
  }
  Expected<unsigned> number = options.workers ? options.workers : defaultWorkers();
  if (!number)
    return number.status();
  unsigned workers = seed ? 1 : *number; // a schedule is reproducible on one worker only
  return std::unique_ptr<Engine>(
      new Engine(std::make_unique<Impl>(registry, options, seed.value_or(0), workers)));
}

static Status verifyRunOptions(const RunOptions &options, bool recordsTrace) {
  if (options.recordTimeline && !recordsTrace)
    return invalid("RunOptions::recordTimeline needs EngineOptions::recordTrace");
  const DumpOptions &dump = options.dump;
  if (dump.level < 0 || dump.level > 3)
    return invalid("dump level " + std::to_string(dump.level) + " does not exist: 0 to 3");
  if (dump.level > 0 && dump.directory.empty())
    return invalid("dump level " + std::to_string(dump.level) + " needs a directory");
  return Status::ok();
}

Status Engine::Impl::startRun(RunOptions options) {
  if (RunOpen)
    return Status(StatusCode::FailedPrecondition, "a run is open already: finish() it first");
  if (Status bad = verifyRunOptions(options, Options.recordTrace); !bad.isOk())
    return bad;
  // Unique across engines, so that a TaskId of another run or engine is recognised.
  static std::atomic<uint64_t> nextRun{1};
  Run.id = nextRun.fetch_add(1, std::memory_order_relaxed);
  Run.failures.startRun();
  Run.nextTicket.store(0, std::memory_order_relaxed);
  RunOpen = true;
  RunAs = std::move(options);
  if (!RunAs.ranks)
    RunAs.ranks = currentRanks();
  Window.reset();
  Settled.below = Waited = 0;
  CatchUp = {};
  Sched.startRun();
  Run.ranks = &ranks();
  Run.lender = Run.ranks->lends() ? Run.ranks : nullptr;
  if (RunAs.ranks)
    RunAs.ranks->watch([this] { return Sched.isIdle(); });
  Lines.clear();
  Messages.clear();
  Scopes.assign(1, Scope());
  CurrentScope = 0;
  Reported.reset();
  if (Options.recordTrace) {
    History = Trace();
    Finished.clear();
  }
  Witness.emplace([this](const Status &) {
    std::string running = Sched.running();
    return running.empty() ? "" : "still running: " + running;
  });
  if (RunAs.dump.level > 0)
    Dump = std::make_unique<DumpWriter>(
        RunAs.dump, DumpWriter::Run{RunAs.program, RunAs.platform, Seed}, Sched.numWorkers());
  Run.dump = Dump.get();
  if (RunAs.recordTimeline)
    Recorder = std::make_unique<TimelineRecorder>(Sched.numWorkers());
  Run.timeline = Recorder.get();
  RunsBriefTasks = Options.handOverNs != 0 && !Options.recordTrace && !Dump && !Sched.isInline();
  return Status::ok();
}

Status Engine::Impl::drain() {
  if (!awaitAll())
    return Status(StatusCode::Internal,
                  std::to_string(numPending()) + " tasks wait and none is ready");
  if (Run.lender)
    Run.lender->settle();
  Status result = Run.failures.current();
  Reported = Run.failures.parts();
  if (!result.isOk())
    Run.failures.clear();
  BadBuffers.clear(); // failed and cancelled tasks let go of their tensors
  Settled.bad.clear();
  Map.clear();
  Settled.epochs.closeAll();
  Waited = Window.end();
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
  // error path say, must not touch it. What is running now cannot be stopped.
  Run.isAbandoned.store(true, std::memory_order_relaxed);
  ranks().fail(Status(StatusCode::FailedPrecondition, "the rank ended before its run did"));
  awaitAll();
  if (Run.lender)
    Run.lender->settle();
  if (uint64_t count = Run.numAbandoned.load(std::memory_order_relaxed))
    Run.failures.setOfRun(
        Status(StatusCode::FailedPrecondition,
               "the engine was destroyed with " + std::to_string(count) + " tasks still to run"));
  // Whoever wanted the status called finish(); here it only matters that the dump is not lost.
  (void)closeRun();
}

Timeline Engine::Impl::takeTimeline() {
  if (!Recorder)
    return {};
  Timeline timeline = Recorder->take();
  for (const TraceTask &task : History.tasks) {
    const KernelRecord *kernel = Registry->find(task.kernel);
    if (!kernel || timeline.kernels.count(task.kernel))
      continue;
    TimelineKernel &entry = timeline.kernels[task.kernel];
    entry.members = kernel->members;
    for (size_t i = 0; i < task.tensors.size() + task.scalars.size(); ++i)
      entry.arguments.push_back(argumentName(kernel, i));
    for (size_t i = 0; i < task.tensors.size(); ++i)
      entry.boxes.push_back(kernel->signature ? kernel->signature->boxOf(i) : "");
  }
  return timeline;
}

Status Engine::Impl::closeRun() {
  if (RunAs.ranks)
    RunAs.ranks->watch({});
  Run.lender = nullptr; // the ranks may end before the engine does
  RunOpen = false;
  Witness.reset();
  if (Options.recordTrace)
    Recorded = takeTimeline();
  Run.timeline = nullptr;
  Recorder.reset();
  Run.dump = nullptr;
  if (!Dump)
    return Status::ok();
  Status dumped = Dump->finish(Run.failures.ofRun(), Window.end());
  Dump.reset();
  return dumped;
}

bool Engine::Impl::isManualBetweenScopes(uint32_t a, uint32_t b) const {
  while (a != b) {
    uint32_t &deeper = Scopes[a].depth >= Scopes[b].depth ? a : b;
    deeper = Scopes[deeper].parent;
  }
  return Scopes[a].isManual;
}

Expected<ScalarBits> Engine::Impl::get(const Tensor &tensor, Dims indices) {
  Expected<void *> address = tensor.elementAddress(indices);
  if (!address)
    return address.status().withPrefix("get");
  std::vector<int64_t> ones(indices.size(), 1);
  Expected<Tensor> element = tensor.slice(indices, ones);
  if (!element)
    return element.status().withPrefix("get");

  Region region = Region::of(*element);
  std::vector<LiveRegion *> overlaps;
  Map.find(tensor.buffer(), region, overlaps);
  std::vector<uint64_t> producers;
  for (LiveRegion *overlap : overlaps)
    for (const Use &use : overlap->writers)
      producers.push_back(use.task);
  std::sort(producers.begin(), producers.end());
  for (uint64_t producer : producers) {
    if (!await(producer))
      return Status(StatusCode::Internal,
                    "get waits for task " + std::to_string(producer) + " and none is ready");
    if (isBad(producer)) {
      Reported = Run.failures.parts();
      return Run.failures.current().withPrefix("get");
    }
  }
  if (isFloat(tensor.dtype()))
    return ScalarBits::fromDouble(tensor.dtype(), loadElement(tensor.dtype(), *address));
  return ScalarBits::fromInt(tensor.dtype(), loadElementInt(tensor.dtype(), *address));
}

Status Engine::begin(RunOptions options) { return P->startRun(std::move(options)); }

Expected<TaskId> Engine::submit(const Task &task) { return P->submit(task, nullptr); }
Expected<TaskId> Engine::submit(Task &&task) { return P->submit(task, &task); }

Expected<Tensor> Engine::alloc(DType dtype, Dims extents) {
  Expected<Tensor> tensor = P->alloc(dtype, extents);
  return tensor ? tensor : tensor.status().withPrefix("alloc");
}

void Engine::beginScope(bool manual) {
  if (!P->RunOpen)
    (void)P->startRun({}); // cannot fail: the default options are valid and no run is open
  const Scope &outer = P->Scopes[P->CurrentScope];
  P->Scopes.push_back({P->CurrentScope, outer.depth + 1, manual, manual || outer.isInsideManual});
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
Status Engine::run(const Task &task) {
  P->RunsOne = true; // no worker need wake up for what the caller is about to do itself
  Expected<TaskId> id = P->submit(task, nullptr);
  P->RunsOne = false;
  return id ? P->drain() : id.status();
}
Status Engine::wait() { return P->drain(); }
Status Engine::finish() { return P->finishRun(); }
const std::optional<TaskFailure> &Engine::lastFailure() const { return P->Reported; }
const Trace &Engine::trace() const {
  P->refreshTrace();
  return P->History;
}
const Timeline &Engine::timeline() const { return P->Recorded; }
uint64_t Engine::seed() const { return P->Seed; }
unsigned Engine::workers() const { return P->Sched.numWorkers(); }
Status Engine::rebind(const KernelRegistry &registry) {
  if (P->RunOpen)
    return Status(StatusCode::FailedPrecondition, "a run is open: finish() it first");
  P->Registry = &registry;
  P->KnownKernels = {};
  return Status::ok();
}
const KernelRegistry &Engine::registry() const { return *P->Registry; }
EngineUsage Engine::usage() const {
  P->retire();
  return {P->Window.end() - P->Window.begin(), P->Map.numRegions(), P->Intermediates.bytesInUse()};
}
