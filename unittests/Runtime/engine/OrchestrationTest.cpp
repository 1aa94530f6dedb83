// What emitted orchestrations are written with: scalars as the IR computes them, launches, and the
// check of kernels and arguments before anything is launched.
#include "TestSupport.h"

#include "kiln/runtime/orchestration.h"

using namespace kiln;
using namespace kiln::orch;
using namespace kiln::test;

namespace {

/// The message of the failure that `run` ends with.
template <typename Run> std::string failureOf(Run run) {
  try {
    run();
  } catch (const Failure &failure) {
    return failure.status.message();
  }
  return "";
}

template <typename T> std::vector<T> listOf(const Range<T> &range) {
  std::vector<T> values;
  for (T value : range)
    values.push_back(value);
  return values;
}

struct OrchestrationTest : ::testing::Test {
  OrchestrationTest() { addBasicKernels(registry); }

  const Signature own{
      "main", "orchestration", {input("x", DType::F32, {any})}, {{"n", DType::Index}}};
  std::vector<Signature> kernels() const { return {*registry.find("fill1")->signature}; }

  KernelRegistry registry;
};

} // namespace

TEST(OrchestrationScalars, AnIndexRefusesToOverflow) {
  Index most = INT64_MAX, least = INT64_MIN;
  EXPECT_EQ(most - 1 + 1, most);
  EXPECT_TRUE(contains(failureOf([&] { (void)(most + 1); }), "does not fit"));
  EXPECT_TRUE(contains(failureOf([&] { (void)(least - 1); }), "does not fit"));
  EXPECT_TRUE(contains(failureOf([&] { (void)(most * 2); }), "9223372036854775807 * 2"));
  EXPECT_TRUE(contains(failureOf([&] { (void)trunc_div(least, -1); }), "does not fit"));
  EXPECT_EQ(trunc_rem(least, -1), 0);
}

TEST(OrchestrationScalars, OtherIntegersWrap) {
  EXPECT_EQ(wrapping_add(int32_t(INT32_MAX), int32_t(1)), INT32_MIN);
  EXPECT_EQ(wrapping_mul(int8_t(100), int8_t(3)), int8_t(44));
  EXPECT_EQ(wrapping_sub(int64_t(INT64_MIN), int64_t(1)), INT64_MAX);
  EXPECT_EQ(wrapping_add(true, true), false);
  EXPECT_EQ(trunc_div(int8_t(-128), int8_t(-1)), int8_t(-128));
  EXPECT_EQ(cast<int8_t>(int32_t(300)), int8_t(44));
  EXPECT_EQ(cast<Index>(int8_t(-1)), Index(-1));
  EXPECT_EQ(cast_unsigned<Index>(int8_t(-1)), Index(255));
  EXPECT_EQ(cast<int32_t>(true), -1);
  EXPECT_EQ(shift_left(int8_t(1), int8_t(7)), int8_t(-128));
  EXPECT_EQ(shift_left(int8_t(1), int8_t(8)), 0);
  EXPECT_EQ(shift_right(int8_t(-128), int8_t(100)), -1);
  EXPECT_EQ(shift_right_unsigned(int8_t(-128), int8_t(7)), 1);
}

TEST(OrchestrationScalars, DivisionRoundsAsItSaysAndRefusesZero) {
  for (int64_t a = -7; a <= 7; ++a)
    for (int64_t b = -3; b <= 3; ++b) {
      if (b == 0) {
        EXPECT_TRUE(contains(failureOf([&] { (void)ceil_div(Index(a), b); }), "by zero"));
        EXPECT_TRUE(contains(failureOf([&] { (void)rem_unsigned(Index(a), b); }), "by zero"));
        continue;
      }
      double exact = static_cast<double>(a) / static_cast<double>(b);
      EXPECT_EQ(trunc_div(Index(a), b), Index(a / b));
      EXPECT_EQ(trunc_rem(Index(a), b), Index(a % b));
      EXPECT_EQ(floor_div(Index(a), b), Index(static_cast<int64_t>(std::floor(exact))));
      EXPECT_EQ(ceil_div(Index(a), b), Index(static_cast<int64_t>(std::ceil(exact))));
    }
  EXPECT_EQ(div_unsigned(int8_t(-1), int8_t(2)), int8_t(127));
  EXPECT_EQ(ceil_div_unsigned(int8_t(-1), int8_t(2)), int8_t(-128));
}

