//===- KernelPeers.h - the kernels' benchmarks, written for other libraries ----===//
//
// What: products by others, on memory the caller owns. Row-major. A peer that was not there at
// build
//   time has an empty name and must not be run. Benchmarks only.
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

/// The same for small types, by a primitive that is made once: bf16 with results in f32, or i8 with
/// results in i32; f32 too. `isTurned`: b is n x k.
class OneDnnProduct {
public:
  enum class Element { F32, Bf16, I8 };
  OneDnnProduct(Element element, const void *a, const void *b, void *c, int64_t m, int64_t n,
                int64_t k, bool isTurned);
  ~OneDnnProduct();
  void run();

private:
  struct Impl;
  std::unique_ptr<Impl> P;
};

} // namespace kiln::bench

#endif // KILN_BENCH_KERNELPEERS_H
