// What holds on several workers: overlap in time, grids, failures, the arena, dumps, many engines.
#include "TestSupport.h"

#include <atomic>
#include <chrono>
#include <nlohmann/json.hpp>
#include <numeric>
#include <stdexcept>
#include <thread>

using namespace kiln;
using namespace kiln::test;
using Json = nlohmann::json;

namespace {

/// Waits until `count` calls are inside at the same time, or gives up.
struct Meeting {
  std::atomic<int> arrived{0};
  int count = 2;
  bool join() {
    ++arrived;
    for (int i = 0; i < 20000 && arrived.load() < count; ++i)
      std::this_thread::sleep_for(std::chrono::microseconds(500));
    return arrived.load() >= count;
  }
};

int32_t meetKernel(const kiln_args *, const kiln_blocks *, kiln_context *ctx) {
  return static_cast<Meeting *>(ctx->user)->join() ? KILN_OK : KILN_FAIL;
}

/// Adds 1 to the element of each block: shows blocks left out and blocks run twice.
int32_t countBlocksKernel(const kiln_args *args, const kiln_blocks *blocks, kiln_context *ctx) {
  for (int64_t i = blocks->begin[0]; i < blocks->end[0]; ++i)
    for (int64_t j = blocks->begin[1]; j < blocks->end[1]; ++j)
      for (int64_t k = blocks->begin[2]; k < blocks->end[2]; ++k)
        elementAt(args->tensors[0], (i * ctx->grid[1] + j) * ctx->grid[2] + k) += 1;
  return 0;
}

int32_t throwInTheMiddle(const kiln_args *, const kiln_blocks *blocks, kiln_context *) {
  if (blocks->begin[0] <= 5 && 5 < blocks->end[0])
    throw std::runtime_error("block 5");
  return 0;
}

/// x = 1, a little later.
int32_t lateOneKernel(const kiln_args *args, const kiln_blocks *, kiln_context *) {
  std::this_thread::sleep_for(std::chrono::microseconds(300));
  elementAt(args->tensors[0], 0) = 1;
  return 0;
}

/// Fails where a tensor does not begin with 1.
int32_t expectOnesKernel(const kiln_args *args, const kiln_blocks *, kiln_context *) {
  for (uint32_t i = 0; i < args->num_tensors; ++i)
    if (elementAt(args->tensors[i], 0) != 1)
      return KILN_FAIL_ARG(i);
  return 0;
}

int32_t refuseKernel(const kiln_args *, const kiln_blocks *, kiln_context *) { return KILN_FAIL; }

struct EngineConcurrentTest : ::testing::Test {
  EngineConcurrentTest() {
    addBasicKernels(registry);
    KernelRecord meet;
    meet.name = "meet";
    meet.function = meetKernel;
    meet.user = &meeting;
    take(registry.add(meet));
    addKernel(registry, "count", countBlocksKernel, {param("counts", Direction::InOut, 1)});
    addKernel(registry, "throw", throwInTheMiddle, {param("x", Direction::InOut, 1)});
    addKernel(registry, "late_one", lateOneKernel, {param("x", Direction::Out, 1)});
    KernelRecord expectOnes;
    expectOnes.name = "expect_ones";
    expectOnes.function = expectOnesKernel;
    take(registry.add(expectOnes));
    addKernel(registry, "refuse", refuseKernel, {param("x", Direction::In)});
  }
  std::unique_ptr<Engine> makeEngine(unsigned workers, EngineOptions options = {}) {
    options.workers = workers;
    return take(Engine::create(registry, options));
  }
  std::unique_ptr<Engine> withoutTrace(unsigned workers) {
    EngineOptions options;
    options.recordTrace = false;
    return makeEngine(workers, options);
  }
  Meeting meeting;
  KernelRegistry registry;
};

} // namespace

TEST_F(EngineConcurrentTest, IndependentTasksRunAtTheSameTime) {
  auto engine = makeEngine(3);
  EXPECT_EQ(engine->workers(), 3u);
  meeting.count = 3;
  for (int i = 0; i < 3; ++i)
    take(engine->submit(Task("meet")));
  EXPECT_OK(engine->wait());
}

