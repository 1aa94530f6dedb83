// y = the sums of x from the beginning of each row up to each element, for rows of any length: each
// chunk of columns adds to the total of those before it. What lies outside a row loads as zero.
#include <kiln/kiln.h>

using namespace kiln;

Program runningSum(const Config &cfg) {
  int64_t BM = cfg.param("BM", {8, 16, 32}, 16), BN = cfg.param("BN", {32, 64, 128}, 64);
  Program p("running_sum");
  p.orchestration("main", {"x", "y"}, [&](In<f32> x, Out<f32> y) {
    require_same_shape(x, y, "y has the shape of x");
    spmd("running_sum", {ceildiv(x.dim(0), BM)}, [&](Index b) {
      Index i = b * BM;
      loop(0, x.dim(1), BN, zeros<f32>(BM, 1), {}, [&](Index j, Tile total) {
        Tile t = load(x, {i, j}, {BM, BN});
        store(scan(t, 1) + total, y, {i, j});
        return total + reduce_sum(t, 1);
      });
    });
  });
  return p;
}

int main(int argc, char **argv) {
  return kiln::main(argc, argv, runningSum,
                    {.args = {{"x", "37x300"}, {"y", "37x300"}}, .formula = R"(
    y = torch.cumsum(x, 1)
    accumulates = x.shape[1]
  )"});
}
