// Blocks that meet at barriers, and memory that blocks allocate, by hand against kiln/abi.h.
#include "TestSupport.h"

#include "device/cpu/ScratchStack.h"

#include <cstring>
#include <numeric>

using namespace kiln;
using namespace kiln::test;

namespace {

constexpr kiln_source kHere{"here.c", 7, 3};

/// Adds up what all blocks wrote, waits, and writes the sum where its own number was.
int32_t sumAll(const kiln_args *args, const kiln_blocks *blocks, kiln_context *ctx) {
  auto *values = static_cast<float *>(args->tensors[0].data);
  int64_t n = ctx->grid[0] * ctx->grid[1];
  float sum = std::accumulate(values, values + n, 0.0f);
  if (ctx->block_functions->meet(ctx, &kHere))
    return KILN_FAIL;
  values[blocks->begin[0] * ctx->grid[1] + blocks->begin[1]] = sum;
  return ctx->block_functions->meet(ctx, nullptr);
}

/// Every block but block 2 comes to the barrier.
int32_t mostCome(const kiln_args *, const kiln_blocks *blocks, kiln_context *ctx) {
  return blocks->begin[0] == 2 ? KILN_OK : ctx->block_functions->meet(ctx, &kHere);
}

int32_t throwsInBlock3(const kiln_args *, const kiln_blocks *blocks, kiln_context *ctx) {
  if (blocks->begin[0] == 3)
    throw std::runtime_error("no");
  return ctx->block_functions->meet(ctx, nullptr);
}

/// Memory of two sizes, one within the other, and the outer one again.
int32_t allocates(const kiln_args *args, const kiln_blocks *, kiln_context *ctx) {
  auto *out = static_cast<float *>(args->tensors[0].data);
  auto bytes = static_cast<uint64_t>(args->tensors[0].extents[0]) * sizeof(float);
  auto *outer = static_cast<float *>(ctx->block_functions->allocate(ctx, bytes));
  for (int round = 0; round < 3; ++round) {
    void *inner = ctx->block_functions->allocate(ctx, 3 * bytes);
    if (!outer || !inner || reinterpret_cast<uintptr_t>(inner) % 64 != 0)
      return KILN_FAIL;
    std::memset(inner, 0xff, 3 * bytes);
    std::fill_n(outer, args->tensors[0].extents[0], static_cast<float>(round));
    ctx->block_functions->release(ctx);
  }
  std::memcpy(out, outer, bytes);
  return KILN_OK; // the runtime takes the rest
}

struct BlocksTest : ::testing::Test {
  void add(const char *name, kiln_kernel_fn function, bool meets) {
    KernelRecord record;
    record.name = name;
    record.group = GroupSpec{{{name, function, 1, 0, nullptr, meets}}, {}};
    take(registry.add(std::move(record)));
  }
  Status run(const Task &task, unsigned workers = 2) {
    EngineOptions options;
    options.workers = workers;
    return take(Engine::create(registry, options))->run(task);
  }
  Task meeting(const char *name, Dims grid) {
    return Task(name).addInout(values).grid(grid).syncStart();
  }

  KernelRegistry registry;
  Tensor values = tensorOf(DType::F32, {6}, {1, 2, 3, 4, 5, 6});
};

} // namespace

TEST_F(BlocksTest, AllBlocksMeet) {
  add("sum", sumAll, true);
  for (unsigned workers : {1u, 2u}) {
    values = tensorOf(DType::F32, {6}, {1, 2, 3, 4, 5, 6});
    EXPECT_OK(run(meeting("sum", {2, 3}), workers));
    EXPECT_EQ(valuesOf(values), std::vector<double>(6, 21));
  }
  EXPECT_OK(run(meeting("sum", {0, 3})));
}

TEST_F(BlocksTest, ABlockThatNeverComesIsADeadlock) {
  add("most", mostCome, true);
  Status status = run(meeting("most", {4}));
  EXPECT_EQ(status.code(), StatusCode::Deadlock);
  EXPECT_NE(status.message().find("most (block [0, 0, 0]) waits at the barrier at here.c:7:3, "),
            std::string::npos)
      << status.message();
  EXPECT_NE(status.message().find("; ended: most (block [2, 0, 0])"), std::string::npos)
      << status.message();
  // Of many the first are named.
  values = zeros(DType::F32, {6});
  status = run(meeting("most", {300}));
  EXPECT_NE(status.message().find(" and 283 more; ended"), std::string::npos) << status.message();
}

TEST_F(BlocksTest, AFailingBlockEndsThoseThatWait) {
  add("throws", throwsInBlock3, true);
  Status status = run(meeting("throws", {5}));
  EXPECT_EQ(status.code(), StatusCode::KernelFailed);
  EXPECT_NE(status.message().find("threw an exception: no (block [3, 0, 0])"), std::string::npos)
      << status.message();
}

TEST_F(BlocksTest, BlocksThatMeetMustStartAtOnce) {
  add("sum", sumAll, true);
  Status status = run(Task("sum").addInout(values).grid({6}));
  EXPECT_EQ(status.code(), StatusCode::InvalidArgument);
  EXPECT_NE(status.message().find("sync_start"), std::string::npos) << status.message();
  status = run(meeting("sum", {1000, 1000}));
  EXPECT_EQ(status.code(), StatusCode::Unsupported);
  EXPECT_NE(status.message().find("at most 16384"), std::string::npos) << status.message();
}

TEST_F(BlocksTest, ABarrierThatWasNotAnnouncedIsAnError) {
  add("sum", sumAll, false);
  Status status = run(meeting("sum", {6}));
  EXPECT_NE(status.message().find("KILN_ROLE_MEETS"), std::string::npos) << status.message();
}

TEST_F(BlocksTest, BlocksAllocateWhileTheyRun) {
  add("allocates", allocates, false);
  for (int64_t size : {6, 100'000, 50}) {
    values = zeros(DType::F32, {size});
    EXPECT_OK(run(Task("allocates").addOutput(values).grid({3}), 1));
    EXPECT_EQ(valuesOf(values), std::vector<double>(size, 2));
  }
}

TEST(ScratchStackTest, GivesMemoryBackInOrderAndKeepsIt) {
  ScratchStack stack;
  void *a = stack.allocate(10), *b = stack.allocate(100), *c = stack.allocate(1 << 20);
  EXPECT_NE(a, b);
  EXPECT_NE(b, c);
  stack.release();
  EXPECT_EQ(stack.allocate(1 << 19), c);
  stack.release();
  stack.release();
  EXPECT_EQ(stack.allocate(100), b);
  stack.releaseAll();
  EXPECT_EQ(stack.allocate(0), a);
  EXPECT_EQ(stack.allocate(uint64_t{1} << 63), nullptr);
  EXPECT_EQ(stack.allocate(uint64_t{1} << 61), nullptr);
}
