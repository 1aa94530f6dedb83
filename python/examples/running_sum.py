"""y = the sums of x from the beginning of each row up to each element, for rows of any length.

Each chunk of columns adds to the total of those before it. What lies outside a row loads as zero.
"""
import kiln
import kiln.language as kl
from kiln import f32


@kiln.program
def running_sum(x: kl.In[f32], y: kl.Out[f32], *, BM=kl.param(16, [8, 16, 32]), BN=kl.param(64, [32, 64, 128])):
    kl.require_same_shape(x, y, "y has the shape of x")

    @kl.spmd(kl.ceildiv(x.shape[0], BM))
    def running_sum(b):
        i, n = b * BM, x.shape[1]
        total = kl.zeros(f32, BM, 1)
        for j in kl.range(0, n, BN):
            t = kl.load(x, (i, j), (BM, BN))
            kl.store(kl.scan(t, 1) + total, y, (i, j))
            total = total + kl.reduce_sum(t, 1)


if __name__ == "__main__":
    import torch

    x, y = torch.randn(37, 300), torch.empty(37, 300)
    running_sum(x, y)
    print("max |error|", float((y - x.cumsum(1)).abs().max()))
