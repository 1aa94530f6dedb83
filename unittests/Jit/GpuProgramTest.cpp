// Real programs through the JIT on a GPU, or on the emulated one (docs/hopper-backend.md).
#include "JitTestSupport.h"
#include "MatmulProgram.h"
#include "device/cuda/Driver.h"
#include "kiln/Dialect/ProgramText.h"
#include "kiln/Jit/Compiler/ProgramSource.h"
#include "kiln/Language/ProgramAccess.h"

#include <optional>
#include <thread>

using namespace kiln;
using namespace kiln::test;

namespace {

/// A copy of a tensor in a GPU's memory: of the GPU that is the current one.
struct OnGpu {
  OnGpu(const cuda::Driver &driver, cuda::Stream stream, const Tensor &host, int gpu = 0)
      : driver(driver), stream(stream), host(host), gpu(gpu) {
    bytes = static_cast<size_t>(host.numElements()) * sizeof(float);
    EXPECT_EQ(driver.allocate(&memory, bytes, stream), 0);
    EXPECT_EQ(driver.copyToDevice(memory, host.data(), bytes, stream), 0);
  }
  ~OnGpu() { driver.free(memory, stream); }
  RawTensor raw() const {
    return RawTensor(reinterpret_cast<void *>(memory), DType::F32, {host.extent(0), host.extent(1)})
        .onGpu(gpu);
  }
  void copyBack() { EXPECT_EQ(driver.copyToHost(host.data(), memory, bytes, stream), 0); }

