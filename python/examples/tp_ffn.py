"""y = (silu(x * gate^T) * (x * up^T)) * down^T, split over ranks.

Each rank has some rows of gate and up and the same columns of down, computes with them what they
contribute, and the ranks add that up.
"""
import kiln
import kiln.language as kl
from kiln import bf16, f32


@kiln.program
def tp_ffn(x: kl.In[bf16], gate: kl.In[bf16], up: kl.In[bf16], down: kl.In[bf16], y: kl.Out[bf16], *,
           BM=kl.param(32, [16, 32, 64, 128]), BN=kl.param(32, [16, 32, 64, 128]), BK=kl.param(32, [32, 64])):
    def product(a, w, i, j):
        """A tile of a * w^T."""
        inner = a.shape[1]
        acc = kl.zeros(f32, BM, BN)
        for k in kl.range(0, inner, BK, stages=2):
            acc = kl.matmul_acc(acc, kl.load(a, (i, k), (BM, BK)), kl.load(w, (j, k), (BN, BK)), trans_b=True)
        return acc

    tokens, width, mine = x.shape[0], x.shape[1], gate.shape[0]
    kl.require_same_shape(gate, up, "gate and up have one shape")
    kl.require(gate.shape[1] == width, "gate and up have a column for each column of x")
    kl.require(down.shape[0] == width and down.shape[1] == mine, "down leads back to the width of x")
    kl.require_same_shape(x, y, "y has the shape of x")
    h, total = kl.alloc("h", bf16, (tokens, mine)), kl.alloc("total", f32, (tokens, width))

    @kl.spmd(kl.ceildiv(tokens, BM), kl.ceildiv(mine, BN))
    def gate_up(bi, bj):
        i, j = bi * BM, bj * BN
        kl.store(kl.cast(kl.silu(product(x, gate, i, j)) * product(x, up, i, j), bf16), h, (i, j))

    @kl.spmd(kl.ceildiv(tokens, BM), kl.ceildiv(width, BN), name="down")
    def lead_back(bi, bj):
        kl.store(product(h, down, bi * BM, bj * BN), total, (bi * BM, bj * BN))

    kl.all_reduce(total, "sum", fixed_order=True)

    @kl.spmd(kl.ceildiv(tokens, BM), kl.ceildiv(width, BN), name="round")
    def narrow(bi, bj):
        kl.store(kl.cast(kl.load(total, (bi * BM, bj * BN), (BM, BN)), bf16), y, (bi * BM, bj * BN))


if __name__ == "__main__":
    import torch

    x, gate, up, down = (torch.randn(*shape) for shape in ((20, 64), (100, 64), (100, 64), (64, 100)))
    x, gate, up, down = x.bfloat16(), (gate / 10).bfloat16(), (up / 10).bfloat16(), (down / 10).bfloat16()
    y = torch.empty(20, 64, dtype=torch.bfloat16)
    tp_ffn(x, gate, up, down, y)
    hidden = torch.nn.functional.silu(x.float() @ gate.float().T) * (x.float() @ up.float().T)
    print("max |error|", float((y.float() - hidden.bfloat16().float() @ down.float().T).abs().max()))
