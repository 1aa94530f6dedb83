"""One decoder layer of Qwen3 for one new token per sequence.

Norm, projections, norms of the heads, rotary embedding, cache update, grouped-query attention over
the cache, output projection, norm and gated feed-forward, each half with its residual. bf16
storage, f32 arithmetic.
"""
import math
from typing import NamedTuple

import kiln
import kiln.language as kl
from kiln import bf16, f32, i32


class Sizes(NamedTuple):
    """The extents of a model."""

    hidden: int
    heads: int
    kv_heads: int
    head_dim: int
    inter: int


class Tiles(NamedTuple):
    """Of weights: their rows, which are columns of a product, and their columns.

    `queries` are rows of a tile, of which those that share keys count.
    """

    BM: int
    norm: tuple[int, int]
    keys: int
    queries: int
    qkv: tuple[int, int]
    out: tuple[int, int]
    gate_up: tuple[int, int]
    down: tuple[int, int]


SIZES = {"14b": Sizes(5120, 40, 8, 128, 17408), "tiny": Sizes(64, 4, 2, 16, 96)}
TINY = Tiles(16, (16, 32), 32, 2, *[(32, 32)] * 4)
SQUARE = Tiles(16, (16, 128), 128, 5, *[(128, 128)] * 4)
# For 132 cores that share the weights evenly; a row of activations is one tile.
EVEN = Tiles(16, (1, 5120), 128, 64, (55, 256), (39, 256), (132, 64), (39, 256))
EPS = 1e-6


