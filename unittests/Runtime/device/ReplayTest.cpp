// Plans of orchestrations and what becomes of them, through a driver that only writes down what
// would run.
#include "TestSupport.h"

#include "device/cuda/Replay.h"

#include <atomic>
#include <cstring>
#include <mutex>
#include <thread>

using namespace kiln;
using namespace kiln::cuda;
using namespace kiln::test;

namespace {

/// What a kernel found in its argument block.
struct Ran {
  uintptr_t kernel;
  std::vector<uintptr_t> tensors;
  uint64_t scalar;
  bool operator==(const Ran &) const = default;
};

/// Kernels have two tensors and a number; one also counts arrivals.
Ran read(Function function, const void *block) {
  Ran ran{reinterpret_cast<uintptr_t>(function), {}, 0};
  const auto *bytes = static_cast<const std::byte *>(block);
  for (int i = 0; i < 2; ++i) {
    kiln_tensor tensor;
    std::memcpy(&tensor, bytes + i * sizeof tensor, sizeof tensor);
    ran.tensors.push_back(reinterpret_cast<uintptr_t>(tensor.data));
  }
  std::memcpy(&ran.scalar, bytes + 2 * sizeof(kiln_tensor), sizeof ran.scalar);
  if (ran.kernel == 3) {
    uint64_t arrivals;
    std::memcpy(&arrivals, bytes + 2 * sizeof(kiln_tensor) + 4 * sizeof(uint64_t), sizeof arrivals);
    ran.tensors.push_back(arrivals);
  }
  return ran;
}

struct FakeGraph {
  std::vector<Ran> nodes;
  int earlyEdges = 0;
};

/// What was asked of the driver since the last `clear`.
struct Asked {
  std::vector<Ran> ran;
  int launches = 0, graphs = 0, graphLaunches = 0, changed = 0, destroyed = 0;
  int early = 0; ///< Kernels that might begin before the one before them has ended.
  int ahead = 0; ///< Kernels that were told that they may read ahead.
  size_t allocated = 0, cleared = 0;
};
Asked asked;
std::mutex lock; ///< Of everything here: tests call from several threads.
DevicePointer nextMemory = 0x100000;
bool isCapturing = false, refusesGraphs = false;
uint64_t capture = 1;                  ///< The number of the one that goes on.
std::vector<GraphNode> comesBehind;    ///< Of the capture: the next launch.
std::vector<GraphEdge> edgesFromThere; ///< Empty: they are all plain.
constexpr size_t withMap = 128;        ///< Bytes before the tensors of kernels that have one.
bool hasMap[4] = {};                   ///< By the number of the kernel, from 1 on.

/// What the driver does with a launch.
void noteLaunch(Function function, const void *block) {
  auto number = reinterpret_cast<uintptr_t>(function);
  ++asked.launches;
  kiln_tensor first;
  std::memcpy(&first, static_cast<const std::byte *>(block) + (hasMap[number] ? withMap : 0),
              sizeof first);
  asked.ahead += (first.flags & cudaMayReadAhead) != 0;
  asked.ran.push_back(read(function, block));
  static uintptr_t nodes = 0x1000;
  if (isCapturing)
    comesBehind = {reinterpret_cast<GraphNode>(++nodes)};
}

Asked takeAsked() {
  std::lock_guard guard(lock);
  return std::exchange(asked, {});
}

void fakeGraphs(Driver &driver) {
  driver.graphCreate = [](Graph *graph, unsigned) {
    if (refusesGraphs)
      return 801;
    *graph = reinterpret_cast<Graph>(new FakeGraph);
    return 0;
  };
  driver.graphDestroy = [](Graph graph) {
    delete reinterpret_cast<FakeGraph *>(graph);
    return 0;
  };
  driver.graphAddKernel = [](GraphNode *node, Graph graph, const GraphNode *after, size_t count,
                             const KernelNodeParams *params) {
    auto &nodes = reinterpret_cast<FakeGraph *>(graph)->nodes;
    EXPECT_LE(count, nodes.empty() ? 0u : 1u);
    EXPECT_TRUE(count == 0 || reinterpret_cast<uintptr_t>(*after) == nodes.size());
    EXPECT_EQ(params->blocks[1], 1u);
    nodes.push_back(read(params->function, params->parameters[0]));
    *node = reinterpret_cast<GraphNode>(nodes.size()); // counted from 1
    return 0;
  };
  driver.graphAddEdges = [](Graph graph, const GraphNode *from, const GraphNode *to,
                            const GraphEdge *edge, size_t count) {
    auto &made = *reinterpret_cast<FakeGraph *>(graph);
    EXPECT_EQ(count, 1u);
    EXPECT_EQ(edge->fromPort, 1);
    EXPECT_EQ(edge->type, 1);
    EXPECT_EQ(reinterpret_cast<uintptr_t>(*from) + 1, reinterpret_cast<uintptr_t>(*to));
    EXPECT_EQ(reinterpret_cast<uintptr_t>(*to), made.nodes.size());
    ++made.earlyEdges;
    return 0;
  };
  driver.graphInstantiate = [](GraphExec *exec, Graph graph, unsigned long long) {
    std::lock_guard guard(lock);
    ++asked.graphs;
    *exec = reinterpret_cast<GraphExec>(new FakeGraph(*reinterpret_cast<FakeGraph *>(graph)));
    return 0;
  };
  driver.graphExecDestroy = [](GraphExec exec) {
    std::lock_guard guard(lock);
    ++asked.destroyed;
    delete reinterpret_cast<FakeGraph *>(exec);
    return 0;
  };
  driver.graphSetKernel = [](GraphExec exec, GraphNode node, const KernelNodeParams *params) {
    std::lock_guard guard(lock);
    ++asked.changed;
    auto number = reinterpret_cast<uintptr_t>(node) - 1;
    reinterpret_cast<FakeGraph *>(exec)->nodes.at(number) =
        read(params->function, params->parameters[0]);
    return 0;
  };
  driver.graphLaunch = [](GraphExec exec, Stream) {
    std::lock_guard guard(lock);
    ++asked.graphLaunches;
    for (const Ran &node : reinterpret_cast<FakeGraph *>(exec)->nodes)
      asked.ran.push_back(node);
    asked.early += reinterpret_cast<FakeGraph *>(exec)->earlyEdges;
    return 0;
  };
}

const Gpu &fakeGpu() {
  static Driver driver{};
  static const Gpu gpu{&driver, 0, nullptr, 132};
  driver.launchKernel = [](Function function, unsigned, unsigned, unsigned, unsigned, unsigned,
                           unsigned, unsigned, Stream, void **parameters, void **) {
    std::lock_guard guard(lock);
    noteLaunch(function, parameters[0]);
    return 0;
  };
  driver.launchKernelEx = [](const LaunchConfig *config, Function function, void **parameters,
                             void **) {
    std::lock_guard guard(lock);
    EXPECT_EQ(config->numAttributes, 1u);
    EXPECT_EQ(config->attributes->what, kBeginsEarly);
    ++asked.early;
    noteLaunch(function, parameters[0]);
    return 0;
  };
  driver.allocate = [](DevicePointer *memory, size_t bytes, Stream) {
    std::lock_guard guard(lock);
    asked.allocated += bytes;
    *memory = nextMemory;
    return 0;
  };
  driver.free = [](DevicePointer, Stream) { return 0; };
  driver.fillBytes = [](DevicePointer, unsigned char, size_t bytes, Stream) {
    std::lock_guard guard(lock);
    asked.cleared += bytes;
    return 0;
  };
  driver.streamIsCapturing = [](Stream, int *status) {
    *status = isCapturing ? 1 : 0;
    return 0;
  };
  driver.captureInfo = [](Stream, int *status, uint64_t *id, Graph *, const GraphNode **nodes,
                          const GraphEdge **edges, size_t *count) {
    *status = isCapturing ? kCapturing : kNotCapturing;
    *id = capture;
    *nodes = comesBehind.data();
    *edges = edgesFromThere.empty() ? nullptr : edgesFromThere.data();
    *count = comesBehind.size();
    return 0;
  };
  driver.encodeTensorMap = [](TensorMap *, int, uint32_t, void *, const uint64_t *,
                              const uint64_t *, const uint32_t *, const uint32_t *, int, int, int,
                              int) { return 0; };
  fakeGraphs(driver);
  return gpu;
}

int32_t submit(kiln_orchestration *run, int32_t kernel, kiln_handle from, kiln_handle to,
               uint64_t number, const kiln_launch_predicate *predicate = nullptr) {
  kiln_launch_tensor tensors[] = {{from, KILN_IN, 0}, {to, KILN_OUT, 0}};
  kiln_launch_scalar scalar{number, KILN_INDEX, 0};
  kiln_launch launch{};
  launch.kernel = kernel;
  launch.num_tensors = 2, launch.num_scalars = 1;
  launch.tensors = tensors, launch.scalars = &scalar;
  launch.predicate = predicate;
  return run->functions->submit(run, &launch, nullptr);
}

/// t = x's second row, through one or two intermediates, which do not live at the same time.
int32_t threeKernels(kiln_orchestration *run, const uint64_t *scalars) {
  const kiln_orchestration_functions &call = *run->functions;
  int64_t rows = call.dim(run, 0, 0), cols = call.dim(run, 0, 1);
  int64_t offsets[] = {1, 0}, one[] = {1, cols}, all[] = {rows, cols};
  kiln_handle top = call.top(run), row, made;
  if (call.slice(run, nullptr, 0, offsets, one, 0, &row) ||
      call.alloc(run, nullptr, KILN_F32, 2, all, &made) || submit(run, 0, row, made, scalars[0]) ||
      submit(run, 1, made, 1, 5))
    return 1;
  call.release(run, top);
  if (call.alloc(run, nullptr, KILN_F32, 2, one, &made) || submit(run, 2, 0, made, 6))
    return 1;
  return 0;
}

/// Reads x, writes y.
int32_t oneKernel(kiln_orchestration *run, const uint64_t *) { return submit(run, 0, 0, 1, 1); }
int32_t twoKernels(kiln_orchestration *run, const uint64_t *) {
  return submit(run, 0, 0, 1, 1) || submit(run, 1, 0, 1, 2);
}

struct CudaReplay : ::testing::Test {
  CudaReplay() {
    isCapturing = refusesGraphs = false;
    ++capture;
    comesBehind.clear();
    edgesFromThere.clear();
    std::ranges::fill(hasMap, false);
    nextMemory = 0x100000;
    for (uintptr_t number = 1; number <= 3; ++number) {
      LoadedKernel kernel;
      kernel.description = {"k", "k", "k.cubin", 128, 0, 2, 1, {}};
      kernel.description.hasBarrier = number == 3;
      kernel.function = reinterpret_cast<Function>(number);
      loaded.push_back(kernel);
    }
    kernels.resize(3);
    takeAsked();
  }

