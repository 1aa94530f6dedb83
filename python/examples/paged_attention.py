"""Attention of one new token per sequence over keys and values that lie in pages.

`table` says which pages a sequence owns, `lengths` how many tokens it has (none at all gives
zeros). The query heads that share a key head are the rows of one tile. With several parts several cores share a sequence: each
sums over some of its pages, and another kernel puts their sums together, always in the same order.
"""
import math

import kiln
import kiln.language as kl
from kiln import bf16, f32, i32


def together(a, b):
    """The sums of attention, each row scaled by its own number: what several parts have found, as if one had."""
    top = kl.maximum(a[0], b[0])
    fade_a, fade_b = kl.exp(a[0] - top), kl.exp(b[0] - top)
    return top, a[1] * fade_a + b[1] * fade_b, a[2] * fade_a + b[2] * fade_b


@kiln.program
def paged_attention(q: kl.In[bf16, 4], k: kl.In[bf16, 4], v: kl.In[bf16, 4], table: kl.In[i32], lengths: kl.In[i32, 1],
                    o: kl.Out[bf16, 4], *, heads=kl.param(16), shared=kl.param(1),
                    D=kl.param(128, [16, 32, 64, 128]), block=kl.param(64, [16, 32, 64, 128]), parts=kl.param(1),
                    rows=kl.param(1)):
    # Of a tile; those beyond the heads that share keys are zeros, for machines that want many.
    rows = max(shared, rows)
    for queries in (q, o):
        kl.extents(queries, kl.dyn, heads, shared, D)
    for pages in (k, v):
        kl.extents(pages, kl.dyn, heads, block, D)

    def attend(tokens, b, head, first, last):
        """Over the pages from `first` to before `last`."""
        qt = kl.load(q, (b, head, 0, 0), (rows, D))
        top, total, acc = kl.attention_start(rows, D)
        for j in kl.range(first, last, 1, stages=2):
            page = kl.to_index(kl.read(table, (b, j)))
            kt, vt = kl.load(k, (page, head, 0, 0), (block, D)), kl.load(v, (page, head, 0, 0), (block, D))
            scores = kl.mask(kl.matmul(qt, kt, trans_b=True), rows, tokens - j * block, "min")
            top, total, acc = kl.attention_step(top, total, acc, scores, vt, 1 / math.sqrt(D))
        return top, total, acc

    def finish(total, acc, b, head):
        kl.store(kl.cast(kl.where(total > 0, acc / total, 0), bf16), o, (b, head, 0, 0))

    kl.require_same_shape(k, v, "k and v have one shape")
    kl.require_same_shape(q, o, "q and o have one shape")
    kl.require(table.shape[0] == q.shape[0] and lengths.shape[0] == q.shape[0],
               "each sequence has a row of the table and a length")
    batch = q.shape[0]
    if parts == 1:
        @kl.spmd(batch, heads)
        def attention(b, head):
            tokens = kl.to_index(kl.read(lengths, b))
            _, total, acc = attend(tokens, b, head, 0, kl.ceildiv(tokens, block))
            finish(total, acc, b, head)

        return

    # Of each part and row: the number that scores were compared with, their sum, what they are the weights of.
    tops = kl.alloc("tops", f32, (batch, heads, parts, shared, 1))
    sums = kl.alloc("sums", f32, (batch, heads, parts, shared, 1))
    found = kl.alloc("found", f32, (batch, heads, parts, shared, D))

    @kl.spmd(batch, heads, parts, name="attention")
    def attention_of_part(b, head, part):
        tokens = kl.to_index(kl.read(lengths, b))
        last = kl.ceildiv(tokens, block)
        each = kl.ceildiv(last, parts)
        first = kl.min(part * each, last)
        top, total, acc = attend(tokens, b, head, first, kl.min(first + each, last))
        kl.store(top, tops, (b, head, part, 0, 0))
        kl.store(total, sums, (b, head, part, 0, 0))
        kl.store(acc, found, (b, head, part, 0, 0))

    @kl.spmd(batch, heads)
    def merge(b, head):
        top, total, acc = kl.attention_start(shared, D)
        for part in kl.range(0, parts, 1):
            others = (kl.load(tops, (b, head, part, 0, 0), (shared, 1)), kl.load(sums, (b, head, part, 0, 0), (shared, 1)),
                      kl.load(found, (b, head, part, 0, 0), (shared, D)))
            top, total, acc = together((top, total, acc), others)
        finish(total, acc, b, head)


if __name__ == "__main__":
    import torch

    q, k, v = (torch.randn(*shape).bfloat16() for shape in ((4, 16, 1, 128), (12, 16, 64, 128), (12, 16, 64, 128)))
    table = torch.randperm(12).reshape(4, 3).int()
    lengths, o = torch.tensor([0, 1, 100, 192], dtype=torch.int32), torch.empty_like(q)
    paged_attention(q, k, v, table, lengths, o)
    wanted = torch.zeros_like(q, dtype=torch.float32)
    for b, n in enumerate(lengths.tolist()):
        if n > 0:
            keys, values = (t[table[b].long()].float().transpose(0, 1).flatten(1, 2)[:, :n] for t in (k, v))
            wanted[b] = torch.softmax(q[b].float() @ keys.transpose(1, 2) / math.sqrt(128), -1) @ values
    print("max |error|", float((o.float() - wanted).abs().max()))
