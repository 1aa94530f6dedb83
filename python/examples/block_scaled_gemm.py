"""c = a * b^T of eight-bit floats whose scales belong to blocks.

There is one for each row of a and 128 columns, and one for each 128 x 128 block of b, as weights of
large models are kept. A product over 128 columns is accumulated in f32, scaled, and added to the
sum.
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


if __name__ == "__main__":
    import torch

    # Some of the numbers that eight bits can stand for, and their bits.
    numbers, bits = torch.tensor([0.0, 1, 2, -1, 0.5]), torch.tensor([0x00, 0x38, 0x40, 0xB8, 0x30], dtype=torch.uint8)
    pick_a, pick_b = torch.randint(0, 5, (50, 300)), torch.randint(0, 5, (200, 300))
    sa, sb, c = torch.rand(50, 3), torch.rand(2, 3), torch.empty(50, 200, dtype=torch.bfloat16)
    block_scaled_gemm(kiln.reinterpret(bits[pick_a], f8E4M3FN), kiln.reinterpret(bits[pick_b], f8E4M3FN), sa, sb, c)
    spread = lambda scales, rows, like: scales.repeat_interleave(rows, 0)[:len(like)].repeat_interleave(128, 1)[:, :300]
    wanted = (numbers[pick_a] * spread(sa, 1, pick_a)) @ (numbers[pick_b] * spread(sb, 128, pick_b)).T
    print("max |error| / max", float((c - wanted).abs().max() / wanted.abs().max()))
