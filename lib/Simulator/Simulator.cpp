// A simulation from end to end: kernels registered with the engine as functions that interpret
// their IR, the entry interpreted or launched, the first failure kept as it was found.
#include "kiln/Simulator/Simulator.h"

#include "Barrier.h"
#include "Orchestration.h"
#include "PlaceAhead.h"
#include "Watcher.h"

#include "kiln/Dialect/Kiln/Members.h"
#include "kiln/Dialect/Tile/GlobalRing.h"
#include "kiln/Program/Arguments.h"
#include "kiln/Program/Signature.h"
#include "kiln/runtime/ranks.h"

#include "mlir/IR/Verifier.h"

#include <deque>
#include <numeric>

using namespace mlir;

namespace kiln {
namespace {

using simulator::Value;

/// The blocks of a launch in the order they run: row-major, or shuffled by an affine permutation,
/// which takes no memory however large the grid is.
class BlockOrder {
public:
  BlockOrder(const kiln_blocks &range, simulator::Random *random) : Range(range) {
    for (int d = 0; d < 3; ++d)
      Count *= static_cast<uint64_t>(range.end[d] - range.begin[d]);
    if (!random)
      return;
    Offset = random->below(Count);
    do
      Factor = 1 + random->below(Count);
    while (std::gcd(Factor, Count) != 1);
  }

  uint64_t count() const { return Count; }

  std::array<int64_t, 3> block(uint64_t number) const {
    auto at =
        static_cast<uint64_t>((static_cast<unsigned __int128>(number) * Factor + Offset) % Count);
    std::array<int64_t, 3> block;
    for (int d = 2; d >= 0; --d) {
      auto extent = static_cast<uint64_t>(Range.end[d] - Range.begin[d]);
      block[d] = Range.begin[d] + static_cast<int64_t>(at % extent);
      at /= extent;
    }
    return block;
  }

private:
  const kiln_blocks &Range;
  uint64_t Count = 1, Factor = 1, Offset = 0;
};

/// Tells the watcher of the collectives of a rank.
class WatchedTransport final : public Transport {
public:
  WatchedTransport(Transport &inner, simulator::Watcher *watcher) : Inner(inner), Watch(watcher) {}
  int32_t rank() const override { return Inner.rank(); }
  int32_t ranks() const override { return Inner.ranks(); }
  void start(const Collective &collective, Done done) override {
    if (Watch)
      Watch->collectiveRuns(collective, Inner.rank());
    Inner.start(collective, std::move(done));
  }
  void wait(const std::function<bool()> &isOver) override { Inner.wait(isOver); }
  void fail(const Status &why) override { Inner.fail(why); }
  Status prepare(const RankLine &line) override { return Inner.prepare(line); }

private:
  Transport &Inner;
  simulator::Watcher *Watch;
};

class Simulation {
public:
  Simulation(ModuleOp module, const SimulatorOptions &options, simulator::Watcher *watcher)
      : Module(module), Symbols(module), Options(options), Choices(options.seed), Watch(watcher),
        Memory(watcher), Ranks(options.ranks ? *options.ranks : aloneTransport(), watcher) {
    Used.most = options.maxSteps;
    if (options.until.isKnown())
      Until.emplace(module, options.until);
  }

  Status run(ir::FuncOp entry, std::vector<Value> args, std::span<const Argument> given,
             SimulationReport *report);

private:
  /// What a registered kernel's `user` pointer points at.
  struct Kernel {
    Simulation *simulation;
    ir::FuncOp func;
  };

  Status registerKernels();
  /// Tells the watcher of the caller's memory.
  void addArguments(ir::FuncOp entry, ArrayRef<Value> args);
  void checkOutputs(ir::FuncOp entry, ArrayRef<Value> args);
  Status runEntry(Engine &engine, ir::FuncOp entry, std::vector<Value> args,
                  std::span<const Argument> given);
  static int32_t runKernel(const kiln_args *args, const kiln_blocks *range, kiln_context *ctx);
  Status runBlocks(ir::FuncOp func, const kiln_args &args, const kiln_blocks &range,
                   const kiln_context &ctx);
  Status runElsewhere(ir::FuncOp func, const std::vector<Value> &values, const kiln_blocks &range,
                      const kiln_context &ctx);
  Status runTogether(ir::FuncOp func, const std::vector<Value> &values, const BlockOrder &order,
                     simulator::Place place, const simulator::BlockContext &context);
  /// Keeps the first failure: what came after it may be its consequence.
  void fail(const Status &status) {
    if (First.isOk())
      First = status;
  }

