"""out = (a + b + 1) * (a + b + 2) + (a + b) as a graph of five tasks.

Nobody writes the order down: it follows from what the tasks read and write.
"""
import kiln
import kiln.language as kl
from kiln import f32


@kiln.program
def vector_dag(a: kl.In[f32], b: kl.In[f32], out: kl.Out[f32], *,
               BM=kl.param(64, [32, 64, 128]), BN=kl.param(64, [32, 64, 128])):
    # Each kernel handles one tile per block, at the same place in all its tensors.
    def place():
        return kl.block_idx(0) * BM, kl.block_idx(1) * BN

    tile = (BM, BN)

    @kl.kernel
    def add(x: kl.In[f32], y: kl.In[f32], z: kl.Out[f32]):
        here = place()
        kl.store(kl.load(x, here, tile) + kl.load(y, here, tile), z, here)

    @kl.kernel
    def add_scalar(x: kl.In[f32], s: kl.Scalar[f32], z: kl.Out[f32]):
        here = place()
        kl.store(kl.load(x, here, tile) + s, z, here)

    @kl.kernel
    def mul(x: kl.In[f32], y: kl.In[f32], z: kl.Out[f32]):
        here = place()
        kl.store(kl.load(x, here, tile) * kl.load(y, here, tile), z, here)

    kl.require_same_shape(a, b, "a and b have one shape")
    kl.require_same_shape(a, out, "out has the shape of a and b")
    m, n = a.shape
    grid = (kl.ceildiv(m, BM), kl.ceildiv(n, BN))
    total, plus1 = kl.alloc("sum", f32, (m, n)), kl.alloc("plus1", f32, (m, n))
    plus2, product = kl.alloc("plus2", f32, (m, n)), kl.alloc("product", f32, (m, n))
    add(a, b, total, grid=grid)
    add_scalar(total, 1.0, plus1, grid=grid)
    add_scalar(total, 2.0, plus2, grid=grid)
    mul(plus1, plus2, product, grid=grid)
    add(product, total, out, grid=grid)


if __name__ == "__main__":
    import torch

    a, b, out = torch.randn(150, 90), torch.randn(150, 90), torch.empty(150, 90)
    vector_dag(a, b, out)
    total = a + b
    print("max |error|", float((out - ((total + 1) * (total + 2) + total)).abs().max()))
