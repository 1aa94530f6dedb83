#include "Replay.h"

#include "Watch.h"

#include <algorithm>
#include <ranges>

using namespace kiln;
using namespace kiln::cuda;

//===----------------------------------------------------------------------===//
// One plan
//===----------------------------------------------------------------------===//

Replay::~Replay() { dropGraph(); }

void Replay::dropGraph() {
  if (Ready)
    On.driver->graphExecDestroy(Ready); // one that runs is destroyed when it has ended
  if (Made)
    On.driver->graphDestroy(Made);
  Ready = nullptr;
  Made = nullptr;
  Nodes.clear();
}

Status Replay::launch(const kiln_args &args, const LaunchPlace &where) {
  const Driver &cuda = *On.driver;
  Stream stream = where.stream;
  if (What->launches.empty()) // no blocks
    return Status::ok();
  DevicePointer workspace = 0;
  if (What->workspaceBytes > 0) {
    Result result = cuda.allocate(&workspace, What->workspaceBytes, stream);
    if (result == 0 && What->arrivalBytes > 0)
      result = cuda.fillBytes(workspace, 0, What->arrivalBytes, stream);
    if (Status failed = cuda.check(result, "cuMemAllocAsync"); !failed.isOk())
      return failed;
  }
  place(args, workspace);
  Plan::Launch &first = What->launches.front(), &last = What->launches.back();
  bool isInCapture =
      May.mayBeginEarly && (hasCopies(first) || hasCopies(last)) && isCaptured(where);
  if (first.arguments.setMayReadAhead(isInCapture && !where.watched && isBehindCall(args, stream)))
    HasMoved.front() = true;
  Result launched = hasGraph(where) ? launchGraph(stream) : start(where);
  WasLaunched = true;
  if (isInCapture && hasCopies(last) && launched == 0)
    Captures::all().note(cuda, stream, rangesOf(args, What->isWritten));
  if (workspace)
    cuda.free(workspace, stream);
  return cuda.check(launched, "cuLaunchKernel");
}

std::vector<ByteRange> Replay::rangesOf(const kiln_args &args, const std::vector<bool> &which) {
  std::vector<ByteRange> ranges;
  for (size_t number = 0; number < args.num_tensors; ++number)
    if (which[number])
      ranges.push_back(rangeOf(args.tensors[number]));
  return ranges;
}

bool Replay::isReadAheadApart(const kiln_args &args) const {
  return areApart(rangesOf(args, What->isReadAhead), rangesOf(args, What->isWritten));
}

bool Replay::isCaptured(const LaunchPlace &where) const {
  int status = kNotCapturing;
  return On.driver->streamIsCapturing(where.stream, &status) != 0 || status != kNotCapturing;
}

bool Replay::isBehindCall(const kiln_args &args, Stream stream) const {
  const Plan::Launch &first = What->launches.front();
  return first.kernel.description.runsAhead() && hasCopies(first) &&
         Captures::all().isNextBehind(*On.driver, stream, rangesOf(args, What->isReadAhead));
}

const Plan::Launch *Replay::findLaunch(const LoadedKernel &kernel) const {
  for (const Plan::Launch &launch : What->launches | std::views::reverse)
    if (&launch.kernel == &kernel && IsPlaced)
      return &launch;
  return nullptr;
}

void Replay::place(const kiln_args &args, DevicePointer workspace) {
  HasMoved.resize(What->launches.size());
  size_t number = 0;
  bool hasAnyMoved = false;
  for (Plan::Launch &launch : What->launches) {
    bool hasMoved = !IsPlaced;
    for (size_t i = 0; i < launch.places.size(); ++i) {
      auto [base, offset] = launch.places[i];
      auto begin = base < args.num_tensors ? reinterpret_cast<uintptr_t>(args.tensors[base].data)
                                           : uintptr_t(workspace);
      auto *data = reinterpret_cast<void *>(begin + offset);
      if (IsPlaced && launch.arguments.tensor(i).data == data) [[likely]]
        continue;
      launch.arguments.setData(*On.driver, i, data);
      hasMoved = true;
    }
    if (launch.counts && (!IsPlaced || workspace != Workspace)) {
      launch.arguments.setArrivals(workspace + launch.arrivals);
      hasMoved = true;
    }
    if (hasMoved)
      HasMoved[number] = true;
    hasAnyMoved |= hasMoved;
    ++number;
  }
  Workspace = workspace;
  IsPlaced = true;
  if (!hasAnyMoved)
    return;
  if (bool early = May.mayBeginEarly && isReadAheadApart(args);
      std::exchange(BeginsEarly, early) != early) {
    dropGraph();
    for (Plan::Launch &launch : What->launches | std::views::drop(1))
      launch.arguments.setMayReadAhead(early);
  }
  if (What->isPersistent())
    makeTables(workspace);
}

