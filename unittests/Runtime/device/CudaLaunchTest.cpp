// Launches through a driver that only writes down what it was asked: argument blocks, tensor maps
// and grids need no GPU to be right.
#include "device/cuda/Launch.h"
#include "kiln/runtime/cuda_program.h"

#include <gtest/gtest.h>

#include <cstring>

using namespace kiln;
using namespace kiln::cuda;

namespace {

struct Recorded {
  int launches = 0, maps = 0;
  unsigned blocks = 0, threads = 0, shared = 0;
  uint64_t extents[5] = {}, strides[5] = {};
  uint32_t box[5] = {}, rank = 0;
  int swizzle = -1;
  std::vector<std::byte> arguments;
  size_t bytes = 0;
  size_t allocated = 0, cleared = 0; ///< Of memory that a launch has for itself.
  int freed = 0;
};
Recorded recorded;

const Gpu &fakeGpu() {
  static Driver driver{};
  static const Gpu gpu{&driver, 0, nullptr, 132};
  driver.launchKernel = [](Function, unsigned x, unsigned, unsigned, unsigned threads, unsigned,
                           unsigned, unsigned shared, Stream, void **parameters, void **) {
    ++recorded.launches;
    recorded.blocks = x, recorded.threads = threads, recorded.shared = shared;
    auto *block = static_cast<const std::byte *>(parameters[0]);
    recorded.arguments.assign(block, block + recorded.bytes);
    return 0;
  };
  driver.encodeTensorMap = [](TensorMap *map, int, uint32_t rank, void *, const uint64_t *extents,
                              const uint64_t *strides, const uint32_t *box, const uint32_t *, int,
                              int swizzle, int, int) {
    ++recorded.maps;
    recorded.rank = rank, recorded.swizzle = swizzle;
    std::copy_n(extents, rank, recorded.extents);
    std::copy_n(strides, rank - 1, recorded.strides);
    std::copy_n(box, rank, recorded.box);
    map->opaque[0] = 42;
    return 0;
  };
  driver.allocate = [](DevicePointer *memory, size_t bytes, Stream) {
    recorded.allocated = bytes;
    *memory = 0x5000;
    return 0;
  };
  driver.fillBytes = [](DevicePointer memory, unsigned char value, size_t bytes, Stream) {
    recorded.cleared = memory == 0x5000 && value == 0 ? bytes : 0;
    return 0;
  };
  driver.free = [](DevicePointer memory, Stream) {
    recorded.freed += memory == 0x5000 && recorded.launches == 1;
    return 0;
  };
  return gpu;
}

LoadedKernel kernelWithMap() {
  LoadedKernel kernel;
  kernel.description = {"k", "kiln_k", "kernels/k.cubin", 384, 1000, 2, 1, {{1, 128, 64}}};
  kernel.blocksPerMultiprocessor = 2;
  return kernel;
}

kiln_tensor bf16Tensor(uintptr_t address, int64_t rows, int64_t cols, int64_t rowStride,
                       int64_t colStride = 1) {
  return {reinterpret_cast<void *>(address),
          {rows, cols, 1, 1, 1},
          {rowStride, colStride, 0, 0, 0},
          KILN_BF16,
          2,
          0};
}

/// The descriptor of the tensor with the map, as the kernel finds it.
kiln_tensor launchWith(const kiln_tensor &tensor) {
  recorded = {};
  LoadedKernel kernel = kernelWithMap();
  recorded.bytes = argumentBytes(kernel.description);
  const kiln_tensor tensors[] = {bf16Tensor(4096, 8, 8, 8), tensor};
  const uint64_t scalars[] = {7};
  const int64_t grid[] = {3, 5, 1};
  EXPECT_TRUE(launchKernel(fakeGpu(), kernel, tensors, scalars, grid, {}).isOk());
  kiln_tensor found;
  std::memcpy(&found, recorded.arguments.data() + 128 + 96, sizeof found);
  return found;
}

TEST(CudaLaunch, ArgumentBlockIsLaidOutAsDescribed) {
  kiln_tensor found = launchWith(bf16Tensor(1 << 20, 300, 200, 208));
  EXPECT_EQ(recorded.blocks, 15u);
  EXPECT_EQ(recorded.threads, 384u);
  EXPECT_EQ(recorded.shared, 1000u);
  EXPECT_EQ(recorded.bytes, 128u + 2 * 96 + 8 + 24);
  uint64_t words[4];
  std::memcpy(words, &recorded.arguments[128 + 2 * 96], sizeof words);
  EXPECT_EQ(words[0], 7u);
  EXPECT_EQ(words[1], 3u);
  EXPECT_EQ(words[2], 5u);
  EXPECT_EQ(words[3], 1u);
  EXPECT_EQ(found.extents[0], 300);
  EXPECT_TRUE(found.flags & cudaHasTensorMap);
}

TEST(CudaLaunch, TensorMapHasTheExtentsAndStridesOfTheCall) {
  launchWith(bf16Tensor(1 << 20, 300, 200, 208));
  EXPECT_EQ(recorded.rank, 2u);
  EXPECT_EQ(recorded.extents[0], 200u); // the innermost first
  EXPECT_EQ(recorded.extents[1], 300u);
  EXPECT_EQ(recorded.strides[0], 416u); // bytes
  EXPECT_EQ(recorded.box[0], 64u);
  EXPECT_EQ(recorded.box[1], 128u);
  EXPECT_EQ(recorded.swizzle, kSwizzle128);
}

TEST(CudaLaunch, TensorsTheEngineCannotReadHaveNoMap) {
  EXPECT_FALSE(launchWith(bf16Tensor((1 << 20) + 2, 300, 200, 208)).flags & cudaHasTensorMap);
  EXPECT_FALSE(launchWith(bf16Tensor(1 << 20, 300, 200, 201)).flags & cudaHasTensorMap);
  EXPECT_FALSE(launchWith(bf16Tensor(1 << 20, 300, 200, 1, 304)).flags & cudaHasTensorMap);
  EXPECT_FALSE(launchWith(bf16Tensor(1 << 20, 300, 200, 0)).flags & cudaHasTensorMap);
  EXPECT_FALSE(launchWith(bf16Tensor(1 << 20, 0, 200, 208)).flags & cudaHasTensorMap);
  EXPECT_FALSE(launchWith(bf16Tensor(1 << 20, int64_t(1) << 31, 8, 8)).flags & cudaHasTensorMap);
  EXPECT_EQ(recorded.maps, 0);
  // The stride of a single row means nothing.
  EXPECT_TRUE(launchWith(bf16Tensor(1 << 20, 1, 200, 201)).flags & cudaHasTensorMap);
}

TEST(CudaLaunch, GridsAreWalkedByAsManyBlocksAsRunAtOnce) {
  LoadedKernel kernel = kernelWithMap();
  const kiln_tensor tensors[] = {bf16Tensor(4096, 8, 8, 8), bf16Tensor(8192, 8, 8, 8)};
  const uint64_t scalars[] = {7};
  auto launch = [&](int64_t x, int64_t y, int64_t z) {
    recorded = {};
    const int64_t grid[] = {x, y, z};
    return launchKernel(fakeGpu(), kernel, tensors, scalars, grid, {});
  };
  EXPECT_TRUE(launch(1000, 1000, 1).isOk());
  EXPECT_EQ(recorded.blocks, 264u);
  EXPECT_TRUE(launch(5, 0, 1).isOk()); // nothing runs
  EXPECT_EQ(recorded.launches, 0);
  EXPECT_EQ(launch(5, -1, 1).code(), StatusCode::InvalidArgument);
  EXPECT_EQ(launch(int64_t(1) << 40, int64_t(1) << 40, 1).code(), StatusCode::InvalidArgument);
  EXPECT_EQ(recorded.launches, 0);
}

TEST(CudaLaunch, BlocksThatMeetAllRunAtOnceAndCountInAWordOfTheirOwn) {
  LoadedKernel kernel = kernelWithMap();
  kernel.description.hasBarrier = true;
  const kiln_tensor tensors[] = {bf16Tensor(4096, 8, 8, 8), bf16Tensor(8192, 8, 8, 8)};
  const uint64_t scalars[] = {7};
  auto launch = [&](int64_t blocks) {
    recorded = {};
    recorded.bytes = argumentBytes(kernel.description);
    const int64_t grid[] = {blocks, 1, 1};
    return launchKernel(fakeGpu(), kernel, tensors, scalars, grid, {});
  };
  EXPECT_TRUE(launch(264).isOk());
  EXPECT_EQ(recorded.bytes, 128u + 2 * 96 + 8 + 24 + 8);
  uint64_t arrivals;
  std::memcpy(&arrivals, recorded.arguments.data() + recorded.bytes - 8, sizeof arrivals);
  EXPECT_EQ(arrivals, 0x5000u);
  EXPECT_EQ(recorded.allocated, 8u);
  EXPECT_EQ(recorded.cleared, 8u);
  EXPECT_EQ(recorded.freed, 1);
  Status tooMany = launch(265);
  EXPECT_NE(tooMany.message().find("all 265 must run at once; this GPU runs 264"),
            std::string::npos);
  EXPECT_EQ(recorded.launches, 0);
}

TEST(CudaLaunch, AWrongNumberOfArgumentsIsAnError) {
  const kiln_tensor one[] = {bf16Tensor(4096, 8, 8, 8)};
  const uint64_t scalars[] = {7};
  const int64_t grid[] = {1, 1, 1};
  recorded = {};
  Status status = launchKernel(fakeGpu(), kernelWithMap(), one, scalars, grid, {});
  EXPECT_NE(status.message().find("'k' takes 2 tensors and 1 numbers"), std::string::npos);
  EXPECT_EQ(recorded.launches, 0);
}

TEST(CudaLaunch, BlocksThatAreHandedOutCountUnlessEachIsStarted) {
  LoadedKernel kernel = kernelWithMap();
  kernel.description.handsOutBlocks = true;
  const kiln_tensor tensors[] = {bf16Tensor(4096, 8, 8, 8), bf16Tensor(8192, 8, 8, 8)};
  const uint64_t scalars[] = {7};
  auto wordOf = [&](int64_t blocks) {
    recorded = {};
    recorded.bytes = argumentBytes(kernel.description);
    const int64_t grid[] = {blocks, 1, 1};
    EXPECT_TRUE(launchKernel(fakeGpu(), kernel, tensors, scalars, grid, {}).isOk());
    uint64_t word;
    std::memcpy(&word, recorded.arguments.data() + recorded.bytes - 8, sizeof word);
    return word;
  };
  EXPECT_EQ(wordOf(265), 0x5000u);
  EXPECT_EQ(recorded.blocks, 264u);
  EXPECT_EQ(recorded.cleared, 8u);
  EXPECT_EQ(wordOf(264), 0u);
  EXPECT_EQ(recorded.allocated, 0u);
  const int64_t tooMany[] = {int64_t(1) << 31, 1, 1};
  auto isRefused = [&] {
    return launchKernel(fakeGpu(), kernel, tensors, scalars, tooMany, {})
               .message()
               .find("32 bits") != std::string::npos;
  };
  EXPECT_TRUE(isRefused());
  kernel.description.handsOutBlocks = false;
  kernel.description.tableBytes = 1024; // a part of a persistent kernel
  EXPECT_TRUE(isRefused());
}

TEST(CudaLaunch, BlocksThatRunInPairsAreStartedInPairs) {
  LoadedKernel kernel = kernelWithMap();
  kernel.description.pairsBlocks = true;
  auto started = [&](int64_t blocks) {
    const int64_t grid[] = {blocks, 1, 1};
    Expected<unsigned> count = blocksToStart(fakeGpu(), kernel, grid);
    return count ? *count : ~0u;
  };
  EXPECT_EQ(started(0), 0u);
  EXPECT_EQ(started(1), 2u); // the other one has nothing to do
  EXPECT_EQ(started(2), 2u);
  EXPECT_EQ(started(7), 8u);
  EXPECT_EQ(started(1000), 264u);
  Gpu odd = fakeGpu(); // of one multiprocessor none would be left over
  odd.multiprocessors = 131;
  kernel.blocksPerMultiprocessor = 1;
  const int64_t grid[] = {1000, 1, 1};
  EXPECT_EQ(*blocksToStart(odd, kernel, grid), 130u);
}

TEST(CudaKernels, DescriptionComesBackFromJson) {
  std::vector<CudaKernel> kernels = {kernelWithMap().description};
  kernels.front().isChecked = kernels.front().handsOutBlocks = kernels.front().pairsBlocks = true;
  Expected<std::vector<CudaKernel>> read = parseCudaKernels(toJson(kernels));
  ASSERT_TRUE(read);
  ASSERT_EQ(read->size(), 1u);
  EXPECT_EQ(toJson(*read), toJson(kernels));
  EXPECT_EQ(read->front().maps, kernels.front().maps);
  EXPECT_TRUE(read->front().isChecked);
  EXPECT_TRUE(read->front().handsOutBlocks);
  EXPECT_TRUE(read->front().pairsBlocks);
}

TEST(CudaKernels, BadDescriptionsAreErrors) {
  for (
      const char *text :
      {"", "{}", "[3]", "[{}]", R"([{"name":"k"}])",
       R"([{"name":"k","symbol":"s","file":"f","threads":-1,"shared_bytes":0,"tensors":0,"scalars":0,"maps":[],"persistent":true,"barrier":false,"hands_out":false,"pairs":false,"checked":false}])",
       R"([{"name":"k","symbol":"s","file":"f","threads":1,"shared_bytes":0,"tensors":0,"scalars":0,"maps":{},"persistent":true,"barrier":false,"hands_out":false,"pairs":false,"checked":false}])",
       R"([{"name":"k","symbol":"s","file":"f","threads":1,"shared_bytes":0,"tensors":0,"scalars":0,"maps":[7],"persistent":true,"barrier":false,"hands_out":false,"pairs":false,"checked":false}])",
       R"([{"name":"k","symbol":"s","file":"f","threads":1,"shared_bytes":0,"tensors":0,"scalars":0,"maps":[]}])"})
    EXPECT_FALSE(parseCudaKernels(text)) << text;
}

TEST(CudaKernels, KernelsMustBeThoseTheProgramLaunches) {
  NativeInfo info;
  info.kind = NativeInfo::Kind::Kernel;
  Signature signature{"k", "mix", {}, {{"n", DType::Index}}};
  for (const char *name : {"a", "b"})
    signature.tensors.push_back(TensorParam::dynamic(name, DType::BF16, 2, Direction::In));
  info.entry = {"k", "k", 0, signature};
  CudaKernel good = kernelWithMap().description;
  EXPECT_TRUE(verifyCudaKernels({good}, info).isOk());
  EXPECT_FALSE(verifyCudaKernels({}, info).isOk());
  auto isRefused = [&](auto change) {
    CudaKernel kernel = good;
    change(kernel);
    return !verifyCudaKernels({kernel}, info).isOk();
  };
  EXPECT_TRUE(isRefused([](CudaKernel &k) { k.name = "other"; }));
  EXPECT_TRUE(isRefused([](CudaKernel &k) { k.numTensors = 3; }));
  EXPECT_TRUE(isRefused([](CudaKernel &k) { k.numScalars = 0; }));
  EXPECT_TRUE(isRefused([](CudaKernel &k) { k.threads = 0; }));
  EXPECT_TRUE(isRefused([](CudaKernel &k) { k.sharedBytes = 1 << 20; }));
  EXPECT_TRUE(isRefused([](CudaKernel &k) { k.maps[0].tensor = 2; }));
  EXPECT_TRUE(isRefused([](CudaKernel &k) { k.maps[0].rows = 0; }));
}

} // namespace
