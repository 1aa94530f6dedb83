// c = a * b for any shape: one kernel over a grid of tiles. Ragged edges need no special case: what
// lies outside a tensor loads as zero and is not stored. `--order n_k` is for a b that is stored
// column by column, as weights are; `--type bf16` is how all three are stored.
#include <kiln/kiln.h>

using namespace kiln;

template <typename T> void matmul(Program &p, const Config &cfg) {
  int64_t BM = cfg.param("BM", {16, 32, 64, 128}, 64);
  int64_t BN = cfg.param("BN", {32, 39, 64, 128, 132, 256}, 64),
          BK = cfg.param("BK", {32, 64, 128, 256}, 64);
  bool isTransposed = cfg.choice("order", {"k_n", "n_k"}, "k_n") == "n_k";
  p.orchestration("main", {"a", "b", "c"}, [&](In<T> a, In<T> b, Out<T> c) {
    int inner = isTransposed ? 1 : 0, n = 1 - inner;
    require(a.dim(1) == b.dim(inner), "a has as many columns as b has rows");
    require(c.dim(0) == a.dim(0) && c.dim(1) == b.dim(n),
            "c has the rows of a and the columns of b");
    spmd("matmul", {ceildiv(c.dim(0), BM), ceildiv(c.dim(1), BN)}, [&](Index bi, Index bj) {
      Index i = bi * BM, j = bj * BN;
      Tile zero = zeros<f32>(BM, BN);
      Tile sum = loop(0, a.dim(1), BK, zero, {.stages = 3}, [&](Index k, Tile acc) {
        Tile at = load(a, {i, k}, {BM, BK});
        if (isTransposed)
          return matmul_acc(acc, at, load(b, {j, k}, {BN, BK}), trans_b);
        return matmul_acc(acc, at, load(b, {k, j}, {BK, BN}));
      });
      store(cast<T>(sum), c, {i, j});
    });
  });
}

Program matmulProgram(const Config &cfg) {
  Program p("matmul");
  if (cfg.choice("type", {"f32", "bf16"}, "f32") == "bf16")
    matmul<bf16>(p, cfg);
  else
    matmul<f32>(p, cfg);
  return p;
}

int main(int argc, char **argv) {
  return kiln::main(argc, argv, matmulProgram,
                    {.args = {{"a", "200x136"}, {"b", "136x100"}, {"c", "200x100"}}, .formula = R"(
    c = a @ (b.T if order == "n_k" else b)
    accumulates = a.shape[1]
  )"});
}
