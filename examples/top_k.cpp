// The K largest elements of each row and their columns, the largest first. Rows of any length: the
// best so far compete with one chunk of columns after the other.
#include <kiln/kiln.h>

using namespace kiln;

Program topK(const Config &cfg) {
  constexpr int64_t BM = 16, BN = 64;
  int64_t K = cfg.param("K", {1, 2, 4, 8, 16, 32}, 8);
  Program p("top_k");
  p.orchestration("main", {"x", {"values", {dyn, K}}, {"columns", {dyn, K}}},
                  [&](In<f32> x, Out<f32> values, Out<i32> columns) {
                    require(x.dim(1) >= K, "a row has at least K elements");
                    require(values.dim(0) == x.dim(0) && columns.dim(0) == x.dim(0),
                            "values and columns have the rows of x");
                    spmd("top_k", {ceildiv(x.dim(0), BM)}, [&](Index block) {
                      Index i = block * BM;
                      auto chunk = [&](Index j) {
                        return load(x, {i, j}, {BM, BN}, {.pad = Pad::Min});
                      };
                      Sorted first = topk_rows(chunk(0), K);
                      auto [best, where] =
                          loop(BN, x.dim(1), BN, std::tuple(first.values, first.columns),
                               [&](Index j, Tile bestSoFar, Tile whereSoFar) {
                                 Sorted next = topk_rows(chunk(j), K);
                                 // Earlier columns come first, so of equal elements the first
                                 // wins.
                                 Sorted both = topk_rows(concat({bestSoFar, next.values}, 1), K);
                                 Tile from = concat({whereSoFar, next.columns + toI32(j)}, 1);
                                 return std::tuple(both.values, gather(from, both.columns, 1));
                               });
                      store(best, values, {i, 0});
                      store(where, columns, {i, 0});
                    });
                  });
  return p;
}

int main(int argc, char **argv) {
  return kiln::main(
      argc, argv, topK,
      {.args = {{"x", "37x150"}, {"values", "37x8"}, {"columns", "37x8"}}, .formula = R"(
values, columns = (t[:, :K] for t in torch.sort(x, dim=1, descending=True, stable=True))
)"});
}
