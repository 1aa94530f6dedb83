// What a well-behaved user sees: arguments, grids, scopes, predicates, get, runs.
#include "TestSupport.h"

using namespace kiln;
using namespace kiln::test;

namespace {
struct EngineTest : ::testing::Test {
  EngineTest() { addBasicKernels(registry); }
  KernelRegistry registry;
};
} // namespace

TEST_F(EngineTest, RunsNothingBeforeWaitAndEverythingByThen) {
  auto engine = makeEngine(registry);
  Tensor x = zeros(DType::F32, {2, 3}), y = zeros(DType::F32, {2, 3});
  TaskId first = take(engine->submit(fill(x, 4)));
  TaskId second = take(engine->submit(copy(x, y)));
  EXPECT_EQ(first.index, 0u);
  EXPECT_EQ(second.index, 1u);
  EXPECT_EQ(valuesOf(y)[0], 0);
  EXPECT_OK(engine->wait());
  EXPECT_EQ(valuesOf(y), std::vector<double>(6, 4.0));
  EXPECT_EQ(engine->trace().tasks[1].state, TaskState::Done);
}

TEST_F(EngineTest, KernelSeesArgumentsInTaskOrderGridScratchAndUser) {
  struct Seen {
    kiln_context ctx;
    kiln_blocks blocks;
    uint32_t tensors, scalars;
    void *first, *second;
    uint64_t a, b;
    uint16_t flags0, flags1;
  } seen{};
  KernelRecord record;
  record.name = "spy";
  record.user = &seen;
  record.workspaceBytes = 1000;
  record.function = [](const kiln_args *args, const kiln_blocks *blocks,
                       kiln_context *ctx) -> int32_t {
    auto *seen = static_cast<Seen *>(ctx->user);
    *seen = {*ctx,
             *blocks,
             args->num_tensors,
             args->num_scalars,
             args->tensors[0].data,
             args->tensors[1].data,
             args->scalars[0],
             args->scalars[1],
             args->tensors[0].flags,
             args->tensors[1].flags};
    std::memset(ctx->scratch, 0xff, ctx->scratch_bytes);
    return 0;
  };
  take(registry.add(record));
  auto engine = makeEngine(registry);
  Tensor x = zeros(DType::I8, {4}), y = zeros(DType::F32, {2});
  // Scalars and tensors mixed: tensors still come first.
  take(engine->submit(Task("spy")
                          .addScalar(ScalarBits::fromInt(DType::I32, -3))
                          .addInput(x)
                          .addF32(1.0f)
                          .addOutput(y)
                          .grid({5, 2})));
  EXPECT_OK(engine->wait());
  EXPECT_EQ(seen.tensors, 2u);
  EXPECT_EQ(seen.scalars, 2u);
  EXPECT_EQ(seen.first, x.data());
  EXPECT_EQ(seen.second, y.data());
  EXPECT_EQ(static_cast<int64_t>(seen.a), -3);
  EXPECT_EQ(seen.b, 0x3f800000u);
  EXPECT_TRUE(seen.flags0 & KILN_TENSOR_READ_ONLY);
  EXPECT_FALSE(seen.flags1 & KILN_TENSOR_READ_ONLY);
  EXPECT_EQ(seen.ctx.abi_version, KILN_ABI_VERSION);
  EXPECT_EQ(seen.ctx.lanes, 1u);
  EXPECT_EQ(seen.ctx.grid[0], 5);
  EXPECT_EQ(seen.ctx.grid[1], 2);
  EXPECT_EQ(seen.ctx.grid[2], 1);
  EXPECT_EQ(seen.blocks.begin[0], 0);
  EXPECT_EQ(seen.blocks.end[0], 5);
  EXPECT_EQ(seen.blocks.end[1], 2);
  EXPECT_EQ(seen.blocks.end[2], 1);
  EXPECT_GE(seen.ctx.scratch_bytes, 1000u);
  EXPECT_EQ(reinterpret_cast<uintptr_t>(seen.ctx.scratch) % 64, 0u);
}

