// Everything that can be wrong with a submission, and everything that can go wrong while running.
#include "TestSupport.h"

#include <chrono>
#include <functional>
#include <stdexcept>

using namespace kiln;
using namespace kiln::test;

namespace {

int32_t failKernel(const kiln_args *, const kiln_blocks *, kiln_context *ctx) {
  const kiln_source where{"kernel.cpp", 17, 5}, other{"other.cpp", 1, 0};
  ctx->report(ctx, "row 3 is empty", &where);
  ctx->report(ctx, "a later message", &other);
  return KILN_FAIL;
}
int32_t throwKernel(const kiln_args *, const kiln_blocks *, kiln_context *) {
  throw std::runtime_error("boom");
}
int32_t throwIntKernel(const kiln_args *, const kiln_blocks *, kiln_context *) { throw 3; }
int32_t codeKernel(const kiln_args *, const kiln_blocks *, kiln_context *) { return -22; }
int32_t blameKernel(const kiln_args *, const kiln_blocks *, kiln_context *) {
  return KILN_FAIL_ARG(1);
}
int32_t reportOnlyKernel(const kiln_args *, const kiln_blocks *, kiln_context *ctx) {
  ctx->report(ctx, nullptr, nullptr);
  return KILN_OK;
}

struct EngineErrorTest : ::testing::Test {
  EngineErrorTest() {
    addBasicKernels(registry);
    auto failing = [&](const char *name, kiln_kernel_fn function) {
      addKernel(registry, name, function, {param("acc", Direction::InOut, 1)},
                {{"limit", DType::F32}});
    };
    failing("fail", failKernel);
    failing("throw", throwKernel);
    failing("throw_int", throwIntKernel);
    failing("code", codeKernel);
    failing("blame", blameKernel);
    failing("report_only", reportOnlyKernel);
    TensorParam fixed = param("w", Direction::In);
    fixed.extents = {dynamicExtent, 4};
    addKernel(registry, "typed", copyKernel, {fixed, param("y", Direction::Out, 2)},
              {{"n", DType::Index}, {"eps", DType::F32}});
  }
  Status submit(Task task) {
    auto engine = makeEngine(registry);
    Status status = engine->submit(std::move(task)).status();
    EXPECT_TRUE(engine->trace().tasks.empty() || status.isOk()); // nothing is left behind
    return status;
  }
  Task typed() {
    return Task("typed")
        .addInput(zeros(DType::F32, {2, 4}))
        .addOutput(zeros(DType::F32, {2, 4}))
        .addIndex(1)
        .addF32(1);
  }
  KernelRegistry registry;
  using Code = StatusCode;
};

Task bad(const char *kernel, const Tensor &acc) {
  return Task(kernel).addInout(acc).addF32(0).at("prog.mlir", 9, 5);
}

} // namespace

TEST_F(EngineErrorTest, ATaskMayBeGivenATensorThatItHas) {
  Tensor x = zeros(DType::F32, {2, 4});
  Task task("copy");
  task.addInput(x);
  for (int i = 0; i < 40; ++i) // it moves when there are many
    task.addInput(task.tensors()[0].tensor);
  for (const TaskTensor &arg : task.tensors()) {
    EXPECT_EQ(arg.tensor.data(), x.data());
    EXPECT_EQ(arg.tensor.str(), x.str());
  }
}

TEST_F(EngineErrorTest, AGoodSubmissionIsGood) { EXPECT_OK(submit(typed())); }

