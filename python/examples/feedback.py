"""y[i] = x[0] + ... + x[i], row by row, with a delay line.

A pipe from a role to itself carries the running sum from one step to the next. Each lane has its
own half of the columns.
"""
import kiln
import kiln.language as kl
from kiln import f32

W = 64


@kiln.program
def feedback(x: kl.In[f32, (kl.dyn, W)], y: kl.Out[f32, (kl.dyn, W)], *, slots=kl.param(1)):
    @kl.group
    def running_sum(x: kl.In[f32, (kl.dyn, W)], y: kl.Out[f32, (kl.dyn, W)]):
        line = kl.pipe("line", kl.aiv, kl.aiv, f32, (1, W), split="left_right", slots=slots)

        @kl.role(kl.aiv)
        def accumulate():
            mine = kl.part(line)
            kl.push(line, kl.zeros(f32, mine.shape))
            for i in kl.range(x.shape[0]):
                before = kl.pop(line)
                total = before + kl.load(x, (i, 0), mine)
                kl.push(line, total)
                kl.store(total, y, (i, 0), mine)
            kl.pop(line)  # the line is empty when the group ends

    kl.require_same_shape(x, y, "y has the shape of x")
    running_sum(x, y)


if __name__ == "__main__":
    import torch

    x, y = torch.randn(20, W), torch.empty(20, W)
    feedback(x, y)
    print("max |error|", float((y - x.cumsum(0)).abs().max()))