TEST_F(EngineConcurrentTest, TasksStartWithoutTheSubmitterWaiting) {
  auto engine = makeEngine(2);
  meeting.count = 1;
  take(engine->submit(Task("meet")));
  for (int i = 0; i < 20000 && meeting.arrived.load() == 0; ++i)
    std::this_thread::sleep_for(std::chrono::microseconds(500));
  EXPECT_EQ(meeting.arrived.load(), 1);
  EXPECT_OK(engine->wait());
}

TEST_F(EngineConcurrentTest, BlocksOfOneGridRunAtTheSameTime) {
  auto engine = makeEngine(2);
  take(engine->submit(Task("meet").grid({2})));
  EXPECT_OK(engine->wait());
}

TEST_F(EngineConcurrentTest, SyncStartGivesAllBlocksToOneCall) {
  auto engine = makeEngine(2);
  meeting.count = 1;
  take(engine->submit(Task("meet").grid({64}).syncStart()));
  EXPECT_OK(engine->wait());
  EXPECT_EQ(meeting.arrived.load(), 1);
}

TEST_F(EngineConcurrentTest, EveryBlockRunsExactlyOnceWhateverTheGrid) {
  auto engine = makeEngine(4);
  std::vector<std::vector<int64_t>> grids{
      {1},       {2},        {7},       {1000},     {3, 5},     {1, 9},      {100, 3},
      {2, 3, 4}, {1, 1, 17}, {5, 1, 5}, {33, 1, 1}, {1, 64, 2}, {2, 2, 100}, {16, 16, 16}};
  std::vector<Tensor> counts;
  for (const std::vector<int64_t> &grid : grids) {
    int64_t blocks = std::accumulate(grid.begin(), grid.end(), int64_t{1}, std::multiplies<>());
    counts.push_back(zeros(DType::F32, {blocks}));
    take(engine->submit(Task("count").addInout(counts.back()).grid(grid)));
    take(engine->submit(mix(counts.back(), 0))); // after all of them: doubles
  }
  EXPECT_OK(engine->wait());
  for (const Tensor &tensor : counts)
    EXPECT_EQ(valuesOf(tensor), std::vector<double>(static_cast<size_t>(tensor.extent(0)), 2.0));
}

/// Blocks that share work come together, as long as there are two pieces for each worker.
TEST_F(EngineConcurrentTest, BlocksThatShareWorkComeInLargerPieces) {
  static std::atomic<int> calls, blocksSeen;
  auto addKernel = [&](const char *name, int64_t blocksPerCall) {
    KernelRecord record;
    record.name = name;
    record.blocksPerCall = {blocksPerCall, 1, 1};
    record.function = [](const kiln_args *, const kiln_blocks *blocks, kiln_context *) -> int32_t {
      ++calls;
      blocksSeen += int(blocks->end[0] - blocks->begin[0]);
      return 0;
    };
    take(registry.add(record));
  };
  addKernel("alone", 1);
  addKernel("sharing", 8);
  auto callsOf = [&](const char *name, int64_t blocks) {
    calls = blocksSeen = 0;
    auto engine = makeEngine(2);
    take(engine->submit(Task(name).grid({blocks})));
    EXPECT_OK(engine->wait());
    EXPECT_EQ(blocksSeen, blocks);
    return calls.load();
  };
  EXPECT_EQ(callsOf("alone", 32), 8);   // 4 at a time
  EXPECT_EQ(callsOf("sharing", 32), 4); // 8
  EXPECT_EQ(callsOf("sharing", 16), 4); // 4: one for each worker would be too few
  EXPECT_EQ(callsOf("sharing", 3), 3);
  EXPECT_EQ(callsOf("sharing", 800), 8); // more than it asks for
}

