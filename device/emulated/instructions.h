//===- instructions.h - CUDA C++ and the instructions of Hopper, on the host -----------------===//
//
// Stands for device/cuda/instructions.cuh: with it the device library and what is emitted over it
// compile as C++ for the host. The words of the language are here; what threads have in common is
// in the emulator (Emulator.h), which this calls. Only one thread of a launch runs at a time, so
// what it is lies in plain variables.
//
//===----------------------------------------------------------------------------===//
#pragma once

#include <stdint.h>

//===-- Words -----------------------------------------------------------------------------===//

#define __device__
#define __host__
#define __global__
#define __grid_constant__
#define __forceinline__ inline __attribute__((always_inline))
#define __launch_bounds__(...)
#define __cluster_dims__(...)
#define __align__(bytes) __attribute__((aligned(bytes)))
// A block is a thread of the host.
#define __shared__ thread_local

struct alignas(8) uint2 {
  unsigned x, y;
};
struct alignas(16) uint4 {
  unsigned x, y, z, w;
};
inline uint4 make_uint4(unsigned x, unsigned y, unsigned z, unsigned w) { return {x, y, z, w}; }

// Mathematics comes without a header, as in CUDA; those of C++ take longer to read than a kernel.
extern "C" {
float fabsf(float) noexcept, floorf(float) noexcept, ceilf(float) noexcept, truncf(float) noexcept;
float rintf(float) noexcept, sqrtf(float) noexcept, cbrtf(float) noexcept, erff(float) noexcept;
float expf(float) noexcept, exp2f(float) noexcept, expm1f(float) noexcept, logf(float) noexcept;
float log1pf(float) noexcept, tanhf(float) noexcept, fmodf(float, float) noexcept;
float powf(float, float) noexcept, fmaf(float, float, float) noexcept;
float frexpf(float, int *) noexcept, ldexpf(float, int) noexcept;
double ldexp(double, int) noexcept, rint(double) noexcept;
}

namespace kiln::emulated {

struct Index {
  unsigned x, y, z;
};
/// Of the thread that runs.
extern Index thread, block, threads, blocks;

unsigned offsetInShared(const void *pointer);
void load(unsigned from, void *to, unsigned bytes);
void store(unsigned to, const void *from, unsigned bytes);
uint64_t shuffle(uint64_t value, unsigned from);
void syncWarp(const char *instruction);
void barSync(int number, int count);
void barArrive(int number, int count);
void syncThreads();
void exitThread();
uint64_t now();
void sleep();
void awaitPrerequisites();
/// Something that others may wait for has changed.
void noteChange();

void mbarrierInit(unsigned barrier, int arrivals);
void mbarrierExpect(unsigned barrier, unsigned bytes);
void mbarrierArrive(unsigned barrier, unsigned bytes, const char *instruction);
bool mbarrierTryWait(unsigned barrier, unsigned parity, bool mayGiveUp);
void mbarrierArriveIn(unsigned block, unsigned barrier);
void meetCluster();
void fenceMbarrierInit();
void fenceProxyAsync();
/// To this block, or to each of its cluster that `blocks` has a bit for.
void copyBox(unsigned to, unsigned barrier, const void *map, const int *at, int rank);
void copyBoxToAll(unsigned to, unsigned barrier, const void *map, const int *at, int rank,
                  unsigned blocks);
void storeBox(const void *map, const int *at, int rank, unsigned from);
void awaitStoredBoxes(unsigned pending);

enum class Element { F16, Bf16, E4m3, E5m2 };

/// 16 rows of this warp, `columns` columns: what one instruction of the matrix unit adds to them.
struct Product {
  float *low, *high;
  int columns;
  Element element; ///< Of both operands.
  bool accumulates;
  const unsigned *leftRegisters; ///< Or null: `left` describes it.
  uint64_t left, right;
  bool transposesLeft, transposesRight;
  int rows = 64; ///< Of the left operand that count; the others are not looked at, and make NaN.
};
void wgmma(const Product &product);
void wgmmaFence();
void wgmmaCommit();
void wgmmaWait(unsigned pending);

/// A kernel has one parameter, its argument block.
template <typename Args> void call(void (*kernel)(Args), const void *args) {
  kernel(*static_cast<const Args *>(args));
}
template <typename Args> constexpr uint64_t bytesOfArguments(void (*)(Args)) {
  return sizeof(Args);
}

} // namespace kiln::emulated

