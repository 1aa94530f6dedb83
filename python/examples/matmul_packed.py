"""c = a * b where b was packed in advance: tile after tile, each contiguous, so that loading one is
one straight copy.

The packed extents are fixed in the program; only the rows of a vary.
"""
import kiln
import kiln.language as kl
from kiln import f32

K, N = 192, 128


@kiln.program
def matmul_packed(a: kl.In[f32], packed: kl.In[f32, 4], c: kl.Out[f32], *,
                  BM=kl.param(32, [16, 32, 64]), BN=kl.param(64, [32, 64, 128]), BK=kl.param(64, [32, 64])):
    kl.extents(a, kl.dyn, K)
    kl.extents(packed, N // BN, K // BK, BK, BN)
    kl.extents(c, kl.dyn, N)
    kl.require(a.shape[0] == c.shape[0], "c has the rows of a")

    @kl.spmd(kl.ceildiv(a.shape[0], BM), N // BN)
    def matmul(bi, bj):
        i = bi * BM
        acc = kl.zeros(f32, BM, BN)
        for k in kl.range(0, K // BK, 1, stages=2):
            acc = kl.matmul_acc(acc, kl.load(a, (i, k * BK), (BM, BK)), kl.load(packed, (bj, k, 0, 0), (BK, BN)))
        kl.store(acc, c, (i, bj * BN))


if __name__ == "__main__":
    import torch

    a, b, c = torch.randn(50, K), torch.randn(K, N), torch.empty(50, N)
    packed = b.reshape(K // 64, 64, N // 64, 64).permute(2, 0, 1, 3).contiguous()
    matmul_packed(a, packed, c)
    print("max |error|", float((c - a @ b).abs().max()))
