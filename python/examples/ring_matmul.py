"""c = a * b, where each rank has some rows of a, some columns of b and the same columns of c.

The blocks of a travel around the ring of ranks; while one is on its way, the one before it is
multiplied. A rank's own block is sent and multiplied where it is.
"""
import kiln
import kiln.language as kl
from kiln import f32


@kiln.program
def ring_matmul(a: kl.In[f32], b: kl.In[f32], c: kl.Out[f32], *, BM=kl.param(32, [16, 32, 64, 128]),
                BN=kl.param(64, [32, 64, 128]), BK=kl.param(64, [32, 64, 128])):
    @kl.kernel
    def multiply(a: kl.In[f32], b: kl.In[f32], c: kl.Out[f32]):
        i, j = kl.block_idx(0) * BM, kl.block_idx(1) * BN
        inner = a.shape[1]
        acc = kl.zeros(f32, BM, BN)
        for k in kl.range(0, inner, BK, stages=2):
            acc = kl.matmul_acc(acc, kl.load(a, (i, k), (BM, BK)), kl.load(b, (k, j), (BK, BN)))
        kl.store(acc, c, (i, j))

    rows, inner, columns, whole = a.shape[0], a.shape[1], b.shape[1], c.shape[0]
    kl.require(inner == b.shape[0], "a has as many columns as b has rows")
    kl.require(columns == c.shape[1], "b has as many columns as c")
    count, me = kl.ranks(), kl.rank()
    following, previous = (me + 1) % count, (me - 1 + count) % count
    # The blocks of the other ranks, in the order in which they come by.
    blocks = kl.alloc("blocks", f32, ((count - 1) * rows, inner))

    def block(step):
        return kl.slice(blocks, ((step - 1) * rows, 0), (rows, inner))

    def submit_product(step, part):
        # The last rank's block may reach beyond the end of c, or begin there.
        first = kl.min((me - step + count) % count * rows, whole)
        here = kl.min(rows, whole - first)
        multiply(part, b, kl.slice(c, (first, 0), (here, columns)),
                 grid=(kl.ceildiv(here, BM), kl.ceildiv(columns, BN)))

    if count > 1:
        kl.send(a, following)
        kl.recv(block(1), previous)
    submit_product(0, a)
    for step in kl.range(1, count, 1):
        if step + 1 < count:
            kl.send(block(step), following)
            kl.recv(block(step + 1), previous)
        submit_product(step, block(step))


if __name__ == "__main__":
    import torch

    a, b, c = torch.randn(100, 72), torch.randn(72, 90), torch.empty(100, 90)
    ring_matmul(a, b, c)
    print("max |error|", float((c - a @ b).abs().max()))
