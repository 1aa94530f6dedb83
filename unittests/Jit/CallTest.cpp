#include "Allocations.h"
#include "CBackend.h"
#include "CallPath.h"
#include "JitC.h"
#include "kiln/Jit/jit_c.h"

#include <sys/mman.h>
#include <thread>

using namespace kiln;
using namespace kiln::test;

namespace {

struct Matmul : testing::Test {
  std::shared_ptr<CBackend> backend = std::make_shared<CBackend>(matmulKernel());
  TestJit test;
  Compiled f = test.jit.compile(backend);

  void expectCounts(uint64_t compiles, uint64_t callStates, int line = __builtin_LINE()) {
    test.expectCounts(compiles, callStates, line);
    EXPECT_EQ(uint64_t(backend->compiles), compiles) << "line " << line;
  }
};

TEST_F(Matmul, OneArtifactForAllShapes) {
  for (int64_t m : {1, 7, 2048, 4096, 8192}) {
    Operands o(m);
    EXPECT_OK(f(o.a, o.b, o.c));
    EXPECT_TRUE(o.isRight()) << m;
  }
  expectCounts(1, 1);
  EXPECT_EQ(backend->lastFacts[0].str(), "f32 rank 2 leading 1 offsets32")
      << "the compiler saw no shape";
}

TEST_F(Matmul, AllFormsShareOneCallState) {
  for (int64_t m : {1, 7, 64, 200}) {
    Operands o(m);
    EXPECT_OK(f(RawTensor(o.a.data(), DType::F32, {m, 64}),
                RawTensor(o.b.data(), DType::F32, {64, 32}),
                RawTensor(o.c.data(), DType::F32, {m, 32})));
    EXPECT_TRUE(o.isRight()) << m;
  }
  Operands o(33);
  int64_t numbers[3][2][2];
  DLTensor a = dlOf(o.a, numbers[0][0], numbers[0][1]), b = dlOf(o.b, numbers[1][0], numbers[1][1]),
           c = dlOf(o.c, numbers[2][0], numbers[2][1]);
  EXPECT_OK(f(&a, &b, &c));
  EXPECT_TRUE(o.isRight());
  Operands p(34);
  EXPECT_OK(f(TensorAdaptor(p.a), TensorAdaptor(p.b).mark_layout_dynamic(), p.c));
  EXPECT_TRUE(p.isRight());
  expectCounts(1, 1);
}

TEST_F(Matmul, StaticMarkCompilesOncePerExtent) {
  for (int round = 0; round < 2; ++round)
    for (int64_t m : {8, 16, 24}) {
      Operands o(m);
      EXPECT_OK(f(o.a, o.b, TensorAdaptor(o.c).mark_static({0})));
      EXPECT_TRUE(o.isRight()) << m;
    }
  expectCounts(3, 3);
  EXPECT_EQ(backend->lastFacts[2].extents[0], 24) << "the compiler may use it";
  EXPECT_EQ(backend->lastFacts[2].extents[1], std::nullopt);
}

TEST_F(Matmul, MarkingAgainReplaces) {
  Operands o(8), p(9);
  TensorAdaptor c(o.c);
  EXPECT_OK(f(o.a, o.b, c.mark_static()));
  EXPECT_OK(f(o.a, o.b, c.mark_layout_dynamic()));
  expectCounts(2, 2);
  EXPECT_OK(f(p.a, p.b, TensorAdaptor(p.c).mark_static({0}).mark_layout_dynamic()));
  EXPECT_OK(f(p.a, p.b, p.c));
  EXPECT_TRUE(o.isRight() && p.isRight());
  expectCounts(2, 2);
}

TEST_F(Matmul, ThinAndTransposedTensors) {
  // (n, 1) and (1, n), with whatever a producer wrote for the stride that means nothing.
  for (int64_t odd : {1, 5, 777}) {
    Operands o(16, 64, 1), p(1, 64, 16);
    auto thin = [&](const Tensor &t, Dims strides) {
      return RawTensor(t.data(), DType::F32, t.extents(), strides);
    };
    EXPECT_OK(f(o.a, thin(o.b, {1, odd}), thin(o.c, {1, odd})));
    EXPECT_TRUE(o.isRight());
    EXPECT_OK(f(thin(p.a, {odd, 1}), p.b, thin(p.c, {odd, 1})));
    EXPECT_TRUE(p.isRight());
  }
  uint64_t known = test.jit.counters().compiles;

  Operands columns(16, 64, 32);
  columns.a = take(randomTensor({64, 16}, 3).transpose({1, 0}));
  columns.b = take(randomTensor({32, 64}, 4).transpose({1, 0}));
  columns.c = take(take(Tensor::empty(DType::F32, {32, 16})).transpose({1, 0}));
  EXPECT_OK(columns.c.fillPoison());
  EXPECT_OK(f(columns.a, columns.b, columns.c));
  EXPECT_TRUE(columns.isRight());
  EXPECT_EQ(backend->lastFacts[0].leadingDim, 0);
  expectCounts(known + 1, known + 1);

  Tensor wide = randomTensor({16, 256}, 5); // every second column: no unit stride at all
  Operands strided(16, 64, 32);
  strided.a = take(Tensor::view(wide.data(), DType::F32, {16, 64}, {256, 2}));
  EXPECT_OK(f(strided.a, strided.b, strided.c));
  EXPECT_TRUE(strided.isRight());
  EXPECT_EQ(backend->lastFacts[0].leadingDim, -1);
}

TEST_F(Matmul, OneArtifactWhateverTheAlignment) {
  Operands o(8);
  EXPECT_OK(f(o.a, o.b, o.c));
  Tensor wide = randomTensor({8, 65}, 5); // rows of 260 bytes
  Operands p(8), q(7, 5, 3);
  p.a = take(wide.slice({0, 1}, {8, 64}));
  EXPECT_OK(f(p.a, p.b, p.c));
  EXPECT_OK(f(q.a, q.b, q.c));
  EXPECT_TRUE(o.isRight() && p.isRight() && q.isRight());
  expectCounts(1, 1);
}

TEST_F(Matmul, RefusalsSayWhatAndWhich) {
  Operands o(8);
  auto bad = StatusCode::InvalidArgument;
  expectError(f(o.a, o.b), bad, {"'matmul' takes 3 arguments (a, b, c)", "2 were given"});
  expectError(f(o.a, 3, o.c), bad, {"'b'", "a number was given"});
  expectError(f(o.a, o.b, Tensor()), bad, {"'c'", "null"});
  expectError(f(take(o.a.reshape({512})), o.b, o.c), bad, {"'a'", "f32[?, ?]", "rank 1"});
  expectError(f(take(o.a.castTo(DType::I32)), o.b, o.c), bad, {"'a'", "f32[?, ?]", "i32"});
  expectError(f(o.a, o.b, o.c.asReadOnly()), bad, {"'c'", "read-only"});
  expectError(f(o.a, o.b, RawTensor(o.c.data(), DType::F32, {8, 32}, {0, 1})), bad,
              {"'c'", "zero stride"});
  expectError(f(o.a, o.b, RawTensor(o.c.data(), DType::F32, {8, 31}, {16, 1})), bad,
              {"'c'", "overlap each other"});
  expectError(f(RawTensor(nullptr, DType::F32, {8, 64}), o.b, o.c), bad, {"'a'", "null data"});
  expectError(f(RawTensor(o.a.data(), DType::F32, {8, -64}), o.b, o.c), bad,
              {"'a'", "negative", "[8, -64]"});
  expectError(f(o.a, TensorAdaptor(o.b).mark_static({2}), o.c), bad, {"'b'", "rank 2"});
  expectCounts(0, 0);
  EXPECT_OK(f(o.a, o.b, o.c)); // and it still works
  // Checked although the state is known by now.
  expectError(f(o.a, o.b, o.c.asReadOnly()), bad, {"'c'", "read-only"});
}

TEST_F(Matmul, OutputsWithoutElementsMayHaveZeroStrides) {
  Operands o(8);
  EXPECT_OK(f(RawTensor(o.a.data(), DType::F32, {0, 64}, {0, 0}), o.b,
              RawTensor(o.c.data(), DType::F32, {0, 32}, {0, 0})));
}

TEST(Call, ExtentsOfTheProgramAreCheckedOnEachCall) {
  CKernel kernel = matmulKernel();
  kernel.signature.tensors[1].extents = {64, dynamicExtent};
  TestJit test;
  Compiled f = test.jit.compile(std::make_shared<CBackend>(kernel));
  Operands good(8), wrong(8, 48);
  EXPECT_OK(f(good.a, good.b, good.c));
  expectError(f(wrong.a, wrong.b, wrong.c), StatusCode::InvalidArgument,
              {"'b'", "f32[64, ?]", "axis 0 has 64", "[48, 32]"});
}

TEST(Call, SmallThenLargerThanFourGigabytes) {
  auto backend = std::make_shared<CBackend>(pokeKernel());
  TestJit test;
  Compiled poke = test.jit.compile(backend);
  Tensor small = take(Tensor::empty(DType::F32, {4, 8}));
  EXPECT_OK(poke(small, 3, 7, 1.5));
  EXPECT_EQ(small.dataAs<float>()[31], 1.5f);
  EXPECT_TRUE(backend->lastFacts[0].use32bit);

  constexpr int64_t rows = int64_t(5 << 10) + 1, columns = int64_t(1) << 18; // over 5 GiB
  size_t bytes = size_t(rows) * columns * sizeof(float);
  void *memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED)
    GTEST_SKIP() << "5 GiB of address space cannot be mapped here";
  RawTensor large(memory, DType::F32, {rows, columns});
  EXPECT_OK(poke(large, rows - 1, columns - 1, 2.5));
  EXPECT_OK(poke(large, rows / 2, 3, 3.5));
  auto *data = static_cast<float *>(memory);
  EXPECT_EQ(data[rows * columns - 1], 2.5f);
  EXPECT_EQ(data[rows / 2 * columns + 3], 3.5f);
  EXPECT_FALSE(backend->lastFacts[0].use32bit);
  EXPECT_OK(poke(small, 0, 0, 4.5));
  EXPECT_EQ(small.dataAs<float>()[0], 4.5f);
  EXPECT_EQ(test.jit.counters().compiles, 2u);
  munmap(memory, bytes);
}

