// Real programs through the JIT on a GPU, or on the emulated one (docs/hopper-backend.md).
#include "JitTestSupport.h"
#include "MatmulProgram.h"
#include "device/cuda/Driver.h"

using namespace kiln;
using namespace kiln::test;

namespace {

/// A copy of a tensor in a GPU's memory.
struct OnGpu {
  OnGpu(const cuda::Driver &driver, cuda::Stream stream, const Tensor &host)
      : driver(driver), stream(stream), host(host) {
    bytes = static_cast<size_t>(host.numElements()) * sizeof(float);
    EXPECT_EQ(driver.allocate(&memory, bytes, stream), 0);
    EXPECT_EQ(driver.copyToDevice(memory, host.data(), bytes, stream), 0);
  }
  ~OnGpu() { driver.free(memory, stream); }
  RawTensor raw() const {
    return RawTensor(reinterpret_cast<void *>(memory), DType::F32, {host.extent(0), host.extent(1)})
        .onGpu(0);
  }
  void copyBack() { EXPECT_EQ(driver.copyToHost(host.data(), memory, bytes, stream), 0); }

  const cuda::Driver &driver;
  cuda::Stream stream;
  Tensor host;
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

} // namespace
