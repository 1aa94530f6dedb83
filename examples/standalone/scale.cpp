// y = factor * x, for matrices of any shape.
#include <kiln/kiln.h>

using namespace kiln;

static Program scale(const Config &cfg) {
  int64_t BM = cfg.param("BM", {16, 32, 64}, 32), BN = cfg.param("BN", {32, 64, 128}, 64);
  Program p("scale");
  p.orchestration("main", {"x", "y", "factor"}, [&](In<f32> x, Out<f32> y, Scalar<f32> factor) {
    require_same_shape(x, y, "y has the shape of x");
    spmd("scale", {ceildiv(x.dim(0), BM), ceildiv(x.dim(1), BN)}, {}, [&](Index bi, Index bj) {
      Index i = bi * BM, j = bj * BN;
      store(load(x, {i, j}, {BM, BN}) * factor, y, {i, j});
    });
  });
  return p;
}

int main(int argc, char **argv) {
  return kiln::main(
      argc, argv, scale,
      {.args = {{"x", "100x70"}, {"y", "100x70"}, {"factor", "2.5"}}, .formula = "y = factor * x"});
}
