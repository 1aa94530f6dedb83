// y = the sum of the rows of x, whoever has them: each rank adds up its own rows, and the ranks add
// up their sums.
#include <kiln/kiln.h>

using namespace kiln;

Program allReduce(const Config &cfg) {
  int64_t BM = cfg.param("BM", {8, 16, 32}, 16), BN = cfg.param("BN", {32, 64, 128}, 64);
  Program p("all_reduce");
  p.orchestration("main", {"x", "y"}, [&](In<f32> x, Out<f32> y) {
    require(y.dim(0) == 1 && y.dim(1) == x.dim(1), "y is one row of the width of x");
    spmd("add_rows", {ceildiv(x.dim(1), BN)}, [&](Index block) {
      Index j = block * BN;
      Tile sum = loop(0, x.dim(0), BM, zeros<f32>(1, BN), [&](Index i, Tile acc) {
        return acc + reduce_sum(load(x, {i, j}, {BM, BN}), 0);
      });
      store(sum, y, {0, j});
    });
    all_reduce(y, Combine::Sum, {.fixedOrder = true});
  });
  return p;
}

int main(int argc, char **argv) {
  return kiln::main(argc, argv, allReduce,
                    {.args = {{"x", "70x100@0"}, {"y", "1x100"}}, .formula = R"(
    y = x.sum(0, keepdim=True)
    accumulates = len(x)
  )"});
}
