// y = (silu(x * gate^T) * (x * up^T)) * down^T: the feed-forward block of most language models.
// bf16 storage, f32 accumulation; the gated product never leaves its core in f32.
#include <kiln/kiln.h>

using namespace kiln;

Program swigluFfn(const Config &cfg) {
  int64_t BM = cfg.param("BM", {16, 32, 64, 128}, 32), BN = cfg.param("BN", {16, 32, 64, 128}, 32),
          BK = cfg.param("BK", {32, 64}, 32);
  Program p("swiglu_ffn");
  // A tile of a * w^T for each of the weights, in one pass over the rows of a.
  auto product = [&](TensorRef a, TensorRef w, Index i, Index j) {
    return loop(0, a.dim(1), BK, zeros<f32>(BM, BN), {.stages = 2}, [&](Index k, Tile acc) {
      return matmul_acc(acc, load(a, {i, k}, {BM, BK}), load(w, {j, k}, {BN, BK}), trans_b);
    });
  };
  p.orchestration(
      "main", {"x", "gate", "up", "down", "y"},
      [&](In<bf16> x, In<bf16> gate, In<bf16> up, In<bf16> down, Out<bf16> y) {
        require_same_shape(gate, up, "gate and up have one shape");
        require(gate.dim(1) == x.dim(1), "gate and up have a column for each column of x");
        require(down.dim(0) == x.dim(1) && down.dim(1) == gate.dim(0),
                "down leads back to the width of x");
        require_same_shape(x, y, "y has the shape of x");
        TensorRef h = alloc<bf16>("h", {x.dim(0), gate.dim(0)});
        spmd(
            "gate_up", {ceildiv(h.dim(0), BM), ceildiv(h.dim(1), BN)}, {}, [&](Index bi, Index bj) {
              Index i = bi * BM, j = bj * BN;
              auto [g, u] = loop(
                  0, x.dim(1), BK, std::tuple(zeros<f32>(BM, BN), zeros<f32>(BM, BN)),
                  {.stages = 2}, [&](Index k, Tile gSoFar, Tile uSoFar) {
                    Tile xt = load(x, {i, k}, {BM, BK});
                    return std::tuple(matmul_acc(gSoFar, xt, load(gate, {j, k}, {BN, BK}), trans_b),
                                      matmul_acc(uSoFar, xt, load(up, {j, k}, {BN, BK}), trans_b));
                  });
              store(cast<bf16>(silu(g) * u), h, {i, j});
            });
        spmd("down", {ceildiv(y.dim(0), BM), ceildiv(y.dim(1), BN)}, {}, [&](Index bi, Index bj) {
          store(cast<bf16>(product(h, down, bi * BM, bj * BN)), y, {bi * BM, bj * BN});
        });
      });
  return p;
}

int main(int argc, char **argv) {
  return kiln::main(argc, argv, swigluFfn,
                    {.args = {{"x", "20x64"},
                              {"gate", "100x64:normal*0.1"},
                              {"up", "100x64:normal*0.1"},
                              {"down", "64x100:normal*0.1"},
                              {"y", "20x64"}},
                     .formula = R"(
h = torch.nn.functional.silu(x @ gate.T) * (x @ up.T)
y = h.bfloat16().double() @ down.T
accumulates = gate.shape[0]
)"});
}