  ModuleOp Module;
  SymbolTable Symbols;
  const SimulatorOptions &Options;
  simulator::Random Choices;
  simulator::Watcher *Watch; ///< Null: nothing is checked but bounds.
  simulator::GlobalMemory Memory;
  WatchedTransport Ranks;
  KernelRegistry Registry;
  std::deque<Kernel> Kernels;
  Engine *Launcher = nullptr; ///< While running.
  Status First;
  uint64_t Blocks = 0;
  simulator::Steps Used;
  std::optional<simulator::PlaceAhead> Until; ///< None: the run goes on to its end.
  bool HasEndedEarly = false;
};

Status notPrepared(ir::FuncOp func, const std::string &why) {
  return Status(StatusCode::FailedPrecondition, "@" + func.getSymName().str() + " " + why,
                sourceLocOf(func.getLoc()));
}

Status Simulation::registerKernels() {
  for (auto func : Module.getOps<ir::FuncOp>()) {
    if (func.getNumResults() > 0)
      return notPrepared(func, "returns tensors; run kiln-results-to-out-params first");
    if (func.getKind() == ir::FuncKind::Orchestration || func.hasPipeParameter())
      continue;
    Expected<Signature> signature = signatureOf(func);
    if (!signature)
      return signature.status().withLocation(sourceLocOf(func.getLoc()));
    KernelRecord record;
    record.name = func.getSymName().str();
    record.function = runKernel;
    record.signature = std::move(*signature);
    record.user = &Kernels.emplace_back(Kernel{this, func});
    record.members = ir::membersOf(func);
    if (Expected<int32_t> id = Registry.add(std::move(record)); !id)
      return id.status().withLocation(sourceLocOf(func.getLoc()));
  }
  return Status::ok();
}

/// The ABI's arguments, which are in task order, as values in parameter order.
Expected<std::vector<Value>> valuesOf(ir::FuncOp func, const kiln_args &args) {
  std::vector<Value> values(func.getNumArguments());
  ParameterOrder order = parameterOrder(func);
  for (auto [number, position] : llvm::enumerate(order.tensors)) {
    const kiln_tensor &abi = args.tensors[number];
    Expected<Tensor> tensor =
        Tensor::view(abi.data, static_cast<DType>(abi.dtype), Dims(abi.extents, abi.rank),
                     Dims(abi.strides, abi.rank));
    if (!tensor)
      return tensor.status();
    values[position] = abi.flags & KILN_TENSOR_READ_ONLY ? tensor->asReadOnly() : *tensor;
  }
  for (auto [number, position] : llvm::enumerate(order.scalars))
    values[position] =
        ScalarBits{args.scalars[number], *dtypeOf(func.getArgumentTypes()[position])};
  return values;
}

std::vector<Tensor> writtenBy(ir::FuncOp func, ArrayRef<Value> args) {
  std::vector<Tensor> written;
  for (auto [number, arg] : llvm::enumerate(args))
    if (auto *tensor = std::get_if<Tensor>(&arg);
        tensor && func.getArgDirection(number) != ir::Direction::In &&
        !ir::isInternal(func, number))
      written.push_back(*tensor);
  return written;
}

Status Simulation::runBlocks(ir::FuncOp func, const kiln_args &args, const kiln_blocks &range,
                             const kiln_context &ctx) {
  HasEndedEarly = HasEndedEarly || (Until && Until->isBehind(Launcher->trace()));
  if (HasEndedEarly)
    return Status::ok();
  Expected<std::vector<Value>> values = valuesOf(func, args);
  if (!values)
    return values.status();
  if (Options.runTask)
    return runElsewhere(func, *values, range, ctx);
  if (Watch)
    if (const KernelRecord *kernel = Registry.find(func.getSymName().str()))
      Watch->argumentsAre(*kernel->signature, args);
  simulator::Random *random = Options.seed ? &Choices : nullptr;
  simulator::BlockContext context{Symbols, Memory, Options.machine, random, Used};
  simulator::Place place;
  std::copy(std::begin(ctx.grid), std::end(ctx.grid), place.grid.begin());
  BlockOrder order(range, random);
  if (ir::findBarrier(func))
    return runTogether(func, *values, order, place, context);
  for (uint64_t number = 0; number < order.count(); ++number, ++Blocks) {
    place.block = order.block(number);
    if (Status bad = simulator::GroupBlock(func, *values, place, context).run(); !bad.isOk())
      return bad;
  }
  if (Options.onTaskEnd)
    Options.onTaskEnd(func.getSymName().str(), writtenBy(func, *values));
  return Status::ok();
}

Status Simulation::runElsewhere(ir::FuncOp func, const std::vector<Value> &values,
                                const kiln_blocks &range, const kiln_context &ctx) {
  std::array<int64_t, 3> grid;
  std::copy(std::begin(ctx.grid), std::end(ctx.grid), grid.begin());
  // One worker, which this engine has, takes a grid at once.
  if (!std::equal(grid.begin(), grid.end(), range.end) ||
      std::any_of(range.begin, std::end(range.begin), [](int64_t begin) { return begin != 0; }))
    return Status(StatusCode::Internal,
                  "@" + func.getSymName().str() + ": its blocks were not all started at once");
  std::vector<Argument> args;
  for (const Value &value : values)
    if (const auto *tensor = std::get_if<Tensor>(&value))
      args.emplace_back(*tensor);
    else
      args.emplace_back(std::get<ScalarBits>(value));
  return Options.runTask(func, args, grid);
}

Status Simulation::runTogether(ir::FuncOp func, const std::vector<Value> &values,
                               const BlockOrder &order, simulator::Place place,
                               const simulator::BlockContext &context) {
  // Every block is alive at once, and nothing else bounds their number.
  if (constexpr uint64_t most = 1 << 14; order.count() > most)
    return Status(StatusCode::Unsupported,
                  "@" + func.getSymName().str() + " contains a barrier and runs with " +
                      std::to_string(order.count()) + " blocks; the simulator runs at most " +
                      std::to_string(most) + " at once",
                  sourceLocOf(func.getLoc()));
  if (order.count() != static_cast<uint64_t>(place.grid[0] * place.grid[1] * place.grid[2]))
    return Status(StatusCode::Internal, "@" + func.getSymName().str() +
                                            " contains a barrier, but its blocks were not all "
                                            "started at once");
  std::vector<simulator::Place> places;
  for (uint64_t number = 0; number < order.count(); ++number) {
    place.block = order.block(number);
    places.push_back(place);
  }
  Blocks += order.count();
  Status status = simulator::BlocksTogether(func, values, places, context).run();
  if (status.isOk() && Options.onTaskEnd)
    Options.onTaskEnd(func.getSymName().str(), writtenBy(func, values));
  return status;
}

int32_t Simulation::runKernel(const kiln_args *args, const kiln_blocks *range, kiln_context *ctx) {
  auto *kernel = static_cast<Kernel *>(ctx->user);
  Status status = kernel->simulation->runBlocks(kernel->func, *args, *range, *ctx);
  if (status.isOk())
    return KILN_OK;
  kernel->simulation->fail(status);
  const SourceLoc &loc = status.location();
  kiln_source where{loc.file.c_str(), loc.line, loc.col};
  ctx->report(ctx, status.message().c_str(), loc.isKnown() ? &where : nullptr);
  return KILN_FAIL;
}

Status Simulation::runEntry(Engine &engine, ir::FuncOp entry, std::vector<Value> args,
                            std::span<const Argument> given) {
  if (Options.orchestrate)
    return Options.orchestrate(engine, given);
  if (entry.getKind() != ir::FuncKind::Orchestration) {
    if (Watch)
      Watch->taskIsSubmitted(nullptr, std::nullopt);
    return engine.submit(simulator::makeTask(entry, args)).status();
  }
  simulator::OrchestrationHost host(Symbols, Used, engine, Watch, Options.machine);
  return simulator::Interpreter(entry, std::move(args), {}, host, Memory).resume();
}

void Simulation::addArguments(ir::FuncOp entry, ArrayRef<Value> args) {
  for (auto [number, arg] : llvm::enumerate(args))
    if (auto *tensor = std::get_if<Tensor>(&arg))
      Watch->argumentIsGiven(entry, number, *tensor);
}

/// What a run that ended well left in the entry's outputs.
void Simulation::checkOutputs(ir::FuncOp entry, ArrayRef<Value> args) {
  for (auto [number, arg] : llvm::enumerate(args))
    if (auto *tensor = std::get_if<Tensor>(&arg);
        tensor && entry.getArgDirection(number) != ir::Direction::In &&
        !ir::isInternal(entry, number))
      Watch->outputIsDone(entry, number, *tensor);
}

Status Simulation::run(ir::FuncOp entry, std::vector<Value> args, std::span<const Argument> given,
                       SimulationReport *report) {
  if (Status bad = registerKernels(); !bad.isOk())
    return bad;
  EngineOptions engineOptions;
  engineOptions.seed = Options.seed;
  engineOptions.arenaBytes = 0; // the interpreter holds every intermediate until the end
  engineOptions.recordTrace = report || Watch;
  if (Watch) {
    addArguments(entry, args);
    engineOptions.onTaskStart = [this](TaskId task) {
      Watch->taskStarts(task.index, Launcher->trace());
    };
  }
  Expected<std::unique_ptr<Engine>> engine = Engine::create(Registry, engineOptions);
  if (!engine)
    return engine.status();
  Launcher = engine->get();
  if (Status bad = (*engine)->begin({Options.program, Options.platform, Options.dump,
                                     report && Options.recordTimeline, &Ranks});
      !bad.isOk())
    return bad;
  if (Status bad = runEntry(**engine, entry, args, given); !bad.isOk()) {
    fail(bad);
    Ranks.fail(bad); // nobody is to wait for what this rank will not come to
  }
  if (Until)
    Until->entryHasEnded((*engine)->trace());
  Status finished =
      (*engine)->finish(); // also after a failure: what was submitted drains, the dump is written
  if (Watch && First.isOk() && finished.isOk() && !HasEndedEarly)
    checkOutputs(entry, args);
  if (report) {
    report->trace = (*engine)->trace();
    report->timeline = (*engine)->timeline();
    report->blocks = Blocks;
    report->operations = Used.operations;
    report->steps = Used.taken;
    report->isOutOfSteps = Used.areUsedUp();
    report->failure = (*engine)->lastFailure();
  }
  if (First.isOk())
    return finished;
  if (Options.seed == 0)
    return First;
  return Status(First.code(), First.message() + " (seed " + std::to_string(Options.seed) + ")",
                First.location());
}

/// The arguments as the interpreter holds them; they have been checked.
Expected<std::vector<Value>> valuesOf(ir::FuncOp entry, std::span<const Argument> args) {
  std::vector<Value> values;
  for (auto [number, arg] : llvm::enumerate(args)) {
    if (const auto *scalar = std::get_if<ScalarBits>(&arg)) // an i64 may stand for an index
      values.emplace_back(ScalarBits{scalar->bits, *dtypeOf(entry.getArgumentTypes()[number])});
    else
      values.emplace_back(std::get<Tensor>(arg));
  }
  // A group that is the entry runs as one block and gets its rings from here.
  for (Type type : entry.getArgumentTypes().drop_front(args.size())) {
    auto rings = cast<ir::TensorType>(type);
    std::vector<int64_t> extents{1, rings.getShape().back()};
    Expected<Tensor> tensor = Tensor::empty(*dtypeOf(rings.getElementType()), extents);
    if (!tensor)
      return tensor.status();
    values.push_back(*tensor);
  }
  return values;
}

} // namespace

Status simulator::simulate(ModuleOp prepared, ir::FuncOp entry, std::span<const Argument> args,
                           const SimulatorOptions &options, SimulationReport *report,
                           Watcher *watcher) {
  if (failed(verify(prepared)))
    return Status(StatusCode::InvalidArgument, "the module does not verify");
  if (Status bad = checkArguments(entry, args); !bad.isOk())
    return bad;
  Expected<std::vector<Value>> values = valuesOf(entry, args);
  if (!values)
    return values.status().withLocation(sourceLocOf(entry.getLoc()));
  return Simulation(prepared, options, watcher).run(entry, std::move(*values), args, report);
}

Status simulate(ModuleOp prepared, ir::FuncOp entry, std::span<const Argument> args,
                const SimulatorOptions &options, SimulationReport *report) {
  return simulator::simulate(prepared, entry, args, options, report, nullptr);
}

Status simulateRanks(ModuleOp prepared, ir::FuncOp entry,
                     std::span<const std::vector<Argument>> args, const SimulatorOptions &options,
                     std::span<SimulationReport> reports) {
  return simulator::simulateRanks(prepared, entry, args, options, reports, {});
}

Status simulator::simulateRanks(ModuleOp prepared, ir::FuncOp entry,
                                std::span<const std::vector<Argument>> args,
                                const SimulatorOptions &options,
                                std::span<SimulationReport> reports,
                                llvm::function_ref<Watcher *(int32_t rank)> watcherOf) {
  RankHub hub({static_cast<int32_t>(args.size()), /*takesTurns=*/true, options.seed});
  return hub.runAll([&](int32_t rank, Transport &transport) {
    SimulatorOptions mine = options;
    mine.ranks = &transport;
    mine.dump.directory = rankDirectory(options.dump.directory, rank);
    auto number = static_cast<size_t>(rank);
    return simulator::simulate(prepared, entry, args[number], mine,
                               reports.empty() ? nullptr : &reports[number],
                               watcherOf ? watcherOf(rank) : nullptr);
  });
}

bool isSimulated(OperationName name) { return simulator::OpTable::get().find(name) != nullptr; }

} // namespace kiln