TEST_F(EngineConcurrentTest, AThrowingBlockFailsItsTaskAndTheEngineLivesOn) {
  auto engine = makeEngine(3);
  for (int round = 0; round < 20; ++round) {
    Tensor x = zeros(DType::F32, {4}), y = zeros(DType::F32, {4}), z = zeros(DType::F32, {4});
    take(engine->submit(Task("throw").addInout(x).grid({50}).at("prog.cpp", 7)));
    take(engine->submit(copy(x, y)));
    take(engine->submit(mix(y, 1)));
    for (int i = 0; i < 10; ++i)
      take(engine->submit(mix(z, 1)));
    Status status = engine->wait();
    expectError(status, StatusCode::KernelFailed, {"'throw'", "block 5"});
    EXPECT_EQ(status.location().str(), "prog.cpp:7");
    EXPECT_EQ(valuesOf(y)[0], 0);
    EXPECT_EQ(valuesOf(z)[0], 1023);
    EXPECT_EQ(engine->usage().tasks, 0u);
    take(engine->submit(fill(y, 3)));
    EXPECT_OK(engine->wait());
    EXPECT_EQ(valuesOf(y)[0], 3);
    EXPECT_OK(engine->finish());
  }
}

TEST_F(EngineConcurrentTest, GetWaitsForItsProducers) {
  auto engine = makeEngine(2);
  Tensor x = zeros(DType::F32, {8});
  for (int i = 1; i <= 200; ++i) {
    take(engine->submit(fill(x, static_cast<float>(i))));
    EXPECT_EQ(take(engine->get(x, {3})).asDouble(), i);
  }
  EXPECT_OK(engine->finish());
}

TEST_F(EngineConcurrentTest, RunExecutesOnTheCallerWhenNothingElseIsGoingOn) {
  auto engine = makeEngine(2);
  std::thread::id where;
  KernelRecord spy;
  spy.name = "spy";
  spy.user = &where;
  spy.function = [](const kiln_args *, const kiln_blocks *, kiln_context *ctx) -> int32_t {
    *static_cast<std::thread::id *>(ctx->user) = std::this_thread::get_id();
    return 0;
  };
  take(registry.add(spy));
  std::this_thread::sleep_for(std::chrono::milliseconds(50)); // let the worker fall asleep
  EXPECT_OK(engine->run(Task("spy")));
  EXPECT_EQ(where, std::this_thread::get_id());
  expectError(engine->run(Task("nope")), StatusCode::NotFound, {"nope"});
}

TEST_F(EngineConcurrentTest, EnginesShareNothing) {
  std::vector<std::thread> users;
  std::atomic<int> right{0};
  for (int user = 0; user < 3; ++user)
    users.emplace_back([&, user] {
      auto engine = makeEngine(2);
      Tensor x = zeros(DType::F32, {16});
      for (int i = 0; i < 300; ++i) {
        take(engine->submit(fill(x, static_cast<float>(user))));
        take(engine->submit(mix(x, 1)));
      }
      EXPECT_OK(engine->finish());
      right += valuesOf(x)[5] == 2 * user + 1;
    });
  for (std::thread &user : users)
    user.join();
  EXPECT_EQ(right.load(), 3);
}

extern "C" int kiln_test_engine_from_c(const char *directory);

TEST(EngineC, DoesFromPlainCWhatCppDoes) {
  TempDir directory;
  EXPECT_EQ(kiln_test_engine_from_c(directory.str().c_str()), 0) << "the line in EngineC.c";
  EXPECT_EQ(take(DumpFile::open(directory.str())).entries().size(), 2u); // a tensor, a scalar
}

TEST_F(EngineConcurrentTest, AnEngineDroppedEarlyStopsCleanly) {
  for (int i = 0; i < 20; ++i) {
    auto engine = makeEngine(3);
    Tensor x = zeros(DType::F32, {16});
    for (int k = 0; k < 500; ++k)
      take(engine->submit(mix(x, 1)));
  }
}

//===----------------------------------------------------------------------===//
// Many readers
//===----------------------------------------------------------------------===//

TEST_F(EngineConcurrentTest, ATaskWaitsForEachOfManyProducersHoweverManyReasonsItHas) {
  auto engine = withoutTrace(4);
  for (int64_t count : {1, 7, 8, 9, 20}) {
    Tensor all = zeros(DType::F32, {count * 4});
    Task consumer("expect_ones");
    for (int64_t i = 0; i < count; ++i) {
      Tensor part = take(all.slice({i * 4}, {4}));
      TaskId producer = take(engine->submit(Task("late_one").addOutput(part)));
      consumer.addInput(part).addInput(take(part.slice({0}, {2}))).after(producer);
    }
    take(engine->submit(std::move(consumer)));
    EXPECT_OK(engine->wait());
  }
}

