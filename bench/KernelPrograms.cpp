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

template <typename T> static Program fewRowsOf() {
  constexpr int64_t M = 16, N = 128, K = 128;
  Program p("few_rows");
  p.orchestration("main", {"a", "w", "c"}, [&](In<T> a, In<T> w, Out<f32> c) {
    spmd("few_rows", {ceildiv(c.dim(0), M), ceildiv(c.dim(1), N)}, {}, [&](Index bi, Index bj) {
      Index i = bi * M, j = bj * N;
      Tile acc = loop(0, a.dim(1), K, zeros<f32>(M, N), [&](Index k, Tile acc) {
        return matmul_acc(acc, load(a, {i, k}, {M, K}), load(w, {j, k}, {N, K}), trans_b);
      });
      store(acc, c, {i, j});
    });
  });
  return p;
}
Program kiln::bench::fewRowsProgram(DType type) {
  return type == DType::F32 ? fewRowsOf<f32>() : fewRowsOf<bf16>();
}

Program kiln::bench::attentionProgram() {
  constexpr int64_t M = 64, N = 64, D = 64;
  std::vector<int64_t> shape{dyn, dyn, D};
  Program p("attention");
  p.orchestration(
      "main", {{"q", shape}, {"k", shape}, {"v", shape}, {"o", shape}},
      [&](In<f32, 3> q, In<f32, 3> k, In<f32, 3> v, Out<f32, 3> o) {
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

static constexpr int64_t rowTile = 8, colTile = 256; // of the norms

Program kiln::bench::softmaxProgram() {
  constexpr int64_t M = rowTile, N = colTile;
  Program p("softmax");
  p.orchestration("main", {"x", "y"}, [&](In<f32> x, Out<f32> y) {
    spmd("softmax", {ceildiv(x.dim(0), M)}, {}, [&](Index b) {
      Index i = b * M, n = x.dim(1);
      auto start = std::tuple(full(DType::F32, {M, 1}, -INFINITY), zeros<f32>(M, 1));
      auto [top, sum] = loop(0, n, N, start, {}, [&](Index j, Tile top, Tile sum) {
        Tile t = load(x, {i, j}, {M, N}, {.pad = Pad::Min});
        Tile next = maximum(top, reduce_max(t, 1));
        return std::tuple(next, sum * exp(top - next) + reduce_sum(exp(t - next), 1));
      });
      loop(0, n, N, [&](Index j) { store(exp(load(x, {i, j}, {M, N}) - top) / sum, y, {i, j}); });
    });
  });
  return p;
}

Program kiln::bench::rmsNormProgram() {
  constexpr int64_t M = rowTile, N = colTile;
  Program p("rms_norm");
  p.orchestration("main", {"x", "w", "y"}, [&](In<f32> x, In<f32, 1> w, Out<f32> y) {
    spmd("rms_norm", {ceildiv(x.dim(0), M)}, {}, [&](Index b) {
      Index i = b * M, n = x.dim(1);
      Tile squares = loop(0, n, N, zeros<f32>(M, 1), [&](Index j, Tile sum) {
        Tile t = load(x, {i, j}, {M, N});
        return sum + reduce_sum(t * t, 1);
      });
      Tile scale = rsqrt(squares / toF32(n) + 1e-6);
      loop(0, n, N, [&](Index j) {
        store(load(x, {i, j}, {M, N}) * scale * load(w, {j}, {1, N}), y, {i, j});
      });
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
          Tile sum = loop(0, n, N, zeros<f32>(M, 1), [&](Index j, Tile sum) {
            return sum + reduce_sum(load(x, {i, j}, {M, N}), 1);
          });
          Tile mean = sum / toF32(n);
          Tile squares = loop(0, n, N, zeros<f32>(M, 1), [&](Index j, Tile sum) {
            Tile d = mask(load(x, {i, j}, {M, N}) - mean, M, n - j);
            return sum + reduce_sum(d * d, 1);
          });
          Tile scale = rsqrt(squares / toF32(n) + 1e-5);
          loop(0, n, N, [&](Index j) {
            Tile t = load(x, {i, j}, {M, N});
            store((t - mean) * scale * load(w, {j}, {1, N}) + load(b, {j}, {1, N}), y, {i, j});
          });
        });
      });
  return p;
}
