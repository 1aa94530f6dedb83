"""Of each row, for rows of any length: the largest element and where it is, mean and variance, and
log(sum(exp(x))).

Each is a reduction by a function of its own. What a chunk of columns begins with is what the chunks
before it came to.
"""
import kiln
import kiln.language as kl
from kiln import f32, i32


def better(value, at, following, following_at):
    """Of two elements the larger; of equal ones the first."""
    return kl.maximum(value, following), kl.where(following > value, following_at, at)


def together(n, mean, squares, m, next_mean, next_squares):
    """Count, mean and sum of squares about the mean, of two parts together. Parts without elements change nothing."""
    count, apart = n + m, next_mean - mean
    step = apart * (m / kl.maximum(count, 1))
    return count, mean + step, squares + next_squares + apart * step * n


def exponentials(top, total, next_top, next_total):
    """sum(exp(x)) as exp(top) * total, where nothing overflows."""
    both = kl.maximum(top, next_top)
    return both, total * kl.exp(top - both) + next_total * kl.exp(next_top - both)


@kiln.program
def row_statistics(x: kl.In[f32], best: kl.Out[f32], column: kl.Out[i32], mean: kl.Out[f32], variance: kl.Out[f32],
                   logsumexp: kl.Out[f32], *, BM=kl.param(16, [8, 16, 32]), BN=kl.param(64, [32, 64, 128])):
    for y in (best, column, mean, variance, logsumexp):
        kl.require(y.shape[0] == x.shape[0] and y.shape[1] == 1, "a result has one column and the rows of x")
    kl.require(x.shape[1] > 0, "x has columns")

    @kl.spmd(kl.ceildiv(x.shape[0], BM))
    def row_statistics(b):
        i = b * BM
        none, lowest = kl.zeros(f32, BM, 1), kl.full(f32, (BM, 1), -1e30)
        columns = x.shape[1]
        top, at = lowest, kl.zeros(i32, BM, 1)
        n, middle, squares = none, none, none
        high, total = lowest, none
        for j in kl.range(0, columns, BN):
            # Far below all data, but not infinite: the difference of two is a number.
            t = kl.maximum(kl.load(x, (i, j), (BM, BN), pad="min"), -1e30)
            col = kl.iota(i32, (BM, BN), 1) + kl.cast(j, i32)
            ones = kl.cast(col < kl.cast(x.shape[1], i32), f32)
            top, at = kl.reduce((t, col), 1, better, start=(top, at))
            parts = (ones, t * ones, kl.zeros(f32, BM, BN))
            n, middle, squares = kl.reduce(parts, 1, together, start=(n, middle, squares))
            high, total = kl.reduce((t, ones), 1, exponentials, start=(high, total))
        kl.store(top, best, (i, 0))
        kl.store(at, column, (i, 0))
        kl.store(middle, mean, (i, 0))
        kl.store(squares / n, variance, (i, 0))
        kl.store(high + kl.log(total), logsumexp, (i, 0))


if __name__ == "__main__":
    import torch

    x = torch.randn(37, 300)
    best, mean, variance, logsumexp = (torch.empty(37, 1) for _ in range(4))
    column = torch.empty(37, 1, dtype=torch.int32)
    row_statistics(x, best, column, mean, variance, logsumexp)
    print("max |error|", float((logsumexp - torch.logsumexp(x, 1, keepdim=True)).abs().max()))
    print("max |error|", float((variance - x.var(1, unbiased=False, keepdim=True)).abs().max()))
