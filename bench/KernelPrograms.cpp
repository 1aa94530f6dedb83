// The tile programs that are measured, as a user would write them.
#include "KernelPrograms.h"

#include "kiln/Language/Library.h"

#include <cmath>

using namespace kiln;

template <typename T, typename Sum> static Program productProgram() {
  constexpr int64_t M = 64, N = 64, K = 64;
  Program p("gemm");
  p.orchestration("main", {"a", "b", "c"}, [&](In<T> a, In<T> b, Out<Sum> c) {
    spmd("gemm", {ceildiv(c.dim(0), M), ceildiv(c.dim(1), N)}, {}, [&](Index bi, Index bj) {
      Index i = bi * M, j = bj * N;
      Tile acc = zeros<Sum>(M, N);
      acc = loop(0, a.dim(1), K, acc, [&](Index k, Tile acc) {
        return matmul_acc(acc, load(a, {i, k}, {M, K}), load(b, {k, j}, {K, N}));
      });
      store(acc, c, {i, j});
    });
  });
  return p;
}

Program kiln::bench::gemmProgram(DType type) {
  return type == DType::F32    ? productProgram<f32, f32>()
         : type == DType::BF16 ? productProgram<bf16, f32>()
                               : productProgram<i8, i32>();
}

template <typename T, typename Sum> static Program fewRowsOf(bool isTurned) {
  constexpr int64_t M = 16, N = 128, K = 128;
  Program p("few_rows");
  p.orchestration("main", {"a", "w", "c"}, [&](In<T> a, In<T> w, Out<Sum> c) {
    spmd("few_rows", {ceildiv(c.dim(0), M), ceildiv(c.dim(1), N)}, {}, [&](Index bi, Index bj) {
      Index i = bi * M, j = bj * N;
      Tile acc = loop(0, a.dim(1), K, zeros<Sum>(M, N), [&](Index k, Tile acc) {
        Tile left = load(a, {i, k}, {M, K});
        return isTurned ? matmul_acc(acc, left, load(w, {j, k}, {N, K}), trans_b)
                        : matmul_acc(acc, left, load(w, {k, j}, {K, N}));
      });
      store(acc, c, {i, j});
    });
  });
  return p;
}
Program kiln::bench::fewRowsProgram(DType type, bool isTurned) {
  return type == DType::F32    ? fewRowsOf<f32, f32>(isTurned)
         : type == DType::BF16 ? fewRowsOf<bf16, f32>(isTurned)
                               : fewRowsOf<i8, i32>(isTurned);
}

template <typename T> static Program attentionOf() {
  constexpr int64_t M = 64, N = 64, D = 64;
  std::vector<int64_t> shape{dyn, dyn, D};
  Program p("attention");
  p.orchestration(
      "main", {{"q", shape}, {"k", shape}, {"v", shape}, {"o", shape}},
      [&](In<T, 3> q, In<T, 3> k, In<T, 3> v, Out<f32, 3> o) {
        spmd("attention", {q.dim(0), ceildiv(q.dim(1), M)}, {}, [&](Index head, Index block) {
          Index i = block * M, keys = k.dim(1);
          Tile qt = load(q, {head, i, 0}, {M, D}) * 0.125;
          auto [top, sum, acc] = loop(
              0, keys, N, attention_start(M, D), {}, [&](Index j, Tile top, Tile sum, Tile acc) {
                Tile scores =
                    mask(matmul(qt, load(k, {head, j, 0}, {N, D}), trans_b), M, keys - j, Pad::Min);
                return attention_step(top, sum, acc, scores, load(v, {head, j, 0}, {N, D}));
              });
          store(acc / sum, o, {head, i, 0});
        });
      });
  return p;
}
Program kiln::bench::attentionProgram(DType type) {
  return type == DType::F32 ? attentionOf<f32>() : attentionOf<bf16>();
}

// Whole rows in a tile, as many elements of them as there are or fewer.
static constexpr int64_t rowTile = 1, colTile = 4096;

Program kiln::bench::softmaxProgram() {
  constexpr int64_t M = rowTile, N = colTile;
  Program p("softmax");
  p.orchestration("main", {"x", "y"}, [&](In<f32> x, Out<f32> y) {
    spmd("softmax", {ceildiv(x.dim(0), M)}, {}, [&](Index b) {
      Index i = b * M;
      Tile t = load(x, {i, 0}, {M, N}, {.pad = Pad::Min});
      Tile e = exp(t - reduce_max(t, 1));
      store(e * (1.0 / reduce_sum(e, 1)), y, {i, 0});
    });
  });
  return p;
}

Program kiln::bench::rmsNormProgram() {
  constexpr int64_t M = rowTile, N = colTile;
  Program p("rms_norm");
  p.orchestration("main", {"x", "w", "y"}, [&](In<f32> x, In<f32, 1> w, Out<f32> y) {
    spmd("rms_norm", {ceildiv(x.dim(0), M)}, {}, [&](Index b) {
      Index i = b * M;
      Tile t = load(x, {i, 0}, {M, N});
      Tile scale = rsqrt(reduce_sum(t * t, 1) / toF32(x.dim(1)) + 1e-6);
      store(t * scale * load(w, {0}, {1, N}), y, {i, 0});
    });
  });
  return p;
}

Program kiln::bench::layerNormProgram() {
  constexpr int64_t M = rowTile, N = colTile;
  Program p("layer_norm");
  p.orchestration(
      "main", {"x", "w", "b", "y"}, [&](In<f32> x, In<f32, 1> w, In<f32, 1> b, Out<f32> y) {
        spmd("layer_norm", {ceildiv(x.dim(0), M)}, {}, [&](Index block) {
          Index i = block * M, n = x.dim(1);
          Tile t = load(x, {i, 0}, {M, N});
          Tile mean = reduce_sum(t, 1) / toF32(n);
          Tile d = mask(t - mean, M, n);
          Tile scale = rsqrt(reduce_sum(d * d, 1) / toF32(n) + 1e-5);
          store((t - mean) * scale * load(w, {0}, {1, N}) + load(b, {0}, {1, N}), y, {i, 0});
        });
      });
  return p;
}
