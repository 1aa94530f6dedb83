// Groups: roles as fibers, pipes with slots, lanes and splits, deadlocks and failures. The roles
// are written by hand against kiln/abi.h, as generated code would be.
#include "TestSupport.h"

#include <stdexcept>
#include <thread>

using namespace kiln;
using namespace kiln::test;

namespace {

constexpr int64_t side = 8; // tiles are side x side floats
constexpr uint64_t tileBytes = side * side * sizeof(float);

// What generated code does around every pipe operation: go home when told to.
#define KILN_TEST_END_IF(ended)                                                                    \
  do {                                                                                             \
    if (ended)                                                                                     \
      return KILN_FAIL;                                                                            \
  } while (false)

float *beginPush(kiln_context *ctx, int pipe) {
  return static_cast<float *>(ctx->pipe_functions->begin_push(ctx, ctx->pipes[pipe], nullptr));
}
int32_t endPush(kiln_context *ctx, int pipe) {
  return ctx->pipe_functions->end_push(ctx, ctx->pipes[pipe]);
}
float *pop(kiln_context *ctx, int pipe) {
  return static_cast<float *>(ctx->pipe_functions->pop(ctx, ctx->pipes[pipe], nullptr));
}
int32_t release(kiln_context *ctx, int pipe) {
  return ctx->pipe_functions->free(ctx, ctx->pipes[pipe]);
}

/// One float through a pipe, for tests that are about order.
int32_t pushValue(kiln_context *ctx, int pipe, float value) {
  float *slot = beginPush(ctx, pipe);
  KILN_TEST_END_IF(!slot);
  *slot = value;
  return endPush(ctx, pipe);
}
int32_t popValue(kiln_context *ctx, int pipe, float &value) {
  float *slot = pop(ctx, pipe);
  KILN_TEST_END_IF(!slot);
  value = *slot;
  return release(ctx, pipe);
}

const float *inputs(const kiln_args *args) { return static_cast<float *>(args->tensors[0].data); }
float *outputs(const kiln_args *args) { return static_cast<float *>(args->tensors[1].data); }
int64_t count(const kiln_args *args) { return args->tensors[0].extents[0]; }
int64_t blockOf(const kiln_blocks *blocks) {
  EXPECT_EQ(blocks->end[0], blocks->begin[0] + 1); // one block a call
  return blocks->begin[0];
}

//===----------------------------------------------------------------------===//
// Roles
//===----------------------------------------------------------------------===//

/// Pushes the inputs of its block one by one.
int32_t feed(const kiln_args *args, const kiln_blocks *blocks, kiln_context *ctx) {
  int64_t n = count(args) / ctx->grid[0];
  for (int64_t i = 0; i < n; ++i)
    KILN_TEST_END_IF(pushValue(ctx, 0, inputs(args)[blockOf(blocks) * n + i]));
  return KILN_OK;
}
/// Pops as many and stores them doubled.
int32_t drain(const kiln_args *args, const kiln_blocks *blocks, kiln_context *ctx) {
  int64_t n = count(args) / ctx->grid[0];
  for (int64_t i = 0; i < n; ++i) {
    float value;
    KILN_TEST_END_IF(popValue(ctx, 0, value));
    outputs(args)[blockOf(blocks) * n + i] = value * 2;
  }
  return KILN_OK;
}
/// Between the two: pipe 0 in, pipe 1 out.
int32_t addOne(const kiln_args *args, const kiln_blocks *, kiln_context *ctx) {
  for (int64_t i = 0; i < count(args); ++i) {
    float value;
    KILN_TEST_END_IF(popValue(ctx, 0, value));
    KILN_TEST_END_IF(pushValue(ctx, 1, value + 1));
  }
  return KILN_OK;
}
int32_t drainSecond(const kiln_args *args, const kiln_blocks *, kiln_context *ctx) {
  for (int64_t i = 0; i < count(args); ++i)
    KILN_TEST_END_IF(popValue(ctx, 1, outputs(args)[i]));
  return KILN_OK;
}
/// Asks (pipe 0) and stores the answer (pipe 1).
int32_t ask(const kiln_args *args, const kiln_blocks *, kiln_context *ctx) {
  for (int64_t i = 0; i < count(args); ++i) {
    KILN_TEST_END_IF(pushValue(ctx, 0, inputs(args)[i]));
    KILN_TEST_END_IF(popValue(ctx, 1, outputs(args)[i]));
  }
  return KILN_OK;
}
int32_t popBoth(const kiln_args *, const kiln_blocks *, kiln_context *ctx) {
  float value;
  KILN_TEST_END_IF(popValue(ctx, 0, value));
  return popValue(ctx, 1, value);
}
int32_t popThenPush(const kiln_args *, const kiln_blocks *, kiln_context *ctx) {
  float value;
  KILN_TEST_END_IF(popValue(ctx, 1, value));
  return pushValue(ctx, 0, value);
}
int32_t throwing(const kiln_args *, const kiln_blocks *, kiln_context *ctx) {
  float value;
  KILN_TEST_END_IF(popValue(ctx, 0, value));
  throw std::runtime_error("no more");
}
int32_t reporting(const kiln_args *, const kiln_blocks *, kiln_context *ctx) {
  const kiln_source where{"user.cpp", 7, 0};
  ctx->report(ctx, "cannot go on", &where);
  return KILN_OK;
}
int32_t blaming(const kiln_args *, const kiln_blocks *, kiln_context *) { return KILN_FAIL_ARG(1); }
int32_t nothing(const kiln_args *, const kiln_blocks *, kiln_context *) { return KILN_OK; }

// The example of the language: out = a * b + r, where lanes load a and r and store out, each its
// half of the rows (or columns), and one role multiplies whole tiles. Pipes: 0 up, 1 down.
struct Part {
  int64_t row, column, rows, columns; // of the full tile
};
template <PipeSplit split> Part partOf(const kiln_context *ctx) {
  int64_t lane = ctx->lane, lanes = ctx->lanes;
  if (split == PipeSplit::UpDown)
    return {lane * side / lanes, 0, side / lanes, side};
  return {0, lane * side / lanes, side, side / lanes};
}
template <typename Body> void forPart(const Part &part, Body body) {
  for (int64_t i = part.row; i < part.row + part.rows; ++i)
    for (int64_t j = part.column; j < part.column + part.columns; ++j)
      body(i, j);
}
int32_t multiply(const kiln_args *args, const kiln_blocks *, kiln_context *ctx) {
  const float *a = pop(ctx, 0);
  KILN_TEST_END_IF(!a);
  float *c = beginPush(ctx, 1);
  KILN_TEST_END_IF(!c);
  for (int64_t i = 0; i < side; ++i)
    for (int64_t j = 0; j < side; ++j) {
      c[i * side + j] = 0;
      for (int64_t k = 0; k < side; ++k)
        c[i * side + j] += a[i * side + k] * elementAt(args->tensors[1], k, j);
    }
  KILN_TEST_END_IF(release(ctx, 0));
  return endPush(ctx, 1);
}
template <PipeSplit split>
int32_t addResidual(const kiln_args *args, const kiln_blocks *, kiln_context *ctx) {
  Part part = partOf<split>(ctx);
  float *a = beginPush(ctx, 0);
  KILN_TEST_END_IF(!a);
  forPart(part, [&](int64_t i, int64_t j) { a[i * side + j] = elementAt(args->tensors[0], i, j); });
  KILN_TEST_END_IF(endPush(ctx, 0));
  const float *c = pop(ctx, 1);
  KILN_TEST_END_IF(!c);
  forPart(part, [&](int64_t i, int64_t j) {
    elementAt(args->tensors[3], i, j) = c[i * side + j] + elementAt(args->tensors[2], i, j);
  });
  return release(ctx, 1);
}

/// One pushes n values, every lane gets each of them.
int32_t sumAll(const kiln_args *args, const kiln_blocks *, kiln_context *ctx) {
  float sum = 0;
  for (int64_t i = 0; i < count(args); ++i) {
    float value;
    KILN_TEST_END_IF(popValue(ctx, 0, value));
    sum += value;
  }
  outputs(args)[ctx->lane] = sum + static_cast<float>(ctx->lane);
  return KILN_OK;
}
/// A delay line of its own: what a lane pushes it pops later.
int32_t delay(const kiln_args *args, const kiln_blocks *, kiln_context *ctx) {
  for (int i = 0; i < 2; ++i)
    KILN_TEST_END_IF(pushValue(ctx, 0, static_cast<float>(ctx->lane * 10 + i)));
  for (int i = 0; i < 2; ++i)
    KILN_TEST_END_IF(popValue(ctx, 0, outputs(args)[ctx->lane * 2 + i]));
  return KILN_OK;
}
/// Writes its scratch, lets the others run, and finds it unchanged.
int32_t keepScratch(const kiln_args *args, const kiln_blocks *, kiln_context *ctx) {
  auto *scratch = static_cast<float *>(ctx->scratch);
  if (!scratch || ctx->scratch_bytes < 64 || reinterpret_cast<uintptr_t>(scratch) % 64 != 0)
    return KILN_FAIL;
  for (int i = 0; i < 16; ++i)
    scratch[i] = static_cast<float>(ctx->lane * 100 + i);
  float value;
  KILN_TEST_END_IF(popValue(ctx, 0, value));
  for (int i = 0; i < 16; ++i)
    if (scratch[i] != static_cast<float>(ctx->lane * 100 + i))
      return KILN_FAIL;
  outputs(args)[ctx->lane] = value;
  return KILN_OK;
}

//===----------------------------------------------------------------------===//
// Groups
//===----------------------------------------------------------------------===//

RoleSpec role(const char *name, kiln_kernel_fn function, uint32_t lanes = 1,
              uint64_t workspace = 0) {
  return {name, function, lanes, workspace, nullptr};
}
PipeSpec pipe(const char *name, uint32_t from, uint32_t to, uint32_t slots = 2,
              uint64_t bytes = sizeof(float), PipeSplit split = PipeSplit::None) {
  return {name, from, to, slots, bytes, split};
}

struct GroupTest : ::testing::Test {
  void add(const char *name, std::vector<RoleSpec> roles, std::vector<PipeSpec> pipes) {
    KernelRecord record;
    record.name = name;
    record.group = GroupSpec{std::move(roles), std::move(pipes)};
    take(registry.add(std::move(record)));
  }
  Status addStatus(std::vector<RoleSpec> roles, std::vector<PipeSpec> pipes) {
    KernelRecord record;
    record.name = "bad";
    record.group = GroupSpec{std::move(roles), std::move(pipes)};
    return registry.add(std::move(record)).status();
  }
  Task task(const char *name) { return Task(name).addInput(in).addOutput(out); }
  Status run(const Task &task, unsigned workers = 1) {
    EngineOptions options;
    options.workers = workers;
    if (!engine || engine->workers() != workers)
      engine = take(Engine::create(registry, options));
    return engine->run(task);
  }
  std::vector<double> doubled() {
    std::vector<double> values = valuesOf(in);
    for (double &value : values)
      value *= 2;
    return values;
  }