  /// The kernel reads its first tensor ahead.
  void readAhead(size_t number) {
    loaded[number].description.maps = {{.tensor = 0, .rows = 1, .cols = 64, .isAhead = true}};
    hasMap[number + 1] = true;
  }

  std::unique_ptr<Replays> replaysOf(kiln_orchestration_fn entry, ReplayOptions options = {}) {
    return std::make_unique<Replays>(PlannedProgram{fakeGpu(), loaded, kernels, entry}, options);
  }

  /// Calls with x and y of these extents at these addresses.
  std::optional<Status> call(Replays &replays, uintptr_t x, uintptr_t y, int64_t rows = 4,
                             uint64_t number = 9, uintptr_t stream = 0) {
    kiln_tensor tensors[2] = {};
    for (int i = 0; i < 2; ++i)
      tensors[i] = {reinterpret_cast<void *>(i == 0 ? x : y),
                    {rows, 64, 1, 1, 1},
                    {64, 1, 0, 0, 0},
                    KILN_F32,
                    2,
                    0};
    return replays.launch({tensors, &number, 2, 1}, {reinterpret_cast<Stream>(stream)});
  }

  static std::vector<Ran> expected(uintptr_t x, uintptr_t y, uintptr_t memory,
                                   uint64_t number = 9) {
    uintptr_t made = memory + 256; // behind the word of the barrier
    return {{1, {x + 256, made}, number}, {2, {made, y}, 5}, {3, {x, made, memory}, 6}};
  }

