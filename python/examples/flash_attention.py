"""o = softmax(q * k^T / sqrt(D)) * v for each head, in one pass over the keys.

Running maximum, sum and output are corrected as larger scores turn up, so the scores are never
stored. `causal="yes"` lets a query see only what comes before it.
"""
import math

import kiln
import kiln.language as kl
from kiln import f32

D = 64
SHAPE = (kl.dyn, kl.dyn, D)


@kiln.program
def flash_attention(q: kl.In[f32, SHAPE], k: kl.In[f32, SHAPE], v: kl.In[f32, SHAPE], o: kl.Out[f32, SHAPE], *,
                    BM=kl.param(64, [16, 32, 64, 128, 192]), BN=kl.param(64, [16, 32, 64, 128, 176]),
                    causal=kl.choice("no", ["yes", "no"])):
    kl.require_same_shape(k, v, "k and v have one shape")
    kl.require_same_shape(q, o, "q and o have one shape")
    kl.require(q.shape[0] == k.shape[0], "q and k have equally many heads")
    kl.require(k.shape[1] > 0, "there is a key to attend to")
    if causal == "yes":
        kl.require(q.shape[1] == k.shape[1], "with --causal yes there are as many queries as keys")

    @kl.spmd(q.shape[0], kl.ceildiv(q.shape[1], BM))
    def attention(head, block):
        # The blocks with the most keys come first: those that are done early take the short ones.
        i = (kl.ceildiv(q.shape[1], BM) - 1 - block if causal == "yes" else block) * BM
        keys = k.shape[1]
        qt = kl.load(q, (head, i, 0), (BM, D))
        end = kl.min(keys, i + BM) if causal == "yes" else keys
        top, total, acc = kl.attention_start(BM, D)
        for j in kl.range(0, end, BN, stages=2):
            kt, vt = kl.load(k, (head, j, 0), (BN, D)), kl.load(v, (head, j, 0), (BN, D))
            scores = kl.mask(kl.matmul(qt, kt, trans_b=True), BM, keys - j, "min")
            if causal == "yes":
                scores = kl.mask_diag(scores, i - j, "min")
            top, total, acc = kl.attention_step(top, total, acc, scores, vt, 1 / math.sqrt(D))
        kl.store(acc * kl.recip(total), o, (head, i, 0))  # one division for each row


if __name__ == "__main__":
    import torch

    q, k, v, o = (torch.randn(2, 100, D) for _ in range(4))
    for causal in "no", "yes":
        flash_attention(q, k, v, o, causal=causal)
        scores = q @ k.transpose(1, 2) / 8
        if causal == "yes":
            scores += torch.full_like(scores, -math.inf).triu(1)
        print(causal, "max |error|", float((o - torch.softmax(scores, -1) @ v).abs().max()))
