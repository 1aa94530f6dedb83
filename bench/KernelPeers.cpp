#include "KernelPeers.h"

#include <cstring>
#include <stdexcept>
#include <thread>
#include <unordered_map>
#ifdef __SSE2__
#include <immintrin.h>
#endif
#ifdef KILN_BENCH_OPENBLAS
#include <cblas-openblas.h>
#endif
#ifdef KILN_BENCH_ONEDNN
#include <oneapi/dnnl/dnnl.hpp>
#endif
#ifdef KILN_BENCH_ONEDNN
extern "C" void omp_set_num_threads(int); // libgomp's, which oneDNN uses
#endif

using namespace kiln::bench;

void kiln::bench::setPeerThreads(int threads) {
#ifdef KILN_BENCH_OPENBLAS
  openblas_set_num_threads(threads);
#endif
#ifdef KILN_BENCH_ONEDNN
  omp_set_num_threads(threads);
#endif
  (void)threads;
}

//===----------------------------------------------------------------------===//
// Products
//===----------------------------------------------------------------------===//

#ifdef KILN_BENCH_OPENBLAS
std::string kiln::bench::openBlasName() {
  std::string config = openblas_get_config(); // "OpenBLAS 0.3.21 NO_LAPACKE ..."
  return config.substr(0, config.find(' ', config.find(' ') + 1));
}
void kiln::bench::openBlasGemm(const float *a, const float *b, float *c, int64_t m, int64_t n,
                               int64_t k) {
  cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, static_cast<blasint>(m),
              static_cast<blasint>(n), static_cast<blasint>(k), 1, a, static_cast<blasint>(k), b,
              static_cast<blasint>(n), 0, c, static_cast<blasint>(n));
}
#else
std::string kiln::bench::openBlasName() { return ""; }
void kiln::bench::openBlasGemm(const float *, const float *, float *, int64_t, int64_t, int64_t) {}
#endif

#ifdef KILN_BENCH_ONEDNN
std::string kiln::bench::oneDnnName() {
  const dnnl_version_t *version = dnnl_version();
  return "oneDNN " + std::to_string(version->major) + "." + std::to_string(version->minor) + "." +
         std::to_string(version->patch);
}
void kiln::bench::oneDnnGemm(const float *a, const float *b, float *c, int64_t m, int64_t n,
                             int64_t k) {
  if (dnnl_sgemm('N', 'N', m, n, k, 1, a, k, b, n, 0, c, n) != dnnl_success)
    throw std::runtime_error("dnnl_sgemm failed");
}

struct OneDnnBf16Gemm::Impl {
  dnnl::engine engine{dnnl::engine::kind::cpu, 0};
  dnnl::stream stream{engine};
  dnnl::matmul matmul;
  std::unordered_map<int, dnnl::memory> args;
};

OneDnnBf16Gemm::OneDnnBf16Gemm(const uint16_t *a, const uint16_t *b, float *c, int64_t m, int64_t n,
                               int64_t k)
    : P(std::make_unique<Impl>()) {
  using Type = dnnl::memory::data_type;
  auto describe = [](int64_t rows, int64_t cols, Type type) {
    return dnnl::memory::desc({rows, cols}, type, dnnl::memory::format_tag::ab);
  };
  auto left = describe(m, k, Type::bf16), right = describe(k, n, Type::bf16),
       result = describe(m, n, Type::f32);
  dnnl::matmul::primitive_desc primitive(dnnl::matmul::desc(left, right, result), P->engine);
  P->matmul = dnnl::matmul(primitive);
  P->args = {{DNNL_ARG_SRC, {left, P->engine, const_cast<uint16_t *>(a)}},
             {DNNL_ARG_WEIGHTS, {right, P->engine, const_cast<uint16_t *>(b)}},
             {DNNL_ARG_DST, {result, P->engine, c}}};
}
void OneDnnBf16Gemm::run() {
  P->matmul.execute(P->stream, P->args);
  P->stream.wait();
}
#else
std::string kiln::bench::oneDnnName() { return ""; }
void kiln::bench::oneDnnGemm(const float *, const float *, float *, int64_t, int64_t, int64_t) {}
struct OneDnnBf16Gemm::Impl {};
OneDnnBf16Gemm::OneDnnBf16Gemm(const uint16_t *, const uint16_t *, float *, int64_t, int64_t,
                               int64_t) {}
void OneDnnBf16Gemm::run() {}
#endif
OneDnnBf16Gemm::~OneDnnBf16Gemm() = default;

//===----------------------------------------------------------------------===//
// Copies
//===----------------------------------------------------------------------===//

static void copyPart(Copy how, const float *from, float *to, int64_t count) {
#ifdef __SSE2__
  if (how == Copy::NonTemporal) {
    for (int64_t i = 0; i < count; i += 4)
      _mm_stream_ps(to + i, _mm_loadu_ps(from + i));
    _mm_sfence();
    return;
  }
#endif
  if (how == Copy::Plain)
    for (int64_t i = 0; i < count; ++i)
      to[i] = from[i];
  else
    std::memcpy(to, from, static_cast<size_t>(count) * sizeof(float));
}

void kiln::bench::copyFloats(Copy how, const float *from, float *to, int64_t count) {
  int64_t half = count / 8 * 4; // non-temporal stores want 16 bytes
  std::thread other(copyPart, how, from, to, half);
  copyPart(how, from + half, to + half, count - half);
  other.join();
}
