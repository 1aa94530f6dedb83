"""y = x * w^T + r: one mixed kernel, matrix work with a vector epilogue.

`split` says how the vector lanes share the rows or columns where the machine has lanes;
`grid="static"` fixes the shapes, so that the grid is known when the program is compiled.
"""
import kiln
import kiln.language as kl
from kiln import bf16, f32

M, N, K = 256, 192, 160


@kiln.program
def down_proj_residual(x: kl.In[bf16], w: kl.In[bf16], r: kl.In[f32], y: kl.Out[f32], *,
                       BM=kl.param(128, [64, 128]), BN=kl.param(128, [64, 128, 256]),
                       grid=kl.choice("computed", ["static", "computed"]), split=kl.split("up_down")):
    BK = 64
    if grid == "static":
        kl.extents(x, M, K)
        kl.extents(w, N, K)
        kl.extents(r, M, N)
        kl.extents(y, M, N)
    kl.require(x.shape[1] == w.shape[1], "x and w have equally many columns")
    kl.require(y.shape[0] == x.shape[0] and y.shape[1] == w.shape[0],
               "y has a row for each row of x, a column for each row of w")
    kl.require_same_shape(r, y, "r and y have one shape")

    @kl.spmd(kl.ceildiv(y.shape[0], BM), kl.ceildiv(y.shape[1], BN), split=split)
    def proj(bi, bj):
        i, j = bi * BM, bj * BN
        acc = kl.zeros(f32, BM, BN)
        for k in kl.range(0, x.shape[1], BK, stages=3):
            acc = kl.matmul_acc(acc, kl.load(x, (i, k), (BM, BK)), kl.load(w, (j, k), (BN, BK)), trans_b=True)
        kl.store(acc + kl.load(r, (i, j), (BM, BN)), y, (i, j))


if __name__ == "__main__":
    import torch

    x, w, r = torch.randn(M, K).bfloat16(), torch.randn(N, K).bfloat16(), torch.randn(M, N)
    y = torch.empty(M, N)
    down_proj_residual(x, w, r, y)
    print("max |error|", float((y - (x.float() @ w.float().T + r)).abs().max()))
