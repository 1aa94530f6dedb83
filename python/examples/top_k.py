"""The K largest elements of each row and their columns, the largest first.

Rows of any length: the best so far compete with one chunk of columns after the other.
"""
import kiln
import kiln.language as kl
from kiln import f32, i32

BM, BN = 16, 64


@kiln.program
def top_k(x: kl.In[f32], values: kl.Out[f32], columns: kl.Out[i32], *, K=kl.param(8, [1, 2, 4, 8, 16, 32])):
    kl.extents(values, kl.dyn, K)
    kl.extents(columns, kl.dyn, K)
    kl.require(x.shape[1] >= K, "a row has at least K elements")
    kl.require(values.shape[0] == x.shape[0] and columns.shape[0] == x.shape[0], "values and columns have the rows of x")

    @kl.spmd(kl.ceildiv(x.shape[0], BM))
    def top_k(block):
        i = block * BM

        def chunk(j):
            return kl.load(x, (i, j), (BM, BN), pad="min")

        best, where = kl.topk_rows(chunk(0), K)
        for j in kl.range(BN, x.shape[1], BN):
            following = kl.topk_rows(chunk(j), K)
            # Earlier columns come first, so of equal elements the first wins.
            both = kl.topk_rows(kl.concat((best, following.values), 1), K)
            source = kl.concat((where, following.columns + kl.cast(j, i32)), 1)
            best, where = both.values, kl.gather(source, both.columns, 1)
        kl.store(best, values, (i, 0))
        kl.store(where, columns, (i, 0))


if __name__ == "__main__":
    import torch

    x, values, columns = torch.randn(37, 150), torch.empty(37, 8), torch.empty(37, 8, dtype=torch.int32)
    top_k(x, values, columns)
    wanted = torch.topk(x, 8, 1)
    print("equal:", torch.equal(values, wanted.values) and torch.equal(columns.long(), wanted.indices))
