// Blocks that meet, run by several workers: they share the work, nobody has to join, failures and
// deadlocks end all of it, and other tasks run in between.
#include "TestSupport.h"

#include <mutex>
#include <set>
#include <thread>

using namespace kiln;
using namespace kiln::test;

namespace {

constexpr kiln_source kHere{"here.c", 7, 3};

float *valuesOf(const kiln_args *args) { return static_cast<float *>(args->tensors[0].data); }

/// In each round a block takes its neighbour's number, from one half of the tensor to the other: a
/// block that is a round ahead, or behind, would be seen at the end.
int32_t rotate(const kiln_args *args, const kiln_blocks *blocks, kiln_context *ctx) {
  int64_t n = ctx->grid[0], me = blocks->begin[0], rounds = args->tensors[1].extents[0];
  float *from = valuesOf(args), *to = from + n;
  for (int64_t round = 0; round < rounds; ++round) {
    to[me] = from[(me + 1) % n];
    if (ctx->block_functions->meet(ctx, &kHere))
      return KILN_FAIL;
    std::swap(from, to);
  }
  return KILN_OK;
}

/// The block that the scalar names fails in the fourth round; the others would go on for ever.
int32_t failsLate(const kiln_args *args, const kiln_blocks *blocks, kiln_context *ctx) {
  auto failing = static_cast<int64_t>(args->scalars[0]);
  for (int64_t round = 0;; ++round) {
    if (round == 3 && blocks->begin[0] == failing)
      throw std::runtime_error("enough");
    if (ctx->block_functions->meet(ctx, nullptr))
      return KILN_FAIL;
  }
}

/// Block 1 never comes to the second barrier.
int32_t oneLeaves(const kiln_args *, const kiln_blocks *blocks, kiln_context *ctx) {
  for (int round = 0; round < (blocks->begin[0] == 1 ? 1 : 2); ++round)
    if (ctx->block_functions->meet(ctx, &kHere))
      return KILN_FAIL;
  return KILN_OK;
}

/// Which blocks ran, in order, and on which threads; takes a while.
struct Witness {
  std::mutex mutex;
  std::vector<int64_t> order;
  std::set<std::thread::id> threads;
};
int32_t witnessed(const kiln_args *, const kiln_blocks *blocks, kiln_context *ctx) {
  auto &witness = *static_cast<Witness *>(ctx->user);
  for (int round = 0; round < 3; ++round) {
    {
      std::lock_guard lock(witness.mutex);
      witness.order.push_back(blocks->begin[0]);
      witness.threads.insert(std::this_thread::get_id());
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
    if (ctx->block_functions->meet(ctx, nullptr))
      return KILN_FAIL;
  }
  return KILN_OK;
}

/// One role pushes its number of the round, the other pops and leaves it for the next block.
int32_t pushAndMeet(const kiln_args *args, const kiln_blocks *blocks, kiln_context *ctx) {
  for (int64_t round = 0; round < args->tensors[1].extents[0]; ++round) {
    void *slot = ctx->pipe_functions->begin_push(ctx, ctx->pipes[0], nullptr);
    if (!slot)
      return KILN_FAIL;
    *static_cast<float *>(slot) = valuesOf(args)[(blocks->begin[0] + round) % ctx->grid[0]];
    if (ctx->pipe_functions->end_push(ctx, ctx->pipes[0]) ||
        ctx->block_functions->meet(ctx, nullptr))
      return KILN_FAIL;
  }
  return KILN_OK;
}
int32_t popAndAdd(const kiln_args *args, const kiln_blocks *blocks, kiln_context *ctx) {
  for (int64_t round = 0; round < args->tensors[1].extents[0]; ++round) {
    auto *slot = static_cast<float *>(ctx->pipe_functions->pop(ctx, ctx->pipes[0], nullptr));
    if (!slot)
      return KILN_FAIL;
    valuesOf(args)[ctx->grid[0] + blocks->begin[0]] += *slot;
    if (ctx->pipe_functions->free(ctx, ctx->pipes[0]))
      return KILN_FAIL;
  }
  return KILN_OK;
}

struct MeetingTest : ::testing::Test {
  void add(const char *name, kiln_kernel_fn function, void *user = nullptr) {
    addGroup(name, {{{name, function, 1, 256, user, true}}, {}});
  }
  void addGroup(const char *name, GroupSpec group) {
    KernelRecord record;
    record.name = name;
    record.group = std::move(group);
    take(registry.add(std::move(record)));
  }
  std::unique_ptr<Engine> engineOf(unsigned workers, std::optional<uint64_t> seed = std::nullopt) {
    EngineOptions options;
    options.workers = workers;
    options.seed = seed;
    return take(Engine::create(registry, options));
  }
  /// Numbers 0 to n - 1, and room for as many.
  static Tensor numbers(int64_t n) {
    std::vector<double> values(static_cast<size_t>(2 * n));
    for (int64_t i = 0; i < n; ++i)
      values[static_cast<size_t>(i)] = static_cast<double>(i);
    return tensorOf(DType::F32, {2 * n}, values);
  }
  static Task rotating(const Tensor &values, const Tensor &rounds) {
    return Task("rotate")
        .addInout(values)
        .addInput(rounds)
        .grid({values.extent(0) / 2})
        .syncStart();
  }
  static void expectRotated(const Tensor &values, int64_t rounds, int line = __builtin_LINE()) {
    int64_t n = values.extent(0) / 2;
    std::vector<double> all = test::valuesOf(values);
    for (int64_t i = 0; i < n; ++i)
      EXPECT_EQ(all[static_cast<size_t>(rounds % 2 * n + i)], static_cast<double>((i + rounds) % n))
          << "line " << line;
  }

  KernelRegistry registry;
};

} // namespace

TEST_F(MeetingTest, AllSeeWhatAllWroteOnAnyNumberOfWorkers) {
  add("rotate", rotate);
  for (unsigned workers : {1u, 2u, 4u}) {
    std::unique_ptr<Engine> engine = engineOf(workers);
    for (int64_t blocks : {1, 2, 7, 100})
      for (int64_t rounds : {1, 2, 30}) {
        Tensor values = numbers(blocks);
        EXPECT_OK(engine->run(rotating(values, zeros(DType::F32, {rounds}))));
        expectRotated(values, rounds);
      }
  }
}

TEST_F(MeetingTest, IdleWorkersJoin) {
  Witness witness;
  add("witnessed", witnessed, &witness);
  std::unique_ptr<Engine> engine = engineOf(2);
  // A loaded machine may take its time to wake the other worker.
  for (int attempt = 0; attempt < 20 && witness.threads.size() < 2; ++attempt)
    EXPECT_OK(engine->run(Task("witnessed").grid({16}).syncStart()));
  EXPECT_EQ(witness.threads.size(), 2u);
}

TEST_F(MeetingTest, OneWorkerHasOneSchedule) {
  Witness first, second;
  add("first", witnessed, &first);
  add("second", witnessed, &second);
  for (uint64_t seed : {0, 5}) {
    first.order.clear();
    second.order.clear();
    EXPECT_OK(engineOf(1, seed)->run(Task("first").grid({5}).syncStart()));
    EXPECT_OK(engineOf(1, seed)->run(Task("second").grid({5}).syncStart()));
    EXPECT_EQ(first.order, second.order);
    EXPECT_EQ(first.order.size(), 15u);
    EXPECT_EQ(first.threads.size(), 1u);
  }
}

TEST_F(MeetingTest, OtherTasksAndLaunchesRunInBetween) {
  add("rotate", rotate);
  KernelRecord fill;
  fill.name = "fill";
  fill.function = fillKernel;
  take(registry.add(std::move(fill)));
  constexpr int64_t blocks = 9, rounds = 20;
  for (unsigned workers : {2u, 3u}) {
    std::unique_ptr<Engine> engine = engineOf(workers);
    std::vector<Tensor> launches, others;
    Tensor length = zeros(DType::F32, {rounds});
    for (int i = 0; i < 20; ++i) {
      launches.push_back(numbers(blocks));
      take(engine->submit(rotating(launches.back(), length)));
      others.push_back(zeros(DType::F32, {64, 64}));
      take(engine->submit(
          Task("fill").addOutput(others.back()).addScalar(ScalarBits::fromDouble(DType::F32, 3))));
    }
    EXPECT_OK(engine->wait());
    for (const Tensor &values : launches)
      expectRotated(values, rounds);
    for (const Tensor &other : others)
      EXPECT_EQ(test::valuesOf(other).back(), 3);
  }
}

TEST_F(MeetingTest, RolesHandOverBetweenBarriers) {
  RoleSpec from{"from", pushAndMeet, 1, 0, nullptr, true}, to{"to", popAndAdd};
  addGroup("pair", {{from, to}, {{"p", 0, 1, 2, sizeof(float)}}});
  constexpr int64_t blocks = 12, rounds = 12;
  for (unsigned workers : {1u, 2u, 3u}) {
    Tensor values = numbers(blocks);
    EXPECT_OK(engineOf(workers)->run(Task("pair")
                                         .addInout(values)
                                         .addInput(zeros(DType::F32, {rounds}))
                                         .grid({blocks})
                                         .syncStart()));
    std::vector<double> all = test::valuesOf(values);
    for (int64_t i = 0; i < blocks; ++i) // each block has had the number of every other
      EXPECT_EQ(all[static_cast<size_t>(blocks + i)], blocks * (blocks - 1) / 2);
  }
}

TEST_F(MeetingTest, ABlockThatThrowsEndsAllAndTheEngineGoesOn) {
  add("fails", failsLate);
  add("rotate", rotate);
  for (unsigned workers : {1u, 2u, 4u}) {
    std::unique_ptr<Engine> engine = engineOf(workers);
    for (int64_t failing = 0; failing < 12; ++failing) {
      Task task = Task("fails").addScalar(ScalarBits::fromInt(DType::I64, failing));
      Status status = engine->run(task.grid({12}).syncStart());
      std::string block = "(block [" + std::to_string(failing) + ", 0, 0])";
      expectError(status, StatusCode::KernelFailed, {"threw an exception: enough", block.c_str()});
      Tensor values = numbers(5);
      EXPECT_OK(engine->run(rotating(values, zeros(DType::F32, {3}))));
      expectRotated(values, 3);
    }
  }
}

TEST_F(MeetingTest, ADeadlockReadsTheSameOnAnyNumberOfWorkers) {
  add("leaves", oneLeaves);
  std::set<std::string> messages;
  for (unsigned workers : {1u, 2u, 4u})
    for (int i = 0; i < 5; ++i) {
      Status status = engineOf(workers)->run(Task("leaves").grid({4}).syncStart());
      EXPECT_EQ(status.code(), StatusCode::Deadlock);
      messages.insert(status.message());
    }
  ASSERT_EQ(messages.size(), 1u);
  EXPECT_TRUE(contains(*messages.begin(),
                       "deadlock of the blocks: leaves (block [0, 0, 0]) waits at the barrier at "
                       "here.c:7:3, leaves (block [2, 0, 0]) waits"))
      << *messages.begin();
  EXPECT_TRUE(contains(*messages.begin(), "; ended: leaves (block [1, 0, 0])"));
}
