"""y = relu(x * w + b): matrix work with a vector epilogue in one kernel.

`split` says how vector lanes share the epilogue where the machine has lanes.
"""
import kiln
import kiln.language as kl
from kiln import f16, f32


@kiln.program
def matmul_bias(x: kl.In[f16], w: kl.In[f16], b: kl.In[f32, 1], y: kl.Out[f32], *,
                BM=kl.param(64, [32, 64, 128]), BN=kl.param(64, [32, 64, 128]), split=kl.split("up_down")):
    BK = 64
    kl.require(x.shape[1] == w.shape[0], "x has as many columns as w has rows")
    kl.require(b.shape[0] == w.shape[1], "b has an element for each column of w")
    kl.require(y.shape[0] == x.shape[0] and y.shape[1] == w.shape[1], "y has the rows of x and the columns of w")

    @kl.spmd(kl.ceildiv(y.shape[0], BM), kl.ceildiv(y.shape[1], BN), split=split)
    def matmul_bias(bi, bj):
        i, j = bi * BM, bj * BN
        inner = x.shape[1]
        acc = kl.zeros(f32, BM, BN)
        for k in kl.range(0, inner, BK, stages=3):
            acc = kl.matmul_acc(acc, kl.load(x, (i, k), (BM, BK)), kl.load(w, (k, j), (BK, BN)))
        kl.store(kl.maximum(acc + kl.load(b, j, (1, BN)), 0), y, (i, j))


if __name__ == "__main__":
    import torch

    x, w, b = torch.randn(100, 130).half(), torch.randn(130, 75).half(), torch.randn(75)
    y = torch.empty(100, 75)
    matmul_bias(x, w, b, y)
    print("max |error|", float((y - torch.relu(x.float() @ w.float() + b)).abs().max()))
