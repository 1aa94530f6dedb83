"""y = x / sqrt(mean(x^2) + eps) * w, row by row, for rows of any length."""
import kiln
import kiln.language as kl
from kiln import f32

EPS = 1e-6


@kiln.program
def rms_norm(x: kl.In[f32], w: kl.In[f32, 1], y: kl.Out[f32], *,
             BM=kl.param(16, [8, 16, 32]), BN=kl.param(128, [64, 128, 256])):
    kl.require(w.shape[0] == x.shape[1], "w has an element for each column of x")
    kl.require_same_shape(x, y, "y has the shape of x")

    @kl.spmd(kl.ceildiv(x.shape[0], BM))
    def rms_norm(b):
        i, n = b * BM, x.shape[1]
        squares = kl.zeros(f32, BM, 1)
        for j in kl.range(0, n, BN):
            t = kl.load(x, (i, j), (BM, BN))
            squares = squares + kl.reduce_sum(t * t, 1)
        scale = kl.rsqrt(squares / kl.cast(n, f32) + EPS)
        for j in kl.range(0, n, BN):
            t, weight = kl.load(x, (i, j), (BM, BN)), kl.load(w, j, (1, BN))
            kl.store(t * scale * weight, y, (i, j))


if __name__ == "__main__":
    import torch

    x, w, y = torch.randn(37, 300), torch.randn(300), torch.empty(37, 300)
    rms_norm(x, w, y)
    print("max |error|", float((y - x / torch.sqrt((x * x).mean(1, keepdim=True) + EPS) * w).abs().max()))