TEST_F(EngineErrorTest, SignatureMismatchesNameKernelAndArgument) {
  Tensor m = zeros(DType::F32, {2, 4}), y = zeros(DType::F32, {2, 4});
  auto with = [&](const Tensor &w, const Tensor &out) {
    return Task("typed").addInput(w).addOutput(out);
  };
  expectError(submit(Task("nope")), Code::NotFound, {"'nope'"});
  expectError(submit(with(m, y)), Code::InvalidArgument, {"'typed'", "expected 2 scalars, got 0"});
  expectError(submit(Task("typed").addInput(m)), Code::InvalidArgument,
              {"'typed'", "expected 2 tensors, got 1"});
  expectError(submit(with(zeros(DType::F16, {2, 4}), y).addIndex(1).addF32(1)),
              Code::InvalidArgument, {"'typed'", "'w'", "f32", "f16"});
  expectError(submit(with(zeros(DType::F32, {4}), y).addIndex(1).addF32(1)), Code::InvalidArgument,
              {"'w'", "rank 2", "f32[4]"});
  expectError(submit(with(zeros(DType::F32, {2, 5}), y).addIndex(1).addF32(1)),
              Code::InvalidArgument, {"'w'", "f32[?, 4]", "f32[2, 5]"});
  expectError(submit(Task("typed").addInput(m).addInout(y).addIndex(1).addF32(1)),
              Code::InvalidArgument, {"'y'", "out", "inout"});
  expectError(submit(with(m, y).addF32(1).addF32(1)), Code::InvalidArgument,
              {"'n'", "index", "f32"});
  EXPECT_OK(
      submit(with(m, y).addScalar(ScalarBits::fromInt(DType::I64, 1)).addF32(1))); // index is i64
}

TEST_F(EngineErrorTest, ErrorsPointAtTheUsersLine) {
  EXPECT_EQ(submit(Task("nope").at("prog.mlir", 4, 2)).str(),
            "prog.mlir:4:2: error: kernel 'nope' is not registered");
}

TEST_F(EngineErrorTest, BadTensorsAreRefused) {
  float memory[8] = {};
  Tensor y = zeros(DType::F32, {2, 4});
  expectError(submit(Task("copy2").addInput(Tensor()).addOutput(y)), Code::InvalidArgument,
              {"'copy2'", "'x'", "null"});
  Tensor broadcast = take(Tensor::view(memory, DType::F32, {2, 4}, {0, 1}));
  EXPECT_OK(submit(copy(broadcast, y)));
  expectError(submit(copy(y, broadcast)), Code::InvalidArgument, {"'y'", "zero stride"});
  expectError(submit(mix(broadcast, 1)), Code::InvalidArgument, {"'acc'", "zero stride", "inout"});
  expectError(submit(copy(broadcast, y.asReadOnly())), Code::InvalidArgument, {"'y'", "read-only"});
  Tensor folded = take(Tensor::view(memory, DType::F32, {2, 4}, {2, 1}));
  EXPECT_OK(submit(copy(folded, y)));
  expectError(submit(copy(y, folded)), Code::InvalidArgument, {"'y'", "overlap each other"});
}

TEST_F(EngineErrorTest, OverlappingOutputsOfOneTaskAreRefused) {
  addKernel(registry, "two", copyKernel,
            {param("a", Direction::Out), param("b", Direction::InOut)});
  Tensor m = zeros(DType::F32, {4, 4});
  auto two = [&](const Tensor &a, const Tensor &b) { return Task("two").addOutput(a).addInout(b); };
  auto tile = [&](int64_t i, int64_t j, int64_t h, int64_t w) {
    return take(m.slice({i, j}, {h, w}));
  };
  EXPECT_OK(submit(two(tile(0, 0, 4, 2), tile(0, 2, 4, 2))));
  expectError(submit(two(tile(0, 0, 4, 3), tile(0, 2, 4, 2))), Code::InvalidArgument,
              {"'a'", "'b'", "overlap"});
  Tensor alias = take(Tensor::view(m.data(), DType::F32, {4, 4})); // another Buffer, same bytes
  expectError(submit(two(m, alias)), Code::InvalidArgument, {"'a'", "'b'", "overlap"});
  EXPECT_OK(submit(copy(m, m))); // reading what one writes is the kernel's business
}