/// What a code generator does not read makes no other artifact, whatever the call marks.
TEST(Call, OnlyDeclaredFactsMakeArtifacts) {
  for (bool readsStatic : {true, false}) {
    auto backend = std::make_shared<CBackend>(matmulKernel());
    backend->declared = {Fact::Leading};
    if (readsStatic)
      backend->declared = backend->declared.with(Fact::Static);
    TestJit test;
    Compiled f = test.jit.compile(backend);
    for (int64_t rows : {3, 4, 5}) {
      Operands o(rows);
      EXPECT_OK(f(TensorAdaptor(o.a).mark_static(), o.b, o.c));
      EXPECT_TRUE(o.isRight());
      EXPECT_EQ(backend->lastFacts[0].extents[0].has_value(), readsStatic);
      EXPECT_FALSE(backend->lastFacts[0].use32bit) << "which is not declared";
    }
    test.expectCounts(readsStatic ? 3 : 1, 3);
  }
}

TEST(Call, ScalarsMustFitTheirType) {
  CKernel kernel = pokeKernel();
  kernel.signature.scalars = {{"i", DType::I8}, {"j", DType::I1}, {"value", DType::F32}};
  TestJit test;
  Compiled poke = test.jit.compile(std::make_shared<CBackend>(kernel));
  Tensor x = take(Tensor::empty(DType::F32, {128, 8}));
  auto bad = StatusCode::InvalidArgument;
  EXPECT_OK(poke(x, 127, true, 1)); // an integer is a real number too
  EXPECT_EQ(x.dataAs<float>()[127 * 8 + 1], 1.0f);
  expectError(poke(x, 128, 0, 1.0), bad, {"'i'", "i8", "128 does not fit"});
  expectError(poke(x, -129, 0, 1.0), bad, {"'i'", "-129"});
  expectError(poke(x, 0, 2, 1.0), bad, {"'j'", "i1", "2"});
  expectError(poke(x, 0.5, 0, 1.0), bad, {"'i'", "real number"});
  expectError(poke(x, 0, 0, x), bad, {"'value'", "f32", "tensor"});
}