void Replay::makeTables(DevicePointer workspace) {
  std::vector<PartLaunch> launches;
  for (Plan::Launch &launch : What->launches)
    launches.push_back({&launch.kernel, launch.blocks, &launch.arguments, &launch.writes});
  Tables = tablesOf(launches);
  DevicePointer counters = workspace + What->counters;
  for (TaskTable &table : Tables) {
    table.write(launches.size() > 1 ? counters : 0);
    counters += table.entries().size() * sizeof(uint64_t);
  }
}

Result Replay::start(const LaunchPlace &where) {
  if (!Tables.empty()) {
    for (TaskTable &table : Tables) {
      if (Result failed = startTable(*On.driver, table, where))
        return failed;
      if (where.watched) [[unlikely]]
        where.watched->launched(table);
    }
    return 0;
  }
  LaunchPlace place = where;
  size_t number = 0;
  for (Plan::Launch &launch : What->launches) {
    place.beginsEarly = beginsEarly(number++);
    if (Result failed =
            startKernel(*On.driver, launch.kernel, launch.blocks, launch.arguments, place))
      return failed;
  }
  return 0;
}

bool Replay::hasGraph(const LaunchPlace &where) {
  // Who watches wants to know which kernel it is.
  if (!May.mayGraph || !WasLaunched || What->launches.size() < 2 || where.watched ||
      !Tables.empty())
    return false;
  // What is being captured becomes part of the caller's graph, kernel by kernel.
  if (isCaptured(where))
    return false;
  if (Ready || makeGraph() == 0)
    return true;
  dropGraph();
  May.mayGraph = false; // it would fail again, and launching kernel by kernel does not
  return false;
}

/// As the driver wants a node described; refers to `parameters`, which refers to the block.
static KernelNodeParams nodeOf(Plan::Launch &launch, void *(&parameters)[1]) {
  parameters[0] = launch.arguments.begin();
  const CudaKernel &kernel = launch.kernel.description;
  KernelNodeParams params{};
  params.function = launch.kernel.function;
  std::ranges::copy(std::array{launch.blocks, 1u, 1u}, params.blocks);
  std::ranges::copy(std::array{kernel.threads, 1u, 1u}, params.threads);
  params.sharedBytes = kernel.sharedBytes;
  params.parameters = parameters;
  return params;
}

/// One kernel after the other, as on a stream.
Result Replay::makeGraph() {
  const Driver &cuda = *On.driver;
  Result result = cuda.graphCreate(&Made, 0);
  for (Plan::Launch &launch : What->launches) {
    if (result != 0)
      return result;
    void *parameters[1];
    KernelNodeParams params = nodeOf(launch, parameters);
    GraphNode node = nullptr;
    bool isFirst = Nodes.empty(), isEarly = !isFirst && beginsEarly(Nodes.size()),
         isAfter = !isFirst && !isEarly;
    result = cuda.graphAddKernel(&node, Made, isAfter ? &Nodes.back() : nullptr, isAfter, &params);
    if (result == 0 && isEarly)
      result = cuda.graphAddEdges(Made, &Nodes.back(), &node, &kEarlyEdge, 1);
    Nodes.push_back(node);
  }
  result = result ? result : cuda.graphInstantiate(&Ready, Made, 0);
  if (result == 0) {
    HasMoved.assign(Nodes.size(), false);
    Counts.graphs.fetch_add(1, std::memory_order_relaxed);
  }
  return result;
}

Result Replay::launchGraph(Stream stream) {
  size_t number = 0;
  for (Plan::Launch &launch : What->launches) {
    if (HasMoved[number]) {
      void *parameters[1];
      KernelNodeParams params = nodeOf(launch, parameters);
      if (Result failed = On.driver->graphSetKernel(Ready, Nodes[number], &params))
        return failed;
      HasMoved[number] = false;
    }
    ++number;
  }
  Counts.graphLaunches.fetch_add(1, std::memory_order_relaxed);
  return On.driver->graphLaunch(Ready, stream);
}

//===----------------------------------------------------------------------===//
// All plans of a program
//===----------------------------------------------------------------------===//

