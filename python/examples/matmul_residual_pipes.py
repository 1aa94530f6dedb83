"""out = a * b + r on one core group, with hand-written roles.

The vector lanes push a, the cube core multiplies by b and pushes the product back, the lanes add r and store.
"""
import kiln
import kiln.language as kl
from kiln import f32

S = 64
SQUARE = (S, S)


@kiln.program
def matmul_residual_pipes(a: kl.In[f32, SQUARE], b: kl.In[f32, SQUARE], r: kl.In[f32, SQUARE], out: kl.Out[f32, SQUARE], *,
                          split=kl.split("up_down"), slots=kl.param(2)):
    @kl.group
    def fused(a: kl.In[f32, SQUARE], b: kl.In[f32, SQUARE], r: kl.In[f32, SQUARE], out: kl.Out[f32, SQUARE]):
        up = kl.pipe("up", kl.aiv, kl.aic, f32, SQUARE, split=split, slots=slots)
        down = kl.pipe("down", kl.aic, kl.aiv, f32, SQUARE, split=split, slots=slots)

        @kl.role(kl.aic)
        def mul_cube():
            bt = kl.load(b, (0, 0), SQUARE)
            kl.push(down, kl.matmul(kl.pop(up), bt))

        @kl.role(kl.aiv)
        def add_vec():
            # Without a split one lane has it all; with one, each has half the rows or columns.
            mine = kl.part(up)
            kl.push(up, kl.load(a, (0, 0), mine))
            rt = kl.load(r, (0, 0), mine)
            kl.store(kl.pop(down) + rt, out, (0, 0), mine)

    fused(a, b, r, out)


if __name__ == "__main__":
    import torch

    a, b, r, out = torch.randn(S, S), torch.randn(S, S), torch.randn(S, S), torch.empty(S, S)
    matmul_residual_pipes(a, b, r, out)
    print("max |error|", float((out - (a @ b + r)).abs().max()))
