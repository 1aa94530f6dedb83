// One decoder layer of Qwen3 for one new token per sequence, split over ranks: each rank has some
// heads, with their part of the cache, and some of the intermediate columns. What the ranks
// contribute to the residual is added up twice, after attention and after the feed-forward block.
// bf16 storage, f32 arithmetic.
#include <kiln/kiln.h>

#include <cmath>

using namespace kiln;

namespace {

constexpr double kEps = 1e-6;

Program tpDecodeLayer(const Config &cfg) {
  // `group` query heads share a head of keys and values; ranks have whole groups.
  bool isTiny = cfg.choice("config", {"tiny", "14b"}, "tiny") == "tiny";
  int64_t hidden = isTiny ? 64 : 5120, group = isTiny ? 2 : 5, D = isTiny ? 16 : 128;
  int64_t BM = 16, BN = isTiny ? 32 : 128, BK = isTiny ? 32 : 128, keys = isTiny ? 32 : 128;
  Program p("tp_decode_layer");

  auto norm = [&](const char *name, TensorRef x, TensorRef w, TensorRef xn) {
    spmd(name, {ceildiv(x.dim(0), BM)}, {}, [&](Index block) {
      Index i = block * BM;
      auto part = [&](Index k) { return cast<f32>(load(x, {i, k}, {BM, BK})); };
      Tile squares = loop(0, hidden, BK, zeros<f32>(BM, 1), [&](Index k, Tile sum) {
        return sum + reduce_sum(part(k) * part(k), 1);
      });
      Tile scale = rsqrt(squares * (1.0 / double(hidden)) + kEps);
      loop(0, hidden, BK, [&](Index k) {
        store(cast<bf16>(part(k) * scale * cast<f32>(load(w, {k}, {1, BK}))), xn, {i, k});
      });
    });
  };
  auto product = [&](TensorRef a, TensorRef w, Index i, Index j) {
    return loop(0, a.dim(1), BK, zeros<f32>(BM, BN), {.stages = 3}, [&](Index k, Tile acc) {
      return matmul_acc(acc, load(a, {i, k}, {BM, BK}), load(w, {j, k}, {BN, BK}), trans_b);
    });
  };
  auto project = [&](const char *name, TensorRef a, TensorRef w, TensorRef out, auto epilogue) {
    spmd(name, {ceildiv(a.dim(0), BM), ceildiv(w.dim(0), BN)}, {}, [&](Index bi, Index bj) {
      Index i = bi * BM, j = bj * BN;
      store(epilogue(product(a, w, i, j), i, j), out, {i, j});
    });
  };
  auto plain = [](Tile t, Index, Index) { return t; };
  // out = x + the sum of what the ranks have in `part`.
  auto addUp = [&](const char *name, TensorRef x, TensorRef part, TensorRef out, auto finish) {
    all_reduce(part, Combine::Sum, {.fixedOrder = true});
    spmd(name, {ceildiv(x.dim(0), BM), ceildiv(hidden, BN)}, {}, [&](Index bi, Index bj) {
      Index i = bi * BM, j = bj * BN;
      store(finish(cast<f32>(load(x, {i, j}, {BM, BN})) + load(part, {i, j}, {BM, BN})), out,
            {i, j});
    });
  };

  p.orchestration(
      "main",
      {{"x", {dyn, hidden}},
       {"positions"},
       {"cosine", {dyn, D / 2}},
       {"sine", {dyn, D / 2}},
       {"norm1", {hidden}},
       {"q_proj", {dyn, group * D, hidden}},
       {"k_proj", {dyn, D, hidden}},
       {"v_proj", {dyn, D, hidden}},
       {"q_norm", {D}},
       {"k_norm", {D}},
       {"k_cache", {dyn, dyn, dyn, D}},
       {"v_cache", {dyn, dyn, dyn, D}},
       {"out_proj", {dyn, group * D, hidden}},
       {"norm2", {hidden}},
       {"gate", {dyn, hidden}},
       {"up", {dyn, hidden}},
       {"down", {hidden, dyn}},
       {"y", {dyn, hidden}}},
      [&](In<bf16> x, In<i32, 1> positions, In<f32> cosine, In<f32> sine, In<bf16, 1> norm1,
          In<bf16, 3> q_proj, In<bf16, 3> k_proj, In<bf16, 3> v_proj, In<bf16, 1> q_norm,
          In<bf16, 1> k_norm, InOut<bf16, 4> k_cache, InOut<bf16, 4> v_cache, In<bf16, 3> out_proj,
          In<bf16, 1> norm2, In<bf16> gate, In<bf16> up, In<bf16> down, Out<bf16> y) {
        Index batch = x.dim(0), heads = k_proj.dim(0), inter = gate.dim(0);
        require(positions.dim(0) == batch && y.dim(0) == batch && k_cache.dim(0) == batch,
                "every argument is of the same batch");
        require(q_proj.dim(0) == heads && v_proj.dim(0) == heads && k_cache.dim(1) == heads &&
                    out_proj.dim(0) == heads,
                "projections and caches are of the same heads");
        require_same_shape(k_cache, v_cache, "k_cache and v_cache have one shape");
        require_same_shape(cosine, sine, "cosine and sine have one shape");
        require_same_shape(gate, up, "gate and up have one shape");
        require(down.dim(1) == inter, "down has a column for each row of gate");
        TensorRef xn = alloc<bf16>("xn", {batch, hidden});
        norm("norm_1", x, norm1, xn);
        auto rowsOf = [&](const char *name, TensorRef w, int64_t count) {
          TensorRef made = alloc<f32>(name, {batch, heads * (count * D)});
          project(name, xn, reshape(w, {heads * (count * D), hidden}), made, plain);
          return reshape(made, {batch, heads * count, D});
        };
        TensorRef queries = rowsOf("q_rows", q_proj, group), ks = rowsOf("k_rows", k_proj, 1),
                  vs = rowsOf("v_rows", v_proj, 1);
        TensorRef q = alloc<bf16>("q", {batch, heads * group, D}),
                  mixed = alloc<bf16>("mixed", {batch, heads * group, D});
        spmd("rotate", {batch, heads}, {}, [&](Index b, Index h) {
          Index at = toIndex(read<i32>(positions, {b}));
          Tile c = load(cosine, {at, 0}, {1, D / 2}), sn = load(sine, {at, 0}, {1, D / 2});
          auto turned = [&](TensorRef rows, Index row, int64_t count, TensorRef weight) {
            Tile t = rms_norm(load(rows, {b, row, 0}, {count, D}),
                              cast<f32>(load(weight, {0}, {1, D})), D, kEps);
            return cast<bf16>(rope(t, c, sn));
          };
          store(turned(queries, h * group, group, q_norm), q, {b, h * group, 0});
          store(turned(ks, h, 1, k_norm), k_cache, {b, h, at, 0});
          store(cast<bf16>(load(vs, {b, h, 0}, {1, D})), v_cache, {b, h, at, 0});
        });
        spmd("attention", {batch, heads}, {}, [&](Index b, Index h) {
          Index tokens = toIndex(read<i32>(positions, {b})) + 1;
          Tile qt = load(q, {b, h * group, 0}, {group, D});
          auto [top, sum, acc] = loop(
              0, tokens, keys, attention_start(group, D), {.stages = 2},
              [&](Index j, Tile topSoFar, Tile sumSoFar, Tile accSoFar) {
                LoadOptions seen{.valid = {tokens - j, D}}; // the cache beyond has not been written
                Tile kt = load(k_cache, {b, h, j, 0}, {keys, D}, seen);
                Tile vt = load(v_cache, {b, h, j, 0}, {keys, D}, seen);
                Tile scores = matmul(qt, kt, trans_b) * (1 / std::sqrt(double(D)));
                return attention_step(topSoFar, sumSoFar, accSoFar,
                                      mask(scores, group, tokens - j, Pad::Min), vt);
              });
          store(cast<bf16>(acc / sum), mixed, {b, h * group, 0});
        });

        TensorRef ofHeads = alloc<f32>("of_heads", {batch, hidden}),
                  h1 = alloc<f32>("h1", {batch, hidden}), hn = alloc<bf16>("hn", {batch, hidden}),
                  act = alloc<bf16>("act", {batch, inter}),
                  ofColumns = alloc<f32>("of_columns", {batch, hidden});
        TensorRef all = reshape(mixed, {batch, heads * (group * D)}),
                  back = reshape(out_proj, {heads * (group * D), hidden});
        spmd("out_proj", {ceildiv(batch, BM), ceildiv(hidden, BN)}, {}, [&](Index bi, Index bj) {
          Index i = bi * BM, j = bj * BN;
          store(loop(0, all.dim(1), BK, zeros<f32>(BM, BN), {.stages = 3},
                     [&](Index k, Tile acc) {
                       return matmul_acc(acc, load(all, {i, k}, {BM, BK}),
                                         load(back, {k, j}, {BK, BN}));
                     }),
                ofHeads, {i, j});
        });
        addUp("residual_1", x, ofHeads, h1, [](Tile t) { return t; });
        norm("norm_2", h1, norm2, hn);
        project("gate_up", hn, gate, act, [&](Tile t, Index i, Index j) {
          return cast<bf16>(silu(t) * product(hn, up, i, j));
        });
        project("down_proj", act, down, ofColumns, plain);
        addUp("residual_2", h1, ofColumns, y, [](Tile t) { return cast<bf16>(t); });
      });
  return p;
}

} // namespace

