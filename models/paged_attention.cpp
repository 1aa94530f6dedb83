// Attention of one new token per sequence over keys and values that lie in pages: `table` says
// which pages a sequence owns, `lengths` how many tokens it has (none at all gives zeros). The
// query heads that share a key head are the rows of one tile. With --parts several cores share a
// sequence: each sums over some of its pages, and another kernel puts their sums together, always
// in the same order.
#include <kiln/kiln.h>

#include <cmath>

using namespace kiln;

namespace {

/// The sums of attention, each row scaled by its own number: what several parts have found, as if
/// one had.
AttentionState together(const AttentionState &a, const AttentionState &b) {
  auto &[topA, sumA, accA] = a;
  auto &[topB, sumB, accB] = b;
  Tile top = maximum(topA, topB), fadeA = exp(topA - top), fadeB = exp(topB - top);
  return {top, sumA * fadeA + sumB * fadeB, accA * fadeA + accB * fadeB};
}

Program pagedAttention(const Config &cfg) {
  int64_t heads = cfg.param("heads", {}, 16), shared = cfg.param("shared", {}, 1);
  int64_t D = cfg.param("D", {16, 32, 64, 128}, 128),
          block = cfg.param("block", {16, 32, 64, 128}, 64);
  int64_t parts = cfg.param("parts", {}, 1);
  // Of a tile; those beyond the heads that share keys are zeros, for machines that want many.
  int64_t rows = std::max(shared, cfg.param("rows", {}, 1));
  std::vector<int64_t> queries{dyn, heads, shared, D}, pages{dyn, heads, block, D};
  Program p("paged_attention");

  // Over the pages from `first` to before `last`.
  auto attend = [&](TensorRef q, TensorRef k, TensorRef v, TensorRef table, Index tokens, Index b,
                    Index head, Index first, Index last) {
    Tile qt = load(q, {b, head, 0, 0}, {rows, D});
    return loop(first, last, 1, attention_start(rows, D), {.stages = 2},
                [&](Index j, Tile top, Tile sum, Tile acc) {
                  Index page = toIndex(read<i32>(table, {b, j}));
                  Tile kt = load(k, {page, head, 0, 0}, {block, D});
                  Tile vt = load(v, {page, head, 0, 0}, {block, D});
                  Tile scores = matmul(qt, kt, trans_b);
                  scores = mask(scores, rows, tokens - j * block, Pad::Min);
                  return attention_step(top, sum, acc, scores, vt, 1 / std::sqrt(double(D)));
                });
  };
  auto finish = [&](const AttentionState &state, TensorRef o, Index b, Index head) {
    auto &[top, sum, acc] = state;
    store(cast<bf16>(where(sum > 0, acc / sum, 0)), o, {b, head, 0, 0});
  };

  p.orchestration(
      "main", {{"q", queries}, {"k", pages}, {"v", pages}, {"table"}, {"lengths"}, {"o", queries}},
      [&](In<bf16, 4> q, In<bf16, 4> k, In<bf16, 4> v, In<i32> table, In<i32, 1> lengths,
          Out<bf16, 4> o) {
        require_same_shape(k, v, "k and v have one shape");
        require_same_shape(q, o, "q and o have one shape");
        require(table.dim(0) == q.dim(0) && lengths.dim(0) == q.dim(0),
                "each sequence has a row of the table and a length");
        Index batch = q.dim(0);
        if (parts == 1) {
          spmd("attention", {batch, heads}, {}, [&](Index b, Index head) {
            Index tokens = toIndex(read<i32>(lengths, {b}));
            finish(attend(q, k, v, table, tokens, b, head, 0, ceildiv(tokens, block)), o, b, head);
          });
          return;
        }
        // Of each part and row: the number that scores were compared with, their sum, what they are
        // the weights of.
        TensorRef tops = alloc<f32>("tops", {batch, heads, parts, shared, 1}),
                  sums = alloc<f32>("sums", {batch, heads, parts, shared, 1}),
                  found = alloc<f32>("found", {batch, heads, parts, shared, D});
        spmd("attention", {batch, heads, parts}, {}, [&](Index b, Index head, Index part) {
          Index tokens = toIndex(read<i32>(lengths, {b})), last = ceildiv(tokens, block);
          Index each = ceildiv(last, parts), first = min(part * each, last);
          auto [top, sum, acc] =
              attend(q, k, v, table, tokens, b, head, first, min(first + each, last));
          store(top, tops, {b, head, part, 0, 0});
          store(sum, sums, {b, head, part, 0, 0});
          store(acc, found, {b, head, part, 0, 0});
        });
        spmd("merge", {batch, heads}, {}, [&](Index b, Index head) {
          finish(loop(0, parts, 1, attention_start(shared, D),
                      [&](Index part, Tile top, Tile sum, Tile acc) {
                        return together({top, sum, acc},
                                        {load(tops, {b, head, part, 0, 0}, {shared, 1}),
                                         load(sums, {b, head, part, 0, 0}, {shared, 1}),
                                         load(found, {b, head, part, 0, 0}, {shared, D})});
                      }),
                 o, b, head);
        });
      });
  return p;
}

} // namespace

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