@kiln.program
def qwen3_decode_layer(x: kl.In[bf16], positions: kl.In[i32, 1], cosine: kl.In[f32], sine: kl.In[f32], norm1: kl.In[bf16, 1],
                       qkv: kl.In[bf16], q_norm: kl.In[bf16, 1], k_norm: kl.In[bf16, 1], k_cache: kl.InOut[bf16, 4],
                       v_cache: kl.InOut[bf16, 4], out_proj: kl.In[bf16], norm2: kl.In[bf16, 1], gate: kl.In[bf16],
                       up: kl.In[bf16], down: kl.In[bf16], y: kl.Out[bf16], *,
                       config=kl.choice("tiny", ["tiny", "14b"]), tiles=kl.choice("square", ["square", "even"])):
    s, t = SIZES[config], TINY if config == "tiny" else SQUARE if tiles == "square" else EVEN
    D, group, every = s.head_dim, s.heads // s.kv_heads, s.heads + 2 * s.kv_heads
    for tensor, shape in (
        (x, (kl.dyn, s.hidden)), (cosine, (kl.dyn, D // 2)), (sine, (kl.dyn, D // 2)), (norm1, (s.hidden,)),
        (qkv, (every * D, s.hidden)), (q_norm, (D,)), (k_norm, (D,)), (k_cache, (kl.dyn, s.kv_heads, kl.dyn, D)),
        (v_cache, (kl.dyn, s.kv_heads, kl.dyn, D)), (out_proj, (s.hidden, s.heads * D)), (norm2, (s.hidden,)),
        (gate, (s.inter, s.hidden)), (up, (s.inter, s.hidden)), (down, (s.hidden, s.inter)), (y, (kl.dyn, s.hidden)),
    ):
        kl.extents(tensor, *shape)

    def norm(name, x, w, xn):
        """xn = x / rms(x) * w for whole rows, which are too long for one tile."""

        rows, cols = t.norm

        @kl.spmd(kl.ceildiv(x.shape[0], rows), name=name)
        def norm(block):
            i = block * rows

            def part(k):
                return kl.cast(kl.load(x, (i, k), (rows, cols)), f32)

            squares = kl.zeros(f32, rows, 1)
            for k in kl.range(0, s.hidden, cols):
                squares = squares + kl.reduce_sum(part(k) * part(k), 1)
            scale = kl.rsqrt(squares * (1.0 / s.hidden) + EPS)
            for k in kl.range(0, s.hidden, cols):
                kl.store(kl.cast(part(k) * scale * kl.cast(kl.load(w, k, (1, cols)), f32), bf16), xn, (i, k))

    def product(a, w, tile, i, j):
        """A tile of a * w^T."""
        (BN, BK), inner = tile, a.shape[1]
        acc = kl.zeros(f32, t.BM, BN)
        for k in kl.range(0, inner, BK, stages=3):
            acc = kl.matmul_acc(acc, kl.load(a, (i, k), (t.BM, BK)), kl.load(w, (j, k), (BN, BK)), trans_b=True)
        return acc

    def project(name, a, w, tile, out, epilogue):
        """out = epilogue(a * w^T), tile by tile."""

        @kl.spmd(kl.ceildiv(a.shape[0], t.BM), kl.ceildiv(w.shape[0], tile[0]), name=name)
        def project(bi, bj):
            i, j = bi * t.BM, bj * tile[0]
            kl.store(epilogue(product(a, w, tile, i, j), i, j), out, (i, j))

    def tile_of(tensor, tile, i, j):
        return kl.cast(kl.load(tensor, (i, j), (t.BM, tile[0])), f32)

    batch = x.shape[0]
    kl.require(positions.shape[0] == batch and y.shape[0] == batch and k_cache.shape[0] == batch,
               "every argument is of the same batch")
    kl.require_same_shape(k_cache, v_cache, "k_cache and v_cache have one shape")
    kl.require_same_shape(cosine, sine, "cosine and sine have one shape")
    xn, projected = kl.alloc("xn", bf16, (batch, s.hidden)), kl.alloc("projected", f32, (batch, every * D))
    norm("norm_1", x, norm1, xn)
    project("qkv_proj", xn, qkv, t.qkv, projected, lambda total, i, j: total)

    # The heads of a sequence are rows: first the queries, then keys, then values.
    rows = kl.reshape(projected, (batch, every, D))
    q, mixed = kl.alloc("q", bf16, (batch, s.heads, D)), kl.alloc("mixed", bf16, (batch, s.heads, D))

    @kl.spmd(batch, s.kv_heads)
    def rotate(b, h):
        at = kl.to_index(kl.read(positions, b))
        c, sn = kl.load(cosine, (at, 0), (1, D // 2)), kl.load(sine, (at, 0), (1, D // 2))

        # All that is read is asked for before anything is waited for.
        queries, key = kl.load(rows, (b, h * group, 0), (group, D)), kl.load(rows, (b, s.heads + h, 0), (1, D))
        value = kl.load(rows, (b, s.heads + s.kv_heads + h, 0), (1, D))
        weight_of_queries = kl.cast(kl.load(q_norm, 0, (1, D)), f32)
        weight_of_key = kl.cast(kl.load(k_norm, 0, (1, D)), f32)

        def turned(heads, weight):
            return kl.cast(kl.rope(kl.rms_norm(heads, weight, D, EPS), c, sn), bf16)

        kl.store(turned(queries, weight_of_queries), q, (b, h * group, 0))
        kl.store(turned(key, weight_of_key), k_cache, (b, h, at, 0))
        kl.store(kl.cast(value, bf16), v_cache, (b, h, at, 0))

    @kl.spmd(batch, s.kv_heads)
    def attention(b, h):
        tokens = kl.to_index(kl.read(positions, b)) + 1
        qt = kl.load(q, (b, h * group, 0), (t.queries, D), valid=(group, D))
        top, total, acc = kl.attention_start(t.queries, D)
        for j in kl.range(0, tokens, t.keys, stages=2):
            seen = (tokens - j, D)  # the cache beyond has not been written
            kt = kl.load(k_cache, (b, h, j, 0), (t.keys, D), valid=seen)
            vt = kl.load(v_cache, (b, h, j, 0), (t.keys, D), valid=seen)
            scores = kl.mask(kl.matmul(qt, kt, trans_b=True), t.queries, tokens - j, "min")
            top, total, acc = kl.attention_step(top, total, acc, scores, vt, 1 / math.sqrt(D))
        kl.store(kl.cast(acc / total, bf16), mixed, (b, h * group, 0), valid=(group, D))

    h1, hn = kl.alloc("h1", f32, (batch, s.hidden)), kl.alloc("hn", bf16, (batch, s.hidden))
    act = kl.alloc("act", bf16, (batch, s.inter))
    project("out_proj", kl.reshape(mixed, (batch, s.heads * D)), out_proj, t.out, h1,
            lambda total, i, j: total + tile_of(x, t.out, i, j))
    norm("norm_2", h1, norm2, hn)
    project("gate_up", hn, gate, t.gate_up, act,
            lambda total, i, j: kl.cast(kl.silu(total) * product(hn, up, t.gate_up, i, j), bf16))
    project("down_proj", act, down, t.down, y, lambda total, i, j: kl.cast(total + tile_of(h1, t.down, i, j), bf16))


def reference(x, positions, cosine, sine, norm1, qkv, q_norm, k_norm, k_cache, v_cache, out_proj, norm2, gate, up, down):
    """What the layer gives, in torch and float64: y and the two caches."""
    import torch

    batch, kv, length, D = k_cache.shape
    heads = out_proj.shape[1] // D
    narrow = lambda t: t.bfloat16().double()
    norm = lambda t, w: t * torch.rsqrt((t * t).mean(-1, keepdim=True) + EPS) * w

    def rotate(t):
        low, high = t.chunk(2, -1)
        c, s = cosine[positions][:, None], sine[positions][:, None]
        return torch.cat([low * c - high * s, high * c + low * s], -1)

    q, keys, values = (narrow(norm(x, norm1)) @ qkv.T).view(batch, -1, D).split([heads, kv, kv], 1)
    each = torch.arange(batch)
    k_cache[each, :, positions] = narrow(rotate(norm(keys, k_norm)))
    v_cache[each, :, positions] = narrow(values)
    q = narrow(rotate(norm(q, q_norm))).view(batch, kv, heads // kv, D)
    scores = (q @ k_cache.transpose(2, 3)) / math.sqrt(D)
    scores = scores.masked_fill(torch.arange(length) > positions[:, None, None, None], -math.inf)
    h = x + narrow(torch.softmax(scores, -1) @ v_cache).reshape(batch, -1) @ out_proj.T
    hn = narrow(norm(h, norm2))
    return h + narrow(torch.nn.functional.silu(hn @ gate.T) * (hn @ up.T)) @ down.T, k_cache, v_cache


if __name__ == "__main__":
    import torch

    normal = lambda *shape: torch.randn(*shape).bfloat16()
    weight = lambda *shape: (torch.randn(*shape) / 8).bfloat16()
    x, positions = normal(3, 64), torch.tensor([0, 7, 39], dtype=torch.int32)
    inputs = [x, positions, torch.rand(40, 8), torch.rand(40, 8), normal(64), weight(128, 64), normal(16), normal(16),
              normal(3, 2, 40, 16), normal(3, 2, 40, 16), weight(64, 64), normal(64), weight(96, 64), weight(96, 64),
              weight(64, 96)]
    wanted, *caches = reference(*(t.long() if t is positions else t.double() for t in inputs))
    y = torch.empty(3, 64, dtype=torch.bfloat16)
    qwen3_decode_layer(*inputs, y)
    print("max |error| / max", float((y - wanted).abs().max() / wanted.abs().max()))
    print("max |error| / max", max(float((inputs[8 + i] - t).abs().max() / t.abs().max()) for i, t in enumerate(caches)))
