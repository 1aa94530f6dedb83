"""A mixture of experts whose experts are spread over ranks, as are the tokens.

Each token goes to the rank of its expert and comes back multiplied by that expert's weights. A rank
has room for all tokens of every other one, so nothing is dropped and no extent depends on the data;
rows that go elsewhere are zero on the way.
"""
import kiln
import kiln.language as kl
from kiln import f32, i32


@kiln.program
def ep_moe(x: kl.In[f32], expert: kl.In[i32], w: kl.In[f32, 3], y: kl.Out[f32], *, BM=kl.param(16, [16, 32, 64]),
           BN=kl.param(32, [32, 64]), BK=kl.param(32, [32, 64])):
    tokens, inner, experts, columns = x.shape[0], x.shape[1], w.shape[0], w.shape[2]
    kl.require(w.shape[1] == inner, "an expert has a row of weights for each column of x")
    kl.require(expert.shape[0] == tokens and expert.shape[1] == 1, "each token has an expert")
    kl.require(y.shape[0] == tokens and y.shape[1] == columns, "y has the rows of x and the columns of the weights")
    count = kl.ranks()
    outgoing, incoming = kl.alloc("outgoing", f32, (count * tokens, inner)), kl.alloc("incoming", f32, (count * tokens, inner))
    wanted, asked = kl.alloc("wanted", i32, (count * tokens, 1)), kl.alloc("asked", i32, (count * tokens, 1))

    # Part d is what goes to rank d: its tokens, and which of its experts each of them wants.
    @kl.spmd(count, kl.ceildiv(tokens, BM))
    def dispatch(d, bi):
        i = bi * BM
        here = kl.min(tokens - i, BM)
        local = kl.load(expert, (i, 0), (BM, 1)) - kl.cast(d * experts, i32)
        none = kl.full(i32, (BM, 1), -1)
        is_high = local >= 0
        mine = kl.where(is_high, kl.where(local < kl.cast(experts, i32), local, none), none)
        kl.store(mine, wanted, (d * tokens + i, 0), valid=(here, 1))
        zero = kl.zeros(f32, BM, 1)
        is_there = kl.where(mine >= 0, zero + 1, zero)
        for k in kl.range(0, inner, BK):
            kl.store(kl.load(x, (i, k), (BM, BK)) * is_there, outgoing, (d * tokens + i, k), valid=(here, BK))

    kl.all_to_all(outgoing, incoming)
    kl.all_to_all(wanted, asked)
    results, returned = kl.alloc("results", f32, (count * tokens, columns)), kl.alloc("returned", f32, (count * tokens, columns))

    @kl.spmd(kl.ceildiv(count * tokens, BM), kl.ceildiv(columns, BN), name="experts")
    def multiply(bi, bj):
        i, j = bi * BM, bj * BN
        which = kl.load(asked, (i, 0), (BM, 1))
        total = kl.zeros(f32, BM, BN)
        for e in kl.range(0, experts, 1):
            zero = kl.zeros(f32, BM, 1)
            is_mine = kl.where(which == kl.cast(e, i32), zero + 1, zero)
            for k in kl.range(0, inner, BK):
                rows = kl.load(incoming, (i, k), (BM, BK)) * is_mine
                total = kl.matmul_acc(total, rows, kl.load(w, (e, k, j), (BK, BN)))
        kl.store(total, results, (i, j))

    kl.all_to_all(results, returned)

    # Of the parts that came back one has the token's result, and the others have zeros.
    @kl.spmd(kl.ceildiv(tokens, BM), kl.ceildiv(columns, BN))
    def combine(bi, bj):
        i, j = bi * BM, bj * BN
        total = kl.zeros(f32, BM, BN)
        for d in kl.range(0, count, 1):
            total = total + kl.load(returned, (d * tokens + i, j), (BM, BN))
        kl.store(total, y, (i, j))


if __name__ == "__main__":
    import torch

    x, w, y = torch.randn(50, 40), torch.randn(6, 40, 48), torch.empty(50, 48)
    expert = torch.randint(0, 6, (50, 1), dtype=torch.int32)
    ep_moe(x, expert, w, y)
    wanted = torch.stack([row @ w[int(e)] for row, e in zip(x, expert)])
    print("max |error|", float((y - wanted).abs().max()))
