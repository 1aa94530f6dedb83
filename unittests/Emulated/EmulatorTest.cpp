// The emulated GPU does what the manual of PTX says, and ends kernels that do what it does not
// allow. The kernels are written over the device library, as emitted ones are.
#include "emulated/Emulator.h"
#include "emulated/Memory.h"

#include "cuda/pipe.cuh"
#include "cuda/staged.cuh"
#include "cuda/wgmma.cuh"

#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <regex>

using namespace kiln;

namespace {

constexpr unsigned kBase = emulated::SharedMemory::kBegin;

std::string launch(void (*kernel)(const void *), unsigned threads = 128, uint64_t seed = 0,
                   const void *args = nullptr, unsigned blocks = 1, unsigned cluster = 1) {
  return emulated::run({kernel, args, blocks, threads, 64 * 1024, seed, cluster});
}

/// A mistake is found whatever the order is.
void expectMistake(void (*kernel)(const void *), const std::string &pattern, unsigned threads = 128,
                   const void *args = nullptr, unsigned cluster = 1) {
  for (uint64_t seed = 0; seed < 4; ++seed) {
    std::string said = launch(kernel, threads, seed, args, cluster, cluster);
    EXPECT_TRUE(std::regex_search(said, std::regex(pattern)))
        << "seed " << seed << " said '" << said << "', and not '" << pattern << "'";
  }
}

//===-- Threads -----------------------------------------------------------------------------===//

TEST(Emulated, ThreadsShuffleAndMeet) {
  static int sums[256];
  std::string said = launch(
      [](const void *) {
        int sum = threadIdx.x % 32;
        for (int distance = 1; distance < 32; distance *= 2)
          sum += shuffleXor(sum, distance);
        __syncthreads();
        sums[threadIdx.x] = sum;
      },
      256);
  EXPECT_EQ(said, "");
  for (int sum : sums)
    EXPECT_EQ(sum, 31 * 32 / 2);
}

TEST(Emulated, BlocksMeetInGlobalMemory) {
  static u64 arrivals;
  static int before, wrong;
  for (uint64_t seed = 0; seed < 4; ++seed) {
    arrivals = 0, before = 0, wrong = 0;
    std::string said = launch(
        [](const void *) {
          GridBarrier all{&arrivals, gridDim.x};
          if (threadIdx.x == 0)
            atomicAdd(&before, 1);
          all.meet(0);
          wrong += before != int(gridDim.x);
        },
        128, seed, nullptr, 3);
    EXPECT_EQ(said, "");
    EXPECT_EQ(wrong, 0);
  }
}

TEST(Emulated, BlocksAreHandedOutOnceToAllLanes) {
  static u64 taken;
  static int done[2][40];
  for (uint64_t seed = 0; seed < 4; ++seed) {
    taken = 0;
    std::fill(&done[0][0], &done[2][0], 0);
    std::string said = launch(
        [](const void *) {
          constexpr i64 blocks = 40;
          Handout<2> handout(kBase, &taken, blocks);
          if (threadIdx.x == 0) {
            handout.init();
            barrier::publishInit();
          }
          __syncthreads();
          if (threadIdx.x >= 2 * kWarpgroup) { // one warp copies, now faster and now slower
            for (unsigned number = handout.first(); number < blocks; number = handout.next())
              if (number % 3 == 0)
                __nanosleep(100);
          } else {
            for (unsigned number; handout.hear(number);)
              if (threadIdx.x % kWarpgroup == 0)
                ++done[threadIdx.x / kWarpgroup][number];
          }
        },
        2 * kWarpgroup + kWarp, seed, nullptr, 3);
    EXPECT_EQ(said, "");
    for (const auto &lane : done)
      for (int times : lane)
        EXPECT_EQ(times, 1);
    EXPECT_EQ(taken, 40u) << "37 beyond the first three, and the end for each";
  }
}

TEST(Emulated, QuotientsByAReciprocalAreThoseOfADivision) {
  std::mt19937 random(1);
  std::uniform_int_distribution<int> exponent(-60, 59);
  std::uniform_real_distribution<float> mantissa(1, 2);
  for (int k = 0; k < 1000000; ++k) {
    float x = std::ldexp(k % 2 ? mantissa(random) : -mantissa(random), exponent(random)),
          y = std::ldexp(k % 3 ? mantissa(random) : -mantissa(random), exponent(random));
    if (k % 7 == 0) // the hardest divisors
      y = std::nextafter(std::ldexp(1.0f, exponent(random)), k % 2 ? 0.0f : 4.0f);
    ASSERT_EQ(Reciprocal::quotient(x, y, 1.0f / y), x / y) << x << " / " << y;
  }
}

TEST(Emulated, AWarpThatHasDivergedIsFound) {
  expectMistake(
      [](const void *) {
        if (threadIdx.x % 32 < 16)
          __syncwarp();
        else
          shuffleXor(1, 1);
      },
      "block 0, thread \\d+ \\(warp [0-3]\\), (__syncwarp|shfl.sync): thread \\d+ is at .* "
      "diverged");
}

TEST(Emulated, WhoWaitsForNobodyIsFound) {
  expectMistake(
      [](const void *) {
        if (threadIdx.x != 5)
          ptx::barSync<128>(3);
      },
      "block 0: nobody can go on: 127 threads from 0 on wait at bar.sync");
}

//===-- Shared memory -------------------------------------------------------------------------===//

TEST(Emulated, WhatNobodyWroteIsNotRead) {
  expectMistake([](const void *) { readShared<float>(kBase + 4 * threadIdx.x); },
                "thread \\d+ .*, ld.shared: nobody has written there");
}

TEST(Emulated, ThereIsNoMoreSharedMemoryThanTheLaunchAskedFor) {
  expectMistake([](const void *) { writeShared<float>(kBase + 64 * 1024, 1); },
                "st.shared: it is outside .* which has 65536 bytes");
  expectMistake([](const void *) { writeShared<float>(kBase + 2, 1); },
                "no multiple of the 4 bytes");
}

TEST(Emulated, WritesThatNothingOrdersAreFound) {
  expectMistake([](const void *) { writeShared<float>(kBase, 1); },
                "st.shared: thread \\d+ wrote there, and nothing orders that before this write");
}

TEST(Emulated, AReadBeforeAWriteHasToBeOrdered) {
  expectMistake(
      [](const void *) {
        writeShared<int>(kBase + 4 * threadIdx.x, 1);
        ptx::barSync<128>(1);
        readShared<int>(kBase + 4 * ((threadIdx.x + 32) % 128));
        writeShared<int>(kBase + 4 * threadIdx.x, 2);
      },
      "nothing orders that before this");
}

TEST(Emulated, ABarrierOrdersWhatThreadsDo) {
  for (uint64_t seed = 0; seed < 4; ++seed)
    EXPECT_EQ(launch(
                  [](const void *) {
                    for (int round = 0; round < 3; ++round) {
                      writeShared<int>(kBase + 4 * threadIdx.x, round);
                      ptx::barSync<128>(1);
                      readShared<int>(kBase + 4 * ((threadIdx.x + 32) % 128));
                      ptx::barSync<128>(1);
                    }
                  },
                  128, seed),
              "");
}

//===-- Barriers and the copy engine ----------------------------------------------------------===//

struct Copied {
  TensorMap map;
  unsigned expected;
};

/// A tensor of 40 x 36 numbers, of which boxes of 16 x `cols` are copied.
Copied copiesOf(const std::vector<unsigned short> &data, uint32_t cols, int swizzle,
                unsigned expected) {
  Copied copied{{}, expected};
  uint64_t extents[] = {36, 40}, strides[] = {80};
  uint32_t box[] = {cols, 16}, steps[] = {1, 1};
  EXPECT_TRUE(emulated::encode(reinterpret_cast<emulated::TensorMapBits &>(copied.map), 1, 2,
                               data.data(), extents, strides, box, steps, 0, swizzle));
  return copied;
}

/// Copies the box at (32, 16), and looks at it as `Shared` says it lies.
template <int cols> void copyAndLook(const void *args) {
  const Copied &copied = *static_cast<const Copied *>(args);
  constexpr SharedAddress barrier = kBase + 32 * 1024;
  if (threadIdx.x == 0) {
    barrier::init(barrier, 1);
    barrier::publishInit();
  }
  __syncthreads();
  if (threadIdx.x == 0) {
    barrier::arriveExpecting(barrier, copied.expected);
    ptx::copyBox(kBase, barrier, copied.map, {32, 16});
  }
  barrier::wait(barrier, 0);
  Shared<unsigned short, 16, cols> tile{kBase};
  for (int k = threadIdx.x; k < 16 * cols; k += 128) {
    int row = 32 + k / cols, col = 16 + k % cols;
    unsigned short wanted = row < 40 && col < 36 ? row * 100 + col : 0;
    if (tile.get(k / cols, k % cols) != wanted)
      ptx::exitThread();
  }
  __syncthreads();
}

std::vector<unsigned short> numbered() {
  std::vector<unsigned short> data(40 * 40 + 8); // rows are 80 bytes apart
  for (int row = 0; row < 40; ++row)
    for (int col = 0; col < 40; ++col)
      data[row * 40 + col] = row * 100 + col;
  return data;
}

TEST(Emulated, TheCopyEngineSwizzlesAndFillsWithZeros) {
  std::vector<unsigned short> data = numbered();
  for (uint64_t seed = 0; seed < 4; ++seed) {
    Copied wide = copiesOf(data, 64, 3, 16 * 128), middle = copiesOf(data, 32, 2, 16 * 64),
           narrow = copiesOf(data, 16, 1, 16 * 32);
    EXPECT_EQ(launch(copyAndLook<64>, 128, seed, &wide), "");
    EXPECT_EQ(launch(copyAndLook<32>, 128, seed, &middle), "");
    EXPECT_EQ(launch(copyAndLook<16>, 128, seed, &narrow), "");
  }
}

/// Writes a box of 16 x 64 numbers to (32, 0) of a tensor of 40 x 36.
template <bool waits> void fillAndStore(const void *args) {
  Shared<unsigned short, 16, 64> tile{kBase};
  for (int k = threadIdx.x; k < 16 * 64; k += 128)
    tile.set(k / 64, k % 64, static_cast<unsigned short>(1 + k));
  publishToAsyncUnits();
  __syncthreads();
  if (threadIdx.x == 0) {
    ptx::storeBox(static_cast<const Copied *>(args)->map, {32, 0}, kBase);
    if (waits)
      ptx::awaitStoredBoxes<0>();
  }
  __syncthreads();
  if (waits)
    tile.set(threadIdx.x / 64, threadIdx.x % 64, 0); // the engine is done with it
}

TEST(Emulated, TheCopyEngineStoresWhatIsInside) {
  for (uint64_t seed = 0; seed < 4; ++seed) {
    std::vector<unsigned short> data(40 * 40 + 8);
    Copied stored = copiesOf(data, 64, 3, 0);
    EXPECT_EQ(launch(fillAndStore<true>, 128, seed, &stored), "");
    for (int row = 0; row < 40; ++row)
      for (int col = 0; col < 40; ++col)
        EXPECT_EQ(data[row * 40 + col], row >= 32 && col < 36 ? 1 + (row - 32) * 64 + col : 0);
  }
  std::vector<unsigned short> data(40 * 40 + 8);
  Copied stored = copiesOf(data, 64, 3, 0);
  expectMistake(fillAndStore<false>, "it has ended while the copy engine reads its memory", 128,
                &stored);
}

TEST(Emulated, BytesAreCounted) {
  std::vector<unsigned short> data = numbered();
  Copied few = copiesOf(data, 64, 3, 16), many = copiesOf(data, 64, 3, 4096);
  expectMistake(copyAndLook<64>, "2032 bytes more than the barrier at 0x8400 expects", 128, &few);
  expectMistake(copyAndLook<64>,
                "128 threads from 0 on wait at mbarrier.try_wait .* 0 arrivals and 2048 bytes have "
                "not come",
                128, &many);
}

TEST(Emulated, WhatACopyWritesIsNotReadBeforeItHasCome) {
  std::vector<unsigned short> data = numbered();
  Copied copied = copiesOf(data, 64, 3, 16 * 128);
  expectMistake(
      [](const void *args) {
        if (threadIdx.x != 0)
          return;
        barrier::init(kBase + 4096, 1);
        barrier::publishInit();
        barrier::arriveExpecting(kBase + 4096, 16 * 128);
        ptx::copyBox(kBase, kBase + 4096, static_cast<const Copied *>(args)->map, {0, 0});
        readShared<float>(kBase);
      },
      "ld.shared: (a copy in flight writes there|the copy engine wrote there, and nothing orders)",
      32, &copied);
}

TEST(Emulated, BarriersArePublishedBeforeTheCopyEngineUsesThem) {
  std::vector<unsigned short> data = numbered();
  Copied copied = copiesOf(data, 64, 3, 16 * 128);
  expectMistake(
      [](const void *args) {
        if (threadIdx.x == 0) {
          barrier::init(kBase + 4096, 1);
          barrier::arriveExpecting(kBase + 4096, 16 * 128);
          ptx::copyBox(kBase, kBase + 4096, static_cast<const Copied *>(args)->map, {0, 0});
        }
      },
      "cp.async.bulk.tensor: the barrier at 0x1400 has not been made visible", 32, &copied);
}

//===-- Clusters ------------------------------------------------------------------------------===//

/// Each of two blocks copies one of two boxes to both, again and again. Whoever has read frees, in
/// both blocks or, which is a mistake, in its own.
template <bool freesBoth> void copyToBoth(const void *args) {
  const Copied &copied = *static_cast<const Copied *>(args);
  constexpr SharedAddress full = kBase + 32 * 1024, empty = full + 8;
  constexpr unsigned bytes = 16 * 128;
  int own = blockIdx.x % 2;
  if (threadIdx.x == 0) {
    barrier::init(full, 1);
    barrier::init(empty, 2 * 32);
    barrier::publishInit();
  }
  ptx::meetCluster();
  for (unsigned round = 0; round < 4; ++round) {
    if (threadIdx.x == 0) {
      barrier::wait(empty, round % 2 ^ 1);
      barrier::arriveExpecting(full, 2 * bytes);
      ptx::copyBoxToAll(kBase + own * bytes, full, copied.map, {32 * own, 0}, 0b11);
    }
    __syncwarp();
    barrier::wait(full, round % 2);
    for (int box = 0; box < 2; ++box)
      if (Shared<unsigned short, 16, 64>{kBase + box * bytes}.get(0, threadIdx.x) !=
          3200 * box + threadIdx.x)
        ptx::exitThread();
    for (int block = 0; block < 2; ++block)
      barrier::arriveIn(freesBoth ? block : own, empty);
  }
  ptx::meetCluster();
}

TEST(Emulated, ACopyComesToEachBlockOfACluster) {
  std::vector<unsigned short> data = numbered();
  Copied copied = copiesOf(data, 64, 3, 0);
  for (uint64_t seed = 0; seed < 8; ++seed)
    EXPECT_EQ(launch(copyToBoth<true>, 32, seed, &copied, 4, 2), "");
  expectMistake(copyToBoth<false>,
                "to a cluster: in block [01]: (a copy in flight writes|.* read what was) there", 32,
                &copied, 2);
}

TEST(Emulated, ABlockIsThereAsLongAsItsClusterUsesIt) {
  expectMistake(
      [](const void *) {
        if (threadIdx.x == 0)
          barrier::init(kBase, 1);
        ptx::meetCluster();
        if (blockIdx.x == 1)
          return;
        for (int k = 0; k < 200; ++k)
          __nanosleep(100);
        if (threadIdx.x == 0)
          barrier::arriveIn(1, kBase);
      },
      "block 0, thread 0 .* in a cluster: block 1 of its cluster has ended", 32, nullptr, 2);
  expectMistake(
      [](const void *) {
        for (int k = 0; k < 200 && blockIdx.x == 1; ++k)
          __nanosleep(100);
        if (threadIdx.x == 0)
          barrier::init(kBase, 1);
        __syncwarp();
        if (blockIdx.x == 0 && threadIdx.x == 0)
          barrier::arriveIn(1, kBase);
        ptx::meetCluster();
      },
      "in block 1: there is no barrier at 0x400", 32, nullptr, 2);
  EXPECT_EQ(launch([](const void *) {}, 32, 0, nullptr, 3, 2), "3 blocks are no clusters of 2");
}

TEST(Emulated, WarpsThatHaveEndedAreNotWaitedForInACluster) {
  static int before, wrong;
  for (uint64_t seed = 0; seed < 4; ++seed) {
    before = wrong = 0;
    std::string said = launch(
        [](const void *) {
          if (threadIdx.x >= 32)
            return;
          ++before;
          ptx::meetCluster();
          wrong += before != 64;
        },
        128, seed, nullptr, 2, 2);
    EXPECT_EQ(said, "");
    EXPECT_EQ(wrong, 0);
  }
}

/// Kernels that have few registers compute elements where they are used.
TEST(Emulated, TilesThatAreComputedLaterCanBeStaged) {
  struct Stored {
    TensorMap map;
    Tensor tensor;
  };
  for (unsigned short flags : {kHasTensorMap, static_cast<unsigned short>(0)}) {
    std::vector<unsigned short> data(size_t{64} * 128);
    Stored stored{{}, {data.data(), {64, 128}, {128, 1}, 2, 2, flags}};
    const uint64_t extents[] = {128, 64}, strides[] = {256};
    const uint32_t box[] = {64, 64}, steps[] = {1, 1};
    ASSERT_TRUE(emulated::encode(reinterpret_cast<emulated::TensorMapBits &>(stored.map), 1, 2,
                                 data.data(), extents, strides, box, steps, 0, 3));
    std::string said = launch(
        [](const void *args) {
          const Stored &stored = *static_cast<const Stored *>(args);
          auto tile = make<Later<Tile<bf16, Fragments::Of<64, 64>>>>(
              [](int, int) { return convert<bf16>(3.0f); });
          storeStaged(tile, window<bf16, 64, 64>(stored.tensor, {0, 64}, 64, 64), stored.tensor,
                      stored.map, {0, 64}, kBase, 0);
          awaitStaged();
        },
        128, 0, &stored);
    EXPECT_EQ(said, "");
    for (int k = 0; k < 64 * 128; ++k)
      EXPECT_EQ(data[k], k % 128 < 64 ? 0 : 0x4040);
  }
}

TEST(Emulated, NobodyArrivesTwice) {
  expectMistake(
      [](const void *) {
        if (threadIdx.x == 0) {
          barrier::init(kBase, 1);
          barrier::arriveExpecting(kBase, 8);
          barrier::arrive(kBase);
        }
      },
      "mbarrier.arrive: all 1 arrivals of this phase of the barrier at 0x400 have come already",
      32);
  expectMistake([](const void *) { barrier::arrive(kBase + 8); }, "there is no barrier at 0x408");
}

TEST(Emulated, TensorMapsAreWhatTheDriverTakes) {
  emulated::TensorMapBits map;
  alignas(16) static char data[4096];
  uint64_t extents[] = {64, 8}, odd[] = {136}, even[] = {144};
  uint32_t box[] = {64, 8}, wide[] = {128, 8}, steps[] = {1, 1};
  EXPECT_TRUE(emulated::encode(map, 1, 2, data, extents, even, box, steps, 0, 3));
  EXPECT_FALSE(emulated::encode(map, 1, 2, data, extents, odd, box, steps, 0, 3));
  EXPECT_FALSE(emulated::encode(map, 1, 2, data + 8, extents, even, box, steps, 0, 3));
  EXPECT_FALSE(emulated::encode(map, 1, 2, data, extents, even, wide, steps, 0, 3));
}

//===-- The matrix unit -----------------------------------------------------------------------===//

template <typename T, int R, int C> using Reg = Tile<T, Fragments::Of<R, C>>;

float leftAt(int row, int k) { return float((row * 7 + k * 3) % 11 - 5); }
float rightAt(int k, int col) { return float((k * 5 + col) % 13 - 6); }
template <typename T> T narrow(float x) { return convert<T>(x); }

static float products[64][256];

/// A product of 64 x K by K x N; either operand may be transposed in shared memory, or the left one
/// in registers.
template <typename T, int N, int K, bool transposeB, bool inRegisters>
void multiplyOnce(const void *) {
  constexpr int rows = transposeB ? N : K, cols = transposeB ? K : N;
  Reg<T, 64, K> left;
  forEach<typename Reg<T, 64, K>::Layout>([&](int i, int j) {
    using L = typename Reg<T, 64, K>::Layout;
    left.at[i][j] = narrow<T>(leftAt(L::row(i), L::col(j)));
  });
  Shared<T, rows, cols> right{kBase + 32 * 1024};
  beginFilling(0);
  for (int k = threadIdx.x; k < rows * cols; k += 128) {
    int row = k / cols, col = k % cols;
    right.set(row, col, narrow<T>(transposeB ? rightAt(col, row) : rightAt(row, col)));
  }
  finishFilling(0);
  auto zero = full<Reg<float, 64, N>>(0.0f);
  Reg<float, 64, N> result;
  if constexpr (inRegisters)
    result = multiply<transposeB>(zero, left, right);
  else
    result = multiply<transposeB>(zero, toShared(left, kBase, 0), right);
  forEach<typename Reg<float, 64, N>::Layout>([&](int i, int j) {
    using L = typename Reg<float, 64, N>::Layout;
    products[L::row(i)][L::col(j)] = result.at[i][j];
  });
}

template <typename T, int N, int K, bool transposeB, bool inRegisters> void expectProduct() {
  std::fill_n(&products[0][0], 64 * 256, -1.0f);
  ASSERT_EQ(launch(multiplyOnce<T, N, K, transposeB, inRegisters>, 128, N + K), "");
  for (int row = 0; row < 64; ++row)
    for (int col = 0; col < N; ++col) {
      float wanted = 0;
      for (int k = 0; k < K; ++k)
        wanted += leftAt(row, k) * rightAt(k, col);
      ASSERT_EQ(products[row][col], wanted) << row << ", " << col << " of N " << N << ", K " << K;
    }
}

TEST(Emulated, TheMatrixUnitFindsItsOperands) {
  expectProduct<bf16, 64, 64, false, false>();
  expectProduct<bf16, 128, 128, false, true>();
  expectProduct<f16, 32, 32, true, false>();
  expectProduct<bf16, 16, 16, true, true>();
  expectProduct<f16, 96, 64, true, false>();
  expectProduct<bf16, 192, 16, false, false>();
  expectProduct<bf16, 32, 32, false, true>();
  expectProduct<f8e4m3, 160, 128, true, false>();
  expectProduct<f8e4m3, 72, 256, true, false>();
  expectProduct<f8e5m2, 24, 32, true, false>();
}

/// 2^8 + 1.5 * 2^-col - 2^8, `apart` columns of K apart.
template <int apart> void addLittle(const void *) {
  Shared<f8e4m3, 64, 128> left{kBase};
  Shared<f8e4m3, 8, 128> right{kBase + 8 * 1024};
  beginFilling(0);
  for (int k = threadIdx.x; k < 64 * 128; k += 128) {
    int row = k / 128, col = k % 128, place = col % apart ? 3 : col / apart;
    float all[] = {16, 1.5, -16, 0}, other[] = {16, ldexpf(1, -row), 16, 0};
    left.set(row, col, narrow<f8e4m3>(all[place < 3 ? place : 3]));
    if (row < 8)
      right.set(row, col, narrow<f8e4m3>(other[place < 3 ? place : 3]));
  }
  finishFilling(0);
  using Sum = Reg<float, 64, 8>;
  Sum sum = multiply<true>(full<Sum>(0.0f), left, right);
  forEach<Sum::Layout>(
      [&](int i, int j) { products[Sum::Layout::row(i)][Sum::Layout::col(j)] = sum.at[i][j]; });
}

// As an H200 did.
TEST(Emulated, SumsOfEightBitsKeepThirteenBitsBelowTheLargest) {
  for (auto kernel : {addLittle<1>, addLittle<32>}) {
    ASSERT_EQ(launch(kernel, 128, 64), "");
    for (int col = 0; col < 5; ++col)
      EXPECT_EQ(products[0][col], ldexpf(1.5, -col));
    EXPECT_EQ(products[0][5], ldexpf(1, -5)); // cut off, not rounded
    EXPECT_EQ(products[0][6], 0);
  }
}

/// What is wrong with a product is told; what is right with it is above.
template <int mistake> void multiplyWrongly(const void *) {
  Shared<bf16, 64, 64> tile{kBase};
  for (int k = threadIdx.x; k < 64 * 64; k += 128)
    tile.set(k / 64, k % 64, narrow<bf16>(1));
  if (mistake != 0)
    publishToAsyncUnits();
  ptx::barSync<128>(1);
  float low[16] = {}, high[16] = {};
  if (mistake != 1)
    ptx::wgmmaFence();
  u64 left = wgmma::alongRows(tile, mistake == 2 ? 4 : 0, 0), right = wgmma::alongCols(tile, 0, 0);
  ptx::Wgmma<64, ptx::Element::Bf16>::run<0, 1>(low, high, left, right, 1, 64);
  if (mistake == 3)
    tile.set(threadIdx.x / 2, 0, narrow<bf16>(2));
  if (mistake != 4)
    ptx::wgmmaCommit();
  products[0][threadIdx.x] = low[0];
  ptx::wgmmaWait();
  products[1][threadIdx.x] = low[0];
}

TEST(Emulated, WhatTheMatrixUnitMayNotBeAskedIsFound) {
  expectMistake(multiplyWrongly<0>, "wgmma.mma_async: thread \\d+ wrote there, without "
                                    "fence.proxy.async since");
  expectMistake(multiplyWrongly<1>, "wgmma.mma_async: no wgmma.fence came before it");
  expectMistake(multiplyWrongly<2>, "in the middle of the pattern of swizzling");
  expectMistake(
      multiplyWrongly<3>,
      "st.shared: (a product or a store in flight reads there|thread \\d+ read what was there)|"
      "wrote there, and nothing orders that before the product");
  expectMistake(multiplyWrongly<4>, "wgmma.wait_group: a product was not committed");
}

TEST(Emulated, AccumulatorsAreNotThereBeforeTheyAreWaitedFor) {
  ASSERT_EQ(launch(multiplyWrongly<-1>), "");
  for (int thread = 0; thread < 128; ++thread) {
    EXPECT_TRUE(std::isnan(products[0][thread]));
    EXPECT_EQ(products[1][thread], 16);
  }
}

//===-- Numbers, global memory ----------------------------------------------------------------===//

TEST(Emulated, NarrowFloatsAreRoundedToTheNearest) {
  auto e4m3 = [](float x) { return ptx::e4m3PairFromF32(x) & 0xff; };
  auto e5m2 = [](float x) { return ptx::e5m2PairFromF32(x) & 0xff; };
  for (unsigned code = 0; code < 256; ++code) {
    unsigned short twice = code * 0x0101;
    if ((code & 0x7f) != 0x7f)
      EXPECT_EQ(e4m3(ptx::f32FromF16(ptx::f16PairFromE4m3(twice))), code);
    if ((code & 0x7f) < 0x7c)
      EXPECT_EQ(e5m2(ptx::f32FromF16(ptx::f16PairFromE5m2(twice))), code);
  }
  for (unsigned code = 0; code < 65536; ++code)
    if ((code & 0x7fff) <= 0x7c00)
      ASSERT_EQ(ptx::f16FromF32(ptx::f32FromF16(code)), code);
  EXPECT_EQ(ptx::f16FromF32(65519), 0x7bff); // less than halfway to the next
  EXPECT_EQ(ptx::f16FromF32(-65520), 0xfc00);
  EXPECT_EQ(ptx::f16FromF32(0x1.8p-25f), 1);
  EXPECT_EQ(e4m3(17), 0x58);    // between 16 and 18: the even one
  EXPECT_EQ(e4m3(19), 0x5a);    // between 18 and 20
  EXPECT_EQ(e4m3(1000), 0x7e);  // saturates
  EXPECT_EQ(e4m3(0x1p-10f), 0); // half of the least
  EXPECT_EQ(e4m3(-0x1.8p-9f), 0x82);
  EXPECT_EQ(e5m2(INFINITY), 0x7b);
  EXPECT_EQ(e5m2(NAN) & 0x7f, 0x7f);
  EXPECT_EQ(ptx::bf16FromF32(1.00390625f), 0x3f80); // between 1 and 1.0078125
}

TEST(EmulatedDeath, MemoryOfOthersIsNotTouched) {
  static float *tensor;
  EXPECT_DEATH(
      {
        emulated::Memory memory;
        tensor = reinterpret_cast<float *>(memory.allocate(128 * sizeof(float), true, 0));
        launch([](const void *) { tensor[threadIdx.x + 1] = 1; });
      },
      "block 0, thread 127 \\(warp 3\\) accesses memory at 0x[0-9a-f]+ that it does not have");
}

} // namespace
