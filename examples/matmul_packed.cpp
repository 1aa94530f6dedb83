// c = a * b where b was packed in advance: tile after tile, each contiguous, so that loading one is
// one straight copy. The packed extents are fixed in the program; only the rows of a vary.
#include <kiln/kiln.h>

using namespace kiln;

constexpr int64_t K = 192, N = 128;

Program matmulPacked(const Config &cfg) {
  int64_t BM = cfg.param("BM", {16, 32, 64}, 32), BN = cfg.param("BN", {32, 64, 128}, 64),
          BK = cfg.param("BK", {32, 64}, 64);
  Program p("matmul_packed");
  p.orchestration("main", {{"a", {dyn, K}}, {"packed", {N / BN, K / BK, BK, BN}}, {"c", {dyn, N}}},
                  [&](In<f32> a, In<f32, 4> packed, Out<f32> c) {
                    require(a.dim(0) == c.dim(0), "c has the rows of a");
                    spmd("matmul", {ceildiv(a.dim(0), BM), N / BN}, [&](Index bi, Index bj) {
                      Index i = bi * BM;
                      Tile sum = loop(0, K / BK, 1, zeros<f32>(BM, BN), {.stages = 2},
                                      [&](Index k, Tile acc) {
                                        return matmul_acc(acc, load(a, {i, k * BK}, {BM, BK}),
                                                          load(packed, {bj, k, 0, 0}, {BK, BN}));
                                      });
                      store(sum, c, {i, bj * BN});
                    });
                  });
  return p;
}

int main(int argc, char **argv) {
  return kiln::main(argc, argv, matmulPacked,
                    {.args = {{"a", "50x192"}, {"c", "50x128"}}, .formula = R"(
b = packed.permute(1, 2, 0, 3).reshape(a.shape[1], c.shape[1])
c = a @ b
accumulates = a.shape[1]
)"});
}