  const cuda::Driver &driver;
  cuda::Stream stream;
  Tensor host;
  int gpu;
  cuda::DevicePointer memory = 0;
  size_t bytes;
};

TEST(GpuProgram, IsLaunchedOnTheCallersStreamForAllShapesWithOneArtifact) {
  Expected<const cuda::Driver *> driver = cuda::Driver::open();
  if (!driver)
    GTEST_SKIP() << driver.status().message();
  cuda::CurrentGpu current(*take((*driver)->gpu(0)));
  cuda::Stream stream = nullptr;
  ASSERT_EQ((*driver)->streamCreate(&stream, 1), 0);
  TestJit test;
  Program program = matmulProgram(64);
  Compiled matmul = take(test.jit.compile(program, "h200"));
  for (auto [m, n, k] : {std::array{64, 64, 64}, {1, 7, 3}, {130, 65, 96}, {70, 8, 260}}) {
    Tensor a = randomTensor({m, k}, 1), b = randomTensor({k, n}, 2), c = randomTensor({m, n}, 3);
    OnGpu left(**driver, stream, a), right(**driver, stream, b), product(**driver, stream, c);
    EXPECT_OK(matmul.on(stream, left.raw(), right.raw(), product.raw()));
    product.copyBack();
    ASSERT_EQ((*driver)->streamSynchronize(stream), 0);
    EXPECT_TRUE(isProduct(a, b, c)) << m << ", " << n << ", " << k;
  }
  test.expectCounts(1, 1);
  (*driver)->streamDestroy(stream);
}

TEST(GpuProgram, OneBehindTheOtherReadsWhatThatWrote) {
  Expected<const cuda::Driver *> driver = cuda::Driver::open();
  if (!driver)
    GTEST_SKIP() << driver.status().message();
  cuda::CurrentGpu current(*take((*driver)->gpu(0)));
  cuda::Stream stream = nullptr;
  ASSERT_EQ((*driver)->streamCreate(&stream, 1), 0);
  TestJit test;
  Program program = matmulProgram(64, 2);
  Compiled matmul = take(test.jit.compile(program, "h200"));
  // The copy engine reads the first, threads the other. The second launch begins early.
  for (int64_t n : {int64_t(128), int64_t(65)}) {
    Tensor a = randomTensor({n, n}, 1), b = randomTensor({n, n}, 2), once = randomTensor({n, n}, 3),
           twice = randomTensor({n, n}, 4);
    OnGpu left(**driver, stream, a), right(**driver, stream, b), first(**driver, stream, once),
        second(**driver, stream, twice);
    EXPECT_OK(matmul.on(stream, left.raw(), right.raw(), first.raw()));
    EXPECT_OK(matmul.on(stream, first.raw(), right.raw(), second.raw()));
    EXPECT_OK(matmul.on(stream, right.raw(), left.raw(), first.raw())); // over what that one reads
    second.copyBack();
    ASSERT_EQ((*driver)->streamSynchronize(stream), 0);
    for (int64_t i = 0; i < n; ++i) // once = a b
      for (int64_t j = 0; j < n; ++j) {
        float sum = 0;
        for (int64_t k = 0; k < n; ++k)
          sum += a.dataAs<float>()[i * n + k] * b.dataAs<float>()[k * n + j];
        once.dataAs<float>()[i * n + j] = sum;
      }
    EXPECT_TRUE(isProduct(once, b, twice)) << n;
    first.copyBack();
    ASSERT_EQ((*driver)->streamSynchronize(stream), 0);
    EXPECT_TRUE(isProduct(b, a, once)) << n;
  }
  (*driver)->streamDestroy(stream);
}

/// out = (a + 1) + ((a + 1) + 2), by three kernels with two intermediates, one of which lives on.
Program chainProgram() {
  Program p("chain");
  Kernel addScalar =
      p.kernel("add_scalar", {"x", "s", "z"}, [&](In<f32> x, Scalar<f32> s, Out<f32> z) {
        std::vector<Index> here{blockIdx(0) * 32, 0};
        store(load(x, here, {32, 64}) + s, z, here);
      });
  Kernel add = p.kernel("add", {"x", "y", "z"}, [&](In<f32> x, In<f32> y, Out<f32> z) {
    std::vector<Index> here{blockIdx(0) * 32, 0};
    Tile xt = load(x, here, {32, 64}), yt = load(y, here, {32, 64});
    store(xt + yt, z, here);
  });
  p.orchestration("main", {"a", "out"}, [&](In<f32> a, Out<f32> out) {
    SubmitOptions grid{.grid = {ceildiv(a.dim(0), 32)}};
    TensorRef plus1 = alloc<f32>("plus1", {a.dim(0), a.dim(1)});
    TensorRef plus3 = alloc<f32>("plus3", {a.dim(0), a.dim(1)});
    submit(addScalar, {a, 1.0, plus1}, grid);
    submit(addScalar, {plus1, 2.0, plus3}, grid);
    submit(add, {plus1, plus3, out}, grid);
  });
  return p;
}

/// Calls the chain eight times, with two shapes in turns; how often a graph was made and launched.
void callChain(const cuda::Driver &driver, GraphCounts expected) {
  cuda::CurrentGpu current(*take(driver.gpu(0)));
  cuda::Stream stream = nullptr;
  ASSERT_EQ(driver.streamCreate(&stream, 1), 0);
  TestJit test;
  Program program = chainProgram();
  Compiled chain = take(test.jit.compile(program, "h200"));
  for (int round = 0; round < 4; ++round)
    for (int64_t rows : {40, 64}) {
      Tensor a = randomTensor({rows, 64}, unsigned(round + 1)), out = randomTensor({rows, 64}, 9);
      OnGpu in(driver, stream, a), made(driver, stream, out);
      EXPECT_OK(chain.on(stream, in.raw(), made.raw()));
      made.copyBack();
      ASSERT_EQ(driver.streamSynchronize(stream), 0);
      for (int64_t i = 0; i < a.numElements(); ++i)
        ASSERT_EQ(out.dataAs<float>()[i], 2 * a.dataAs<float>()[i] + 4) << rows << ", " << i;
    }
  JitCounters counters = test.jit.counters();
  EXPECT_EQ(counters.graphs, expected.graphs);
  EXPECT_EQ(counters.graphLaunches, expected.launches);
  driver.streamDestroy(stream);
}

TEST(GpuProgram, SeveralKernelsAreAGraphFromTheSecondCallOn) {
  Expected<const cuda::Driver *> driver = cuda::Driver::open();
  if (!driver)
    GTEST_SKIP() << driver.status().message();
  callChain(**driver, {2, 6});
}

TEST(GpuProgram, AVariableSwitchesGraphsOff) {
  Expected<const cuda::Driver *> driver = cuda::Driver::open();
  if (!driver)
    GTEST_SKIP() << driver.status().message();
  setenv("KILN_GRAPHS", "0", 1);
  callChain(**driver, {0, 0});
  setenv("KILN_GRAPHS", "sometimes", 1);
  TestJit test;
  Program program = chainProgram();
  Compiled chain = take(test.jit.compile(program, "h200"));
  RawTensor nowhere = RawTensor(reinterpret_cast<void *>(64), DType::F32, {1, 64}).onGpu(0);
  RawTensor there = RawTensor(reinterpret_cast<void *>(4096), DType::F32, {1, 64}).onGpu(0);
  expectError(chain(nowhere, there), StatusCode::InvalidArgument,
              {"KILN_GRAPHS='sometimes'", "0 or 1"});
  unsetenv("KILN_GRAPHS");
}

/// A stream of a GPU.
struct StreamOf {
  explicit StreamOf(const cuda::Gpu &gpu) : gpu(gpu) {
    cuda::CurrentGpu current(gpu);
    EXPECT_EQ(gpu.driver->streamCreate(&stream, 1), 0);
  }
  ~StreamOf() {
    cuda::CurrentGpu current(gpu);
    gpu.driver->streamDestroy(stream);
  }
  const cuda::Gpu &gpu;
  cuda::Stream stream = nullptr;
};

cuda::Context currentContext(const cuda::Driver &driver) {
  cuda::Context context = nullptr;
  EXPECT_EQ(driver.contextGetCurrent(&context), 0);
  return context;
}

/// Calls the chain on tensors of this GPU while `context` is the current one, which it has to be
/// afterwards too. Null: none.
void callChainOn(const Compiled &chain, const StreamOf &on, cuda::Context context, unsigned seed) {
  const cuda::Driver &driver = *on.gpu.driver;
  cuda::CurrentGpu here(on.gpu);
  Tensor a = randomTensor({40, 64}, seed), out = randomTensor({40, 64}, 9);
  OnGpu in(driver, on.stream, a, on.gpu.number), made(driver, on.stream, out, on.gpu.number);
  std::thread([&] { // which has no context yet
    if (context)
      ASSERT_EQ(driver.contextPush(context), 0);
    EXPECT_OK(chain.on(on.stream, in.raw(), made.raw()));
    EXPECT_EQ(currentContext(driver), context);
  })
      .join();
  made.copyBack();
  ASSERT_EQ(driver.streamSynchronize(on.stream), 0);
  for (int64_t i = 0; i < a.numElements(); ++i)
    ASSERT_EQ(out.dataAs<float>()[i], 2 * a.dataAs<float>()[i] + 4) << on.gpu.number << ", " << i;
}

/// The chain, compiled, and two GPUs with a stream each.
class TwoGpus : public testing::Test {
protected:
  void SetUp() override {
    Expected<const cuda::Driver *> driver = cuda::Driver::open();
    if (!driver)
      GTEST_SKIP() << driver.status().message();
    Expected<const cuda::Gpu *> one = (*driver)->gpu(0), other = (*driver)->gpu(1);
    if (!other)
      GTEST_SKIP() << other.status().message();
    onFirst.emplace(*take(one)), onSecond.emplace(**other);
    Program program = chainProgram();
    chain.emplace(take(test.jit.compile(program, "h200")));
  }
  TestJit test;
  std::optional<StreamOf> onFirst, onSecond;
  std::optional<Compiled> chain;
};

TEST_F(TwoGpus, ProgramsRunWhereTheirTensorsAreAndLeaveContextsAsFound) {
  const cuda::Gpu &first = onFirst->gpu, &second = onSecond->gpu;
  unsigned seed = 0;
  for (int round = 0; round < 3; ++round) // from the second on a graph on each
    for (const StreamOf *on : {&*onFirst, &*onSecond})
      for (cuda::Context context : {cuda::Context(), first.context, second.context})
        callChainOn(*chain, *on, context, ++seed);
  test.expectCounts(1, 1);
  EXPECT_EQ(test.jit.counters().graphs, 2u);

  // Both at the same time.
  std::thread beside([&] {
    for (unsigned i = 0; i < 20; ++i)
      callChainOn(*chain, *onSecond, second.context, 100 + i);
  });
  for (unsigned i = 0; i < 20; ++i)
    callChainOn(*chain, *onFirst, second.context, 200 + i);
  beside.join();
}

TEST_F(TwoGpus, TensorsOfBothAndStreamsOfTheOtherAreRefused) {
  const cuda::Gpu &first = onFirst->gpu, &second = onSecond->gpu;
  const cuda::Driver &driver = *first.driver;
  Tensor a = randomTensor({40, 64}, 1), b = randomTensor({40, 64}, 2);
  cuda::CurrentGpu current(first);
  OnGpu here(driver, onFirst->stream, a), too(driver, onFirst->stream, b);
  {
    cuda::CurrentGpu there(second);
    OnGpu far(driver, onSecond->stream, b, 1);
    expectError(chain->on(onFirst->stream, here.raw(), far.raw()), StatusCode::InvalidArgument,
                {"'out'", "is in the memory of GPU 1", "GPU 0"});
    far.copyBack();
  }
  Status wrong = chain->on(onSecond->stream, here.raw(), too.raw());
  EXPECT_FALSE(wrong.isOk());
  EXPECT_EQ(currentContext(driver), first.context);
  EXPECT_OK(chain->on(onFirst->stream, here.raw(), too.raw()));
  EXPECT_EQ(driver.streamSynchronize(onFirst->stream), 0);
}

/// Two kernels, of which the second runs on while x[0, 0] is greater than 0.
constexpr const char *kEndless = R"(
kiln.func @copy(%x: !kiln.tensor<?x?xf32> in, %y: !kiln.tensor<?x?xf32> out) incore {
  %t = tile.load %x[0, 0] : !tile.tile<8x8xf32>
  tile.store %t, %y[0, 0]
}
kiln.func @wait(%x: !kiln.tensor<?x?xf32> in, %y: !kiln.tensor<?x?xf32> out) incore {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f32
  %last = scf.while (%n = %c0) : (index) -> index {
    %t = tile.load %x[0, 0] : !tile.tile<8x8xf32>
    %first = tile.element %t[0, 0] : f32
    %more = arith.cmpf ogt, %first, %zero : f32
    scf.condition(%more) %n : index
  } do {
  ^bb0(%n: index):
    %t = tile.load %x[0, 0] : !tile.tile<8x8xf32>
    tile.store %t, %y[0, 0]
    %next = arith.xori %n, %c1 : index
    scf.yield %next : index
  }
}
kiln.func @main(%x: !kiln.tensor<?x?xf32> in, %y: !kiln.tensor<?x?xf32> out) orchestration {
  kiln.submit @copy(%x, %y)
  kiln.submit @wait(%x, %y)
})";

