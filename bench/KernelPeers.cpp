#include "KernelPeers.h"

#include "TileLeaf.h"

#include <cstdio>
#include <optional>
#include <stdexcept>
#include <unordered_map>
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

struct OneDnnProduct::Impl {
  dnnl::engine engine{dnnl::engine::kind::cpu, 0};
  dnnl::stream stream{engine};
  dnnl::matmul matmul;
  std::unordered_map<int, dnnl::memory> args;
};

OneDnnProduct::OneDnnProduct(Element element, const void *a, const void *b, void *c, int64_t m,
                             int64_t n, int64_t k, bool isTurned)
    : P(std::make_unique<Impl>()) {
  // It asks the CPU about tile registers whenever it makes code.
  std::optional<ShownTileLeaf> leaf;
  if (isTileLeafHidden() && !leaf.emplace().isShown()) {
    std::fprintf(stderr, "CPUID hides the tile registers: oneDNN runs without them\n");
    dnnl::set_max_cpu_isa(dnnl::cpu_isa::avx512_core_bf16);
  }
  using Type = dnnl::memory::data_type;
  using Tag = dnnl::memory::format_tag;
  Type side = element == Element::F32    ? Type::f32
              : element == Element::Bf16 ? Type::bf16
                                         : Type::s8;
  Type sum = element == Element::I8 ? Type::s32 : Type::f32;
  dnnl::memory::desc left({m, k}, side, Tag::ab), right({k, n}, side, isTurned ? Tag::ba : Tag::ab),
      result({m, n}, sum, Tag::ab);
#if DNNL_VERSION_MAJOR >= 3
  dnnl::matmul::primitive_desc primitive(P->engine, left, right, result);
#else
  dnnl::matmul::primitive_desc primitive(dnnl::matmul::desc(left, right, result), P->engine);
#endif
  P->matmul = dnnl::matmul(primitive);
  P->args = {{DNNL_ARG_SRC, {left, P->engine, const_cast<void *>(a)}},
             {DNNL_ARG_WEIGHTS, {right, P->engine, const_cast<void *>(b)}},
             {DNNL_ARG_DST, {result, P->engine, c}}};
}
void OneDnnProduct::run() {
  P->matmul.execute(P->stream, P->args);
  P->stream.wait();
}
#else
std::string kiln::bench::oneDnnName() { return ""; }
void kiln::bench::oneDnnGemm(const float *, const float *, float *, int64_t, int64_t, int64_t) {}
struct OneDnnProduct::Impl {};
OneDnnProduct::OneDnnProduct(Element, const void *, const void *, void *, int64_t, int64_t, int64_t,
                             bool) {}
void OneDnnProduct::run() {}
#endif
OneDnnProduct::~OneDnnProduct() = default;