TEST(OrchestrationScalars, FloatsConvertAndCompareAsInTheLanguage) {
  float nan = std::numeric_limits<float>::quiet_NaN(), big = 1e30f;
  EXPECT_EQ(to_integer<int32_t>(big), INT32_MAX);
  EXPECT_EQ(to_integer<int8_t>(-2.9f), -2);
  EXPECT_EQ(to_integer<Index>(nan), Index(0));
  EXPECT_EQ(round_to(DType::BF16, 1.001f), 1.0f);
  EXPECT_TRUE(std::isnan(maximum(nan, 1)));
  EXPECT_FALSE(std::signbit(maximum(-0.0f, 0.0f)));
  EXPECT_TRUE(std::signbit(minimum(-0.0f, 0.0f)));
}

TEST(OrchestrationScalars, RangesAreExactToTheEndsOfTheType) {
  EXPECT_EQ(listOf(range(0, 5, 2)), (std::vector<Index>{0, 2, 4}));
  EXPECT_EQ(listOf(range(3, 3, 1)), std::vector<Index>());
  EXPECT_EQ(listOf(range(5, 3, 1)), std::vector<Index>());
  EXPECT_EQ(listOf(range(INT64_MAX - 3, INT64_MAX, 2)),
            (std::vector<Index>{INT64_MAX - 3, INT64_MAX - 1}));
  EXPECT_EQ(listOf(range(INT64_MIN, INT64_MAX, INT64_MAX)),
            (std::vector<Index>{INT64_MIN, -1, INT64_MAX - 1}));
  EXPECT_EQ(listOf(range_of(int8_t(-128), int8_t(127), int8_t(100))),
            (std::vector<int8_t>{-128, -28, 72}));
  EXPECT_EQ(listOf(range_unsigned(int8_t(100), int8_t(-100), int8_t(50))),
            (std::vector<int8_t>{100, -106}));
  EXPECT_TRUE(contains(failureOf([] { range(0, 4, 0); }), "must be positive"));
}

TEST_F(OrchestrationTest, LaunchesWithGridsScopesDepsAndPredicates) {
  auto engine = makeEngine(registry);
  Tensor x = zeros(DType::F32, {4}), flag = tensorOf(DType::I32, {2}, {1, 2});
  ScalarBits n = ScalarBits::fromInt(DType::Index, 3);
  auto body = [&](Orchestrator &rt, const Arguments &args) {
    const Index count = args.scalar<Index>(0);
    Tensor t = rt.alloc(DType::F32, {count + 1});
    TaskId first;
    {
      TaskArgs task("fill1");
      task.add_output(t);
      task.add_scalar(2.0f);
      task.grid({count});
      task.at("prog.cpp", 7, 3);
      first = rt.submit(task);
    }
    EXPECT_EQ(rt.get<float>(t, {count}), 2.0f);
    {
      const Scope scope(rt, Scope::Manual);
      for (Compare compare : {Compare::Gt, Compare::Lt}) {
        TaskArgs task("copy1");
        task.add_input(t);
        task.add_output(args.tensor(0));
        task.after(first);
        task.when(flag, {1}, compare, 1);
        rt.submit(task);
      }
    }
  };
  EXPECT_OK(orchestrate(*engine, {std::span(&x, 1), std::span(&n, 1)}, own, kernels(), body));
  EXPECT_OK(engine->finish());
  EXPECT_EQ(valuesOf(x), (std::vector<double>(4, 2)));
  const Trace &trace = engine->trace();
  ASSERT_EQ(trace.tasks.size(), 3u);
  EXPECT_EQ(trace.tasks[0].grid[0], 3);
  EXPECT_EQ(trace.tasks[0].loc.str(), "prog.cpp:7:3");
  EXPECT_EQ(trace.tasks[1].state, TaskState::Done);
  EXPECT_EQ(trace.tasks[2].state, TaskState::Skipped);
  EXPECT_FALSE(trace.hasEdge(1, 2, EdgeKind::Waw)) << "they are siblings in a manual scope";
}

