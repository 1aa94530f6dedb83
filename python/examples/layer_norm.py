"""y = (x - mean) / sqrt(variance + eps) * w + b, row by row, for rows of any length.

Columns outside a row must not count in the variance, so they are masked after the mean has been taken off.
"""
import kiln
import kiln.language as kl
from kiln import f32

EPS = 1e-5


@kiln.program
def layer_norm(x: kl.In[f32], w: kl.In[f32, 1], b: kl.In[f32, 1], y: kl.Out[f32], *,
               BM=kl.param(16, [8, 16, 32]), BN=kl.param(128, [64, 128, 256])):
    kl.require(w.shape[0] == x.shape[1] and b.shape[0] == x.shape[1], "w and b have an element for each column of x")
    kl.require_same_shape(x, y, "y has the shape of x")

    @kl.spmd(kl.ceildiv(x.shape[0], BM))
    def layer_norm(block):
        i, n = block * BM, x.shape[1]
        count = kl.cast(n, f32)
        total = kl.zeros(f32, BM, 1)
        for j in kl.range(0, n, BN):
            total = total + kl.reduce_sum(kl.load(x, (i, j), (BM, BN)), 1)
        mean = total / count
        squares = kl.zeros(f32, BM, 1)
        for j in kl.range(0, n, BN):
            d = kl.mask(kl.load(x, (i, j), (BM, BN)) - mean, BM, n - j)
            squares = squares + kl.reduce_sum(d * d, 1)
        scale = kl.rsqrt(squares / count + EPS)
        for j in kl.range(0, n, BN):
            t = kl.load(x, (i, j), (BM, BN))
            weight, bias = kl.load(w, j, (1, BN)), kl.load(b, j, (1, BN))
            kl.store((t - mean) * scale * weight + bias, y, (i, j))


if __name__ == "__main__":
    import torch

    x, w, b, y = torch.randn(37, 300), torch.randn(300), torch.randn(300), torch.empty(37, 300)
    layer_norm(x, w, b, y)
    print("max |error|", float((y - torch.nn.functional.layer_norm(x, (300,), w, b, EPS)).abs().max()))
