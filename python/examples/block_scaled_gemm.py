"""c = a * b^T of eight-bit floats whose scales belong to blocks.

There is one for each row of a and 128 columns, and one for each 128 x 128 block of b, as weights of large models are kept. A
product over 128 columns is accumulated in f32, scaled, and added to the sum.
"""
import kiln
import kiln.language as kl
from kiln import bf16, f8E4M3FN, f32

BLOCK = 128


@kiln.program
def block_scaled_gemm(a: kl.In[f8E4M3FN], b: kl.In[f8E4M3FN], sa: kl.In[f32], sb: kl.In[f32], c: kl.Out[bf16], *,
                      BM=kl.param(32, [16, 32, 64, 128]), BN=kl.param(64, [32, 64, 128]), split=kl.split("up_down")):
    kl.require(a.shape[1] == b.shape[1], "a and b have as many columns")
    kl.require(c.shape[0] == a.shape[0] and c.shape[1] == b.shape[0], "c has the rows of a and of b")
    blocks = kl.ceildiv(a.shape[1], BLOCK)
    kl.require(sa.shape[0] == a.shape[0] and sa.shape[1] == blocks, "there is a scale for each row of a and 128 columns")
    kl.require(sb.shape[0] == kl.ceildiv(b.shape[0], BLOCK) and sb.shape[1] == blocks,
               "there is a scale for each 128 x 128 block of b")

    @kl.spmd(kl.ceildiv(c.shape[0], BM), kl.ceildiv(c.shape[1], BN), split=split)
    def matmul(bi, bj):
        # BN divides 128, so the columns of a tile lie in one block of scales.
        i, j = bi * BM, bj * BN
        total = kl.zeros(f32, BM, BN)
        for k in kl.range(0, blocks, 1, stages=2):
            at = kl.load(a, (i, k * BLOCK), (BM, BLOCK))
            bt = kl.load(b, (j, k * BLOCK), (BN, BLOCK))
            scale = kl.load(sa, (i, k), (BM, 1)) * kl.read(sb, (j // BLOCK, k))
            total = total + kl.matmul(at, bt, trans_b=True) * scale
        kl.store(kl.cast(total, bf16), c, (i, j))