TEST_F(EngineErrorTest, BadGridsScalarsPredicatesAndCountsAreRefused) {
  Tensor x = zeros(DType::F32, {2});
  expectError(submit(fill(x, 1).grid({})), Code::InvalidArgument, {"1 to 3", "0"});
  expectError(submit(fill(x, 1).grid({1, 1, 1, 1})), Code::InvalidArgument, {"1 to 3", "4"});
  expectError(submit(fill(x, 1).grid({2, -1})), Code::InvalidArgument,
              {"'fill1'", "[2, -1]", "negative"});
  for (const std::vector<int64_t> &grid :
       std::vector<std::vector<int64_t>>{{INT64_MAX},
                                         {maxBlocks + 1},
                                         {1, INT64_MAX, 1},
                                         {1, 1, INT64_MAX},
                                         {int64_t{1} << 32, int64_t{1} << 31},
                                         {int64_t{1} << 32, int64_t{1} << 32},
                                         {int64_t{1} << 20, int64_t{1} << 20, 2}})
    expectError(submit(fill(x, 1).grid(grid)), Code::InvalidArgument,
                {"grid [", "too many blocks", "at most 1099511627776"});
  EXPECT_OK(submit(fill(x, 1).grid({INT64_MAX, 0, INT64_MAX}))); // nothing runs
  EXPECT_OK(submit(fill(x, 1).grid({int64_t{1} << 20, int64_t{1} << 20})));
  expectError(submit(Task("fill1").addOutput(x).addScalar(uint64_t{1} << 40, DType::F32)),
              Code::InvalidArgument, {"'value'", "f32"});
  ScalarBits one = ScalarBits::fromDouble(DType::F32, 1);
  expectError(submit(fill(x, 1).when({x, {2}, Compare::Gt, one})), Code::InvalidArgument,
              {"predicate", "[2]"});
  expectError(submit(fill(x, 1).when({Tensor(), {0}, Compare::Gt, one})), Code::InvalidArgument,
              {"predicate", "null"});
  expectError(submit(fill(x, 1).after(TaskId{})), Code::InvalidArgument, {"dependency"});
  Task many("unsigned");
  for (int i = 0; i < 256; ++i)
    many.addInput(x);
  take(registry.add({"unsigned", failKernel, std::nullopt, nullptr, 0, {}, -1}));
  expectError(submit(many), Code::InvalidArgument, {"255", "256"});
}

TEST_F(EngineErrorTest, AFutureTaskIsNoDependency) {
  auto engine = makeEngine(registry);
  Tensor x = zeros(DType::F32, {1});
  TaskId first = take(engine->submit(fill(x, 1)));
  TaskId future{first.index + 5, first.run};
  expectError(engine->submit(fill(x, 2).after(future)).status(), Code::InvalidArgument,
              {"dependency"});
  // The only way to write a cycle: a task that waits for itself.
  TaskId self{first.index + 1, first.run};
  expectError(engine->submit(fill(x, 2).after(self)).status(), Code::InvalidArgument,
              {"dependency names no earlier task"});
  take(engine->submit(fill(x, 3)));
  EXPECT_OK(engine->wait());
  EXPECT_EQ(valuesOf(x)[0], 3);
}

TEST_F(EngineErrorTest, AfterEachKindOfErrorTheEngineWorks) {
  EngineOptions options;
  options.arenaBytes = 4096;
  options.workers = 2;
  auto engine = take(Engine::create(registry, options));
  Tensor x = zeros(DType::F32, {4}), held;
  addKernel(registry, "two", copyKernel,
            {param("a", Direction::Out, 1), param("b", Direction::Out, 1)});
  std::vector<std::pair<const char *, std::function<Status()>>> errors = {
      {"larger than the arena", [&] { return engine->alloc(DType::F32, {2000}).status(); }},
      {"arena too small",
       [&] {
         held = take(engine->alloc(DType::F32, {600}));
         Status status = engine->alloc(DType::F32, {600}).status();
         held = Tensor();
         return status;
       }},
      {"cycle",
       [&] {
         TaskId id = take(engine->submit(fill(x, 1)));
         return engine->submit(fill(x, 2).after({id.index + 1, id.run})).status();
       }},
      {"throwing kernel", [&] { return engine->run(bad("throw", x)); }},
      {"null tensor",
       [&] { return engine->submit(Task("fill1").addOutput(Tensor()).addF32(1)).status(); }},
      {"overlapping outputs",
       [&] { return engine->submit(Task("two").addOutput(x).addOutput(x)).status(); }},
  };
  float value = 1;
  for (auto &[what, provoke] : errors) {
    auto start = std::chrono::steady_clock::now();
    EXPECT_FALSE(provoke().isOk()) << what;
    EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(5)) << what;
    Tensor t = take(engine->alloc(DType::F32, {1000}));
    take(engine->submit(fill(t, ++value)));
    take(engine->submit(copy(take(t.slice({0}, {4})), x)));
    t = Tensor();
    EXPECT_OK(engine->wait());
    EXPECT_EQ(valuesOf(x), std::vector<double>(4, value)) << what;
    EXPECT_EQ(engine->usage().tasks + engine->usage().regions, 0u) << what;
  }
}