  KernelRegistry registry;
  std::unique_ptr<Engine> engine;
  Tensor in = tensorOf(DType::F32, {6}, {1, 2, 3, 4, 5, 6}), out = zeros(DType::F32, {6});
};

} // namespace

TEST_F(GroupTest, OneWayWithAnyNumberOfSlots) {
  for (uint32_t slots : {1u, 2u, 3u, 16u}) {
    std::string name = "g" + std::to_string(slots);
    add(name.c_str(), {role("feed", feed), role("drain", drain)}, {pipe("p", 0, 1, slots)});
  }
  // Consumer first in the list, too: the order of roles does not matter.
  add("reversed", {role("drain", drain), role("feed", feed)}, {pipe("p", 1, 0)});
  for (const char *name : {"g1", "g2", "g3", "g16", "reversed", "g1"}) {
    EXPECT_OK(out.fillPoison());
    EXPECT_OK(run(task(name)));
    EXPECT_EQ(valuesOf(out), doubled()) << name;
  }
}

TEST_F(GroupTest, BothWays) {
  add("question", {role("ask", ask), role("answer", addOne)},
      {pipe("up", 0, 1, 1), pipe("down", 1, 0)});
  EXPECT_OK(run(task("question")));
  EXPECT_EQ(valuesOf(out), (std::vector<double>{2, 3, 4, 5, 6, 7}));
}

