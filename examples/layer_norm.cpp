// y = (x - mean) / sqrt(variance + eps) * w + b, row by row, for rows of any length. Columns
// outside a row must not count in the variance, so they are masked after the mean has been taken
// off.
#include <kiln/kiln.h>

using namespace kiln;

constexpr double eps = 1e-5;

Program layerNorm(const Config &cfg) {
  int64_t BM = cfg.param("BM", {8, 16, 32}, 16), BN = cfg.param("BN", {64, 128, 256}, 128);
  Program p("layer_norm");
  p.orchestration("main", {"x", "w", "b", "y"},
                  [&](In<f32> x, In<f32, 1> w, In<f32, 1> b, Out<f32> y) {
                    require(w.dim(0) == x.dim(1) && b.dim(0) == x.dim(1),
                            "w and b have an element for each column of x");
                    require_same_shape(x, y, "y has the shape of x");
                    spmd("layer_norm", {ceildiv(x.dim(0), BM)}, [&](Index block) {
                      Index i = block * BM, n = x.dim(1);
                      Scalar<f32> count = toF32(n);
                      Tile sum = loop(0, n, BN, zeros<f32>(BM, 1), [&](Index j, Tile sum) {
                        return sum + reduce_sum(load(x, {i, j}, {BM, BN}), 1);
                      });
                      Tile mean = sum / count;
                      Tile squares = loop(0, n, BN, zeros<f32>(BM, 1), [&](Index j, Tile sum) {
                        Tile d = mask(load(x, {i, j}, {BM, BN}) - mean, BM, n - j);
                        return sum + reduce_sum(d * d, 1);
                      });
                      Tile scale = rsqrt(squares / count + eps);
                      loop(0, n, BN, [&](Index j) {
                        Tile t = load(x, {i, j}, {BM, BN});
                        Tile weight = load(w, {j}, {1, BN}), bias = load(b, {j}, {1, BN});
                        store((t - mean) * scale * weight + bias, y, {i, j});
                      });
                    });
                  });
  return p;
}

int main(int argc, char **argv) {
  return kiln::main(
      argc, argv, layerNorm,
      {.args = {{"x", "37x300"}, {"w", "300"}, {"b", "300"}, {"y", "37x300"}}, .formula = R"(
    y = torch.nn.functional.layer_norm(x, w.shape, w, b, eps=1e-5)
    accumulates = 8
  )"});
}
