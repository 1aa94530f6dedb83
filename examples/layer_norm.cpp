// y = (x - mean) / sqrt(variance + eps) * w + b, row by row, for rows of any length. Columns
// outside a row must not count in the variance, so they are masked after the mean has been taken
// off.
#include <kiln/kiln.h>

#include <cmath>

using namespace kiln;

constexpr double eps = 1e-5;

Program layerNorm(const Config &cfg) {
  int64_t BM = cfg.param("BM", {8, 16, 32}, 16), BN = cfg.param("BN", {64, 128, 256}, 128);
  Program p("layer_norm");
  p.orchestration("main", {"x", "w", "b", "y"},
                  [&](In<f32> x, In<f32, 1> w, In<f32, 1> b, Out<f32> y) {
                    spmd("layer_norm", {ceildiv(x.dim(0), BM)}, {}, [&](Index block) {
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

static void formula(Formula &f) {
  HostArray y = f.in("x");
  const HostArray &w = f.in("w"), &b = f.in("b");
  if (!f.require(y.extents() == f.in("y").extents() && w.extent(0) == y.cols() &&
                     b.extent(0) == y.cols(),
                 "x and y have one shape, and w and b an element for each column"))
    return;
  double count = double(y.cols());
  for (int64_t i = 0; i < y.rows(); ++i) {
    double mean = 0, squares = 0;
    for (int64_t j = 0; j < y.cols(); ++j)
      mean += y(i, j) / count;
    for (int64_t j = 0; j < y.cols(); ++j)
      squares += (y(i, j) - mean) * (y(i, j) - mean);
    for (int64_t j = 0; j < y.cols(); ++j)
      y(i, j) = (y(i, j) - mean) / std::sqrt(squares / count + eps) * w.data()[size_t(j)] +
                b.data()[size_t(j)];
  }
  f.accumulates(8);
  f.expect("y", y);
}

int main(int argc, char **argv) {
  return kiln::main(
      argc, argv, layerNorm,
      {.args = {{"x", "37x300"}, {"w", "300"}, {"b", "300"}, {"y", "37x300"}}, .formula = formula});
}