TEST(GpuProgram, AGraphThatDoesNotEndEndsTheProcessWithWhatIsKnown) {
  Expected<const cuda::Driver *> driver = cuda::Driver::open();
  if (!driver)
    GTEST_SKIP() << driver.status().message();
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  auto callThrice = [&] {
    setenv("KILN_GPU_TIMEOUT", "1", 1);
    cuda::CurrentGpu current(*take((*driver)->gpu(0)));
    mlir::DialectRegistry registry;
    registerKilnDialects(registry);
    mlir::MLIRContext context(registry);
    mlir::OwningOpRef<mlir::ModuleOp> module = parseProgram(kEndless, "endless.mlir", &context);
    ProgramSourceOptions options;
    options.platform = "h200";
    TestJit test;
    Compiled endless = test.jit.compile(take(makeProgramSource(*module, options)));
    cuda::Stream stream = nullptr;
    EXPECT_EQ((*driver)->streamCreate(&stream, 1), 0);
    for (float first : {-1.0F, -1.0F, 1.0F}) {
      Tensor x = randomTensor({8, 8}, 1), y = randomTensor({8, 8}, 2);
      x.dataAs<float>()[0] = first;
      OnGpu in(**driver, stream, x), out(**driver, stream, y);
      EXPECT_OK(endless.on(stream, in.raw(), out.raw()));
      if (first > 0 && test.jit.counters().graphLaunches == 2)
        std::fprintf(stderr, "the last call is a graph\n");
      EXPECT_EQ((*driver)->streamSynchronize(stream), 0);
    }
  };
  EXPECT_EXIT(callThrice(), testing::ExitedWithCode(1),
              "the last call is a graph\n"
              "kiln: error: a kernel has not ended after 1 s\n"
              "  program '.*': kernel 'wait', grid \\[1, 1, 1\\] by 1 blocks of 128 threads; "
              "x f32\\[8, 8\\], y f32\\[8, 8\\]\n"
              "  1 of its roles run on GPU 0");
}