TEST_F(EngineTest, AnEmptyGridRunsNothingButStillOrders) {
  auto engine = makeEngine(registry);
  Tensor x = zeros(DType::F32, {2});
  take(engine->submit(fill(x, 1)));
  take(engine->submit(fill(x, 2).grid({3, 0, INT64_MAX})));
  take(engine->submit(mix(x, 3)));
  EXPECT_OK(engine->wait());
  EXPECT_EQ(valuesOf(x), (std::vector<double>{5, 5}));
  EXPECT_TRUE(engine->trace().hasEdge(1, 2, EdgeKind::Raw));
}

TEST_F(EngineTest, GetWaitsForProducersOfThatElementOnly) {
  auto engine = makeEngine(registry);
  Tensor x = zeros(DType::F32, {2, 4});
  Tensor left = take(x.slice({0, 0}, {2, 2})), right = take(x.slice({0, 2}, {2, 2}));
  take(engine->submit(fill(left, 7)));
  take(engine->submit(mix(left, 1)));
  take(engine->submit(fill(right, 9)));
  ScalarBits value = take(engine->get(x, {1, 1}));
  EXPECT_EQ(value.type, DType::F32);
  EXPECT_EQ(value.asDouble(), 15);
  EXPECT_EQ(engine->trace().tasks[2].state, TaskState::Pending);
  EXPECT_EQ(take(x.get({1, 2})), 0);
  take(engine->submit(mix(left, 1)));
  EXPECT_EQ(take(engine->get(x, {0, 0})).asDouble(), 31);
  EXPECT_TRUE(
      engine->trace().hasEdge(1, 3, EdgeKind::Raw)); // in the graph although task 1 had finished
  EXPECT_OK(engine->wait());
  EXPECT_EQ(take(x.get({1, 2})), 9);
  expectError(engine->get(x, {2, 0}).status(), StatusCode::InvalidArgument, {"get", "[2, 0]"});
  expectError(engine->get(Tensor(), {0}).status(), StatusCode::InvalidArgument, {"null"});
}

TEST_F(EngineTest, PredicateIsEvaluatedWhenTheTaskWouldRun) {
  for (uint64_t seed : {0, 1, 2, 3, 4, 5}) {
    auto engine = makeEngine(registry, seed);
    Tensor flag = zeros(DType::F32, {2}), x = zeros(DType::F32, {2}), y = zeros(DType::F32, {2});
    Tensor one = take(flag.slice({1}, {1}));
    take(engine->submit(fill(one, 5))); // not yet run when the predicates are submitted
    ScalarBits limit = ScalarBits::fromDouble(DType::F32, 4);
    take(engine->submit(fill(x, 1).when({flag, {1}, Compare::Gt, limit})));
    take(engine->submit(fill(y, 1).when({flag, {1}, Compare::Lt, limit})));
    take(engine->submit(fill(one, 0))); // WAR against the predicates
    take(engine->submit(copy(x, y)));   // released although its producer of y was skipped
    EXPECT_OK(engine->wait());
    EXPECT_EQ(engine->trace().tasks[1].state, TaskState::Done);
    EXPECT_EQ(engine->trace().tasks[2].state, TaskState::Skipped);
    EXPECT_TRUE(engine->trace().hasEdge(0, 1, EdgeKind::Raw));
    EXPECT_TRUE(engine->trace().hasEdge(2, 3, EdgeKind::War));
    EXPECT_EQ(valuesOf(y), (std::vector<double>{1, 1}));
  }
}

TEST_F(EngineTest, PredicateComparesIntegersExactlyAndNanAsIeeeDoes) {
  auto engine = makeEngine(registry);
  Tensor big = zeros(DType::I64, {1}), nan = tensorOf(DType::F32, {1}, {__builtin_nan("")});
  EXPECT_OK(big.setInt({0}, INT64_MAX));
  auto runs = [&](Predicate predicate) {
    Tensor out = zeros(DType::F32, {1});
    take(engine->submit(fill(out, 1).when(std::move(predicate))));
    EXPECT_OK(engine->wait());
    return valuesOf(out)[0] == 1;
  };
  EXPECT_TRUE(runs({big, {0}, Compare::Gt, ScalarBits::fromInt(DType::I64, INT64_MAX - 1)}));
  EXPECT_FALSE(runs({big, {0}, Compare::Eq, ScalarBits::fromInt(DType::I64, INT64_MAX - 1)}));
  EXPECT_TRUE(runs({big, {0}, Compare::Ge, ScalarBits::fromInt(DType::I64, INT64_MAX)}));
  EXPECT_TRUE(runs({big, {0}, Compare::Le, ScalarBits::fromInt(DType::I64, INT64_MAX)}));
  for (Compare how : {Compare::Eq, Compare::Lt, Compare::Le, Compare::Gt, Compare::Ge})
    EXPECT_FALSE(runs({nan, {0}, how, ScalarBits::fromDouble(DType::F32, 0)}));
  EXPECT_TRUE(runs({nan, {0}, Compare::Ne, ScalarBits::fromDouble(DType::F32, 0)}));
}