TEST_F(OrchestrationTest, StopsAtTheFirstFailureAndTheEngineWorksAfterwards) {
  auto engine = makeEngine(registry);
  Tensor x = zeros(DType::F32, {4});
  ScalarBits n = ScalarBits::fromInt(DType::Index, 0);
  Arguments args{std::span(&x, 1), std::span(&n, 1)};
  bool wentOn = false;
  auto outside = [&](Orchestrator &rt, const Arguments &given) {
    const Scope scope(rt);
    Tensor view = slice(given.tensor(0), {2}, {3});
    wentOn = true;
  };
  expectError(orchestrate(*engine, args, own, kernels(), outside), StatusCode::KernelFailed, {});
  auto byZero = [&](Orchestrator &, const Arguments &given) {
    (void)ceil_div(Index(8), given.scalar<Index>(0));
    wentOn = true;
  };
  expectError(orchestrate(*engine, args, own, kernels(), byZero), StatusCode::KernelFailed,
              {"division of 8 by zero"});
  auto wrong = [&](Orchestrator &rt, const Arguments &given) {
    TaskArgs task("fill1");
    task.add_input(given.tensor(0));
    task.add_scalar(1.0f);
    rt.submit(task);
    wentOn = true;
  };
  expectError(orchestrate(*engine, args, own, kernels(), wrong), StatusCode::KernelFailed,
              {"'fill1'", "'out'", "direction"});
  EXPECT_FALSE(wentOn);
  EXPECT_OK(engine->finish()); // the scope was closed on the way out
}

TEST_F(OrchestrationTest, ChecksItsArgumentsAndKernelsBeforeItStarts) {
  auto engine = makeEngine(registry);
  Tensor x = zeros(DType::F32, {4}), deep = zeros(DType::F32, {4, 4}),
         ints = zeros(DType::I32, {4});
  ScalarBits n = ScalarBits::fromInt(DType::Index, 3), s = ScalarBits::fromDouble(DType::F32, 3);
  bool started = false;
  auto body = [&](Orchestrator &, const Arguments &) { started = true; };
  auto call = [&](std::span<const Tensor> tensors, std::span<const ScalarBits> scalars,
                  const std::vector<Signature> &expected) {
    return orchestrate(*engine, {tensors, scalars}, own, expected, body);
  };
  std::span<const Tensor> good(&x, 1);
  std::span<const ScalarBits> number(&n, 1);
  expectError(call({}, number, {}), StatusCode::InvalidArgument, {"'main'", "1 tensors", "got 0"});
  expectError(call(std::span(&deep, 1), number, {}), StatusCode::InvalidArgument,
              {"'x'", "rank 1"});
  expectError(call(std::span(&ints, 1), number, {}), StatusCode::InvalidArgument, {"'x'", "f32"});
  Tensor null;
  expectError(call(std::span(&null, 1), number, {}), StatusCode::InvalidArgument, {"'x'", "null"});
  expectError(call(good, std::span(&s, 1), {}), StatusCode::InvalidArgument, {"'n'", "index"});

  std::vector<Signature> expected = kernels();
  expected[0].name = "nobody";
  expectError(call(good, number, expected), StatusCode::NotFound, {"'nobody'", "not registered"});
  expected = kernels();
  expected[0].tensors[0].dtype = DType::BF16;
  expectError(call(good, number, expected), StatusCode::InvalidArgument,
              {"'fill1'", "'out'", "bf16"});
  expected = kernels();
  expected[0].tensors[0].extents.push_back(any);
  expectError(call(good, number, expected), StatusCode::InvalidArgument, {"'out'", "f32[?, ?]"});
  expected = kernels();
  expected[0].tensors[0].direction = Direction::In;
  expectError(call(good, number, expected), StatusCode::InvalidArgument,
              {"'out'", "as in", "as out"});
  expected = kernels();
  expected[0].tensors.clear();
  expectError(call(good, number, expected), StatusCode::InvalidArgument, {"'fill1'", "0 tensors"});
  expected = kernels();
  expected[0].scalars[0].type = DType::I32;
  expectError(call(good, number, expected), StatusCode::InvalidArgument, {"'fill1'", "i32", "f32"});
  EXPECT_FALSE(started);
  EXPECT_OK(call(good, number, kernels()));
  EXPECT_TRUE(started);
}

TEST_F(OrchestrationTest, KernelsWithoutASignatureAreNotChecked) {
  KernelRecord record;
  record.name = "anything";
  record.function = [](const kiln_args *, const kiln_blocks *, kiln_context *) { return KILN_OK; };
  take(registry.add(record));
  Signature expected{"anything", "aiv", {input("x", DType::F32, {any, any})}, {}};
  EXPECT_OK(registry.verify(expected));
}
