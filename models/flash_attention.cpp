// o = softmax(q * k^T / sqrt(D)) * v for each head, in one pass over the keys: running maximum, sum
// and output are corrected as larger scores turn up, so the scores are never stored. `--causal yes`
// lets a query see only what comes before it.
#include <kiln/kiln.h>

#include <cmath>

using namespace kiln;

template <typename T> Program attentionOf(const Config &cfg) {
  int64_t D = cfg.param("D", {64, 128}, 64);
  int64_t BM = cfg.param("BM", {16, 32, 64, 128, 192}, 64);
  int64_t BN = cfg.param("BN", {16, 32, 64, 128, 176}, 64);
  bool causal = cfg.choice("causal", {"yes", "no"}, "no") == "yes";
  std::vector<int64_t> shape{dyn, dyn, D};
  Program p("flash_attention");
  p.orchestration(
      "main", {{"q", shape}, {"k", shape}, {"v", shape}, {"o", shape}},
      [&](In<T, 3> q, In<T, 3> k, In<T, 3> v, Out<T, 3> o) {
        require_same_shape(k, v, "k and v have one shape");
        require_same_shape(q, o, "q and o have one shape");
        require(q.dim(0) == k.dim(0), "q and k have equally many heads");
        require(k.dim(1) > 0, "there is a key to attend to");
        if (causal)
          require(q.dim(1) == k.dim(1), "with --causal yes there are as many queries as keys");
        spmd("attention", {q.dim(0), ceildiv(q.dim(1), BM)}, {}, [&](Index head, Index block) {
          // The blocks with the most keys come first: those that are done early take the short
          // ones.
          Index i = (causal ? ceildiv(q.dim(1), BM) - 1 - block : block) * BM, keys = k.dim(1);
          Tile qt = load(q, {head, i, 0}, {BM, D});
          Index end = causal ? min(keys, i + BM) : keys;
          auto [top, sum, acc] =
              loop(0, end, BN, attention_start(BM, D), {.stages = 2},
                   [&](Index j, Tile topSoFar, Tile sumSoFar, Tile accSoFar) {
                     Tile kt = load(k, {head, j, 0}, {BN, D}), vt = load(v, {head, j, 0}, {BN, D});
                     Tile scores = mask(matmul(qt, kt, trans_b), BM, keys - j, Pad::Min);
                     if (causal)
                       scores = mask_diag(scores, i - j, Pad::Min);
                     return attention_step(topSoFar, sumSoFar, accSoFar, scores, vt,
                                           1 / std::sqrt(double(D)));
                   });
          Tile result = acc * recip(sum); // one division for each row
          store(result.dtype() == o.dtype() ? result : cast(result, o.dtype()), o, {head, i, 0});
        });
      });
  return p;
}

Program flashAttention(const Config &cfg) {
  bool isHalf = cfg.choice("type", {"f32", "bf16"}, "f32") == "bf16";
  return isHalf ? attentionOf<bf16>(cfg) : attentionOf<f32>(cfg);
}

int main(int argc, char **argv) {
  return kiln::main(
      argc, argv, flashAttention,
      {.args = {{"q", "2x100x64"}, {"k", "2x100x64"}, {"v", "2x100x64"}, {"o", "2x100x64"}},
       .formula = R"(
    scores = q @ k.transpose(-1, -2) / math.sqrt(q.shape[-1])
    if causal == "yes":
        scores += torch.full_like(scores, -math.inf).triu(1)
    o = torch.softmax(scores, -1) @ v
    accumulates = 16
  )"});
}
