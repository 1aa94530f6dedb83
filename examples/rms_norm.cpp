// y = x / sqrt(mean(x^2) + eps) * w, row by row, for rows of any length. `--type bf16` is how
// tensors are stored; what is computed is f32.
#include <kiln/kiln.h>

using namespace kiln;

constexpr double eps = 1e-6;

template <typename T> void rmsNorm(Program &p, int64_t BM, int64_t BN) {
  p.orchestration("main", {"x", "w", "y"}, [&](In<T> x, In<T, 1> w, Out<T> y) {
    require(w.dim(0) == x.dim(1), "w has an element for each column of x");
    require_same_shape(x, y, "y has the shape of x");
    spmd("rms_norm", {ceildiv(x.dim(0), BM)}, [&](Index b) {
      Index i = b * BM, n = x.dim(1);
      Tile squares = loop(0, n, BN, zeros<f32>(BM, 1), [&](Index j, Tile sum) {
        Tile t = cast<f32>(load(x, {i, j}, {BM, BN}));
        return sum + reduce_sum(t * t, 1);
      });
      Tile scale = rsqrt(squares / toF32(n) + eps);
      loop(0, n, BN, [&](Index j) {
        Tile t = cast<f32>(load(x, {i, j}, {BM, BN})), weight = cast<f32>(load(w, {j}, {1, BN}));
        store(cast<T>(t * scale * weight), y, {i, j});
      });
    });
  });
}

Program rmsNormProgram(const Config &cfg) {
  int64_t BM = cfg.param("BM", {1, 8, 16, 32}, 16);
  int64_t BN = cfg.param("BN", {64, 128, 256, 1024, 8192}, 128);
  Program p("rms_norm");
  if (cfg.choice("type", {"f32", "bf16"}, "f32") == "bf16")
    rmsNorm<bf16>(p, BM, BN);
  else
    rmsNorm<f32>(p, BM, BN);
  return p;
}

int main(int argc, char **argv) {
  return kiln::main(argc, argv, rmsNormProgram,
                    {.args = {{"x", "37x300"}, {"w", "300"}, {"y", "37x300"}}, .formula = R"(
    y = x / torch.sqrt((x * x).mean(1, keepdim=True) + 1e-6) * w
  )"});
}
