// c = (a * sa) * (b * sb): eight-bit floats with a scale per row of a and per column of b,
// accumulated in f32, scaled once at the end. --order n_k: b is given transposed, as weights are.
#include <kiln/kiln.h>

using namespace kiln;

Program matmulFp8(const Config &cfg) {
  int64_t BM = cfg.param("BM", {16, 32, 64, 128, 192, 256}, 32);
  int64_t BN = cfg.param("BN", {16, 32, 64, 128, 192, 256}, 32),
          BK = cfg.param("BK", {32, 64, 128, 256}, 64);
  bool isTransposed = cfg.choice("order", {"k_n", "n_k"}, "k_n") == "n_k";
  Program p("matmul_fp8");
  p.orchestration(
      "main", {"a", "b", "sa", "sb", "c"},
      [&](In<f8E4M3FN> a, In<f8E4M3FN> b, In<f32, 1> sa, In<f32, 1> sb, Out<bf16> c) {
        int inner = isTransposed ? 1 : 0, n = 1 - inner;
        require(a.dim(1) == b.dim(inner), "a has as many columns as b has rows");
        require(c.dim(0) == a.dim(0) && c.dim(1) == b.dim(n),
                "c has the rows of a and the columns of b");
        require(sa.dim(0) == a.dim(0) && sb.dim(0) == b.dim(n),
                "there is a scale for each row of a and column of b");
        spmd("matmul", {ceildiv(c.dim(0), BM), ceildiv(c.dim(1), BN)}, [&](Index bi, Index bj) {
          Index i = bi * BM, j = bj * BN;
          Tile sum =
              loop(0, a.dim(1), BK, zeros<f32>(BM, BN), {.stages = 2}, [&](Index k, Tile acc) {
                Tile at = load(a, {i, k}, {BM, BK});
                if (isTransposed)
                  return matmul_acc(acc, at, load(b, {j, k}, {BN, BK}), trans_b);
                return matmul_acc(acc, at, load(b, {k, j}, {BK, BN}));
              });
          Tile scaled = sum * load(sa, {i}, {BM, 1}) * load(sb, {j}, {1, BN});
          store(cast<bf16>(scaled), c, {i, j});
        });
      });
  return p;
}

int main(int argc, char **argv) {
  return kiln::main(argc, argv, matmulFp8,
                    {.args = {{"a", "50x100"},
                              {"b", "100x40"},
                              {"sa", "50:uniform"},
                              {"sb", "40:uniform"},
                              {"c", "50x40"}},
                     .formula = R"(
c = (a * sa[:, None]) @ ((b.T if order == "n_k" else b) * sb)
accumulates = a.shape[1]
)"});
}
