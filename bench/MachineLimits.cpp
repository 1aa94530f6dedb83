#include "MachineLimits.h"

#include "abi/TileRegisters.h"

#include <atomic>
#include <cstring>
#include <functional>
#include <thread>
#ifdef __SSE2__
#include <immintrin.h>
#endif

using namespace kiln::bench;

namespace {

/// One thread beside the caller's, which waits for work: starting one would take longer than some
/// of what is measured.
class SecondThread {
public:
  SecondThread() : Thread([this] { serve(); }) {}
  ~SecondThread() {
    Work = nullptr;
    hand();
    Thread.join();
  }
  void both(const std::function<void(int)> &work) {
    Work = &work;
    hand();
    work(0);
    for (unsigned given = Given.load(); Done.load(std::memory_order_acquire) != given;) {
    }
  }

private:
  void hand() {
    Given.fetch_add(1, std::memory_order_release);
    Given.notify_one();
  }
  void serve() {
    for (unsigned seen = 0;; Done.store(seen, std::memory_order_release)) {
      Given.wait(seen, std::memory_order_acquire);
      ++seen;
      if (!Work)
        return;
      (*Work)(1);
    }
  }

  std::atomic<unsigned> Given{0}, Done{0};
  const std::function<void(int)> *Work = nullptr;
  std::thread Thread;
};

void onBoth(const std::function<void(int)> &work) {
  static SecondThread second;
  second.both(work);
}

/// Halves of whole lines.
struct Half {
  int64_t from, count;
};
Half halfOf(int64_t count, int part) {
  int64_t middle = count / 128 * 64;
  return part == 0 ? Half{0, middle} : Half{middle, count - middle};
}

[[maybe_unused]] void keep(const void *value) { asm volatile("" : : "r"(value) : "memory"); }

} // namespace

void kiln::bench::copyFloats(Copy how, const float *from, float *to, int64_t count) {
  onBoth([&](int part) {
    auto [first, number] = halfOf(count, part);
    const float *source = from + first;
    float *target = to + first;
#ifdef __SSE2__
    if (how != Copy::Memcpy) {
      for (int64_t i = 0; i < number; i += 16) {
        if (how == Copy::NonTemporalFetchingAhead)
          _mm_prefetch(reinterpret_cast<const char *>(source + i) + 1024, _MM_HINT_NTA);
        for (int64_t j = i; j < i + 16; j += 4)
          _mm_stream_ps(target + j, _mm_loadu_ps(source + j));
      }
      _mm_sfence();
      return;
    }
#endif
    std::memcpy(target, source, static_cast<size_t>(number) * sizeof(float));
  });
}

void kiln::bench::readBytes(Read how, const void *from, int64_t bytes) {
  onBoth([&](int part) {
    auto [first, count] = halfOf(bytes, part);
    const char *start = static_cast<const char *>(from) + first;
    [[maybe_unused]] int64_t places = how == Read::FourPlaces      ? 4
                                      : how == Read::SixteenPlaces ? 16
                                                                   : 1,
                             each = count / places / 64 * 64;
#ifdef __SSE2__
    __m128i sum = _mm_setzero_si128();
    for (int64_t i = 0; i < each; i += 64)
      for (int64_t place = 0; place < places; ++place) {
        const char *line = start + place * each + i;
        if (how == Read::FetchingAhead || how == Read::FourPlaces)
          _mm_prefetch(line + 2048, _MM_HINT_NTA);
        for (int j = 0; j < 64; j += 16)
          sum = _mm_xor_si128(sum, _mm_loadu_si128(reinterpret_cast<const __m128i *>(line + j)));
      }
    keep(&sum);
#else
    uint64_t sum = 0;
    for (int64_t i = 0; i + 8 <= count; i += 8) {
      uint64_t word;
      std::memcpy(&word, start + i, 8);
      sum ^= word;
    }
    keep(&sum);
#endif
  });
}

#ifdef __x86_64__
constexpr int64_t kRounds = 1000000, kSums = 12;

