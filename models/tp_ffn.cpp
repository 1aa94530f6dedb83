// y = (silu(x * gate^T) * (x * up^T)) * down^T, split over ranks: each has some rows of gate and up
// and the same columns of down, computes with them what they contribute, and the ranks add that up.
#include <kiln/kiln.h>

using namespace kiln;

Program tpFfn(const Config &cfg) {
  int64_t BM = cfg.param("BM", {16, 32, 64, 128}, 32), BN = cfg.param("BN", {16, 32, 64, 128}, 32),
          BK = cfg.param("BK", {32, 64}, 32);
  Program p("tp_ffn");
  auto product = [&](TensorRef a, TensorRef w, Index i, Index j) {
    return loop(0, a.dim(1), BK, zeros<f32>(BM, BN), {.stages = 2}, [&](Index k, Tile acc) {
      return matmul_acc(acc, load(a, {i, k}, {BM, BK}), load(w, {j, k}, {BN, BK}), trans_b);
    });
  };
  p.orchestration(
      "main", {"x", "gate", "up", "down", "y"},
      [&](In<bf16> x, In<bf16> gate, In<bf16> up, In<bf16> down, Out<bf16> y) {
        Index tokens = x.dim(0), width = x.dim(1), mine = gate.dim(0);
        require_same_shape(gate, up, "gate and up have one shape");
        require(gate.dim(1) == width, "gate and up have a column for each column of x");
        require(down.dim(0) == width && down.dim(1) == mine, "down leads back to the width of x");
        require_same_shape(x, y, "y has the shape of x");
        TensorRef h = alloc<bf16>("h", {tokens, mine}),
                  total = alloc<f32>("total", {tokens, width});
        spmd("gate_up", {ceildiv(tokens, BM), ceildiv(mine, BN)}, {}, [&](Index bi, Index bj) {
          Index i = bi * BM, j = bj * BN;
          store(cast<bf16>(silu(product(x, gate, i, j)) * product(x, up, i, j)), h, {i, j});
        });
        spmd("down", {ceildiv(tokens, BM), ceildiv(width, BN)}, {}, [&](Index bi, Index bj) {
          store(product(h, down, bi * BM, bj * BN), total, {bi * BM, bj * BN});
        });
        all_reduce(total, Combine::Sum, {.fixedOrder = true});
        spmd("round", {ceildiv(tokens, BM), ceildiv(width, BN)}, {}, [&](Index bi, Index bj) {
          store(cast<bf16>(load(total, {bi * BM, bj * BN}, {BM, BN})), y, {bi * BM, bj * BN});
        });
      });
  return p;
}

int main(int argc, char **argv) {
  return kiln::main(argc, argv, tpFfn,
                    {.args = {{"x", "20x64"},
                              {"gate", "100x64:normal*0.1@0"},
                              {"up", "100x64:normal*0.1@0"},
                              {"down", "64x100:normal*0.1@1"},
                              {"y", "20x64"}},
                     .formula = R"(
h = torch.nn.functional.silu(x @ gate.T) * (x @ up.T)
y = h.bfloat16().double() @ down.T
accumulates = gate.shape[0]
)"});
}
