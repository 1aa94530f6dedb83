"""c = (a * sa) * (b * sb): eight-bit floats with a scale per row of a and per column of b.

Accumulated in f32, scaled once at the end.
"""
import kiln
import kiln.language as kl
from kiln import bf16, f8E4M3FN, f32


@kiln.program
def matmul_fp8(a: kl.In[f8E4M3FN], b: kl.In[f8E4M3FN], sa: kl.In[f32, 1], sb: kl.In[f32, 1], c: kl.Out[bf16], *,
               BM=kl.param(32, [16, 32, 64, 128]), BN=kl.param(32, [16, 32, 64, 128]), BK=kl.param(64, [32, 64, 128])):
    kl.require(a.shape[1] == b.shape[0], "a has as many columns as b has rows")
    kl.require(c.shape[0] == a.shape[0] and c.shape[1] == b.shape[1], "c has the rows of a and the columns of b")
    kl.require(sa.shape[0] == a.shape[0] and sb.shape[0] == b.shape[1],
               "there is a scale for each row of a and column of b")

    @kl.spmd(kl.ceildiv(c.shape[0], BM), kl.ceildiv(c.shape[1], BN))
    def matmul(bi, bj):
        i, j = bi * BM, bj * BN
        inner = a.shape[1]
        acc = kl.zeros(f32, BM, BN)
        for k in kl.range(0, inner, BK, stages=2):
            acc = kl.matmul_acc(acc, kl.load(a, (i, k), (BM, BK)), kl.load(b, (k, j), (BK, BN)))
        scaled = acc * kl.load(sa, i, (BM, 1)) * kl.load(sb, j, (1, BN))
        kl.store(kl.cast(scaled, bf16), c, (i, j))


if __name__ == "__main__":
    import torch

    # Bytes of which none is NaN, with the numbers that they stand for: 2^(e - 7) * (1 + m / 8), and subnormals.
    codes = torch.arange(256, dtype=torch.int64)
    exponent, fraction = codes >> 3 & 15, (codes & 7).double()
    table = torch.where(exponent > 0, (1 + fraction / 8) * 2.0 ** (exponent - 7).double(), fraction / 512)
    table = torch.where(codes > 127, -table, table)
    draw = lambda *shape: torch.randint(0, 127, shape) + 128 * torch.randint(0, 2, shape)
    a, b = draw(50, 100), draw(100, 40)
    sa, sb, c = torch.rand(50), torch.rand(40), torch.empty(50, 40, dtype=torch.bfloat16)
    bytes_of = lambda t: kiln.reinterpret(t.to(torch.uint8), f8E4M3FN)
    matmul_fp8(bytes_of(a), bytes_of(b), sa, sb, c)
    wanted = (table[a] * sa[:, None].double()) @ (table[b] * sb.double())
    print("max |error| / max", float((c - wanted).abs().max() / wanted.abs().max()))