__attribute__((target("avx512f"))) static void multiplyFloats() {
  __m512 sums[kSums], x = _mm512_set1_ps(1.0F);
  for (auto &sum : sums)
    sum = x;
  for (int64_t i = 0; i < kRounds; ++i) {
    asm volatile("" : "+v"(x));
    for (auto &sum : sums)
      sum = _mm512_fmadd_ps(x, x, sum);
  }
  for (auto &sum : sums)
    keep(&sum);
}

__attribute__((target("avx512f,avx512bf16"))) static void multiplyPairs() {
  __m512 sums[kSums];
  __m512i x = _mm512_set1_epi32(0x3f803f80);
  for (auto &sum : sums)
    sum = _mm512_setzero_ps();
  for (int64_t i = 0; i < kRounds; ++i) {
    asm volatile("" : "+v"(x));
    for (auto &sum : sums)
      sum = _mm512_dpbf16_ps(sum, (__m512bh)x, (__m512bh)x);
  }
  for (auto &sum : sums)
    keep(&sum);
}

__attribute__((target("avx512f,avx512vnni"))) static void multiplyBytes() {
  __m512i sums[kSums], x = _mm512_set1_epi8(1);
  for (auto &sum : sums)
    sum = _mm512_setzero_si512();
  for (int64_t i = 0; i < kRounds; ++i) {
    asm volatile("" : "+v"(x));
    for (auto &sum : sums)
      sum = _mm512_dpbusd_epi32(sum, x, x);
  }
  for (auto &sum : sums)
    keep(&sum);
}

constexpr int64_t kTileRounds = kRounds / 16;

__attribute__((target("amx-tile"))) static void shapeTiles() {
  alignas(64) unsigned char shapes[64] = {1};
  for (int tile = 0; tile < 8; ++tile)
    shapes[16 + 2 * tile] = 64, shapes[48 + tile] = 16;
  _tile_loadconfig(shapes);
}

__attribute__((target("amx-tile,amx-bf16"))) static void multiplyPairTiles() {
  shapeTiles();
  for (int64_t i = 0; i < kTileRounds; ++i) {
    _tile_dpbf16ps(0, 4, 6);
    _tile_dpbf16ps(1, 4, 7);
    _tile_dpbf16ps(2, 5, 6);
    _tile_dpbf16ps(3, 5, 7);
  }
  _tile_release();
}

__attribute__((target("amx-tile,amx-int8"))) static void multiplyByteTiles() {
  shapeTiles();
  for (int64_t i = 0; i < kTileRounds; ++i) {
    _tile_dpbssd(0, 4, 6);
    _tile_dpbssd(1, 4, 7);
    _tile_dpbssd(2, 5, 6);
    _tile_dpbssd(3, 5, 7);
  }
  _tile_release();
}

double kiln::bench::multiplyInRegisters(Multiply how) {
  bool hasTiles = how == Multiply::Bf16 ? __builtin_cpu_supports("amx-bf16")
                  : how == Multiply::I8 ? __builtin_cpu_supports("amx-int8")
                                        : false;
  int64_t perWord = how == Multiply::F32 ? 1 : how == Multiply::Bf16 ? 2 : 4;
  if (hasTiles && mayUseTileRegisters()) {
    onBoth([&](int) { how == Multiply::Bf16 ? multiplyPairTiles() : multiplyByteTiles(); });
    return 2.0 * 2 * 16 * 16 * 16 * double(perWord) * 4 * kTileRounds;
  }
  bool isThere = how == Multiply::F32    ? __builtin_cpu_supports("avx512f")
                 : how == Multiply::Bf16 ? __builtin_cpu_supports("avx512bf16")
                                         : __builtin_cpu_supports("avx512vnni");
  if (!isThere)
    return 0;
  onBoth([&](int) {
    how == Multiply::F32    ? multiplyFloats()
    : how == Multiply::Bf16 ? multiplyPairs()
                            : multiplyBytes();
  });
  return 2.0 * 2 * 16 * double(perWord) * kSums * kRounds;
}
#else
double kiln::bench::multiplyInRegisters(Multiply) { return 0; }
#endif
