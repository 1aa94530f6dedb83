// One decoder layer of Qwen3 for one new token per sequence: norm, projections, norms of the heads,
// rotary embedding, cache update, grouped-query attention over the cache, output projection, norm
// and gated feed-forward, each half with its residual. bf16 storage, f32 arithmetic.
// --tiles even: for 132 cores that share the weights evenly; a row of activations is one tile.
#include <kiln/kiln.h>

#include <cmath>

using namespace kiln;

namespace {

/// The extents of a model.
struct Sizes {
  int64_t hidden, heads, kvHeads, headDim, inter;
};
/// Of weights: their rows, which are columns of a product, and their columns.
struct WeightTile {
  int64_t BN, BK;
};
struct Tiles {
  int64_t BM, normRows, normCols, keys;
  int64_t queries; // rows of a tile, of which those that share keys count
  WeightTile qkv, out, gateUp, down;
};

Sizes sizesOf(const std::string &config) {
  return config == "14b" ? Sizes{5120, 40, 8, 128, 17408} : Sizes{64, 4, 2, 16, 96};
}

Tiles tilesOf(const std::string &config, const std::string &tiles) {
  if (config == "tiny")
    return {16, 16, 32, 32, 2, {32, 32}, {32, 32}, {32, 32}, {32, 32}};
  if (tiles == "square")
    return {16, 16, 128, 128, 5, {128, 128}, {128, 128}, {128, 128}, {128, 128}};
  return {16, 1, 5120, 128, 64, {55, 256}, {39, 256}, {132, 64}, {39, 256}};
}

constexpr double kEps = 1e-6;

Program qwen3DecodeLayer(const Config &cfg) {
  std::string config = cfg.choice("config", {"tiny", "14b"}, "tiny");
  Sizes s = sizesOf(config);
  Tiles t = tilesOf(config, cfg.choice("tiles", {"square", "even"}, "square"));
  int64_t D = s.headDim, group = s.heads / s.kvHeads, all = s.heads + 2 * s.kvHeads;
  Program p("qwen3_decode_layer");

  // xn = x / rms(x) * w for whole rows, which are too long for one tile.
  auto norm = [&](const char *name, TensorRef x, TensorRef w, TensorRef xn) {
    spmd(name, {ceildiv(x.dim(0), t.normRows)}, {}, [&](Index block) {
      Index i = block * t.normRows;
      auto part = [&](Index k) { return cast<f32>(load(x, {i, k}, {t.normRows, t.normCols})); };
      Tile squares =
          loop(0, s.hidden, t.normCols, zeros<f32>(t.normRows, 1),
               [&](Index k, Tile sum) { return sum + reduce_sum(part(k) * part(k), 1); });
      Tile scale = rsqrt(squares * (1.0 / double(s.hidden)) + kEps);
      loop(0, s.hidden, t.normCols, [&](Index k) {
        store(cast<bf16>(part(k) * scale * cast<f32>(load(w, {k}, {1, t.normCols}))), xn, {i, k});
      });
    });
  };
  // A tile of a * w^T.
  auto product = [&](TensorRef a, TensorRef w, WeightTile of, Index i, Index j) {
    return loop(0, a.dim(1), of.BK, zeros<f32>(t.BM, of.BN), {.stages = 3}, [&](Index k, Tile acc) {
      return matmul_acc(acc, load(a, {i, k}, {t.BM, of.BK}), load(w, {j, k}, {of.BN, of.BK}),
                        trans_b);
    });
  };
  // out = epilogue(a * w^T), tile by tile.
  auto project = [&](const char *name, TensorRef a, TensorRef w, WeightTile of, TensorRef out,
                     auto epilogue) {
    spmd(name, {ceildiv(a.dim(0), t.BM), ceildiv(w.dim(0), of.BN)}, {}, [&](Index bi, Index bj) {
      Index i = bi * t.BM, j = bj * of.BN;
      store(epilogue(product(a, w, of, i, j), i, j), out, {i, j});
    });
  };
  auto tileOf = [&](TensorRef from, WeightTile of, Index i, Index j) {
    return cast<f32>(load(from, {i, j}, {t.BM, of.BN}));
  };

  p.orchestration(
      "main",
      {{"x", {dyn, s.hidden}},
       {"positions"},
       {"cosine", {dyn, D / 2}},
       {"sine", {dyn, D / 2}},
       {"norm1", {s.hidden}},
       {"qkv", {all * D, s.hidden}},
       {"q_norm", {D}},
       {"k_norm", {D}},
       {"k_cache", {dyn, s.kvHeads, dyn, D}},
       {"v_cache", {dyn, s.kvHeads, dyn, D}},
       {"out_proj", {s.hidden, s.heads * D}},
       {"norm2", {s.hidden}},
       {"gate", {s.inter, s.hidden}},
       {"up", {s.inter, s.hidden}},
       {"down", {s.hidden, s.inter}},
       {"y", {dyn, s.hidden}}},
      [&](In<bf16> x, In<i32, 1> positions, In<f32> cosine, In<f32> sine, In<bf16, 1> norm1,
          In<bf16> qkv, In<bf16, 1> q_norm, In<bf16, 1> k_norm, InOut<bf16, 4> k_cache,
          InOut<bf16, 4> v_cache, In<bf16> out_proj, In<bf16, 1> norm2, In<bf16> gate, In<bf16> up,
          In<bf16> down, Out<bf16> y) {
        Index batch = x.dim(0);
        require(positions.dim(0) == batch && y.dim(0) == batch && k_cache.dim(0) == batch,
                "every argument is of the same batch");
        require_same_shape(k_cache, v_cache, "k_cache and v_cache have one shape");
        require_same_shape(cosine, sine, "cosine and sine have one shape");
        TensorRef xn = alloc<bf16>("xn", {batch, s.hidden}),
                  projected = alloc<f32>("projected", {batch, all * D});
        norm("norm_1", x, norm1, xn);
        project("qkv_proj", xn, qkv, t.qkv, projected, [](Tile sum, Index, Index) { return sum; });

        // The heads of a sequence are rows: first the queries, then keys, then values.
        TensorRef rows = reshape(projected, {batch, all, D});
        TensorRef q = alloc<bf16>("q", {batch, s.heads, D}),
                  mixed = alloc<bf16>("mixed", {batch, s.heads, D});
        spmd("rotate", {batch, s.kvHeads}, {}, [&](Index b, Index h) {
          Index at = toIndex(read<i32>(positions, {b}));
          Tile c = load(cosine, {at, 0}, {1, D / 2}), sn = load(sine, {at, 0}, {1, D / 2});
          // All that is read is asked for before anything is waited for.
          Tile queries = load(rows, {b, h * group, 0}, {group, D}),
               key = load(rows, {b, s.heads + h, 0}, {1, D}),
               value = load(rows, {b, s.heads + s.kvHeads + h, 0}, {1, D}),
               weightOfQueries = cast<f32>(load(q_norm, {0}, {1, D})),
               weightOfKey = cast<f32>(load(k_norm, {0}, {1, D}));
          auto turned = [&](const Tile &heads, const Tile &weight) {
            return cast<bf16>(rope(rms_norm(heads, weight, D, kEps), c, sn));
          };
          store(turned(queries, weightOfQueries), q, {b, h * group, 0});
          store(turned(key, weightOfKey), k_cache, {b, h, at, 0});
          store(cast<bf16>(value), v_cache, {b, h, at, 0});
        });
        spmd("attention", {batch, s.kvHeads}, {}, [&](Index b, Index h) {
          Index tokens = toIndex(read<i32>(positions, {b})) + 1;
          LoadOptions shares{.valid = {group, D}};
          Tile qt = load(q, {b, h * group, 0}, {t.queries, D}, shares);
          auto [top, sum, acc] = loop(
              0, tokens, t.keys, attention_start(t.queries, D), {.stages = 2},
              [&](Index j, Tile topSoFar, Tile sumSoFar, Tile accSoFar) {
                LoadOptions seen{.valid = {tokens - j, D}}; // the cache beyond has not been written
                Tile kt = load(k_cache, {b, h, j, 0}, {t.keys, D}, seen);
                Tile vt = load(v_cache, {b, h, j, 0}, {t.keys, D}, seen);
                Tile scores = mask(matmul(qt, kt, trans_b), t.queries, tokens - j, Pad::Min);
                return attention_step(topSoFar, sumSoFar, accSoFar, scores, vt,
                                      1 / std::sqrt(double(D)));
              });
          store(cast<bf16>(acc / sum), mixed, {b, h * group, 0}, {.valid = {group, D}});
        });

        TensorRef h1 = alloc<f32>("h1", {batch, s.hidden}),
                  hn = alloc<bf16>("hn", {batch, s.hidden}),
                  act = alloc<bf16>("act", {batch, s.inter});
        project("out_proj", reshape(mixed, {batch, s.heads * D}), out_proj, t.out, h1,
                [&](Tile sum, Index i, Index j) { return sum + tileOf(x, t.out, i, j); });
        norm("norm_2", h1, norm2, hn);
        project("gate_up", hn, gate, t.gateUp, act, [&](Tile sum, Index i, Index j) {
          return cast<bf16>(silu(sum) * product(hn, up, t.gateUp, i, j));
        });
        project("down_proj", act, down, t.down, y, [&](Tile sum, Index i, Index j) {
          return cast<bf16>(sum + tileOf(h1, t.down, i, j));
        });
      });
  return p;
}

} // namespace

