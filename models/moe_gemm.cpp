// The experts' matrix products of a mixture of experts. Tokens lie expert by expert, as moe_gate
// gathers them: expert e has the rows from offsets[e] to offsets[e + 1], which may be none, and
// multiplies them by its own weights. A tile may reach into the rows of the next expert; what it
// computes there is not stored.
#include <kiln/kiln.h>

using namespace kiln;

Program moeGemm(const Config &cfg) {
  int64_t BM = cfg.param("BM", {16, 32, 64, 128}, 32), BN = cfg.param("BN", {32, 64, 128}, 64),
          BK = cfg.param("BK", {32, 64, 128}, 64);
  Program p("moe_gemm");
  p.orchestration(
      "main", {"x", "w", "offsets", "y"},
      [&](In<bf16> x, In<bf16, 3> w, In<i32, 1> offsets, Out<bf16> y) {
        Index experts = w.dim(0), inner = w.dim(1), columns = w.dim(2);
        require(x.dim(1) == inner, "x has as many columns as each expert's weights have rows");
        require(y.dim(0) == x.dim(0) && y.dim(1) == columns,
                "y has the rows of x and the columns of the weights");
        require(offsets.dim(0) == experts + 1, "there is an offset for each expert, and the end");
        spmd("experts", {experts, ceildiv(columns, BN)}, {}, [&](Index e, Index bj) {
          Index j = bj * BN, end = toIndex(read<i32>(offsets, {e + 1}));
          loop(toIndex(read<i32>(offsets, {e})), end, BM, [&](Index i) {
            Tile sum =
                loop(0, inner, BK, zeros<f32>(BM, BN), {.stages = 2}, [&](Index k, Tile acc) {
                  Tile xt = load(x, {i, k}, {BM, BK}), wt = load(w, {e, k, j}, {BK, BN});
                  return matmul_acc(acc, xt, wt);
                });
            store(cast<bf16>(sum), y, {i, j}, {.valid = {min(end - i, BM), BN}});
          });
        });
      });
  return p;
}

int main(int argc, char **argv) {
  return kiln::main(
      argc, argv, moeGemm,
      {.args = {{"x", "150x72"},
                {"w", "8x72x100"},
                {"offsets", "9:0,0,1,33,65,65,98,150,150"},
                {"y", "150x100"}},
       .formula = R"(
bounds = offsets.tolist()
assert bounds[0] == 0 and bounds[-1] == len(x), "the offsets go from 0 to the number of rows"
assert bounds == sorted(bounds), "the offsets do not decrease"
y = torch.cat([x[i:j] @ w[e] for e, (i, j) in enumerate(zip(bounds, bounds[1:]))])
accumulates = x.shape[1]
)",
       .cases = {{{"x", "32x72"}, {"offsets", "9:0,0,0,0,0,0,0,0,32"}, {"y", "32x100"}},
                 {{"x", "31x72"}, {"offsets", "9:0,31,31,31,31,31,31,31,31"}, {"y", "31x100"}},
                 {{"x", "8x72"}, {"offsets", "9:0,1,2,3,4,5,6,7,8"}, {"y", "8x100"}},
                 {{"x", "70x1"}, {"w", "2x1x1"}, {"offsets", "3:0,64,70"}, {"y", "70x1"}},
                 {{"x", "33x64"}, {"w", "1x64x65"}, {"offsets", "2:0,33"}, {"y", "33x65"}},
                 {{"x", "0x5"}, {"w", "3x5x7"}, {"offsets", "4:0"}, {"y", "0x7"}}}});
}
