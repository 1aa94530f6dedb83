"""y = the sum of the rows of x, whoever has them: each rank adds up its own rows, and the ranks add up their sums."""
import kiln
import kiln.language as kl
from kiln import f32


@kiln.program
def all_reduce(x: kl.In[f32], y: kl.Out[f32], *, BM=kl.param(16, [8, 16, 32]), BN=kl.param(64, [32, 64, 128])):
    kl.require(y.shape[0] == 1 and y.shape[1] == x.shape[1], "y is one row of the width of x")

    @kl.spmd(kl.ceildiv(x.shape[1], BN))
    def add_rows(block):
        j, rows = block * BN, x.shape[0]
        sum = kl.zeros(f32, 1, BN)
        for i in kl.range(0, rows, BM):
            sum = sum + kl.reduce_sum(kl.load(x, (i, j), (BM, BN)), 0)
        kl.store(sum, y, (0, j))

    kl.all_reduce(y, "sum", fixed_order=True)


if __name__ == "__main__":
    import torch

    x, y = torch.randn(70, 100), torch.empty(1, 100)
    all_reduce(x, y)
    print("max |error|", float((y - x.sum(0)).abs().max()))