int main(int argc, char **argv) {
  return kiln::main(argc, argv, qwen3DecodeLayer,
                    {.args = {{"x", "3x64"},
                              {"positions", "3:0,7,39"},
                              {"cosine", "40x8:uniform"},
                              {"sine", "40x8:uniform"},
                              {"k_cache", "3x2x40x16"},
                              {"v_cache", "3x2x40x16"},
                              {"qkv", ":normal*0.125"},
                              {"out_proj", ":normal*0.125"},
                              {"gate", ":normal*0.125"},
                              {"up", ":normal*0.125"},
                              {"down", ":normal*0.125"},
                              {"y", "3x64"}},
                     .formula = R"(
batch, kv, S, D = k_cache.shape
heads = out_proj.shape[1] // D
assert positions.min() >= 0 and positions.max() < min(S, len(cosine)), "positions lie in the cache and in the table of angles"
narrow = lambda t: t.bfloat16().double()
norm = lambda t, w: t * torch.rsqrt((t * t).mean(-1, keepdim=True) + 1e-6) * w
silu = torch.nn.functional.silu
def rotate(t):
    low, high = t.chunk(2, -1)
    c, s = cosine[positions][:, None], sine[positions][:, None]
    return torch.cat([low * c - high * s, high * c + low * s], -1)
rows = (narrow(norm(x, norm1)) @ qkv.T).view(batch, -1, D)
q, keys, values = rows.split([heads, kv, kv], 1)
k_cache, v_cache = k_cache.clone(), v_cache.clone()
each = torch.arange(batch)
k_cache[each, :, positions] = narrow(rotate(norm(keys, k_norm)))
v_cache[each, :, positions] = narrow(values)
q = narrow(rotate(norm(q, q_norm))).view(batch, kv, heads // kv, D)
scores = (q @ k_cache.transpose(2, 3)) / math.sqrt(D)
scores = scores.masked_fill(torch.arange(S) > positions[:, None, None, None], -math.inf)
mixed = narrow(torch.softmax(scores, -1).nan_to_num() @ v_cache.nan_to_num())
h = x + mixed.reshape(batch, -1) @ out_proj.T
hn = narrow(norm(h, norm2))
y = h + narrow(silu(hn @ gate.T) * (hn @ up.T)) @ down.T
accumulates = 16
)"});
}