TEST_F(GroupTest, ThreeRoles) {
  add("three", {role("drain", drainSecond), role("middle", addOne), role("feed", feed)},
      {pipe("first", 2, 1), pipe("second", 1, 0, 1)});
  EXPECT_OK(run(task("three")));
  EXPECT_EQ(valuesOf(out), (std::vector<double>{2, 3, 4, 5, 6, 7}));
}

TEST_F(GroupTest, LanesDivideAndJoinTilesByRowsAndByColumns) {
  add("rows", {role("cube", multiply), role("vec", addResidual<PipeSplit::UpDown>, 2)},
      {pipe("up", 1, 0, 2, tileBytes, PipeSplit::UpDown),
       pipe("down", 0, 1, 2, tileBytes, PipeSplit::UpDown)});
  add("columns", {role("vec", addResidual<PipeSplit::LeftRight>, 4), role("cube", multiply)},
      {pipe("up", 0, 1, 1, tileBytes, PipeSplit::LeftRight),
       pipe("down", 1, 0, 1, tileBytes, PipeSplit::LeftRight)});
  auto matrix = [](int seed) {
    Tensor t = zeros(DType::F32, {side, side});
    for (int64_t i = 0; i < int64_t(side) * side; ++i)
      t.dataAs<float>()[i] = static_cast<float>((i * 7 + int64_t(seed) * 13) % 11) - 5;
    return t;
  };
  Tensor a = matrix(1), b = matrix(2), r = matrix(3), y = zeros(DType::F32, {side, side});
  std::vector<double> expected;
  for (int64_t i = 0; i < side; ++i)
    for (int64_t j = 0; j < side; ++j) {
      double sum = *take(r.slice({i, j}, {1, 1})).dataAs<float>();
      for (int64_t k = 0; k < side; ++k)
        sum += double{a.dataAs<float>()[i * side + k]} * b.dataAs<float>()[k * side + j];
      expected.push_back(sum);
    }
  for (const char *name : {"rows", "columns"}) {
    EXPECT_OK(y.fillPoison());
    EXPECT_OK(run(Task(name).addInput(a).addInput(b).addInput(r).addOutput(y)));
    EXPECT_EQ(valuesOf(y), expected) << name;
  }
}

