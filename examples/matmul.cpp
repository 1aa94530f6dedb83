// c = a * b for any shape: one kernel over a grid of tiles. Ragged edges need no special case: what
// lies outside a tensor loads as zero and is not stored.
#include <kiln/kiln.h>

using namespace kiln;

Program matmulProgram(const Config &cfg) {
  int64_t BM = cfg.param("BM", {32, 64, 128}, 64), BN = cfg.param("BN", {32, 64, 128}, 64);
  int64_t BK = cfg.param("BK", {32, 64, 128}, 64);
  Program p("matmul");
  p.orchestration("main", {"a", "b", "c"}, [&](In<f32> a, In<f32> b, Out<f32> c) {
    require(a.dim(1) == b.dim(0), "a has as many columns as b has rows");
    require(c.dim(0) == a.dim(0) && c.dim(1) == b.dim(1),
            "c has the rows of a and the columns of b");
    spmd("matmul", {ceildiv(c.dim(0), BM), ceildiv(c.dim(1), BN)}, [&](Index bi, Index bj) {
      Index i = bi * BM, j = bj * BN;
      Tile acc = zeros<f32>(BM, BN);
      acc = loop(0, a.dim(1), BK, acc, {.stages = 3}, [&](Index k, Tile acc) {
        Tile at = load(a, {i, k}, {BM, BK}), bt = load(b, {k, j}, {BK, BN});
        return matmul_acc(acc, at, bt);
      });
      store(acc, c, {i, j});
    });
  });
  return p;
}

int main(int argc, char **argv) {
  return kiln::main(argc, argv, matmulProgram,
                    {.args = {{"a", "200x136"}, {"b", "136x100"}, {"c", "200x100"}}, .formula = R"(
    c = a @ b
    accumulates = a.shape[1]
  )"});
}
