"""y = softmax of each row of x, for rows of any length: one pass keeps the running maximum and sum, a
second one writes.

What lies outside a row loads as -inf, so it adds nothing.
"""
import math

import kiln
import kiln.language as kl
from kiln import f32


@kiln.program
def softmax(x: kl.In[f32], y: kl.Out[f32], *, BM=kl.param(16, [1, 8, 16, 32]), BN=kl.param(128, [64, 128, 256, 1024, 8192])):
    kl.require_same_shape(x, y, "y has the shape of x")

    @kl.spmd(kl.ceildiv(x.shape[0], BM))
    def softmax(b):
        i, n = b * BM, x.shape[1]
        top, total = kl.full(f32, (BM, 1), -math.inf), kl.zeros(f32, BM, 1)
        for j in kl.range(0, n, BN):
            t = kl.load(x, (i, j), (BM, BN), pad="min")
            following = kl.maximum(top, kl.reduce_max(t, 1))
            part = kl.reduce_sum(kl.exp(t - following), 1)
            total = total * kl.exp(top - following) + part
            top = following
        scale = kl.recip(total)
        for j in kl.range(0, n, BN):
            t = kl.load(x, (i, j), (BM, BN), pad="min")
            kl.store(kl.exp(t - top) * scale, y, (i, j))


if __name__ == "__main__":
    import torch

    x, y = torch.randn(37, 300), torch.empty(37, 300)
    softmax(x, y)
    print("max |error|", float((y - torch.softmax(x, 1)).abs().max()))