TEST_F(GroupTest, WithoutASplitEveryLaneGetsEveryMessage) {
  add("broadcast", {role("feed", feed), role("sum", sumAll, 3)}, {pipe("p", 0, 1, 1)});
  EXPECT_OK(run(task("broadcast")));
  EXPECT_EQ(valuesOf(take(out.slice({0}, {3}))), (std::vector<double>{21, 22, 23}));
}

TEST_F(GroupTest, ADelayLineKeepsTheLanesApart) {
  add("line_of_lanes", {role("delay", delay, 3)}, {pipe("line", 0, 0)});
  EXPECT_OK(run(task("line_of_lanes")));
  EXPECT_EQ(valuesOf(out), (std::vector<double>{0, 1, 10, 11, 20, 21}));
}

TEST_F(GroupTest, EveryInstanceHasScratchOfItsOwn) {
  add("scratch", {role("keep", keepScratch, 3, 64), role("feed", feed)}, {pipe("p", 1, 0, 6)});
  Tensor one = tensorOf(DType::F32, {1}, {5});
  EXPECT_OK(run(Task("scratch").addInput(one).addOutput(out)));
  EXPECT_EQ(valuesOf(take(out.slice({0}, {3}))), (std::vector<double>{5, 5, 5}));
}

TEST_F(GroupTest, AGridRunsEachBlockWithPipesOfItsOwn) {
  add("g", {role("feed", feed), role("drain", drain)}, {pipe("p", 0, 1)});
  std::vector<double> values(4000);
  for (size_t i = 0; i < values.size(); ++i)
    values[i] = static_cast<double>(i);
  in = tensorOf(DType::F32, {4000}, values);
  out = zeros(DType::F32, {4000});
  for (unsigned workers : {1u, 2u, 4u})
    for (int repeat = 0; repeat < 5; ++repeat) {
      EXPECT_OK(out.fillPoison());
      EXPECT_OK(run(task("g").grid({500}), workers));
      EXPECT_EQ(valuesOf(out), doubled());
    }
}

