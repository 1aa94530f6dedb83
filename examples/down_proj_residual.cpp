// y = x * w^T + r: one mixed kernel, matrix work with a vector epilogue. `--split` says how the
// vector lanes will share the rows or columns where the machine has lanes; `--grid static` fixes
// the shapes, so that the grid is known when the program is compiled.
#include <kiln/kiln.h>

using namespace kiln;

constexpr int64_t M = 256, N = 192, K = 160;

Program downProjResidual(const Config &cfg) {
  int64_t BM = cfg.param("BM", {64, 128}, 128), BN = cfg.param("BN", {64, 128, 256}, 128), BK = 64;
  bool fixed = cfg.choice("grid", {"static", "computed"}, "computed") == "static";
  Split split = cfg.split("split", Split::UpDown);
  auto shape = [&](const char *name, int64_t rows, int64_t cols) {
    return fixed ? Param(name, {rows, cols}) : Param(name);
  };
  Program p("down_proj_residual");
  p.orchestration("main", {shape("x", M, K), shape("w", N, K), shape("r", M, N), shape("y", M, N)},
                  [&](In<bf16> x, In<bf16> w, In<f32> r, Out<f32> y) {
                    spmd("proj", {ceildiv(y.dim(0), BM), ceildiv(y.dim(1), BN)}, {.split = split},
                         [&](Index bi, Index bj) {
                           Index i = bi * BM, j = bj * BN;
                           Tile acc = zeros<f32>(BM, BN);
                           acc = loop(0, x.dim(1), BK, acc, {.stages = 3}, [&](Index k, Tile acc) {
                             Tile xt = load(x, {i, k}, {BM, BK}), wt = load(w, {j, k}, {BN, BK});
                             return matmul_acc(acc, xt, wt, trans_b);
                           });
                           store(acc + load(r, {i, j}, {BM, BN}), y, {i, j});
                         });
                  });
  return p;
}

static void formula(Formula &f) {
  const HostArray &x = f.in("x"), &w = f.in("w");
  HostArray y = f.in("r");
  std::vector<int64_t> shape{x.rows(), w.rows()};
  if (!f.require(x.cols() == w.cols(), "x and w have equally many columns") ||
      !f.require(y.extents() == shape && f.in("y").extents() == shape,
                 "r and y have the rows of x and those of w as columns"))
    return;
  for (int64_t i = 0; i < x.rows(); ++i)
    for (int64_t j = 0; j < w.rows(); ++j)
      for (int64_t k = 0; k < x.cols(); ++k)
        y(i, j) += x(i, k) * w(j, k);
  f.accumulates(x.cols());
  f.expect("y", y);
}

int main(int argc, char **argv) {
  return kiln::main(
      argc, argv, downProjResidual,
      {.args = {{"x", "256x160"}, {"w", "192x160"}, {"r", "256x192"}, {"y", "256x192"}},
       .formula = formula});
}
