"""One decoder layer of Qwen3 for one new token per sequence, split over ranks.

Each rank has some heads, with their part of the cache, and some of the intermediate columns. What
the ranks contribute to the residual is added up twice, after attention and after the feed-forward
block. bf16 storage, f32 arithmetic.
"""
import math

import kiln
import kiln.language as kl
from kiln import bf16, f32, i32

EPS = 1e-6


@kiln.program
def tp_decode_layer(x: kl.In[bf16], positions: kl.In[i32, 1], cosine: kl.In[f32], sine: kl.In[f32], norm1: kl.In[bf16, 1],
                    q_proj: kl.In[bf16, 3], k_proj: kl.In[bf16, 3], v_proj: kl.In[bf16, 3], q_norm: kl.In[bf16, 1],
                    k_norm: kl.In[bf16, 1], k_cache: kl.InOut[bf16, 4], v_cache: kl.InOut[bf16, 4], out_proj: kl.In[bf16, 3],
                    norm2: kl.In[bf16, 1], gate: kl.In[bf16], up: kl.In[bf16], down: kl.In[bf16], y: kl.Out[bf16], *,
                    config=kl.choice("tiny", ["tiny", "14b"])):
    # `group` query heads share a head of keys and values; ranks have whole groups.
    hidden, group, D = (64, 2, 16) if config == "tiny" else (5120, 5, 128)
    BM, BN, BK, keys = (16, 32, 32, 32) if config == "tiny" else (16, 128, 128, 128)
    for tensor, shape in (
        (x, (kl.dyn, hidden)), (cosine, (kl.dyn, D // 2)), (sine, (kl.dyn, D // 2)), (norm1, (hidden,)),
        (q_proj, (kl.dyn, group * D, hidden)), (k_proj, (kl.dyn, D, hidden)), (v_proj, (kl.dyn, D, hidden)), (q_norm, (D,)),
        (k_norm, (D,)), (k_cache, (kl.dyn, kl.dyn, kl.dyn, D)), (v_cache, (kl.dyn, kl.dyn, kl.dyn, D)),
        (out_proj, (kl.dyn, group * D, hidden)), (norm2, (hidden,)), (gate, (kl.dyn, hidden)), (up, (kl.dyn, hidden)),
        (down, (hidden, kl.dyn)), (y, (kl.dyn, hidden)),
    ):
        kl.extents(tensor, *shape)

    def norm(name, x, w, xn):
        @kl.spmd(kl.ceildiv(x.shape[0], BM), name=name)
        def norm(block):
            i = block * BM

            def part(k):
                return kl.cast(kl.load(x, (i, k), (BM, BK)), f32)

            squares = kl.zeros(f32, BM, 1)
            for k in kl.range(0, hidden, BK):
                squares = squares + kl.reduce_sum(part(k) * part(k), 1)
            scale = kl.rsqrt(squares * (1.0 / hidden) + EPS)
            for k in kl.range(0, hidden, BK):
                kl.store(kl.cast(part(k) * scale * kl.cast(kl.load(w, k, (1, BK)), f32), bf16), xn, (i, k))

    def product(a, w, i, j):
        inner = a.shape[1]
        acc = kl.zeros(f32, BM, BN)
        for k in kl.range(0, inner, BK, stages=3):
            acc = kl.matmul_acc(acc, kl.load(a, (i, k), (BM, BK)), kl.load(w, (j, k), (BN, BK)), trans_b=True)
        return acc

    def project(name, a, w, out, epilogue):
        @kl.spmd(kl.ceildiv(a.shape[0], BM), kl.ceildiv(w.shape[0], BN), name=name)
        def project(bi, bj):
            i, j = bi * BM, bj * BN
            kl.store(epilogue(product(a, w, i, j), i, j), out, (i, j))

    def plain(t, i, j):
        return t

    def add_up(name, x, part, out, finish):
        """out = x + the sum of what the ranks have in part."""
        kl.all_reduce(part, "sum", fixed_order=True)

        @kl.spmd(kl.ceildiv(x.shape[0], BM), kl.ceildiv(hidden, BN), name=name)
        def add(bi, bj):
            i, j = bi * BM, bj * BN
            kl.store(finish(kl.cast(kl.load(x, (i, j), (BM, BN)), f32) + kl.load(part, (i, j), (BM, BN))), out, (i, j))

    batch, heads, inter = x.shape[0], k_proj.shape[0], gate.shape[0]
    kl.require(positions.shape[0] == batch and y.shape[0] == batch and k_cache.shape[0] == batch,
               "every argument is of the same batch")
    kl.require(q_proj.shape[0] == heads and v_proj.shape[0] == heads and k_cache.shape[1] == heads
               and out_proj.shape[0] == heads, "projections and caches are of the same heads")
    kl.require_same_shape(k_cache, v_cache, "k_cache and v_cache have one shape")
    kl.require_same_shape(cosine, sine, "cosine and sine have one shape")
    kl.require_same_shape(gate, up, "gate and up have one shape")
    kl.require(down.shape[1] == inter, "down has a column for each row of gate")
    xn = kl.alloc("xn", bf16, (batch, hidden))
    norm("norm_1", x, norm1, xn)

    def rows_of(name, w, count):
        made = kl.alloc(name, f32, (batch, heads * (count * D)))
        project(name, xn, kl.reshape(w, (heads * (count * D), hidden)), made, plain)
        return kl.reshape(made, (batch, heads * count, D))

    queries, ks, vs = rows_of("q_rows", q_proj, group), rows_of("k_rows", k_proj, 1), rows_of("v_rows", v_proj, 1)
    q, mixed = kl.alloc("q", bf16, (batch, heads * group, D)), kl.alloc("mixed", bf16, (batch, heads * group, D))

    @kl.spmd(batch, heads)
    def rotate(b, h):
        at = kl.to_index(kl.read(positions, b))
        c, sn = kl.load(cosine, (at, 0), (1, D // 2)), kl.load(sine, (at, 0), (1, D // 2))

        def turned(rows, row, count, weight):
            t = kl.load(rows, (b, row, 0), (count, D))
            return kl.cast(kl.rope(kl.rms_norm(t, kl.cast(kl.load(weight, 0, (1, D)), f32), D, EPS), c, sn), bf16)

        kl.store(turned(queries, h * group, group, q_norm), q, (b, h * group, 0))
        kl.store(turned(ks, h, 1, k_norm), k_cache, (b, h, at, 0))
        kl.store(kl.cast(kl.load(vs, (b, h, 0), (1, D)), bf16), v_cache, (b, h, at, 0))

    @kl.spmd(batch, heads)
    def attention(b, h):
        tokens = kl.to_index(kl.read(positions, b)) + 1
        qt = kl.load(q, (b, h * group, 0), (group, D))
        top, total, acc = kl.attention_start(group, D)
        for j in kl.range(0, tokens, keys, stages=2):
            seen = (tokens - j, D)  # the cache beyond has not been written
            kt = kl.load(k_cache, (b, h, j, 0), (keys, D), valid=seen)
            vt = kl.load(v_cache, (b, h, j, 0), (keys, D), valid=seen)
            scores = kl.matmul(qt, kt, trans_b=True) * (1 / math.sqrt(D))
            top, total, acc = kl.attention_step(top, total, acc, kl.mask(scores, group, tokens - j, "min"), vt)
        kl.store(kl.cast(acc / total, bf16), mixed, (b, h * group, 0))

    of_heads, h1 = kl.alloc("of_heads", f32, (batch, hidden)), kl.alloc("h1", f32, (batch, hidden))
    hn, act = kl.alloc("hn", bf16, (batch, hidden)), kl.alloc("act", bf16, (batch, inter))
    of_columns = kl.alloc("of_columns", f32, (batch, hidden))
    every, back = kl.reshape(mixed, (batch, heads * (group * D))), kl.reshape(out_proj, (heads * (group * D), hidden))

    @kl.spmd(kl.ceildiv(batch, BM), kl.ceildiv(hidden, BN), name="out_proj")
    def lead_back(bi, bj):
        i, j = bi * BM, bj * BN
        inner = every.shape[1]
        acc = kl.zeros(f32, BM, BN)
        for k in kl.range(0, inner, BK, stages=3):
            acc = kl.matmul_acc(acc, kl.load(every, (i, k), (BM, BK)), kl.load(back, (k, j), (BK, BN)))
        kl.store(acc, of_heads, (i, j))

    add_up("residual_1", x, of_heads, h1, lambda t: t)
    norm("norm_2", h1, norm2, hn)
    project("gate_up", hn, gate, act, lambda t, i, j: kl.cast(kl.silu(t) * product(hn, up, i, j), bf16))
    project("down_proj", act, down, of_columns, plain)
    add_up("residual_2", h1, of_columns, y, lambda t: kl.cast(t, bf16))


def reference(x, positions, cosine, sine, norm1, q_proj, k_proj, v_proj, q_norm, k_norm, k_cache, v_cache, out_proj, norm2, gate,
              up, down):
    """What the layer gives, in torch and float64."""
    import torch

    batch, kv, length, D = k_cache.shape
    narrow = lambda t: t.bfloat16().double()
    norm = lambda t, w: t * torch.rsqrt((t * t).mean(-1, keepdim=True) + EPS) * w

    def rotate(t):
        low, high = t.chunk(2, -1)
        c, s = cosine[positions][:, None], sine[positions][:, None]
        return torch.cat([low * c - high * s, high * c + low * s], -1)

    xn, each = narrow(norm(x, norm1)), torch.arange(batch)
    rows = lambda w: (xn @ w.reshape(-1, w.shape[-1]).T).view(batch, -1, D)
    k_cache[each, :, positions] = narrow(rotate(norm(rows(k_proj), k_norm)))
    v_cache[each, :, positions] = narrow(rows(v_proj))
    q = narrow(rotate(norm(rows(q_proj), q_norm))).view(batch, kv, -1, D)
    scores = (q @ k_cache.transpose(2, 3)) / math.sqrt(D)
    scores = scores.masked_fill(torch.arange(length) > positions[:, None, None, None], -math.inf)
    mixed = narrow(torch.softmax(scores, -1) @ v_cache).reshape(batch, -1)
    h = x + mixed @ out_proj.reshape(-1, x.shape[1])
    hn = narrow(norm(h, norm2))
    return h + narrow(torch.nn.functional.silu(hn @ gate.T) * (hn @ up.T)) @ down.T


if __name__ == "__main__":
    import torch

    normal = lambda *shape: torch.randn(*shape).bfloat16()
    weight = lambda *shape: (torch.randn(*shape) / 8).bfloat16()
    x, positions = normal(3, 64), torch.tensor([0, 7, 39], dtype=torch.int32)
    inputs = [x, positions, torch.rand(40, 8), torch.rand(40, 8), normal(64), weight(3, 32, 64), weight(3, 16, 64),
              weight(3, 16, 64), normal(16), normal(16), normal(3, 3, 40, 16), normal(3, 3, 40, 16), weight(3, 32, 64), normal(64),
              weight(96, 64), weight(96, 64), weight(64, 96)]
    wanted = reference(*(t.long() if t is positions else t.double() for t in inputs))
    y = torch.empty(3, 64, dtype=torch.bfloat16)
    tp_decode_layer(*inputs, y)
    print("max |error| / max", float((y - wanted).abs().max() / wanted.abs().max()))