/// What the driver finds of a kernel in a module.
#define KILN_EMULATED_KERNEL(kernel, symbol, cluster)                                              \
  extern "C" void emulated_##symbol(const void *args) { kiln::emulated::call(kernel, args); }      \
  extern "C" const uint64_t emulated_cluster_##symbol = cluster;                                   \
  extern "C" const uint64_t emulated_bytes_##symbol = kiln::emulated::bytesOfArguments(kernel);

static auto &threadIdx = kiln::emulated::thread;
static auto &blockIdx = kiln::emulated::block;
static auto &blockDim = kiln::emulated::threads;
static auto &gridDim = kiln::emulated::blocks;

inline float __uint_as_float(unsigned bits) { return __builtin_bit_cast(float, bits); }
inline float __int_as_float(int bits) { return __builtin_bit_cast(float, bits); }
inline unsigned __float_as_uint(float x) { return __builtin_bit_cast(unsigned, x); }
inline unsigned __funnelshift_l(unsigned low, unsigned high, unsigned count) {
  return unsigned(((uint64_t(high) << 32 | low) << (count & 31)) >> 32);
}
inline unsigned __cvta_generic_to_shared(const void *pointer) {
  return kiln::emulated::offsetInShared(pointer);
}

inline void __syncthreads() { kiln::emulated::syncThreads(); }
inline void __syncwarp() { kiln::emulated::syncWarp("__syncwarp"); }
inline void __threadfence() {}
inline void __threadfence_system() {}
inline void __nanosleep(unsigned) { kiln::emulated::sleep(); }

template <typename T> T __shfl_sync(unsigned, T value, int from) {
  uint64_t bits = 0;
  __builtin_memcpy(&bits, &value, sizeof value);
  bits = kiln::emulated::shuffle(bits, from);
  __builtin_memcpy(&value, &bits, sizeof value);
  return value;
}
template <typename T> T __shfl_xor_sync(unsigned mask, T value, int distance) {
  return __shfl_sync(mask, value, int(threadIdx.x % 32) ^ distance);
}

inline int __all_sync(unsigned mask, int value) {
  int all = value != 0;
  for (int distance = 1; distance < 32; distance *= 2)
    all &= __shfl_xor_sync(mask, all, distance);
  return all;
}

template <typename T> T atomicAdd(T *to, T value) {
  T old = *to;
  *to = old + value;
  kiln::emulated::noteChange();
  return old;
}
template <typename T> T atomicCAS(T *to, T expected, T value) {
  T old = *to;
  *to = old == expected ? value : old;
  kiln::emulated::noteChange();
  return old;
}
template <typename T> T atomicCAS_system(T *to, T expected, T value) {
  return atomicCAS(to, expected, value);
}

//===-- Instructions ------------------------------------------------------------------------===//

