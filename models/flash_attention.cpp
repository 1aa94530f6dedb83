// o = softmax(q * k^T / sqrt(D)) * v for each head, in one pass over the keys: running maximum, sum
// and output are corrected as larger scores turn up, so the scores are never stored. `--causal yes`
// lets a query see only what comes before it.
#include <kiln/kiln.h>

#include <cmath>

using namespace kiln;

constexpr int64_t D = 64;
static bool causal; // the formula must compute what was traced

Program flashAttention(const Config &cfg) {
  int64_t BM = cfg.param("BM", {16, 32, 64, 128}, 64), BN = cfg.param("BN", {16, 32, 64, 128}, 64);
  causal = cfg.choice("causal", {"yes", "no"}, "no") == "yes";
  std::vector<int64_t> shape{dyn, dyn, D};
  Program p("flash_attention");
  p.orchestration(
      "main", {{"q", shape}, {"k", shape}, {"v", shape}, {"o", shape}},
      [&](In<f32, 3> q, In<f32, 3> k, In<f32, 3> v, Out<f32, 3> o) {
        spmd("attention", {q.dim(0), ceildiv(q.dim(1), BM)}, {}, [&](Index head, Index block) {
          Index i = block * BM, keys = k.dim(1);
          Tile qt = load(q, {head, i, 0}, {BM, D}) * (1 / std::sqrt(double(D)));
          auto start = std::tuple(full(DType::F32, {BM, 1}, -INFINITY), zeros<f32>(BM, 1),
                                  zeros<f32>(BM, D));
          Index end = causal ? min(keys, i + BM) : keys;
          auto [top, sum, acc] =
              loop(0, end, BN, start, {.stages = 2}, [&](Index j, Tile top, Tile sum, Tile acc) {
                Tile kt = load(k, {head, j, 0}, {BN, D}), vt = load(v, {head, j, 0}, {BN, D});
                Tile scores = mask(matmul(qt, kt, trans_b), BM, keys - j, Pad::Min);
                if (causal)
                  scores = mask_diag(scores, i - j, Pad::Min);
                Tile next = maximum(top, reduce_max(scores, 1));
                Tile weights = exp(scores - next), fade = exp(top - next);
                return std::tuple(next, sum * fade + reduce_sum(weights, 1),
                                  matmul_acc(acc * fade, weights, vt));
              });
          store(acc / sum, o, {head, i, 0});
        });
      });
  return p;
}

static void formula(Formula &f) {
  const HostArray &q = f.in("q"), &k = f.in("k"), &v = f.in("v");
  if (!f.require(k.extents() == v.extents() && q.extent(0) == k.extent(0),
                 "k and v have one shape, and as many heads as q") ||
      !f.require(q.extents() == f.in("o").extents(), "q and o have one shape") ||
      !f.require(!causal || q.extent(1) == k.extent(1),
                 "with --causal yes there are as many queries as keys"))
    return;
  int64_t heads = q.extent(0), queries = q.extent(1), keys = k.extent(1);
  HostArray o(q.extents());
  auto at = [](const HostArray &t, int64_t h, int64_t i, int64_t d) {
    return t.data()[size_t((h * t.extent(1) + i) * D + d)];
  };
  for (int64_t h = 0; h < heads; ++h)
    for (int64_t i = 0; i < queries; ++i) {
      int64_t seen = causal ? i + 1 : keys;
      std::vector<double> weights(static_cast<size_t>(seen));
      double top = -INFINITY, sum = 0;
      for (int64_t j = 0; j < seen; ++j) {
        double score = 0;
        for (int64_t d = 0; d < D; ++d)
          score += at(q, h, i, d) * at(k, h, j, d);
        weights[size_t(j)] = score / std::sqrt(double(D));
        top = std::fmax(top, weights[size_t(j)]);
      }
      for (double &weight : weights)
        sum += weight = std::exp(weight - top);
      for (int64_t j = 0; j < seen; ++j)
        for (int64_t d = 0; d < D; ++d)
          o.data()[size_t((h * queries + i) * D + d)] += weights[size_t(j)] / sum * at(v, h, j, d);
    }
  f.accumulates(16);
  f.expect("o", o);
}

int main(int argc, char **argv) {
  return kiln::main(
      argc, argv, flashAttention,
      {.args = {{"q", "2x100x64"}, {"k", "2x100x64"}, {"v", "2x100x64"}, {"o", "2x100x64"}},
       .formula = formula});
}