TEST(Call, ParametersInTheOrderOfTheProgram) {
  auto backend = std::make_shared<CBackend>(pokeKernel());
  backend->Order = {{false, 0}, {true, 0}, {false, 1}, {false, 2}};
  TestJit test;
  Compiled poke = test.jit.compile(backend);
  Tensor x = take(Tensor::empty(DType::F32, {4, 8}));
  EXPECT_OK(poke(2, x, 5, 6.5)); // i, x, j, value
  EXPECT_EQ(x.dataAs<float>()[2 * 8 + 5], 6.5f);
  expectError(poke(2, x, 5), StatusCode::InvalidArgument, {"(i, x, j, value)"});
}

TEST(Call, OutputsThatOverlap) {
  CKernel kernel = matmulKernel();
  kernel.signature.tensors[1].direction = Direction::InOut;
  Tensor memory = take(Tensor::empty(DType::F32, {64, 64}));
  EXPECT_OK(memory.fillZero());
  Tensor left = take(memory.slice({0, 0}, {64, 32})), right = take(memory.slice({0, 32}, {64, 32})),
         middle = take(memory.slice({0, 16}, {64, 32})), a = randomTensor({64, 64}, 1);
  for (bool check : {false, true}) {
    TestJit test("", check);
    Compiled f = test.jit.compile(std::make_shared<CBackend>(kernel));
    expectError(f(a, left, middle), StatusCode::InvalidArgument, {"'c'", "overlaps 'b'"});
    EXPECT_OK(f(a, left, right)); // their address ranges meet, their elements do not
    expectError(f(a, left, middle), StatusCode::InvalidArgument, {"'c'", "overlaps 'b'"});
  }
}

