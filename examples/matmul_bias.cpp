// y = relu(x * w + b): matrix work with a vector epilogue in one kernel. `--split` says how vector
// lanes will share the epilogue where the machine has lanes.
#include <kiln/kiln.h>

using namespace kiln;

Program matmulBias(const Config &cfg) {
  int64_t BM = cfg.param("BM", {32, 64, 128}, 64), BN = cfg.param("BN", {32, 64, 128}, 64), BK = 64;
  Split split = cfg.split("split", Split::UpDown);
  Program p("matmul_bias");
  p.orchestration(
      "main", {"x", "w", "b", "y"}, [&](In<f16> x, In<f16> w, In<f32, 1> b, Out<f32> y) {
        require(x.dim(1) == w.dim(0), "x has as many columns as w has rows");
        require(b.dim(0) == w.dim(1), "b has an element for each column of w");
        require(y.dim(0) == x.dim(0) && y.dim(1) == w.dim(1),
                "y has the rows of x and the columns of w");
        spmd("matmul_bias", {ceildiv(y.dim(0), BM), ceildiv(y.dim(1), BN)}, {.split = split},
             [&](Index bi, Index bj) {
               Index i = bi * BM, j = bj * BN;
               Tile sum =
                   loop(0, x.dim(1), BK, zeros<f32>(BM, BN), {.stages = 3}, [&](Index k, Tile acc) {
                     Tile xt = load(x, {i, k}, {BM, BK}), wt = load(w, {k, j}, {BK, BN});
                     return matmul_acc(acc, xt, wt);
                   });
               store(maximum(sum + load(b, {j}, {1, BN}), 0), y, {i, j});
             });
      });
  return p;
}

int main(int argc, char **argv) {
  return kiln::main(
      argc, argv, matmulBias,
      {.args = {{"x", "100x130"}, {"w", "130x75"}, {"b", "75"}, {"y", "100x75"}}, .formula = R"(
    y = torch.relu(x @ w + b)
    accumulates = x.shape[1]
  )"});
}
