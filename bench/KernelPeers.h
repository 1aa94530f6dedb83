//===- KernelPeers.h - the kernels' benchmarks, written for other libraries ----===//
//
// What: products and copies by others, on memory the caller owns. Row-major, no transposes. A peer
//   that was not there at build time has an empty name and must not be run. Benchmarks only.
//
//===---------------------------------------------------------------------------===//
#ifndef KILN_BENCH_KERNELPEERS_H
#define KILN_BENCH_KERNELPEERS_H

#include <cstdint>
#include <memory>
#include <string>

namespace kiln::bench {

/// Threads that peers may use, as many as Kiln has workers.
void setPeerThreads(int threads);

std::string openBlasName();
/// c = a b, with a of m x k and b of k x n floats.
void openBlasGemm(const float *a, const float *b, float *c, int64_t m, int64_t n, int64_t k);

std::string oneDnnName();
void oneDnnGemm(const float *a, const float *b, float *c, int64_t m, int64_t n, int64_t k);

/// The same for bf16 inputs and f32 results; its primitive is made once.
class OneDnnBf16Gemm {
public:
  OneDnnBf16Gemm(const uint16_t *a, const uint16_t *b, float *c, int64_t m, int64_t n, int64_t k);
  ~OneDnnBf16Gemm();
  void run();

private:
  struct Impl;
  std::unique_ptr<Impl> P;
};

/// The ways to copy memory on two threads; the fastest is what the machine can do.
enum class Copy { Memcpy, Plain, NonTemporal };
void copyFloats(Copy how, const float *from, float *to, int64_t count);

} // namespace kiln::bench

#endif // KILN_BENCH_KERNELPEERS_H