TEST(Call, OutputsThatOverlapInputs) {
  Tensor memory = take(Tensor::empty(DType::F32, {64, 64}));
  EXPECT_OK(memory.fillZero());
  Tensor left = take(memory.slice({0, 0}, {64, 32})), right = take(memory.slice({0, 32}, {64, 32})),
         middle = take(memory.slice({0, 16}, {64, 32})), a = randomTensor({64, 64}, 1);
  for (bool check : {false, true}) {
    TestJit test("", check);
    Compiled f = test.jit.compile(std::make_shared<CBackend>(matmulKernel()));
    expectError(f(a, left, middle), StatusCode::InvalidArgument,
                {"'c'", "overlaps 'b'", "which is read", "inout"});
    expectError(f(a, left, left), StatusCode::InvalidArgument, {"'c'", "overlaps 'b'"});
    EXPECT_OK(f(a, left, right)); // their address ranges meet, their elements do not
    EXPECT_OK(f(left, take(memory.slice({0, 0}, {32, 32})), right)); // inputs may overlap
    for (const Tensor &bad : {left, middle}) // although the state is known by now
      expectError(f(a, left, bad), StatusCode::InvalidArgument, {"'c'", "overlaps 'b'"});
  }
}

TEST(Call, OutputsThatOverlapInputsAfterAGoodCall) {
  TestJit test;
  Compiled f = test.jit.compile(std::make_shared<CBackend>(matmulKernel()));
  Tensor a = randomTensor({64, 64}, 1), b = randomTensor({64, 32}, 2);
  constexpr size_t size = size_t(64) * 32;
  std::vector<float> memory(3 * size);
  auto at = [&](size_t first) { return RawTensor(memory.data() + first, DType::F32, {64, 32}); };
  EXPECT_OK(f(a, at(0), at(size)));
  EXPECT_OK(f(a, at(size), at(0)));
  for (size_t distance : {size_t(0), size_t(1), size - 1}) {
    expectError(f(a, at(distance), at(0)), StatusCode::InvalidArgument, {"'c'", "overlaps 'b'"});
    expectError(f(a, at(0), at(distance)), StatusCode::InvalidArgument, {"'c'", "overlaps 'b'"});
  }
  // What has no elements overlaps nothing.
  RawTensor none(memory.data() + 5, DType::F32, {0, 64}),
      empty(memory.data() + 9, DType::F32, {0, 32});
  EXPECT_OK(f(none, at(0), empty));
}

