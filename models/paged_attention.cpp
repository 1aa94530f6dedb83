// Attention of one new token per sequence over keys and values that lie in pages: `table` says
// which pages a sequence owns, `lengths` how many tokens it has (none at all gives zeros). The
// query heads that share a key head are the rows of one tile.
#include <kiln/kiln.h>

#include <cmath>

using namespace kiln;

Program pagedAttention(const Config &cfg) {
  int64_t heads = cfg.param("heads", {}, 16), shared = cfg.param("shared", {}, 1);
  int64_t D = cfg.param("D", {16, 32, 64, 128}, 128), block = cfg.param("block", {16, 32, 64}, 64);
  std::vector<int64_t> queries{dyn, heads, shared, D}, pages{dyn, heads, block, D};
  Program p("paged_attention");
  p.orchestration(
      "main", {{"q", queries}, {"k", pages}, {"v", pages}, {"table"}, {"lengths"}, {"o", queries}},
      [&](In<bf16, 4> q, In<bf16, 4> k, In<bf16, 4> v, In<i32> table, In<i32, 1> lengths,
          Out<bf16, 4> o) {
        require_same_shape(k, v, "k and v have one shape");
        require_same_shape(q, o, "q and o have one shape");
        require(table.dim(0) == q.dim(0) && lengths.dim(0) == q.dim(0),
                "each sequence has a row of the table and a length");
        spmd("attention", {q.dim(0), heads}, {}, [&](Index b, Index head) {
          Index tokens = toIndex(read<i32>(lengths, {b}));
          Tile qt = load(q, {b, head, 0, 0}, {shared, D});
          auto [top, sum, acc] =
              loop(0, ceildiv(tokens, block), 1, attention_start(shared, D), {.stages = 2},
                   [&](Index j, Tile topSoFar, Tile sumSoFar, Tile accSoFar) {
                     Index page = toIndex(read<i32>(table, {b, j}));
                     Tile kt = load(k, {page, head, 0, 0}, {block, D});
                     Tile vt = load(v, {page, head, 0, 0}, {block, D});
                     Tile scores = matmul(qt, kt, trans_b) * (1 / std::sqrt(double(D)));
                     scores = mask(scores, shared, tokens - j * block, Pad::Min);
                     return attention_step(topSoFar, sumSoFar, accSoFar, scores, vt);
                   });
          store(cast<bf16>(where(sum > 0, acc / sum, 0)), o, {b, head, 0, 0});
        });
      });
  return p;
}

int main(int argc, char **argv) {
  return kiln::main(argc, argv, pagedAttention,
                    {.args = {{"q", "4x16x1x128"},
                              {"k", "12x16x64x128"},
                              {"v", "12x16x64x128"},
                              {"table", "4x3:shuffled"},
                              {"lengths", "4:0,1,100,192"},
                              {"o", "4x16x1x128"}},
                     .formula = R"(
assert table.min() >= 0 and table.max() < len(k), "the table names pages that exist"
assert lengths.max() <= table.shape[1] * k.shape[2], "no sequence is longer than its pages"
o = torch.zeros_like(q)
for b, n in enumerate(lengths.tolist()):
    if n > 0:
        keys, values = (t[table[b]].transpose(0, 1).flatten(1, 2)[:, :n] for t in (k, v))
        o[b] = torch.softmax(q[b] @ keys.transpose(1, 2) / math.sqrt(D), -1) @ values
)"});
}
