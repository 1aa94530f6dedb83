// y = x / sqrt(mean(x^2) + eps) * w, row by row, for rows of any length.
#include <kiln/kiln.h>

using namespace kiln;

constexpr double eps = 1e-6;

Program rmsNorm(const Config &cfg) {
  int64_t BM = cfg.param("BM", {8, 16, 32}, 16), BN = cfg.param("BN", {64, 128, 256}, 128);
  Program p("rms_norm");
  p.orchestration("main", {"x", "w", "y"}, [&](In<f32> x, In<f32, 1> w, Out<f32> y) {
    require(w.dim(0) == x.dim(1), "w has an element for each column of x");
    require_same_shape(x, y, "y has the shape of x");
    spmd("rms_norm", {ceildiv(x.dim(0), BM)}, [&](Index b) {
      Index i = b * BM, n = x.dim(1);
      Tile squares = loop(0, n, BN, zeros<f32>(BM, 1), [&](Index j, Tile sum) {
        Tile t = load(x, {i, j}, {BM, BN});
        return sum + reduce_sum(t * t, 1);
      });
      Tile scale = rsqrt(squares / toF32(n) + eps);
      loop(0, n, BN, [&](Index j) {
        Tile t = load(x, {i, j}, {BM, BN}), weight = load(w, {j}, {1, BN});
        store(t * scale * weight, y, {i, j});
      });
    });
  });
  return p;
}

int main(int argc, char **argv) {
  return kiln::main(argc, argv, rmsNorm,
                    {.args = {{"x", "37x300"}, {"w", "300"}, {"y", "37x300"}}, .formula = R"(
    y = x / torch.sqrt((x * x).mean(1, keepdim=True) + 1e-6) * w
  )"});
}
