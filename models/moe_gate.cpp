// Routing for a mixture of experts. Each token goes to the K experts with the largest softmax
// scores, with weights that add up to 1; then the tokens are gathered expert by expert, as the
// experts' matrix products want them. Running positions are sums over earlier tokens, which is a
// product with a triangle of ones.
#include <kiln/kiln.h>

using namespace kiln;

Program moeGate(const Config &cfg) {
  constexpr int64_t BT = 16, BD = 32;
  int64_t E = cfg.param("E", {8, 16, 32, 64}, 16), K = cfg.param("K", {1, 2, 4, 8}, 2),
          D = cfg.param("D", {32, 64, 128}, 64);
  Program p("moe_gate");
  // Which of the experts each of BT tokens from t on is sent to, as ones and zeros; `slot` < 0: by
  // any.
  auto chosen = [&](TensorRef experts, Index t, int64_t slot) {
    Tile number = load(experts, {t, slot}, {BT, 1}); // 0 where there is no token, so:
    Tile exists = mask(full(DType::F32, {BT, 1}, 1), experts.dim(0) - t, 1);
    return where(iota<i32>({1, E}, 1) == number, exists, 0);
  };
  auto chosenByAny = [&](TensorRef experts, Index t) {
    Tile sum = chosen(experts, t, 0);
    for (int64_t slot = 1; slot < K; ++slot)
      sum = sum + chosen(experts, t, slot);
    return sum;
  };
  p.orchestration(
      "main",
      {{"x", {dyn, D}},
       {"gate", {E, D}},
       {"experts", {dyn, K}},
       {"weights", {dyn, K}},
       {"source", {dyn, 1}},
       {"gathered", {dyn, D}}},
      [&](In<f32> x, In<f32> gate, Out<i32> experts, Out<f32> weights, Out<i32> source,
          Out<f32> gathered) {
        require(experts.dim(0) == x.dim(0) && weights.dim(0) == x.dim(0),
                "each token has experts and weights");
        require(source.dim(0) == x.dim(0) * K && gathered.dim(0) == source.dim(0),
                "each token is gathered K times");
        Index tokens = x.dim(0), blocks = ceildiv(tokens, BT);
        TensorRef places = alloc<i32>("places", {K, tokens});
        spmd("gate", {blocks}, {}, [&](Index block) {
          Index t = block * BT;
          Sorted best = topk_rows(
              softmax(matmul(load(x, {t, 0}, {BT, D}), load(gate, {0, 0}, {E, D}), trans_b)), K);
          store(best.columns, experts, {t, 0});
          store(best.values / reduce_sum(best.values, 1), weights, {t, 0});
        });
        // One block counts the tokens of each expert, then gives each token its place.
        spmd("route", {1}, {}, [&](Index) {
          Tile counts = loop(0, tokens, BT, zeros<f32>(1, E), [&](Index t, Tile acc) {
            return acc + reduce_sum(chosenByAny(experts, t), 0);
          });
          // The first place of each expert: the tokens of all before it.
          Tile before = transpose(mask_diag(full(DType::F32, {E, E}, 1), -1));
          loop(0, tokens, BT, matmul(counts, before), [&](Index t, Tile next) {
            Tile any = chosenByAny(experts, t);
            Tile place = matmul(mask_diag(full(DType::F32, {BT, BT}, 1), -1), any) + next;
            for (int64_t slot = 0; slot < K; ++slot) {
              Tile row = reduce_sum(chosen(experts, t, slot) * place, 1);
              store(transpose(cast<i32>(row)), places, {slot, t});
            }
            return next + reduce_sum(any, 0);
          });
        });
        spmd("scatter", {blocks, K}, {}, [&](Index block, Index slot) {
          Index t = block * BT;
          Tile token = iota<i32>({BT, 1}, 0) + toI32(t);
          scatter_rows(token, source, {0, 0}, places, {slot, t});
        });
        spmd("gather", {ceildiv(source.dim(0), BT), D / BD}, {}, [&](Index bi, Index bj) {
          Index i = bi * BT, j = bj * BD;
          store(gather_rows(x, {0, j}, reshape(source, {source.dim(0)}), {i}, {BT, BD}), gathered,
                {i, j});
        });
      });
  return p;
}

int main(int argc, char **argv) {
  return kiln::main(argc, argv, moeGate,
                    {.args = {{"x", "37x64"},
                              {"experts", "37x2"},
                              {"weights", "37x2"},
                              {"source", "74x1"},
                              {"gathered", "74x64"}},
                     .formula = R"(
best, experts = (t[:, :K] for t in torch.sort(torch.softmax(x @ gate.T, 1), dim=1, descending=True, stable=True))
weights = best / best.sum(1, keepdim=True)
source = (torch.sort(experts.flatten(), stable=True)[1] // K)[:, None]
gathered = x[source[:, 0]]
accumulates = 16
)"});
}