TEST(CallStates, StatesAreToldApartByAllTheirWords) {
  // Far more than there are buckets, most of them alike but for a bit.
  CallStates states;
  std::vector<const CallState *> added;
  for (uint64_t i = 0; i < 2000; ++i) {
    auto state = std::make_unique<CallState>();
    state->words = {1, i >> 6, i & 63};
    state->words.resize(2 + i % 2);
    bool isNew = false;
    const CallState *found = states.add(std::move(state), isNew);
    bool isRepeated = i % 2 == 0 && i & 63;
    EXPECT_EQ(isNew, !isRepeated) << i;
    added.push_back(found);
  }
  for (const CallState *state : added)
    EXPECT_EQ(states.find(state->words), state);
  EXPECT_EQ(states.find(std::vector<uint64_t>{1, 1u << 20}), nullptr);
  EXPECT_EQ(states.find(std::vector<uint64_t>{1}), nullptr);
}

TEST(Call, ABadArgumentThatDoesNotSayWhy) {
  TestJit test;
  kiln_compiled compiled{test.jit.compile(std::make_shared<CBackend>(pokeKernel()))};
  kiln_call_arg args[4] = {};
  args[0].kind = KILN_ARG_BAD; // with a null `problem`
  EXPECT_EQ(kiln_compiled_call(&compiled, args, 4), int(StatusCode::InvalidArgument));
  EXPECT_TRUE(contains(kiln_jit_error(), "'x' could not be read")) << kiln_jit_error();
}

/// Wherever code comes from, its arguments are checked by its signature: index takes i64, and what
/// is written is not read-only.
TEST(Call, NativeProgramsCheckArgumentsByTheirSignature) {
  struct Nothing final : CodeImage {
    void *find(const std::string &) const override {
      return reinterpret_cast<void *>(
          +[](const kiln_args *, const kiln_blocks *, kiln_context *) { return int32_t(KILN_OK); });
    }
  };
  NativeInfo info;
  info.entry = {"k", "kiln.k", 0,
                Signature{"k",
                          "cpu",
                          {TensorParam::dynamic("y", DType::F32, 1, Direction::Out)},
                          {{"n", DType::Index}}}};
  info.parameters = {{true, 0}, {false, 0}};
  auto program = take(NativeProgram::load(std::make_shared<Nothing>(), info));
  Tensor y = take(Tensor::empty(DType::F32, {4}));
  std::vector<ScalarBits> wide{ScalarBits::fromInt(DType::I64, 3)};
  EXPECT_OK(program->run({&y, 1}, wide));
  EXPECT_OK(program->runRecorded({&y, 1}, wide, {}));
  Tensor constant = y.asReadOnly();
  for (const Status &bad :
       {program->run({&constant, 1}, wide), program->runRecorded({&constant, 1}, wide, {})})
    expectError(bad, StatusCode::InvalidArgument, {"'y'", "read-only"});
}

TEST(Call, CheckIsAskedForByTheEnvironment) {
  for (auto [value, isOn] : {std::pair{"1", true}, {"0", false}, {"", false}}) {
    setenv("KILN_CHECK", value, 1);
    EXPECT_EQ(JitOptions().check, isOn) << value;
    EXPECT_OK(JitOptions().environment);
  }
  setenv("KILN_CHECK", "yes", 1);
  expectError(JitOptions().environment, StatusCode::InvalidArgument,
              {"KILN_CHECK='yes'", "0 or 1"});
  unsetenv("KILN_CHECK");
  EXPECT_FALSE(JitOptions().check);
}

