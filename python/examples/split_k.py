"""c = a * b with the inner extent divided over blocks.

`form="atomic"` adds the partial products into c as they come; "deterministic" keeps them apart and
adds them in a fixed order.
"""
import kiln
import kiln.language as kl
from kiln import f32

B, PARTS = 32, 4


@kl.function
def product(a, b, i, j, part):
    steps = kl.ceildiv(kl.ceildiv(a.shape[1], B), PARTS)  # inner tiles per part
    start = part * steps * B
    end = kl.min(start + steps * B, a.shape[1])
    acc = kl.zeros(f32, B, B)
    for k in kl.range(start, end, B, stages=2):
        acc = kl.matmul_acc(acc, kl.load(a, (i, k), (B, B)), kl.load(b, (k, j), (B, B)))
    return acc


@kiln.program
def split_k(a: kl.In[f32], b: kl.In[f32], c: kl.Out[f32], *,
            form=kl.choice("deterministic", ["atomic", "deterministic"])):
    kl.require(a.shape[1] == b.shape[0], "a has as many columns as b has rows")
    kl.require(c.shape[0] == a.shape[0] and c.shape[1] == b.shape[1], "c has the rows of a and the columns of b")
    rows, cols = kl.ceildiv(c.shape[0], B), kl.ceildiv(c.shape[1], B)

    if form == "atomic":
        @kl.spmd(rows, cols)
        def clear(bi, bj):
            kl.store(kl.zeros(f32, B, B), c, (bi * B, bj * B))

        @kl.spmd(rows, cols, PARTS)
        def add_part(bi, bj, part):
            i, j = bi * B, bj * B
            kl.store(product(a, b, i, j, part), c, (i, j), atomic_add=True)

        return

    partial = kl.alloc("partial", f32, (PARTS, c.shape[0], c.shape[1]))

    @kl.spmd(rows, cols, PARTS)
    def keep_part(bi, bj, part):
        i, j = bi * B, bj * B
        kl.store(product(a, b, i, j, part), partial, (part, i, j))

    @kl.spmd(rows, cols)
    def add_parts(bi, bj):
        i, j = bi * B, bj * B
        total = kl.zeros(f32, B, B)
        for part in kl.range(PARTS):
            total = total + kl.load(partial, (part, i, j), (B, B))
        kl.store(total, c, (i, j))


if __name__ == "__main__":
    import torch

    a, b, c = torch.randn(40, 500), torch.randn(500, 50), torch.empty(40, 50)
    for form in "deterministic", "atomic":
        split_k(a, b, c, form=form)
        print(form, "max |error|", float((c - a @ b).abs().max()))