/// The stream, the extents and strides of the tensors, and the numbers.
class Replays::Key {
public:
  Key(const kiln_args &args, Stream stream) {
    std::span tensors(args.tensors, args.num_tensors);
    size_t most = 1 + tensors.size() * 2 * KILN_MAX_RANK + args.num_scalars;
    if (most > std::size(Few)) {
      Many.reset(new uint64_t[most]);
      Words = Many.get();
    }
    add(reinterpret_cast<uintptr_t>(stream));
    for (const kiln_tensor &tensor : tensors)
      for (int axis = 0; axis < tensor.rank; ++axis) {
        add(static_cast<uint64_t>(tensor.extents[axis]));
        add(static_cast<uint64_t>(tensor.strides[axis]));
      }
    for (uint64_t bits : std::span(args.scalars, args.num_scalars))
      add(bits);
  }
  Key(const Key &) = delete;
  Key &operator=(const Key &) = delete;

  std::span<const uint64_t> words() const { return {Words, Count}; }
  uint64_t hash() const { return (Sum ^ Sum >> 32) * kOdd; }

private:
  static constexpr uint64_t kOdd = 0x9e3779b97f4a7c15;

  /// The hash is of a sum, each word times an odd number of its own: no word waits for the one
  /// before it.
  void add(uint64_t word) {
    Words[Count++] = word;
    Sum += word * Factor;
    Factor += 2 * kOdd;
  }

  uint64_t *Words = Few;
  size_t Count = 0;
  uint64_t Sum = 0, Factor = kOdd;
  uint64_t Few[128];
  std::unique_ptr<uint64_t[]> Many;
};

static bool tryTake(std::atomic<bool> &isTaken) {
  return !isTaken.load(std::memory_order_relaxed) &&
         !isTaken.exchange(true, std::memory_order_acquire);
}

Replays::Slot *Replays::take(const Key &key, bool &isKnown) {
  uint64_t hash = key.hash();
  std::span<Slot> set(&Slots[(hash >> 60) % numSets * numWays], numWays);
  isKnown = true;
  for (Slot &slot : set)
    if (slot.hash.load(std::memory_order_relaxed) == hash && tryTake(slot.isTaken)) {
      if (std::ranges::equal(slot.key, key.words()))
        return &slot;
      slot.isTaken.store(false, std::memory_order_release);
    }
  isKnown = false;
  std::array<Slot *, numWays> oldestFirst;
  std::ranges::transform(set, oldestFirst.begin(), [](Slot &slot) { return &slot; });
  std::array<uint64_t, numWays> uses;
  for (size_t i = 0; i < numWays; ++i)
    uses[i] = set[i].lastUse.load(std::memory_order_relaxed);
  std::ranges::sort(oldestFirst,
                    [&](Slot *a, Slot *b) { return uses[a - set.data()] < uses[b - set.data()]; });
  for (Slot *slot : oldestFirst)
    if (tryTake(slot->isTaken))
      return slot;
  return nullptr;
}

std::string Replays::describeLast(const LoadedKernel &kernel, const NativeInfo &info) {
  std::string text;
  uint64_t latest = 0;
  for (Slot &slot : Slots) {
    if (!tryTake(slot.isTaken))
      continue;
    const Plan::Launch *launch = slot.replay ? slot.replay->findLaunch(kernel) : nullptr;
    if (uint64_t use = slot.lastUse.load(std::memory_order_relaxed); launch && use > latest) {
      latest = use;
      text = describe(launch->kernel, info, launch->blocks, launch->arguments);
    }
    slot.isTaken.store(false, std::memory_order_release);
  }
  return text;
}

Status Replays::plan(Slot &slot, const Key &key, const kiln_args &args) {
  slot.key.assign(key.words().begin(), key.words().end());
  slot.hash.store(key.hash(), std::memory_order_relaxed);
  slot.replay.reset();
  Expected<std::unique_ptr<Plan>> planned = Plan::make(Of, args);
  if (!planned) {
    slot.key.clear(); // a key is never empty: nobody finds it
    return planned.status();
  }
  if (*planned) {
    slot.replay = std::make_unique<Replay>(Of.gpu, std::move(*planned), May, Counts);
    Counts.plans.fetch_add(1, std::memory_order_relaxed);
  }
  return Status::ok();
}

std::optional<Status> Replays::launch(const kiln_args &args, const LaunchPlace &where) {
  Key key(args, where.stream);
  bool isKnown = false;
  Slot *slot = take(key, isKnown);
  if (!slot)
    return std::nullopt;
  std::unique_ptr<Slot, void (*)(Slot *)> taken(
      slot, [](Slot *held) { held->isTaken.store(false, std::memory_order_release); });
  slot->lastUse.store(Clock.fetch_add(1, std::memory_order_relaxed) + 1, std::memory_order_relaxed);
  Status planned = isKnown ? Status::ok() : plan(*slot, key, args);
  if (!planned.isOk())
    return planned;
  return slot->replay ? std::optional(slot->replay->launch(args, where)) : std::nullopt;
}