TEST_F(GroupTest, ManyGroupsAtOnceWithDependencies) {
  add("g", {role("feed", feed), role("drain", drain)}, {pipe("p", 0, 1, 1)});
  EngineOptions options;
  options.workers = 4;
  engine = take(Engine::create(registry, options));
  std::vector<Tensor> tensors{in};
  for (int i = 0; i < 12; ++i) {
    tensors.push_back(zeros(DType::F32, {6}));
    for (int repeat = 0; repeat < 20; ++repeat) // all but the first find the same
      take(engine->submit(
          Task("g").addInput(tensors[static_cast<size_t>(i)]).addOutput(tensors.back())));
  }
  EXPECT_OK(engine->finish());
  EXPECT_EQ(valuesOf(tensors.back())[0], 4096);
}

TEST_F(GroupTest, DumpAndTraceListTheMembers) {
  add("g", {role("feed", feed), role("drain", drain)}, {pipe("p", 0, 1)});
  EXPECT_EQ(registry.find("g")->members, (std::vector<std::string>{"feed", "drain"}));
}

//===----------------------------------------------------------------------===//
// Failures
//===----------------------------------------------------------------------===//

TEST_F(GroupTest, ADeadlockIsReportedAtOnceWithWhoWaitsForWhat) {
  add("cycle", {role("left", popBoth), role("right", popThenPush)},
      {pipe("a", 1, 0), pipe("b", 0, 1, 3)});
  // "left" uses pipe b at the wrong end only after it has popped from a, which never happens.
  expectError(run(task("cycle").at("program.cpp", 12)), StatusCode::Deadlock,
              {"kernel 'cycle'", "deadlock", "left waits to pop from 'a' (0 of 2 slots full)",
               "right waits to pop from 'b' (0 of 3 slots full)"});
  EXPECT_EQ(engine->lastFailure()->loc.line, 12);

  add("full", {role("feed", feed), role("lazy", nothing)}, {pipe("p", 0, 1, 3)});
  expectError(run(task("full")), StatusCode::Deadlock,
              {"feed waits to push into 'p' (3 of 3 slots full)", "ended: lazy"});

  add("starved", {role("none", nothing), role("drain", drain)}, {pipe("p", 0, 1)});
  expectError(run(task("starved")), StatusCode::Deadlock,
              {"drain waits to pop from 'p' (0 of 2 slots full)", "ended: none"});

  // The engine, its fibers and its pipes work afterwards.
  add("good", {role("feed", feed), role("drain", drain)}, {pipe("p", 0, 1, 3)});
  engine.reset();
  EXPECT_OK(run(task("good")));
  EXPECT_FALSE(run(task("full")).isOk());
  EXPECT_OK(run(task("good")));
  EXPECT_EQ(valuesOf(out), doubled());
}

