// c = a * b^T of eight-bit floats whose scales belong to blocks: one for each row of a and 128
// columns, one for each 128 x 128 block of b, as weights of large models are kept. A product over
// 128 columns is accumulated in f32, scaled, and added to the sum.
#include <kiln/kiln.h>

using namespace kiln;

Program blockScaledGemm(const Config &cfg) {
  constexpr int64_t block = 128;
  int64_t BM = cfg.param("BM", {16, 32, 64, 128}, 32), BN = cfg.param("BN", {32, 64, 128}, 64);
  Split split = cfg.split("split", Split::UpDown);
  Program p("block_scaled_gemm");
  p.orchestration(
      "main", {"a", "b", "sa", "sb", "c"},
      [&](In<f8E4M3FN> a, In<f8E4M3FN> b, In<f32> sa, In<f32> sb, Out<bf16> c) {
        require(a.dim(1) == b.dim(1), "a and b have as many columns");
        require(c.dim(0) == a.dim(0) && c.dim(1) == b.dim(0), "c has the rows of a and of b");
        Index blocks = ceildiv(a.dim(1), block);
        require(sa.dim(0) == a.dim(0) && sa.dim(1) == blocks,
                "there is a scale for each row of a and 128 columns");
        require(sb.dim(0) == ceildiv(b.dim(0), block) && sb.dim(1) == blocks,
                "there is a scale for each 128 x 128 block of b");
        spmd("matmul", {ceildiv(c.dim(0), BM), ceildiv(c.dim(1), BN)}, {.split = split},
             [&](Index bi, Index bj) {
               // BN divides 128, so the columns of a tile lie in one block of scales.
               Index i = bi * BM, j = bj * BN;
               Tile start = zeros<f32>(BM, BN);
               Tile sum = loop(0, blocks, 1, start, {.stages = 2}, [&](Index k, Tile acc) {
                 Tile at = load(a, {i, k * block}, {BM, block});
                 Tile bt = load(b, {j, k * block}, {BN, block});
                 Tile scale = load(sa, {i, k}, {BM, 1}) * read<f32>(sb, {j / block, k});
                 return acc + matmul(at, bt, trans_b) * scale;
               });
               store(cast<bf16>(sum), c, {i, j});
             });
      });
  return p;
}

int main(int argc, char **argv) {
  auto shapes = [](int64_t m, int64_t n, int64_t k) {
    auto shape = [](int64_t rows, int64_t cols) {
      return std::to_string(rows) + "x" + std::to_string(cols);
    };
    int64_t rows = (n + 127) / 128, cols = (k + 127) / 128;
    return std::vector<std::pair<std::string, std::string>>{{"a", shape(m, k)},
                                                            {"b", shape(n, k)},
                                                            {"sa", shape(m, cols) + ":uniform"},
                                                            {"sb", shape(rows, cols) + ":uniform"},
                                                            {"c", shape(m, n)}};
  };
  return kiln::main(argc, argv, blockScaledGemm,
                    {.args = shapes(50, 200, 300),
                     .formula = R"(
def spread(scales, rows, like):
    return scales.repeat_interleave(rows, 0)[:like.shape[0]].repeat_interleave(128, 1)[:, :like.shape[1]]
c = (a * spread(sa, 1, a)) @ (b * spread(sb, 128, b)).T
accumulates = a.shape[1]
)",
                     .cases = {shapes(1, 1, 1), shapes(33, 127, 128), shapes(32, 129, 129),
                               shapes(5, 300, 0), shapes(0, 7, 200)}});
}