TEST_F(EngineErrorTest, FailuresSayWhoWhyAndWhere) {
  struct Case {
    const char *kernel, *message, *location;
  } cases[] = {
      {"fail", "kernel 'fail' (task 0): row 3 is empty (launched at prog.mlir:9:5)",
       "kernel.cpp:17:5"},
      {"throw", "kernel 'throw' (task 0): threw an exception: boom", "prog.mlir:9:5"},
      {"throw_int", "kernel 'throw_int' (task 0): threw an exception of unknown type",
       "prog.mlir:9:5"},
      {"code", "kernel 'code' (task 0): returned error code -22", "prog.mlir:9:5"},
      {"blame", "kernel 'blame' (task 0), argument 'limit': the kernel rejected it",
       "prog.mlir:9:5"},
      {"report_only", "kernel 'report_only' (task 0): (no message)", "prog.mlir:9:5"},
  };
  for (const Case &c : cases) {
    auto engine = makeEngine(registry);
    Tensor x = zeros(DType::F32, {1});
    TaskId id = take(engine->submit(bad(c.kernel, x)));
    Status status = engine->wait();
    EXPECT_EQ(status.code(), Code::KernelFailed);
    EXPECT_EQ(status.message(), c.message);
    EXPECT_EQ(status.location().str(), c.location);
    ASSERT_TRUE(engine->lastFailure());
    EXPECT_EQ(engine->lastFailure()->task, id);
    EXPECT_EQ(engine->lastFailure()->kernel, c.kernel);
    EXPECT_EQ(engine->lastFailure()->argument, c.kernel == std::string("blame") ? "limit" : "");
  }
}

TEST_F(EngineErrorTest, NothingDownstreamRunsEverythingElseDoesAndTheEngineLivesOn) {
  for (uint64_t seed = 0; seed < 10; ++seed) {
    auto engine = makeEngine(registry, seed);
    Tensor x = zeros(DType::F32, {1}), y = zeros(DType::F32, {1}), z = zeros(DType::F32, {1}),
           w = zeros(DType::F32, {1});
    take(engine->submit(fill(z, 1)));
    TaskId failed = take(engine->submit(bad("fail", x)));
    take(engine->submit(copy(x, y)));               // 2: RAW
    take(engine->submit(mix(y, 1)));                // 3: through 2
    take(engine->submit(fill(x, 9)));               // 4: WAW
    take(engine->submit(mix(z, 5)));                // 5: independent
    take(engine->submit(fill(w, 1).after(failed))); // 6: explicit
    Status status = engine->wait();
    expectError(status, Code::KernelFailed, {"task 1"});
    EXPECT_EQ(valuesOf(x)[0], 0);
    EXPECT_EQ(valuesOf(y)[0], 0);
    EXPECT_EQ(valuesOf(w)[0], 0);
    EXPECT_EQ(valuesOf(z)[0], 7);
    const Trace &trace = engine->trace();
    EXPECT_EQ(trace.tasks[1].state, TaskState::Failed);
    for (int i : {2, 3, 4, 6})
      EXPECT_EQ(trace.tasks[i].state, TaskState::Cancelled) << i;
    EXPECT_EQ(trace.tasks[5].state, TaskState::Done);

    EXPECT_OK(engine->wait()); // reported once
    EXPECT_FALSE(engine->lastFailure());
    take(engine->submit(fill(x, 3).after(failed))); // settled: the failure has been reported
    take(engine->submit(copy(x, y)));
    EXPECT_OK(engine->wait());
    EXPECT_EQ(valuesOf(y)[0], 3);
  }
}

