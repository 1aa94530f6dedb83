// y = (x - mean) / sqrt(variance + eps) * w + b, row by row, for rows of any length. Columns
// outside a row must not count in the variance, so they are masked after the mean has been taken
// off. `--type bf16` is how tensors are stored; what is computed is f32.
#include <kiln/kiln.h>

using namespace kiln;

constexpr double eps = 1e-5;

template <typename T> void layerNorm(Program &p, int64_t BM, int64_t BN) {
  p.orchestration("main", {"x", "w", "b", "y"}, [&](In<T> x, In<T, 1> w, In<T, 1> b, Out<T> y) {
    require(w.dim(0) == x.dim(1) && b.dim(0) == x.dim(1),
            "w and b have an element for each column of x");
    require_same_shape(x, y, "y has the shape of x");
    spmd("layer_norm", {ceildiv(x.dim(0), BM)}, [&](Index block) {
      Index i = block * BM, n = x.dim(1);
      Scalar<f32> count = toF32(n);
      auto piece = [&](Index j) { return cast<f32>(load(x, {i, j}, {BM, BN})); };
      Tile sum = loop(0, n, BN, zeros<f32>(BM, 1),
                      [&](Index j, Tile acc) { return acc + reduce_sum(piece(j), 1); });
      Tile mean = sum / count;
      Tile squares = loop(0, n, BN, zeros<f32>(BM, 1), [&](Index j, Tile acc) {
        Tile d = mask(piece(j) - mean, BM, n - j);
        return acc + reduce_sum(d * d, 1);
      });
      Tile scale = rsqrt(squares / count + eps);
      loop(0, n, BN, [&](Index j) {
        Tile t = piece(j);
        Tile weight = cast<f32>(load(w, {j}, {1, BN})), bias = cast<f32>(load(b, {j}, {1, BN}));
        store(cast<T>((t - mean) * scale * weight + bias), y, {i, j});
      });
    });
  });
}

Program layerNormProgram(const Config &cfg) {
  int64_t BM = cfg.param("BM", {1, 8, 16, 32}, 16);
  int64_t BN = cfg.param("BN", {64, 128, 256, 1024, 8192}, 128);
  Program p("layer_norm");
  if (cfg.choice("type", {"f32", "bf16"}, "f32") == "bf16")
    layerNorm<bf16>(p, BM, BN);
  else
    layerNorm<f32>(p, BM, BN);
  return p;
}

int main(int argc, char **argv) {
  return kiln::main(
      argc, argv, layerNormProgram,
      {.args = {{"x", "37x300"}, {"w", "300"}, {"b", "300"}, {"y", "37x300"}}, .formula = R"(
    y = torch.nn.functional.layer_norm(x, w.shape, w, b, eps=1e-5)
    accumulates = 8
  )"});
}