/// What launches kernels is shared by programs that stand elsewhere, and tells the lines of each.
TEST(GpuProgram, FaultsAreAtTheLinesOfTheProgramThatIsCalled) {
  Expected<const cuda::Driver *> driver = cuda::Driver::open();
  if (!driver)
    GTEST_SKIP() << driver.status().message();
  cuda::CurrentGpu current(*take((*driver)->gpu(0)));
  const std::string text = R"(
kiln.func @clear(%y: !kiln.tensor<?x?xf32> out) incore {
  %zero = arith.constant 0.0 : f32
  %t = tile.full %zero : !tile.tile<8x8xf32>
  tile.store %t, %y[0, 0]
}
kiln.func @main(%n: index, %y: !kiln.tensor<?x?xf32> out) orchestration {
  %c8 = arith.constant 8 : index
  %blocks = arith.divsi %c8, %n : index
  kiln.submit @clear(%y) grid(%blocks)
})";
  TestJit test;
  Tensor y = randomTensor({8, 8}, 1);
  OnGpu there(**driver, nullptr, y);
  for (int32_t above : {0, 3, 0}) {
    mlir::DialectRegistry registry;
    registerKilnDialects(registry);
    mlir::MLIRContext context(registry);
    mlir::OwningOpRef<mlir::ModuleOp> module =
        parseProgram(std::string(size_t(above), '\n') + text, "clear.mlir", &context);
    ASSERT_TRUE(module);
    ProgramSourceOptions options;
    options.platform = "h200";
    Compiled clear = test.jit.compile(take(makeProgramSource(*module, options)));
    Status wrong = clear(0, there.raw());
    EXPECT_TRUE(contains(wrong.message(), "division of 8 by zero")) << wrong.str();
    EXPECT_EQ(wrong.location(), (SourceLoc{"clear.mlir", 9 + above, 13})) << wrong.str();
  }
  EXPECT_EQ(test.jit.counters().compiles, 1u);
}

} // namespace
