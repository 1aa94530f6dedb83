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
                    require(x.dim(1) == w.dim(1), "x and w have equally many columns");
                    require(y.dim(0) == x.dim(0) && y.dim(1) == w.dim(0),
                            "y has a row for each row of x, a column for each row of w");
                    require_same_shape(r, y, "r and y have one shape");
                    spmd("proj", {ceildiv(y.dim(0), BM), ceildiv(y.dim(1), BN)}, {.split = split},
                         [&](Index bi, Index bj) {
                           Index i = bi * BM, j = bj * BN;
                           Tile zero = zeros<f32>(BM, BN);
                           Tile sum =
                               loop(0, x.dim(1), BK, zero, {.stages = 3}, [&](Index k, Tile acc) {
                                 Tile xt = load(x, {i, k}, {BM, BK}),
                                      wt = load(w, {j, k}, {BN, BK});
                                 return matmul_acc(acc, xt, wt, trans_b);
                               });
                           store(sum + load(r, {i, j}, {BM, BN}), y, {i, j});
                         });
                  });
  return p;
}

int main(int argc, char **argv) {
  return kiln::main(
      argc, argv, downProjResidual,
      {.args = {{"x", "256x160"}, {"w", "192x160"}, {"r", "256x192"}, {"y", "256x192"}},
       .formula = R"(
    y = x @ w.T + r
    accumulates = x.shape[1]
  )"});
}
