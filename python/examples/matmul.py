"""c = a * b for any shape: one kernel over a grid of tiles.

Ragged edges need no special case: what lies outside a tensor loads as zero and is not stored.
"""
import kiln
import kiln.language as kl
from kiln import f32


@kiln.program
def matmul(a: kl.In[f32], b: kl.In[f32], c: kl.Out[f32], *,
           BM=kl.param(64, [32, 64, 128]), BN=kl.param(64, [32, 64, 128]), BK=kl.param(64, [32, 64, 128])):
    kl.require(a.shape[1] == b.shape[0], "a has as many columns as b has rows")
    kl.require(c.shape[0] == a.shape[0] and c.shape[1] == b.shape[1], "c has the rows of a and the columns of b")

    @kl.spmd(kl.ceildiv(c.shape[0], BM), kl.ceildiv(c.shape[1], BN))
    def matmul(bi, bj):
        i, j = bi * BM, bj * BN
        acc = kl.zeros(f32, BM, BN)
        for k in kl.range(0, a.shape[1], BK, stages=3):
            acc = kl.matmul_acc(acc, kl.load(a, (i, k), (BM, BK)), kl.load(b, (k, j), (BK, BN)))
        kl.store(acc, c, (i, j))


if __name__ == "__main__":
    import torch

    a, b, c = torch.randn(200, 136), torch.randn(136, 100), torch.empty(200, 100)
    matmul(a, b, c)
    print("max |error|", float((c - a @ b).abs().max()))