TEST_F(EngineTest, DummyTaskOrdersWithoutRunning) {
  bool sawReversed = false;
  for (uint64_t seed = 0; seed < 20; ++seed) {
    for (bool fence : {true, false}) {
      auto engine = makeEngine(registry, seed);
      Tensor x = zeros(DType::F32, {1}), y = zeros(DType::F32, {1});
      TaskId a = take(engine->submit(fill(x, 1)));
      TaskId d = take(engine->submit(Task().after(a)));
      Task last = fill(y, 1);
      if (fence)
        last.after(d);
      take(engine->submit(last));
      EXPECT_OK(engine->wait());
      bool inOrder = engine->trace().order.back() == 2;
      if (fence)
        EXPECT_TRUE(inOrder);
      else
        sawReversed |= !inOrder;
    }
  }
  EXPECT_TRUE(sawReversed);
}

TEST_F(EngineTest, BoundedQueueRunsTasksDuringSubmit) {
  EngineOptions options;
  options.maxPending = 4;
  auto engine = makeEngine(registry, 0, options);
  Tensor x = zeros(DType::F32, {1});
  for (int i = 0; i < 6; ++i)
    take(engine->submit(mix(x, 1)));
  EXPECT_EQ(valuesOf(x)[0], 3); // two of six have run
  EXPECT_OK(engine->wait());
  EXPECT_EQ(valuesOf(x)[0], 63);
  options.maxPending = 0;
  expectError(Engine::create(registry, options).status(), StatusCode::InvalidArgument,
              {"maxPending"});
}

TEST_F(EngineTest, AWindowFullOfFinishedTasksHasRoom) {
  EngineOptions options;
  options.maxPending = 64;
  options.recordTrace = false;
  auto engine = makeEngine(registry, 0, options);
  Tensor x = zeros(DType::F32, {1});
  // get() runs tasks without looking after the window, whose size is no multiple of what was
  // submitted in between.
  for (int count : {10, 64, 1}) {
    for (int i = 0; i < count; ++i)
      take(engine->submit(fill(x, static_cast<float>(count))));
    EXPECT_EQ(take(engine->get(x, {0})).asDouble(), count);
  }
  EXPECT_OK(engine->finish());
}

TEST_F(EngineTest, IntermediatesLiveUntilTheirTasksRetire) {
  auto engine = makeEngine(registry);
  Tensor y = zeros(DType::F32, {4});
  std::weak_ptr<Buffer> memory;
  {
    Tensor t = take(engine->alloc(DType::F32, {4}));
    memory = t.buffer();
    take(engine->submit(fill(t, 3)));
    take(engine->submit(copy(t, y)));
  }
  EXPECT_FALSE(memory.expired());
  EXPECT_OK(engine->wait());
  EXPECT_TRUE(memory.expired());
  EXPECT_EQ(valuesOf(y), std::vector<double>(4, 3.0));
  expectError(engine->alloc(DType::F32, {-1}).status(), StatusCode::InvalidArgument,
              {"alloc", "-1"});
}

TEST_F(EngineTest, ReusedAddressesAreNotDependencies) {
  EngineOptions options;
  options.maxPending = 1; // each task runs before the next is submitted
  auto engine = makeEngine(registry, 0, options);
  for (int i = 0; i < 50; ++i)
    take(engine->submit(fill(take(engine->alloc(DType::F32, {64})), 1)));
  EXPECT_OK(engine->wait());
  EXPECT_TRUE(engine->trace().edges.empty());
}

