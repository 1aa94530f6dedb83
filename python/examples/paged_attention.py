"""Attention of one new token per sequence over keys and values that lie in pages.

`table` says which pages a sequence owns, `lengths` how many tokens it has (none at all gives
zeros). The query heads that share a key head are the rows of one tile.
"""
import math

import kiln
import kiln.language as kl
from kiln import bf16, i32


@kiln.program
def paged_attention(q: kl.In[bf16, 4], k: kl.In[bf16, 4], v: kl.In[bf16, 4], table: kl.In[i32], lengths: kl.In[i32, 1],
                    o: kl.Out[bf16, 4], *, heads=kl.param(16), shared=kl.param(1),
                    D=kl.param(128, [16, 32, 64, 128]), block=kl.param(64, [16, 32, 64])):
    for queries in (q, o):
        kl.extents(queries, kl.dyn, heads, shared, D)
    for pages in (k, v):
        kl.extents(pages, kl.dyn, heads, block, D)
    kl.require_same_shape(k, v, "k and v have one shape")
    kl.require_same_shape(q, o, "q and o have one shape")
    kl.require(table.shape[0] == q.shape[0] and lengths.shape[0] == q.shape[0],
               "each sequence has a row of the table and a length")

    @kl.spmd(q.shape[0], heads)
    def attention(b, head):
        tokens = kl.to_index(kl.read(lengths, b))
        qt = kl.load(q, (b, head, 0, 0), (shared, D))
        pages = kl.ceildiv(tokens, block)
        top, total, acc = kl.attention_start(shared, D)
        for j in kl.range(0, pages, 1, stages=2):
            page = kl.to_index(kl.read(table, (b, j)))
            kt, vt = kl.load(k, (page, head, 0, 0), (block, D)), kl.load(v, (page, head, 0, 0), (block, D))
            scores = kl.matmul(qt, kt, trans_b=True) * (1 / math.sqrt(D))
            scores = kl.mask(scores, shared, tokens - j * block, "min")
            top, total, acc = kl.attention_step(top, total, acc, scores, vt)
        kl.store(kl.cast(kl.where(total > 0, acc / total, 0), bf16), o, (b, head, 0, 0))


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