TEST(Call, FailingKernels) {
  CKernel kernel = matmulKernel();
  kernel.body = R"(
    const kiln_source where = {"user.cpp", 12, 9};
    ctx->report(ctx, "the sky fell", &where);
    return KILN_FAIL;)";
  TestJit test;
  Operands o(4);
  Status failed = test.jit.compile(std::make_shared<CBackend>(kernel))(o.a, o.b, o.c);
  expectError(failed, StatusCode::KernelFailed, {"'matmul' failed", "the sky fell"});
  EXPECT_EQ(failed.location().str(), "user.cpp:12:9");
  kernel.body = "return KILN_FAIL_ARG(1);";
  expectError(test.jit.compile(std::make_shared<CBackend>(kernel, "other"))(o.a, o.b, o.c),
              StatusCode::KernelFailed, {"argument 'b'"});
}

TEST(Call, ScratchIsAlignedAndAsLargeAsDeclared) {
  CKernel kernel = matmulKernel();
  kernel.workspaceBytes = 100001;
  kernel.body = R"(
    if ((uintptr_t)ctx->scratch % 64 || ctx->scratch_bytes < 100001) return KILN_FAIL;
    for (int i = 0; i < 100001; ++i) ((volatile char *)ctx->scratch)[i] = 1;)";
  TestJit test;
  Operands o(4);
  EXPECT_OK(test.jit.compile(std::make_shared<CBackend>(kernel))(o.a, o.b, o.c));
}

TEST_F(Matmul, FailureToCompileIsNotRemembered) {
  Operands o(8);
  backend->fails = true;
  expectError(f(o.a, o.b, o.c), StatusCode::Unsupported, {"cannot be compiled"});
  backend->fails = false;
  EXPECT_OK(f(o.a, o.b, o.c));
  EXPECT_TRUE(o.isRight());
}

TEST_F(Matmul, CompileOnlyRunsNothing) {
  Operands o(8);
  EXPECT_OK(o.c.fillZero());
  EXPECT_OK(f.compile_only(o.a, o.b, o.c));
  expectCounts(1, 1);
  EXPECT_EQ(o.c.dataAs<float>()[5], 0.0f);
  EXPECT_OK(f(o.a, o.b, o.c));
  expectCounts(1, 1);
}

TEST_F(Matmul, LaterCallsAllocateNothing) {
  if (!countsAllocations)
    GTEST_SKIP() << "allocations cannot be counted under this sanitizer";
  Operands o(2);
  TensorAdaptor marked = TensorAdaptor(o.c).mark_static();
  int64_t numbers[2][2];
  DLTensor b = dlOf(o.b, numbers[0], numbers[1]);
  auto callAll = [&] {
    bool good = f(o.a, o.b, o.c).isOk();
    good &= f(o.a, &b, marked).isOk();
    good &= f(RawTensor(o.a.data(), DType::F32, {2, 64}), o.b, o.c).isOk();
    return good;
  };
  ASSERT_TRUE(callAll());
  uint64_t before = allocations;
  for (int i = 0; i < 100; ++i)
    ASSERT_TRUE(callAll());
  EXPECT_EQ(allocations, before);
}

TEST_F(Matmul, ManyThreadsCompileOnce) {
  constexpr int numThreads = 8;
  std::atomic<int> wrong{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < numThreads; ++t)
    threads.emplace_back([&, t] {
      for (int round = 0; round < 20; ++round) {
        Operands o(1 + (t + round) % 5);
        TensorAdaptor c(o.c);
        if (round % 2)
          c.mark_static({1});
        wrong += !f(o.a, o.b, c).isOk() || !o.isRight();
      }
    });
  for (std::thread &thread : threads)
    thread.join();
  EXPECT_EQ(wrong, 0);
  expectCounts(2, 2);
}

TEST_F(Matmul, TwoProgramsOfOneJitShareNothingButTheCache) {
  Operands o(8);
  EXPECT_OK(f(o.a, o.b, o.c));
  EXPECT_OK(test.jit.compile(backend)(o.a, o.b, o.c));
  expectCounts(1, 2);
  EXPECT_EQ(test.jit.counters().memoryHits, 1u);
  auto other = std::make_shared<CBackend>(matmulKernel(), "program other\n");
  EXPECT_OK(test.jit.compile(other)(o.a, o.b, o.c));
  EXPECT_EQ(other->compiles, 1) << "another identity is another key";
}

} // namespace
