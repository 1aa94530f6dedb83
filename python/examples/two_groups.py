"""out = relu(a * b) * c + 1: two core groups, one after the other.

The first hands its product from the cube to the vector lanes; the second hands the activations from
the lanes to the cube. Their order follows from `hidden`.
"""
import kiln
import kiln.language as kl
from kiln import f32

S = 64
SQUARE = (S, S)


@kiln.program
def two_groups(a: kl.In[f32, SQUARE], b: kl.In[f32, SQUARE], c: kl.In[f32, SQUARE], out: kl.Out[f32, SQUARE], *,
               slots=kl.param(2)):
    @kl.group
    def multiply_relu(a: kl.In[f32, SQUARE], b: kl.In[f32, SQUARE], h: kl.Out[f32, SQUARE]):
        down = kl.pipe("down", kl.aic, kl.aiv, f32, SQUARE, split="up_down", slots=slots)

        @kl.role(kl.aic)
        def multiply():
            kl.push(down, kl.matmul(kl.load(a, (0, 0), SQUARE), kl.load(b, (0, 0), SQUARE)))

        @kl.role(kl.aiv)
        def relu():
            mine = kl.part(down)
            kl.store(kl.maximum(kl.pop(down), 0), h, (0, 0), mine)

    @kl.group
    def add_multiply(h: kl.In[f32, SQUARE], c: kl.In[f32, SQUARE], out: kl.Out[f32, SQUARE]):
        up = kl.pipe("up", kl.aiv, kl.aic, f32, SQUARE, split="up_down", slots=slots)
        down = kl.pipe("down", kl.aic, kl.aiv, f32, SQUARE, split="up_down", slots=slots)

        @kl.role(kl.aic)
        def multiply_c():
            ct = kl.load(c, (0, 0), SQUARE)
            kl.push(down, kl.matmul(kl.pop(up), ct))

        @kl.role(kl.aiv)
        def add_one():
            mine = kl.part(up)
            kl.push(up, kl.load(h, (0, 0), mine))
            kl.store(kl.pop(down) + 1, out, (0, 0), mine)

    hidden = kl.alloc("hidden", f32, SQUARE)
    multiply_relu(a, b, hidden)
    add_multiply(hidden, c, out)


if __name__ == "__main__":
    import torch

    a, b, c, out = torch.randn(S, S), torch.randn(S, S), torch.randn(S, S), torch.empty(S, S)
    two_groups(a, b, c, out)
    print("max |error|", float((out - (torch.relu(a @ b) @ c + 1)).abs().max()))
