"""The experts' matrix products of a mixture of experts.

Tokens lie expert by expert, as moe_gate gathers them: expert e has the rows from offsets[e] to
offsets[e + 1], which may be none, and multiplies them by its own weights. A tile may reach into the
rows of the next expert; what it computes there is not stored.
"""
import kiln
import kiln.language as kl
from kiln import bf16, f32, i32


@kiln.program
def moe_gemm(x: kl.In[bf16], w: kl.In[bf16, 3], offsets: kl.In[i32, 1], y: kl.Out[bf16], *,
             BM=kl.param(32, [16, 32, 64, 128]), BN=kl.param(64, [32, 64, 128]), BK=kl.param(64, [32, 64, 128])):
    experts, inner, columns = w.shape
    kl.require(x.shape[1] == inner, "x has as many columns as each expert's weights have rows")
    kl.require(y.shape[0] == x.shape[0] and y.shape[1] == columns, "y has the rows of x and the columns of the weights")
    kl.require(offsets.shape[0] == experts + 1, "there is an offset for each expert, and the end")

    @kl.spmd(experts, kl.ceildiv(columns, BN), name="experts")
    def multiply(e, bj):
        j, end = bj * BN, kl.to_index(kl.read(offsets, e + 1))
        for i in kl.range(kl.to_index(kl.read(offsets, e)), end, BM):
            acc = kl.zeros(f32, BM, BN)
            for k in kl.range(0, inner, BK, stages=2):
                acc = kl.matmul_acc(acc, kl.load(x, (i, k), (BM, BK)), kl.load(w, (e, k, j), (BK, BN)))
            kl.store(kl.cast(acc, bf16), y, (i, j), valid=(kl.min(end - i, BM), BN))


if __name__ == "__main__":
    import torch

    x, w, y = torch.randn(150, 72).bfloat16(), torch.randn(8, 72, 100).bfloat16(), torch.empty(150, 100).bfloat16()
    bounds = [0, 0, 1, 33, 65, 65, 98, 150, 150]
    moe_gemm(x, w, torch.tensor(bounds, dtype=torch.int32), y)
    wanted = torch.cat([x[i:j].float() @ w[e].float() for e, (i, j) in enumerate(zip(bounds, bounds[1:]))])
    print("max |error| / max", float((y - wanted).abs().max() / wanted.abs().max()))