TEST_F(EngineConcurrentTest, WritersOfPartsWaitForEveryOneOfManyReaders) {
  constexpr int64_t numReaders = 100, numRows = 50;
  for (unsigned workers : {1u, 2u, 4u}) {
    auto engine = withoutTrace(workers);
    Tensor m = zeros(DType::F32, {numRows, 4});
    std::vector<Tensor> copies;
    for (int round = 1; round <= 4; ++round) {
      for (int64_t i = 0; i < numReaders; ++i) {
        copies.push_back(zeros(DType::F32, {numRows, 4}));
        take(engine->submit(copy(m, copies.back())));
      }
      for (int64_t i = 0; i < numRows; ++i)
        take(engine->submit(mix(take(m.slice({i, 0}, {1, 4})), 1)));
    }
    EXPECT_OK(engine->wait());
    EXPECT_EQ(engine->usage().regions, 0u);
    double expected = 0;
    for (size_t i = 0; i < copies.size(); ++i) {
      if (i != 0 && i % numReaders == 0)
        expected = expected * 2 + 1;
      ASSERT_EQ(valuesOf(copies[i]), std::vector<double>(numRows * 4, expected)) << i;
    }
  }
}

TEST_F(EngineConcurrentTest, OneFailedReaderAmongManyStopsTheWriters) {
  for (unsigned workers : {1u, 2u, 4u}) {
    auto engine = withoutTrace(workers);
    for (int64_t failing : {0, 7, 40, 99}) {
      Tensor m = zeros(DType::F32, {4, 4}), out = zeros(DType::F32, {4, 4});
      for (int64_t i = 0; i < 100; ++i)
        take(engine->submit(i == failing ? Task("refuse").addInput(m) : copy(m, out)));
      for (int64_t i = 0; i < 4; ++i)
        take(engine->submit(fill(take(m.slice({i, 0}, {1, 4})), 1)));
      EXPECT_FALSE(engine->wait().isOk());
      EXPECT_EQ(valuesOf(m), std::vector<double>(16, 0)) << failing;
      take(engine->submit(fill(m, 2)));
      EXPECT_OK(engine->wait());
      EXPECT_EQ(valuesOf(m), std::vector<double>(16, 2));
    }
  }
}

//===----------------------------------------------------------------------===//
// The arena
//===----------------------------------------------------------------------===//

TEST_F(EngineConcurrentTest, IntermediatesRecycleASmallArena) {
  for (unsigned workers : {1, 3}) {
    EngineOptions options;
    options.arenaBytes = 8192;
    auto engine = makeEngine(workers, options);
    Tensor sum = zeros(DType::F32, {1});
    for (int i = 0; i < 2000; ++i) {
      Tensor t = take(engine->alloc(DType::F32, {i % 5 * 100 + 1}));
      take(engine->submit(fill(t, 1)));
      take(engine->submit(copy(take(t.slice({0}, {1})), sum)));
    }
    EXPECT_OK(engine->wait());
    EXPECT_EQ(valuesOf(sum)[0], 1);
    EXPECT_EQ(engine->usage().arenaBytes, 0u);
  }
}

TEST_F(EngineConcurrentTest, AnArenaFullOfHeldTensorsIsAnErrorAtOnce) {
  EngineOptions options;
  options.arenaBytes = 4096;
  auto engine = makeEngine(2, options);
  Tensor first = take(engine->alloc(DType::F32, {512})); // half of it
  take(engine->submit(fill(first, 1)));
  Status status = engine->alloc(DType::F32, {600}).status();
  expectError(status, StatusCode::Deadlock,
              {"2400 bytes", "4096 bytes", "2048 bytes in 1 tensors", "arenaBytes of 4480"});
  first = Tensor();
  Tensor second = take(engine->alloc(DType::F32, {600})); // once let go of, it works
  take(engine->submit(fill(second, 2)));
  EXPECT_OK(engine->wait());
  options.arenaBytes = 4480; // and so does the size it named
  engine = makeEngine(2, options);
  first = take(engine->alloc(DType::F32, {512}));
  second = take(engine->alloc(DType::F32, {600}));
}

