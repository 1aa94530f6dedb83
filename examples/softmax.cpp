// y = softmax of each row of x, for rows of any length: one pass keeps the running maximum and sum,
// a second one writes. What lies outside a row loads as -inf, so it adds nothing.
#include <kiln/kiln.h>

#include <cmath>

using namespace kiln;

Program softmaxProgram(const Config &cfg) {
  int64_t BM = cfg.param("BM", {8, 16, 32}, 16), BN = cfg.param("BN", {64, 128, 256}, 128);
  Program p("softmax");
  p.orchestration("main", {"x", "y"}, [&](In<f32> x, Out<f32> y) {
    require_same_shape(x, y, "y has the shape of x");
    spmd("softmax", {ceildiv(x.dim(0), BM)}, [&](Index b) {
      Index i = b * BM, n = x.dim(1);
      auto start = std::tuple(full(DType::F32, {BM, 1}, -INFINITY), zeros<f32>(BM, 1));
      auto [top, sum] = loop(0, n, BN, start, {}, [&](Index j, Tile top, Tile sum) {
        Tile t = load(x, {i, j}, {BM, BN}, {.pad = Pad::Min});
        Tile next = maximum(top, reduce_max(t, 1));
        Tile part = reduce_sum(exp(t - next), 1);
        return std::tuple(next, sum * exp(top - next) + part);
      });
      loop(0, n, BN, [&](Index j) {
        Tile t = load(x, {i, j}, {BM, BN});
        store(exp(t - top) / sum, y, {i, j});
      });
    });
  });
  return p;
}

int main(int argc, char **argv) {
  return kiln::main(argc, argv, softmaxProgram,
                    {.args = {{"x", "37x300"}, {"y", "37x300"}}, .formula = R"(
    y = torch.softmax(x, 1)
  )"});
}