  std::vector<LoadedKernel> loaded;
  std::vector<NativeKernel> kernels;
};

TEST_F(CudaReplay, AnOrchestrationBecomesAGraphThatIsLaunchedAgain) {
  auto replays = replaysOf(threeKernels);
  EXPECT_OK(*call(*replays, 0x1000, 0x2000));
  Asked first = takeAsked();
  EXPECT_EQ(first.ran, expected(0x1000, 0x2000, 0x100000));
  EXPECT_EQ(first.launches, 3);
  EXPECT_EQ(first.graphs, 0) << "a call that comes once needs none";
  EXPECT_EQ(first.cleared, 8u);
  EXPECT_EQ(first.allocated, 256u + 4 * 64 * 4) << "what was let go is used again";
  for (int i = 0; i < 3; ++i) {
    EXPECT_OK(*call(*replays, 0x1000, 0x2000));
    Asked again = takeAsked();
    EXPECT_EQ(again.ran, first.ran);
    EXPECT_EQ(again.launches, 0);
    EXPECT_EQ(again.graphs, i == 0);
    EXPECT_EQ(again.graphLaunches, 1);
    EXPECT_EQ(again.changed, 0) << "nothing has moved";
  }
  EXPECT_EQ(replays->counts().graphs.load(), 1u);
  EXPECT_EQ(replays->counts().graphLaunches.load(), 3u);
}

TEST_F(CudaReplay, WhatHasMovedIsChangedInTheGraph) {
  auto replays = replaysOf(threeKernels);
  for (int i = 0; i < 2; ++i)
    EXPECT_OK(*call(*replays, 0x1000, 0x2000));
  takeAsked();
  EXPECT_OK(*call(*replays, 0x1000, 0x3000));
  Asked moved = takeAsked();
  EXPECT_EQ(moved.ran, expected(0x1000, 0x3000, 0x100000));
  EXPECT_EQ(moved.changed, 1) << "only one kernel has y";
  nextMemory = 0x200000;
  EXPECT_OK(*call(*replays, 0x1000, 0x3000));
  EXPECT_EQ(takeAsked().ran, expected(0x1000, 0x3000, 0x200000));
  EXPECT_EQ(replays->counts().graphs.load(), 1u);
}

TEST_F(CudaReplay, ExtentsNumbersAndStreamsHavePlansOfTheirOwn) {
  auto replays = replaysOf(threeKernels);
  for (int round = 0; round < 3; ++round) {
    EXPECT_OK(*call(*replays, 0x1000, 0x2000, 4, 9));
    EXPECT_OK(*call(*replays, 0x1000, 0x2000, 8, 9));
    EXPECT_OK(*call(*replays, 0x1000, 0x2000, 4, 10));
    EXPECT_OK(*call(*replays, 0x1000, 0x2000, 4, 9, 0x77));
  }
  EXPECT_EQ(replays->counts().plans.load(), 4u);
  EXPECT_EQ(replays->counts().graphs.load(), 4u);
  EXPECT_EQ(replays->counts().graphLaunches.load(), 8u);
  Asked all = takeAsked();
  EXPECT_EQ(all.ran[6].scalar, 10u);
}

TEST_F(CudaReplay, WhatIsCapturedIsLaunchedKernelByKernel) {
  auto replays = replaysOf(threeKernels);
  for (int i = 0; i < 2; ++i)
    EXPECT_OK(*call(*replays, 0x1000, 0x2000));
  takeAsked();
  isCapturing = true;
  nextMemory = 0x300000;
  EXPECT_OK(*call(*replays, 0x5000, 0x6000));
  Asked captured = takeAsked();
  EXPECT_EQ(captured.launches, 3);
  EXPECT_EQ(captured.graphLaunches, 0);
  EXPECT_EQ(captured.ran, expected(0x5000, 0x6000, 0x300000));
  isCapturing = false;
  EXPECT_OK(*call(*replays, 0x5000, 0x6000));
  Asked after = takeAsked();
  EXPECT_EQ(after.ran, captured.ran) << "the graph has missed what moved meanwhile";
  EXPECT_EQ(after.changed, 3);
}

TEST_F(CudaReplay, WithoutGraphsKernelsAreLaunchedOneByOne) {
  auto replays = replaysOf(threeKernels, {.mayGraph = false});
  for (int i = 0; i < 3; ++i)
    EXPECT_OK(*call(*replays, 0x1000, 0x2000));
  Asked all = takeAsked();
  EXPECT_EQ(all.launches, 9);
  EXPECT_EQ(all.graphs, 0);
  refusesGraphs = true; // by the driver
  auto refused = replaysOf(threeKernels);
  for (int i = 0; i < 3; ++i)
    EXPECT_OK(*call(*refused, 0x1000, 0x2000));
  EXPECT_EQ(takeAsked().ran, all.ran);
}

TEST_F(CudaReplay, KernelsThatReadAheadBeginBeforeThoseBeforeThemHaveEnded) {
  // The first of three and the last: nothing is known of what comes before the first.
  for (size_t number : {0, 2})
    readAhead(number);
  auto replays = replaysOf(threeKernels), late = replaysOf(threeKernels, {.mayBeginEarly = false});
  for (int i = 0; i < 3; ++i) { // one by one, then as a graph
    EXPECT_OK(*call(*replays, 0x1000, 0x2000));
    Asked early = takeAsked();
    EXPECT_EQ(early.early, i == 0 ? 2 : 1) << "the first of a graph has none before it";
    EXPECT_EQ(early.ahead, i == 0 ? 1 : 0) << "graphs are not looked into";
    EXPECT_OK(*call(*late, 0x1000, 0x2000));
    EXPECT_EQ(takeAsked().early, 0);
  }
}

TEST_F(CudaReplay, AFirstKernelReadsAheadOfACallThatIsCapturedRightBefore) {
  readAhead(0);
  auto replays = replaysOf(oneKernel);
  auto countAhead = [&](uintptr_t x, uintptr_t y) {
    EXPECT_OK(*call(*replays, x, y));
    Asked all = takeAsked();
    EXPECT_EQ(all.early, 1);
    return all.ahead;
  };
  EXPECT_EQ(countAhead(0x1000, 0x2000), 0);
  EXPECT_EQ(countAhead(0x1000, 0x2000), 0) << "between calls on a stream there may be anything";
  isCapturing = true;
  EXPECT_EQ(countAhead(0x1000, 0x2000), 0) << "nothing is known of what the graph comes behind";
  EXPECT_EQ(countAhead(0x1000, 0x2000), 1);
  EXPECT_EQ(countAhead(0x1000, 0x3000), 1);
  EXPECT_EQ(countAhead(0x33f0, 0x2000), 0) << "the call before writes some of x";
  EXPECT_EQ(countAhead(0x3400, 0x2000), 1);
  auto *between = reinterpret_cast<GraphNode>(uintptr_t(0x77));
  comesBehind = {between};
  EXPECT_EQ(countAhead(0x1000, 0x2000), 0) << "something else was captured";
  comesBehind.push_back(between);
  EXPECT_EQ(countAhead(0x1000, 0x2000), 0) << "so it was on another stream, which joined";
  edgesFromThere = {{1, 0, 1, {}}};
  EXPECT_EQ(countAhead(0x1000, 0x2000), 0) << "the launch would not wait for all of it";
  edgesFromThere.clear();
  EXPECT_EQ(countAhead(0x1000, 0x2000), 0) << "nor is known what was launched there";
  EXPECT_EQ(countAhead(0x1000, 0x2000), 1);
  ++capture;
  EXPECT_EQ(countAhead(0x1000, 0x2000), 0) << "another capture";
  EXPECT_EQ(countAhead(0x1000, 0x2000), 1);
  isCapturing = false;
  EXPECT_EQ(countAhead(0x1000, 0x2000), 0) << "it is told again";
}

TEST_F(CudaReplay, WhatIsReadAheadIsKnownOfCallsThatEndWithACopyingKernel) {
  readAhead(0);
  auto reads = replaysOf(oneKernel), before = replaysOf(twoKernels);
  isCapturing = true;
  for (bool copies : {false, true}) {
    if (copies)
      loaded[1].description.maps = {{.tensor = 0, .rows = 1, .cols = 64}}, hasMap[2] = true;
    EXPECT_OK(*call(*before, 0x1000, 0x2000));
    takeAsked();
    EXPECT_OK(*call(*reads, 0x5000, 0x6000));
    EXPECT_EQ(takeAsked().ahead, copies);
  }
  auto unknown = replaysOf(nullptr); // the first kernel itself: who knows what it writes?
  EXPECT_OK(*call(*unknown, 0x1000, 0x2000));
  takeAsked();
  EXPECT_OK(*call(*reads, 0x1000, 0x6000));
  EXPECT_EQ(takeAsked().ahead, 0);
}

TEST_F(CudaReplay, TheFirstKernelBeginsEarlyIfItReadsNothingBefore) {
  auto countEarly = [&](ReplayOptions options = {}) {
    auto replays = replaysOf(nullptr, options); // the first kernel itself
    EXPECT_OK(*call(*replays, 0x1000, 0x2000));
    return takeAsked().early;
  };
  EXPECT_EQ(countEarly(), 0) << "no role copies for it";
  loaded[0].description.maps = {{.tensor = 0, .rows = 1, .cols = 64}};
  EXPECT_EQ(countEarly(), 1);
  EXPECT_EQ(countEarly({.mayBeginEarly = false}), 0);
  auto three = replaysOf(threeKernels);
  for (int i = 0; i < 3; ++i) { // one by one, then as a graph, which has no kernel before it
    EXPECT_OK(*call(*three, 0x1000, 0x2000));
    EXPECT_EQ(takeAsked().early, i == 0 ? 1 : 0);
  }
  loaded[0].description.isPersistent = false;
  EXPECT_EQ(countEarly(), 0) << "its blocks would take the places of others";
}

TEST_F(CudaReplay, NobodyBeginsEarlyToReadWhatIsWritten) {
  readAhead(2);
  auto replays = replaysOf(threeKernels);
  for (int i = 0; i < 3; ++i) { // x is 4 rows of 256 bytes
    EXPECT_OK(*call(*replays, 0x1000, 0x1400));
    EXPECT_EQ(takeAsked().early, 1);
    EXPECT_OK(*call(*replays, 0x1000, 0x13f0));
    EXPECT_EQ(takeAsked().early, 0) << "y begins in x";
    EXPECT_OK(*call(*replays, 0x1300, 0x1000));
    EXPECT_EQ(takeAsked().early, 0) << "y ends in x";
  }
}

TEST_F(CudaReplay, OneKernelNeedsNoGraph) {
  auto replays = replaysOf(nullptr); // the first kernel itself
  for (int i = 0; i < 3; ++i)
    EXPECT_OK(*call(*replays, 0x1000, 0x2000 + uintptr_t(16) * i));
  Asked all = takeAsked();
  EXPECT_EQ(all.launches, 3);
  EXPECT_EQ(all.graphs, 0);
  EXPECT_EQ(all.ran[2], (Ran{1, {0x1000, 0x2020}, 9}));
}

int32_t waits(kiln_orchestration *run, const uint64_t *) {
  const int64_t zero[] = {0, 0};
  uint64_t bits;
  return submit(run, 0, 0, 1, 1) || run->functions->get(run, nullptr, 1, zero, &bits) ||
         submit(run, 1, 0, 1, bits);
}

int32_t decides(kiln_orchestration *run, const uint64_t *) {
  const int64_t zero[] = {0, 0};
  kiln_launch_predicate predicate{zero, 0, 1, KILN_NE};
  return submit(run, 0, 0, 1, 1) || submit(run, 1, 0, 1, 2, &predicate);
}

TEST_F(CudaReplay, WhatDependsOnDataHasNoPlan) {
  for (kiln_orchestration_fn entry : {waits, decides}) {
    auto replays = replaysOf(entry);
    for (int i = 0; i < 3; ++i)
      EXPECT_FALSE(call(*replays, 0x1000, 0x2000));
    EXPECT_TRUE(takeAsked().ran.empty());
  }
}

TEST_F(CudaReplay, AMistakeOfTheProgramIsReportedEachTimeAndNothingIsLaunched) {
  auto replays = replaysOf(threeKernels);
  for (int i = 0; i < 2; ++i) {
    std::optional<Status> done = call(*replays, 0x1000, 0x2000, /*rows=*/1);
    ASSERT_TRUE(done);
    EXPECT_EQ(done->message(), "slice [1, +1) of axis 0 is outside its extent 1");
  }
  EXPECT_TRUE(takeAsked().ran.empty());
}

TEST_F(CudaReplay, PlansThatWereNotUsedForLongGo) {
  auto replays = replaysOf(threeKernels);
  for (int64_t rows = 2; rows < 500; ++rows)
    for (int i = 0; i < 2; ++i)
      EXPECT_OK(*call(*replays, 0x1000, 0x2000, rows));
  Asked all = takeAsked();
  EXPECT_EQ(all.graphs, 498);
  EXPECT_GE(all.graphs - all.destroyed, 1);
  EXPECT_LE(all.graphs - all.destroyed, 64);
  replays.reset();
  EXPECT_EQ(all.graphs - all.destroyed, takeAsked().destroyed);
}

TEST_F(CudaReplay, ThreadsDoNotWaitForEachOther) {
  auto replays = replaysOf(threeKernels);
  std::atomic<int> unplanned{0}, wrong{0};
  std::vector<std::thread> threads;
  for (int thread = 0; thread < 8; ++thread)
    threads.emplace_back([&, thread] {
      for (int i = 0; i < 300; ++i) {
        std::optional<Status> done =
            call(*replays, 0x1000 * uintptr_t(thread + 1), 0x2000, 2 + i % 3, i % 2);
        unplanned += !done;
        wrong += done && !done->isOk();
      }
    });
  for (std::thread &thread : threads)
    thread.join();
  EXPECT_EQ(wrong, 0);
  // Whatever was launched had the arguments of one call.
  Asked all = takeAsked();
  EXPECT_EQ(all.ran.size(), size_t(8 * 300 - unplanned) * 3);
  std::map<uintptr_t, int> byThread;
  for (const Ran &ran : all.ran)
    if (ran.kernel == 3)
      ++byThread[ran.tensors[0]];
  EXPECT_EQ(byThread.size(), 8u);
}

TEST(WorkspaceLayout, GapsAreFilled) {
  WorkspaceLayout layout;
  uint64_t a = layout.take(1000), b = layout.take(300), c = layout.take(0);
  EXPECT_EQ(a, 0u);
  EXPECT_EQ(b, 1024u);
  EXPECT_EQ(c, 1536u);
  layout.give(a);
  EXPECT_EQ(layout.take(1025), 1792u); // does not fit the gap
  EXPECT_EQ(layout.take(512), 0u);
  EXPECT_EQ(layout.take(512), 512u);
  EXPECT_EQ(layout.bytes(), 1792u + 1280);
}

} // namespace