TEST_F(EngineErrorTest, WhatIsSubmittedAfterTheFailureIsCancelledToo) {
  EngineOptions options;
  options.maxPending = 1; // the failure happens before its consumers are submitted
  auto engine = makeEngine(registry, 0, options);
  Tensor x = zeros(DType::F32, {1}), y = zeros(DType::F32, {1}), z = zeros(DType::F32, {1});
  take(engine->submit(bad("fail", x)));
  take(engine->submit(fill(z, 1)));
  take(engine->submit(copy(x, y)));
  take(engine->submit(mix(y, 1)));
  take(engine->submit(mix(z, 1)));
  expectError(engine->wait(), Code::KernelFailed, {"task 0"});
  EXPECT_EQ(valuesOf(y)[0], 0);
  EXPECT_EQ(valuesOf(z)[0], 3);
  EXPECT_EQ(engine->trace().tasks[3].state, TaskState::Cancelled);
}

TEST_F(EngineErrorTest, FirstFailureWins) {
  auto engine = makeEngine(registry);
  Tensor x = zeros(DType::F32, {1}), y = zeros(DType::F32, {1});
  take(engine->submit(bad("code", x)));
  take(engine->submit(bad("throw", y)));
  expectError(engine->wait(), Code::KernelFailed, {"'code'"});
}

TEST_F(EngineErrorTest, GetOfAFailedResultIsTheFailureAndWaitStillReportsIt) {
  auto engine = makeEngine(registry);
  Tensor x = zeros(DType::F32, {1}), y = zeros(DType::F32, {1}), z = zeros(DType::F32, {1});
  take(engine->submit(bad("fail", x)));
  take(engine->submit(copy(x, y)));
  take(engine->submit(fill(z, 2)));
  expectError(engine->get(y, {0}).status(), Code::KernelFailed, {"get", "row 3 is empty"});
  EXPECT_EQ(take(engine->get(z, {0})).asDouble(), 2);
  expectError(engine->wait(), Code::KernelFailed, {"row 3 is empty"});
}

TEST_F(EngineErrorTest, ALongChainIsCancelledWithoutRecursion) {
  EngineOptions options;
  options.maxPending = 100000;
  auto engine = makeEngine(registry, 0, options);
  Tensor x = zeros(DType::F32, {1});
  take(engine->submit(bad("fail", x)));
  for (int i = 0; i < 50000; ++i)
    take(engine->submit(mix(x, 1)));
  expectError(engine->wait(), Code::KernelFailed, {"task 0"});
  EXPECT_EQ(engine->trace().tasks.back().state, TaskState::Cancelled);
}

TEST_F(EngineErrorTest, FailedTensorsKeepTheirAddressUntilReported) {
  // Otherwise a new allocation at the address of a failed one would look downstream of it.
  auto engine = makeEngine(registry);
  std::weak_ptr<Buffer> failed, cancelled;
  {
    Tensor x = take(engine->alloc(DType::F32, {64})), y = take(engine->alloc(DType::F32, {64}));
    failed = x.buffer();
    cancelled = y.buffer();
    take(engine->submit(bad("fail", x)));
    take(engine->submit(copy(x, y)));
    EXPECT_FALSE(engine->get(y, {0}));
  }
  EXPECT_FALSE(failed.expired());
  EXPECT_FALSE(cancelled.expired());
  expectError(engine->wait(), Code::KernelFailed, {"task 0"});
  EXPECT_TRUE(failed.expired());
  EXPECT_TRUE(cancelled.expired());
}

TEST_F(EngineErrorTest, AWorkspaceThatCannotBeHadFailsTheTask) {
  take(registry.add({"greedy", codeKernel, std::nullopt, nullptr, UINT64_MAX - 5, {}, -1}));
  auto engine = makeEngine(registry);
  take(engine->submit(Task("greedy")));
  expectError(engine->wait(), Code::KernelFailed, {"'greedy'", "workspace"});
}