TEST_F(EngineConcurrentTest, OneBlockLargerThanTheArenaIsAnErrorAtOnce) {
  EngineOptions options;
  options.arenaBytes = 4096;
  auto engine = makeEngine(2, options);
  expectError(engine->alloc(DType::F32, {1025}).status(), StatusCode::OutOfMemory,
              {"4100 bytes", "4096 bytes", "arenaBytes of 4160"});
  Tensor all = take(engine->alloc(DType::F32, {1024}));
  EXPECT_OK(engine->run(fill(all, 1)));
}

TEST_F(EngineConcurrentTest, IntermediatesMayOutliveTheEngine) {
  Tensor t;
  {
    auto engine = makeEngine(2);
    t = take(engine->alloc(DType::F32, {64}));
    EXPECT_OK(engine->run(fill(t, 5)));
    EXPECT_OK(engine->finish());
  }
  EXPECT_EQ(valuesOf(t)[63], 5);
}

//===----------------------------------------------------------------------===//
// Trace and dump
//===----------------------------------------------------------------------===//

TEST_F(EngineConcurrentTest, TraceListsEveryTaskOnceAndNoEdgeBackwards) {
  auto engine = makeEngine(4);
  std::vector<Tensor> x;
  for (int i = 0; i < 5; ++i)
    x.push_back(zeros(DType::F32, {4}));
  for (int i = 0; i < 300; ++i)
    take(engine->submit(copy(x[i % 5], x[(i * 3 + 1) % 5])));
  EXPECT_OK(engine->wait());
  const Trace &trace = engine->trace();
  ASSERT_EQ(trace.order.size(), 300u);
  std::vector<size_t> place(300);
  for (size_t i = 0; i < trace.order.size(); ++i)
    place[trace.order[i]] = i;
  for (const TraceEdge &edge : trace.edges)
    EXPECT_LT(place[edge.from], place[edge.to]);
  for (const TraceTask &task : trace.tasks)
    EXPECT_EQ(task.state, TaskState::Done);
}

TEST_F(EngineConcurrentTest, DumpIsCompleteAndSeesEachValueBeforeAndAfter) {
  TempDir dir;
  auto engine = makeEngine(4);
  RunOptions options;
  options.dump = {2, dir.str()};
  EXPECT_OK(engine->begin(options));
  constexpr int chains = 6, length = 200;
  std::vector<Tensor> x;
  for (int c = 0; c < chains; ++c)
    x.push_back(zeros(DType::F32, {300})); // more than one buffer's worth in all
  for (int i = 0; i < length; ++i)
    for (int c = 0; c < chains; ++c)
      take(engine->submit(mix(x[c], static_cast<float>(i % 3) - 1)));
  EXPECT_OK(engine->finish());

  DumpFile file = take(DumpFile::open(dir.str()));
  ASSERT_EQ(file.entries().size(), static_cast<size_t>(chains * length * 3));
  std::vector<double> value(chains, 0.0);
  for (const DumpEntry &entry : file.entries()) {
    if (entry.isScalar)
      continue;
    size_t chain = entry.task % chains;
    float step = static_cast<float>(entry.task / chains % 3) - 1;
    if (entry.stage == DumpStage::AfterCompletion)
      value[chain] = static_cast<float>(value[chain]) * 2 + step;
    EXPECT_EQ(valuesOf(take(file.load(entry))), std::vector<double>(300, value[chain]));
  }
}

TEST_F(EngineConcurrentTest, ManifestLinesAreTheJsonOfTheirEntries) {
  TempDir dir;
  auto engine = makeEngine(2);
  RunOptions options;
  options.dump = {2, dir.str()};
  EXPECT_OK(engine->begin(options));
  Tensor x = zeros(DType::F32, {4, 6}), y = zeros(DType::F32, {4, 2});
  take(engine->submit(fill(x, 0.1f)));
  take(engine->submit(copy(take(x.slice({0, 1}, {4, 2})), y)));
  EXPECT_OK(engine->finish());
  std::string text = readText(dir / "tensor_dump/tensor_dump.json");
  nlohmann::ordered_json manifest = nlohmann::ordered_json::parse(text);
  ASSERT_EQ(manifest["entries"].size(), 4u);
  for (const auto &entry : manifest["entries"])
    EXPECT_TRUE(contains(text, "    " + entry.dump())) << entry.dump();
}
