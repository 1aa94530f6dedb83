"""Routing for a mixture of experts.

Each token goes to the K experts with the largest softmax scores, with weights that add up to 1;
then the tokens are gathered expert by expert, as the experts' matrix products want them. Running
positions are sums over earlier tokens, which is a product with a triangle of ones.
"""
import kiln
import kiln.language as kl
from kiln import f32, i32

BT, BD = 16, 32


@kiln.program
def moe_gate(x: kl.In[f32], gate: kl.In[f32], experts: kl.Out[i32], weights: kl.Out[f32], source: kl.Out[i32],
             gathered: kl.Out[f32], *,
             E=kl.param(16, [8, 16, 32, 64]), K=kl.param(2, [1, 2, 4, 8]), D=kl.param(64, [32, 64, 128])):
    kl.extents(x, kl.dyn, D)
    kl.extents(gate, E, D)
    kl.extents(experts, kl.dyn, K)
    kl.extents(weights, kl.dyn, K)
    kl.extents(source, kl.dyn, 1)
    kl.extents(gathered, kl.dyn, D)

    def chosen(t, slot):
        """Which of the experts each of BT tokens from t on is sent to by a slot, as ones and zeros."""
        number = kl.load(experts, (t, slot), (BT, 1))  # 0 where there is no token, so:
        exists = kl.mask(kl.full(f32, (BT, 1), 1), experts.shape[0] - t, 1)
        return kl.where(kl.iota(i32, (1, E), 1) == number, exists, 0)

    def chosen_by_any(t):
        return sum((chosen(t, slot) for slot in range(1, K)), start=chosen(t, 0))

    kl.require(experts.shape[0] == x.shape[0] and weights.shape[0] == x.shape[0], "each token has experts and weights")
    kl.require(source.shape[0] == x.shape[0] * K and gathered.shape[0] == source.shape[0], "each token is gathered K times")
    tokens = x.shape[0]
    blocks = kl.ceildiv(tokens, BT)
    places = kl.alloc("places", i32, (K, tokens))

    @kl.spmd(blocks, name="gate")
    def choose(block):
        t = block * BT
        scores = kl.matmul(kl.load(x, (t, 0), (BT, D)), kl.load(gate, (0, 0), (E, D)), trans_b=True)
        best = kl.topk_rows(kl.softmax(scores), K)
        kl.store(best.columns, experts, (t, 0))
        kl.store(best.values / kl.reduce_sum(best.values, 1), weights, (t, 0))

    # One block counts the tokens of each expert, then gives each token its place.
    @kl.spmd(1)
    def route(_):
        counts = kl.zeros(f32, 1, E)
        for t in kl.range(0, tokens, BT):
            counts = counts + kl.reduce_sum(chosen_by_any(t), 0)
        # The first place of each expert: the tokens of all before it.
        before = kl.transpose(kl.mask_diag(kl.full(f32, (E, E), 1), -1))
        following = kl.matmul(counts, before)
        for t in kl.range(0, tokens, BT):
            any_slot = chosen_by_any(t)
            place = kl.matmul(kl.mask_diag(kl.full(f32, (BT, BT), 1), -1), any_slot) + following
            for slot in range(K):
                row = kl.reduce_sum(chosen(t, slot) * place, 1)
                kl.store(kl.transpose(kl.cast(row, i32)), places, (slot, t))
            following = following + kl.reduce_sum(any_slot, 0)

    @kl.spmd(blocks, K)
    def scatter(block, slot):
        t = block * BT
        token = kl.iota(i32, (BT, 1), 0) + kl.cast(t, i32)
        kl.scatter_rows(token, source, (0, 0), places, (slot, t))

    @kl.spmd(kl.ceildiv(source.shape[0], BT), D // BD)
    def gather(bi, bj):
        i, j = bi * BT, bj * BD
        rows = kl.reshape(source, (source.shape[0],))
        kl.store(kl.gather_rows(x, (0, j), rows, i, (BT, BD)), gathered, (i, j))


if __name__ == "__main__":
    import torch

    x, gate = torch.randn(37, 64), torch.randn(16, 64)
    experts, weights = torch.empty(37, 2, dtype=torch.int32), torch.empty(37, 2)
    source, gathered = torch.empty(74, 1, dtype=torch.int32), torch.empty(74, 64)
    moe_gate(x, gate, experts, weights, source, gathered)
    best = torch.topk(torch.softmax(x @ gate.T, 1), 2, 1)
    order = torch.sort(best.indices.flatten(), stable=True)[1] // 2
    print("equal:", torch.equal(experts.long(), best.indices) and torch.equal(source[:, 0].long(), order)
          and torch.equal(gathered, x[order]))