TEST_F(GroupTest, OneLaneThatStaysBehindIsNamed) {
  auto lopsided = [](const kiln_args *args, const kiln_blocks *, kiln_context *ctx) -> int32_t {
    for (int64_t i = 0; i < count(args) && ctx->lane == 0; ++i)
      KILN_TEST_END_IF(pushValue(ctx, 0, 1));
    return KILN_OK;
  };
  add("lopsided", {role("vec", lopsided, 2), role("drain", drain)},
      {pipe("p", 0, 1, 2, 8, PipeSplit::UpDown)});
  expectError(run(task("lopsided")), StatusCode::Deadlock,
              {"vec#0 waits to push into 'p' (2 of 2 slots full)", "drain waits to pop from 'p' (0",
               "ended: vec#1"});
}

TEST_F(GroupTest, WhatIsLeftInAPipeIsAnError) {
  add("left", {role("feed", feed), role("lazy", nothing)}, {pipe("p", 0, 1, 16)});
  expectError(run(task("left")), StatusCode::KernelFailed,
              {"6 messages are left in pipe 'p'", "role 'lazy'"});
}

TEST_F(GroupTest, AFailingRoleEndsTheGroupAndIsNamed) {
  add("throws", {role("feed", feed), role("thrower", throwing, 2)}, {pipe("p", 0, 1, 1)});
  for (int repeat = 0; repeat < 3; ++repeat)
    expectError(run(task("throws")), StatusCode::KernelFailed,
                {"kernel 'throws'", "role 'thrower#0'", "threw an exception: no more"});
  add("reports", {role("drain", drain), role("reporter", reporting)}, {pipe("p", 1, 0)});
  Status status = run(task("reports").grid({3}));
  expectError(status, StatusCode::KernelFailed,
              {"role 'reporter': cannot go on", "block [0, 0, 0]"});
  EXPECT_EQ(status.location().str(), "user.cpp:7");
  add("blames", {role("drain", drain), role("blamer", blaming)}, {pipe("p", 1, 0)});
  expectError(run(task("blames")), StatusCode::KernelFailed,
              {"argument 'arg1'", "role 'blamer': the kernel rejected it"});
}

TEST_F(GroupTest, MisuseOfAPipeIsAnError) {
  auto wrongEnd = [](const kiln_args *, const kiln_blocks *, kiln_context *ctx) -> int32_t {
    return pop(ctx, 0) ? KILN_OK : KILN_FAIL;
  };
  auto freesTooMuch = [](const kiln_args *, const kiln_blocks *, kiln_context *ctx) -> int32_t {
    return release(ctx, 0);
  };
  auto endsTooMuch = [](const kiln_args *, const kiln_blocks *, kiln_context *ctx) -> int32_t {
    return endPush(ctx, 0);
  };
  auto beginsTwice = [](const kiln_args *, const kiln_blocks *, kiln_context *ctx) -> int32_t {
    return beginPush(ctx, 0) && beginPush(ctx, 0) ? KILN_OK : KILN_FAIL;
  };
  add("wrong_end", {role("a", wrongEnd), role("b", nothing)}, {pipe("p", 0, 1)});
  expectError(run(task("wrong_end")), StatusCode::KernelFailed,
              {"role 'a'", "pipe 'p'", "pops from it, which is not its end"});
  add("frees", {role("a", nothing), role("b", freesTooMuch)}, {pipe("p", 0, 1)});
  expectError(run(task("frees")), StatusCode::KernelFailed, {"role 'b'", "frees a message"});
  add("ends", {role("a", endsTooMuch), role("b", nothing)}, {pipe("p", 0, 1)});
  expectError(run(task("ends")), StatusCode::KernelFailed, {"ends a push it has not begun"});
  add("begins", {role("a", beginsTwice), role("b", nothing)}, {pipe("p", 0, 1)});
  expectError(run(task("begins")), StatusCode::KernelFailed, {"before it has ended the last"});
}