int main(int argc, char **argv) {
  return kiln::main(argc, argv, tpDecodeLayer,
                    {.args = {{"x", "3x64"},
                              {"positions", "3:0,7,39"},
                              {"cosine", "40x8:uniform"},
                              {"sine", "40x8:uniform"},
                              {"norm1", ":normal*0.1+1"},
                              {"q_proj", "3x32x64:normal*0.125@0"},
                              {"k_proj", "3x16x64:normal*0.125@0"},
                              {"v_proj", "3x16x64:normal*0.125@0"},
                              {"q_norm", ":normal*0.1+1"},
                              {"k_norm", ":normal*0.1+1"},
                              {"k_cache", "3x3x40x16@1"},
                              {"v_cache", "3x3x40x16@1"},
                              {"out_proj", "3x32x64:normal*0.125@0"},
                              {"norm2", ":normal*0.1+1"},
                              {"gate", "96x64:normal*0.125@0"},
                              {"up", "96x64:normal*0.125@0"},
                              {"down", "64x96:normal*0.125@1"},
                              {"y", "3x64"}},
                     .formula = R"(
batch, kv, S, D = k_cache.shape
group = q_proj.shape[1] // D
assert positions.min() >= 0 and positions.max() < min(S, len(cosine)), "positions lie in the cache and in the table of angles"
narrow = lambda t: t.bfloat16().double()
norm = lambda t, w: t * torch.rsqrt((t * t).mean(-1, keepdim=True) + 1e-6) * w
silu = torch.nn.functional.silu
def rotate(t):
    low, high = t.chunk(2, -1)
    c, s = cosine[positions][:, None], sine[positions][:, None]
    return torch.cat([low * c - high * s, high * c + low * s], -1)
xn = narrow(norm(x, norm1))
rows = lambda w: (xn @ w.reshape(-1, w.shape[-1]).T).view(batch, -1, D)
k_cache, v_cache = k_cache.clone(), v_cache.clone()
each = torch.arange(batch)
k_cache[each, :, positions] = narrow(rotate(norm(rows(k_proj), k_norm)))
v_cache[each, :, positions] = narrow(rows(v_proj))
q = narrow(rotate(norm(rows(q_proj), q_norm))).view(batch, kv, group, D)
scores = (q @ k_cache.transpose(2, 3)) / math.sqrt(D)
scores = scores.masked_fill(torch.arange(S) > positions[:, None, None, None], -math.inf)
mixed = narrow(torch.softmax(scores, -1).nan_to_num() @ v_cache.nan_to_num())
h = x + mixed.reshape(batch, -1) @ out_proj.reshape(-1, x.shape[1])
hn = narrow(norm(h, norm2))
y = h + narrow(silu(hn @ gate.T) * (hn @ up.T)) @ down.T
accumulates = 16
)"});
}
