// y = softmax of each row of x, for rows of any length: one pass keeps the running maximum and sum,
// a second one writes. What lies outside a row loads as -inf, so it adds nothing. `--type bf16` is
// how rows are stored; what is computed is f32.
#include <kiln/kiln.h>

#include <cmath>

using namespace kiln;

template <typename T> void softmax(Program &p, int64_t BM, int64_t BN) {
  p.orchestration("main", {"x", "y"}, [&](In<T> x, Out<T> y) {
    require_same_shape(x, y, "y has the shape of x");
    spmd("softmax", {ceildiv(x.dim(0), BM)}, [&](Index b) {
      Index i = b * BM, n = x.dim(1);
      auto piece = [&](Index j) { return cast<f32>(load(x, {i, j}, {BM, BN}, {.pad = Pad::Min})); };
      auto start = std::tuple(full(DType::F32, {BM, 1}, -INFINITY), zeros<f32>(BM, 1));
      auto [top, sum] = loop(0, n, BN, start, {}, [&](Index j, Tile topSoFar, Tile sumSoFar) {
        Tile t = piece(j), next = maximum(topSoFar, reduce_max(t, 1));
        Tile part = reduce_sum(exp(t - next), 1);
        return std::tuple(next, sumSoFar * exp(topSoFar - next) + part);
      });
      Tile scale = recip(sum);
      loop(0, n, BN, [&](Index j) { store(cast<T>(exp(piece(j) - top) * scale), y, {i, j}); });
    });
  });
}

Program softmaxProgram(const Config &cfg) {
  int64_t BM = cfg.param("BM", {1, 8, 16, 32}, 16);
  int64_t BN = cfg.param("BN", {64, 128, 256, 1024, 8192}, 128);
  Program p("softmax");
  if (cfg.choice("type", {"f32", "bf16"}, "f32") == "bf16")
    softmax<bf16>(p, BM, BN);
  else
    softmax<f32>(p, BM, BN);
  return p;
}

int main(int argc, char **argv) {
  return kiln::main(argc, argv, softmaxProgram,
                    {.args = {{"x", "37x300"}, {"y", "37x300"}}, .formula = R"(
    y = torch.softmax(x, 1)
  )"});
}
