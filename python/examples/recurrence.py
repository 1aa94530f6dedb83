"""h[t] = a[t] * h[t - 1] + b[t], column by column, for sequences of any length: the state of a
recurrent network.

Two steps together are a step of the same form, (a0, b0) and then (a1, b1) is (a0 * a1, b0 * a1 +
b1), so a scan of pairs does many at once. Each chunk of rows starts with the state that the one
before it ended with.
"""
import kiln
import kiln.language as kl
from kiln import f32


def step(a0, b0, a1, b1):
    return a0 * a1, b0 * a1 + b1


@kiln.program
def recurrence(a: kl.In[f32], b: kl.In[f32], h: kl.Out[f32], *,
               BT=kl.param(32, [16, 32, 64]), BC=kl.param(32, [16, 32, 64])):
    kl.require_same_shape(a, b, "b has the shape of a")
    kl.require_same_shape(a, h, "h has the shape of a")

    @kl.spmd(kl.ceildiv(a.shape[1], BC))
    def recurrence(block):
        j = block * BC
        length = a.shape[0]
        last = kl.zeros(f32, 1, BC)
        for t in kl.range(0, length, BT):
            decay, input = kl.load(a, (t, j), (BT, BC)), kl.load(b, (t, j), (BT, BC))
            _, state = kl.scan((decay, input), 0, step, start=(1, last))
            kl.store(state, h, (t, j))
            last = kl.extract(state, BT - 1, 0, (1, BC))


if __name__ == "__main__":
    import torch

    a, b, h = torch.rand(100, 40), torch.randn(100, 40), torch.empty(100, 40)
    recurrence(a, b, h)
    state, wanted = torch.zeros(40), torch.empty(100, 40)
    for t in range(100):
        state = a[t] * state + b[t]
        wanted[t] = state
    print("max |error|", float((h - wanted).abs().max()))