TEST_F(EngineTest, ScopesMustNest) {
  auto engine = makeEngine(registry);
  expectError(engine->endScope(), StatusCode::FailedPrecondition, {"endScope"});
  engine->beginScope();
  engine->beginScope(true);
  EXPECT_OK(engine->endScope());
  expectError(engine->finish(), StatusCode::FailedPrecondition, {"endScope"});
  EXPECT_OK(engine->finish());
  expectError(engine->endScope(), StatusCode::FailedPrecondition, {"endScope"});
}

TEST_F(EngineTest, RunsStartAfresh) {
  auto engine = makeEngine(registry);
  Tensor x = zeros(DType::F32, {1});
  EXPECT_OK(engine->begin({}));
  expectError(engine->begin({}), StatusCode::FailedPrecondition, {"finish"});
  TaskId old = take(engine->submit(fill(x, 1)));
  EXPECT_OK(engine->finish());
  EXPECT_EQ(engine->trace().tasks.size(), 1u); // still there to look at
  TaskId next = take(engine->submit(fill(x, 2)));
  EXPECT_EQ(next.index, 0u);
  EXPECT_NE(next, old);
  EXPECT_EQ(engine->trace().tasks.size(), 1u);
  expectError(engine->submit(fill(x, 3).after(old)).status(), StatusCode::InvalidArgument,
              {"dependency"});
  EXPECT_OK(engine->finish());
}

TEST_F(EngineTest, SeedComesFromTheEnvironmentUnlessGiven) {
  setenv("KILN_SEED", "42", 1);
  EXPECT_EQ(take(Engine::create(registry))->seed(), 42u);
  EXPECT_EQ(makeEngine(registry, 7)->seed(), 7u);
  setenv("KILN_SEED", "", 1); // as if it were not set
  EXPECT_EQ(take(Engine::create(registry))->seed(), 0u);
  for (const char *bad : {"abc", "-1", "12x", "99999999999999999999999"}) {
    setenv("KILN_SEED", bad, 1);
    expectError(Engine::create(registry).status(), StatusCode::InvalidArgument, {"KILN_SEED", bad});
  }
  unsetenv("KILN_SEED");
  EXPECT_EQ(take(Engine::create(registry))->seed(), 0u);
}

TEST_F(EngineTest, TraceDescribesTasksAndEdges) {
  auto engine = makeEngine(registry);
  Tensor m = zeros(DType::F32, {4, 4}), y = zeros(DType::F32, {4, 2});
  Tensor right = take(m.slice({0, 2}, {4, 2}));
  take(engine->submit(fill(m, 1).at("prog.cpp", 12, 3)));
  take(engine->submit(copy(right, y)));
  EXPECT_OK(engine->wait());
  const Trace &trace = engine->trace();
  EXPECT_EQ(trace.order, (std::vector<uint64_t>{0, 1}));
  EXPECT_EQ(trace.tasks[0].kernel, "fill2");
  EXPECT_EQ(trace.tasks[0].loc.str(), "prog.cpp:12:3");
  EXPECT_EQ(trace.tasks[0].scalars[0].asDouble(), 1);
  const TraceTensor &arg = trace.tasks[1].tensors[0];
  EXPECT_EQ(arg.byteOffset, 8u);
  EXPECT_EQ(arg.strides, (std::vector<int64_t>{4, 1}));
  EXPECT_EQ(arg.bufferId, m.buffer()->id());
  ASSERT_EQ(trace.edges.size(), 1u);
  EXPECT_EQ(trace.edges[0].kind, EdgeKind::Raw);
  EXPECT_EQ(trace.edges[0].bufferId, m.buffer()->id());
  EXPECT_EQ(trace.edges[0].arg, 0);
}

TEST_F(EngineTest, TraceCanBeTurnedOff) {
  EngineOptions options;
  options.recordTrace = false;
  auto engine = makeEngine(registry, 3, options);
  Tensor x = zeros(DType::F32, {1});
  for (int i = 0; i < 10; ++i)
    take(engine->submit(mix(x, 1)));
  EXPECT_OK(engine->wait());
  EXPECT_EQ(valuesOf(x)[0], 1023);
  EXPECT_TRUE(engine->trace().tasks.empty());
}