TEST_F(GroupTest, BadGroupsAreRefused) {
  auto bad = [&](std::vector<RoleSpec> roles, std::vector<PipeSpec> pipes, const char *words,
                 int line = __builtin_LINE()) {
    expectError(addStatus(std::move(roles), std::move(pipes)), StatusCode::InvalidArgument,
                {"kernel 'bad'", words}, line);
  };
  RoleSpec a = role("a", nothing), b = role("b", nothing), lanes = role("lanes", nothing, 2);
  bad({}, {}, "at least one role");
  bad({a, a}, {}, "used twice");
  bad({role("", nothing)}, {}, "name is empty");
  bad({role("a", nullptr)}, {}, "function pointer is null");
  bad({role("a", nothing, 0)}, {}, "has no lanes");
  bad({role("a", nothing, 5000)}, {}, "5000 lanes in all");
  bad({a, b}, {pipe("p", 0, 2)}, "there are 2");
  bad({a, b}, {pipe("p", 0, 1, 0)}, "slots, not 0");
  bad({a, b}, {pipe("p", 0, 1), pipe("p", 1, 0)}, "used twice");
  bad({a, lanes}, {pipe("p", 1, 0)}, "split up_down or left_right would");
  bad({a, b}, {pipe("p", 0, 1, 2, 4, PipeSplit::UpDown)}, "has lanes");
  bad({a, lanes}, {pipe("p", 0, 1, 2, 3, PipeSplit::UpDown)}, "cannot divide 3 bytes");
  bad({lanes, role("more", nothing, 3)}, {pipe("p", 0, 1)}, "numbers differ");
  KernelRecord both;
  both.name = "both";
  both.function = nothing;
  both.group = GroupSpec{{a}, {}};
  expectError(registry.add(both).status(), StatusCode::InvalidArgument,
              {"a group has no function"});
}

TEST_F(GroupTest, AWorkspaceThatCannotBeHadFailsTheTask) {
  add("greedy", {role("a", nothing, 2, UINT64_MAX / 2)}, {});
  expectError(run(task("greedy")), StatusCode::OutOfMemory, {"kernel 'greedy'", "workspace"});
}

TEST_F(GroupTest, ExceptionsInFlightStayWithTheirRole) {
  // Each lane waits inside a catch block: the others' exceptions must not become its own.
  auto careful = [](const kiln_args *args, const kiln_blocks *, kiln_context *ctx) -> int32_t {
    try {
      throw static_cast<int>(ctx->lane);
    } catch (int) {
      float value;
      KILN_TEST_END_IF(popValue(ctx, 0, value));
      try {
        throw;
      } catch (int lane) {
        outputs(args)[ctx->lane] = static_cast<float>(lane) + value;
      }
    }
    return KILN_OK;
  };
  add("catching", {role("careful", careful, 3), role("feed", feed)}, {pipe("p", 1, 0)});
  Tensor one = tensorOf(DType::F32, {1}, {5});
  EXPECT_OK(run(Task("catching").addInput(one).addOutput(out)));
  EXPECT_EQ(valuesOf(take(out.slice({0}, {3}))), (std::vector<double>{5, 6, 7}));
}

TEST_F(GroupTest, AnEngineMayBeUsedByOneThreadAfterAnother) {
  add("g", {role("feed", feed), role("drain", drain)}, {pipe("p", 0, 1)});
  EXPECT_OK(run(task("g")));
  std::thread([&] { EXPECT_OK(run(task("g"))); }).join();
  EXPECT_OK(run(task("g")));
  EXPECT_EQ(valuesOf(out), doubled());
}