namespace kiln {

using SharedAddress = unsigned;

struct alignas(64) TensorMap {
  unsigned long long opaque[16];
};

namespace ptx {

/// A number with so many bits of exponent and mantissa, rounded to the nearest, of two the even
/// one. What is too large becomes `greatest`.
inline unsigned narrowed(float x, int exponentBits, int mantissaBits, unsigned greatest,
                         unsigned nan) {
  unsigned sign = __builtin_signbit(x) ? 1u << (exponentBits + mantissaBits) : 0;
  if (x != x)
    return nan;
  int bias = (1 << (exponentBits - 1)) - 1, exponent = 0;
  float size = fabsf(x);
  frexpf(size, &exponent);
  int least = 1 - bias, power = size == 0 || exponent - 1 < least ? least : exponent - 1;
  if (size > 0x1.fffffep127f || power > bias + 1)
    return sign | greatest;
  // In units of the last place, exactly; a carry runs into the exponent.
  auto units = unsigned(rint(ldexp(double(size), mantissaBits - power)));
  unsigned bits = units + (unsigned(power - least) << mantissaBits);
  return sign | (bits > greatest ? greatest : bits);
}

inline unsigned short f16FromF32(float x) {
  return static_cast<unsigned short>(narrowed(x, 5, 10, 0x7c00, 0x7fff));
}
inline float f32FromF16(unsigned short bits) {
  unsigned mantissa = bits & 0x3ff, exponent = bits >> 10 & 31;
  float size = exponent == 0    ? ldexpf(float(mantissa), -24)
               : exponent == 31 ? __builtin_bit_cast(float, 0x7f800000u | mantissa << 13)
                                : ldexpf(float(1024 + mantissa), int(exponent) - 25);
  return bits & 0x8000 ? -size : size;
}
inline unsigned short bf16FromF32(float x) {
  unsigned bits = __builtin_bit_cast(unsigned, x);
  return x != x ? 0x7fff : static_cast<unsigned short>((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}
inline unsigned short e4m3PairFromF32(float x) {
  return static_cast<unsigned short>(narrowed(x, 4, 3, 0x7e, 0x7f) * 0x0101u);
}
inline unsigned short e5m2PairFromF32(float x) {
  return static_cast<unsigned short>(narrowed(x, 5, 2, 0x7b, 0x7f) * 0x0101u);
}
inline unsigned pack(unsigned short low, unsigned short high) { return low | unsigned(high) << 16; }
inline void unpack(unsigned pair, unsigned short &low, unsigned short &high) {
  low = static_cast<unsigned short>(pair), high = static_cast<unsigned short>(pair >> 16);
}
inline unsigned short f16FromE4m3(unsigned char x) {
  unsigned mantissa = x & 7, exponent = x >> 3 & 15;
  float size =
      exponent == 0 ? ldexpf(float(mantissa), -9) : ldexpf(float(8 + mantissa), int(exponent) - 10);
  return (x & 0x7f) == 0x7f ? 0x7fff : f16FromF32(x & 0x80 ? -size : size);
}
inline unsigned f16PairFromE4m3(unsigned short pair) {
  return pack(f16FromE4m3(static_cast<unsigned char>(pair)),
              f16FromE4m3(static_cast<unsigned char>(pair >> 8)));
}
/// These are the upper halves of f16.
inline unsigned f16PairFromE5m2(unsigned short pair) {
  return pack(static_cast<unsigned short>(pair << 8), static_cast<unsigned short>(pair & 0xff00));
}
inline unsigned bf16PairFromF32(float low, float high) {
  return pack(bf16FromF32(low), bf16FromF32(high));
}
inline unsigned f16PairFromF32(float low, float high) {
  return pack(f16FromF32(low), f16FromF32(high));
}
inline long long s64FromF32(float x) {
  if (!(x >= -0x1p63f))
    return INT64_MIN; // NaN, too
  return x >= 0x1p63f ? INT64_MAX : static_cast<long long>(x);
}
inline float maxNan(float a, float b) {
  return a != a || b != b ? __builtin_nanf("") : __builtin_fmaxf(a, b);
}
inline float minNan(float a, float b) {
  return a != a || b != b ? __builtin_nanf("") : __builtin_fminf(a, b);
}
inline float exp2Approx(float x) {
  float result = exp2f(fabsf(x) < 0x1p-126f ? 0.0f : x);
  return result < 0x1p-126f ? 0.0f : result;
}

inline void forgetValue(int &) {}
inline void forgetValue(unsigned &) {}
inline void forgetValue(long long &) {}
inline void forgetValues(long long &, long long &) {}
inline void look(const void *) {}
inline void look(long long) {}
inline void pin(float &) {}
inline void pin(unsigned &) {}
inline void pin(long long &) {}

inline uint4 loadStreaming(const uint4 *from) { return *from; }
inline void storeStreaming(uint4 *to, uint4 value) { *to = value; }

inline void addOneReleasing(unsigned long long *to) { atomicAdd(to, 1ull); }
inline unsigned long long loadAcquiring(const unsigned long long *from) { return *from; }

template <int threads> void barSync(int number) { emulated::barSync(number, threads); }
template <int threads> void barArrive(int number) { emulated::barArrive(number, threads); }
template <int threads> void assumeThreads() {}
inline void exitThread() { emulated::exitThread(); }
inline unsigned long long globalTimer() { return emulated::now(); }
template <int count> void decreaseRegisters() { emulated::syncWarp("setmaxnreg.dec"); }
template <int count> void increaseRegisters() { emulated::syncWarp("setmaxnreg.inc"); }

inline void mbarrierInit(SharedAddress barrier, int arrivals) {
  emulated::mbarrierInit(barrier, arrivals);
}
inline void launchDependents() {}
inline void awaitPrerequisites() { emulated::awaitPrerequisites(); }

inline void mbarrierExpect(SharedAddress barrier, unsigned bytes) {
  emulated::mbarrierExpect(barrier, bytes);
}
inline void mbarrierArrive(SharedAddress barrier) {
  emulated::mbarrierArrive(barrier, 0, "mbarrier.arrive");
}
inline void mbarrierArrive(SharedAddress barrier, int times) {
  for (int k = 0; k < times; ++k)
    emulated::mbarrierArrive(barrier, 0, "mbarrier.arrive");
}
inline void mbarrierArriveExpecting(SharedAddress barrier, unsigned bytes) {
  emulated::mbarrierArrive(barrier, bytes, "mbarrier.arrive.expect_tx");
}
inline bool mbarrierTryWait(SharedAddress barrier, unsigned parity) {
  return emulated::mbarrierTryWait(barrier, parity, true);
}
inline void mbarrierWait(SharedAddress barrier, unsigned parity) {
  emulated::mbarrierTryWait(barrier, parity, false);
}

inline void mbarrierArriveIn(unsigned block, SharedAddress barrier) {
  emulated::mbarrierArriveIn(block, barrier);
}
inline void meetCluster() { emulated::meetCluster(); }

inline void fenceMbarrierInit() { emulated::fenceMbarrierInit(); }
inline void fenceProxyAsync() { emulated::fenceProxyAsync(); }
inline void fenceProxyAsyncShared() { emulated::fenceProxyAsync(); }

template <typename T> void loadShared(SharedAddress from, T &to) {
  emulated::load(from, &to, sizeof to);
}
template <typename T> void storeShared(SharedAddress to, const T &value) {
  emulated::store(to, &value, sizeof value);
}

inline void prefetchMap(const TensorMap &) {}

enum class Kept { Long, Briefly }; // there are no caches
template <int rank>
void copyBox(SharedAddress to, SharedAddress barrier, const TensorMap &map, const int (&at)[rank],
             Kept = Kept::Long) {
  emulated::copyBox(to, barrier, &map, at, rank);
}

template <int rank>
void copyBoxToAll(SharedAddress to, SharedAddress barrier, const TensorMap &map,
                  const int (&at)[rank], unsigned short blocks) {
  emulated::copyBoxToAll(to, barrier, &map, at, rank, blocks);
}

template <int rank> void storeBox(const TensorMap &map, const int (&at)[rank], SharedAddress from) {
  emulated::storeBox(&map, at, rank, from);
}
template <int pending> void awaitStoredBoxes() { emulated::awaitStoredBoxes(pending); }
inline void awaitWrittenBoxes() { emulated::awaitStoredBoxes(0); }

/// Each thread writes what it has of each matrix.
inline void storeMatrices(SharedAddress row, const unsigned (&words)[4]) {
  unsigned lane = emulated::thread.x % 32;
  for (unsigned matrix = 0; matrix < 4; ++matrix) {
    auto at = static_cast<unsigned>(emulated::shuffle(row, 8 * matrix + lane / 4));
    emulated::store(at + 4 * (lane % 4), &words[matrix], 4);
  }
}

using emulated::Element;
template <int N, Element element> struct Wgmma {
  template <int transposeA, int transposeB>
  static void run(float *low, float *high, unsigned long long a, unsigned long long b,
                  int accumulate, int rows) {
    emulated::wgmma({low, high, N, element, accumulate != 0, nullptr, a, b, transposeA != 0,
                     transposeB != 0, rows});
  }
  template <int transposeB>
  static void run(float *low, float *high, const unsigned (&a)[4], unsigned long long b,
                  int accumulate) {
    emulated::wgmma({low, high, N, element, accumulate != 0, a, 0, b, false, transposeB != 0});
  }
};
inline void wgmmaFence() { emulated::wgmmaFence(); }
inline void wgmmaCommit() { emulated::wgmmaCommit(); }
template <int pending = 0> void wgmmaWait() { emulated::wgmmaWait(pending); }

} // namespace ptx
} // namespace kiln
