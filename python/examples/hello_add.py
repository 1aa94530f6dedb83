"""c = a + b, the smallest program: one kernel, one tile per block."""
import kiln
import kiln.language as kl
from kiln import f32


@kiln.program
def hello_add(a: kl.In[f32], b: kl.In[f32], c: kl.Out[f32]):
    kl.require_same_shape(a, b, "a and b have one shape")
    kl.require_same_shape(a, c, "c has the shape of a and b")

    @kl.spmd(kl.ceildiv(c.shape[0], 64), kl.ceildiv(c.shape[1], 64))
    def add(bi, bj):
        i, j = bi * 64, bj * 64
        x, y = kl.load(a, (i, j), (64, 64)), kl.load(b, (i, j), (64, 64))
        kl.store(x + y, c, (i, j))


if __name__ == "__main__":
    import torch

    a, b, c = torch.randn(100, 70), torch.randn(100, 70), torch.empty(100, 70)
    hello_add(a, b, c)
    print("max |error|", float((c - (a + b)).abs().max()))
