"""y = an elementwise function of x, by `op`: each is a function of the front end, built from the
language's operations.
"""
import kiln
import kiln.language as kl
from kiln import f32


@kiln.program
def elementwise(x: kl.In[f32], y: kl.Out[f32], *, op=kl.choice("gelu", ["gelu", "silu", "relu", "tanh", "clamp"])):
    kl.require_same_shape(x, y, "y has the shape of x")

    @kl.spmd(kl.ceildiv(x.shape[0], 32), kl.ceildiv(x.shape[1], 64), name=op)
    def apply(bi, bj):
        i, j = bi * 32, bj * 64
        t = kl.load(x, (i, j), (32, 64))
        if op == "gelu":
            result = kl.gelu(t)
        elif op == "silu":
            result = kl.silu(t)
        elif op == "relu":
            result = kl.where(t > 0, t, 0)
        elif op == "tanh":
            result = kl.tanh(t)
        else:
            result = kl.minimum(kl.maximum(t, -1), 1)
        kl.store(result, y, (i, j))


if __name__ == "__main__":
    import torch

    x, y = torch.randn(50, 130), torch.empty(50, 130)
    functions = {"gelu": torch.nn.functional.gelu, "relu": torch.relu, "tanh": torch.tanh}
    for op, function in functions.items():
        elementwise(x, y, op=op)
        print(op, "max |error|", float((y - function(x)).abs().max()))
