"""The conformance suite's table: every example and model, on which shapes and values. Read by scripts/conformance.

A case is a line of options of the program. Sizes are chosen around the programs' tiles (16 to 128): 0 and 1, one less and
one more than a tile, and such that no tile is full.
"""

# Special floats: infinities, NaN, subnormals, the largest, zeros of both signs. Two lists whose lengths have no factor in
# common, so that each value meets each.
NASTY = "inf,-inf,nan,1e-40,-1e-45,3.4e38,-3.4e38,0,-0,1,65504"
OTHERS = "1,-inf,0,2,-3.4e38,1e-38,nan"
# On cpu a group is one function where that is possible, or roles on fibers.
GROUPS = ["", "--fibers"]


def args(**specs):
    return " ".join(f"--arg {name}={spec}" for name, spec in specs.items())


def same(names, *shapes):
    """The same shape for several arguments, once for each shape."""
    return [args(**{name: shape for name in names.split()}) for shape in shapes]


def products(names, *sizes):
    """Shapes of a product: `names` says which of m, n and k each argument has, as in a=mk."""
    wanted = [name.split("=") for name in names.split()]
    return [args(**{name: "x".join(str(size["mnk".index(axis)]) for axis in axes) for name, axes in wanted})
            for size in sizes]


def pairs(first, second):
    return [a + " " + b for a in first for b in second]


def attention(heads, queries, keys):
    q, k = f"{heads}x{queries}x64", f"{heads}x{keys}x64"
    return args(q=q, k=k, v=k, o=q)


def rows(shape, **others):
    return args(x=shape, y=shape, **others)


def statistics(x):
    column = f"{x.split('x')[0]}x1"
    return args(x=x, best=column, column=column, mean=column, variance=column, logsumexp=column)


def gate(tokens, experts, k, d):
    return (f"--E {experts} --K {k} --D {d} " +
            args(x=f"{tokens}x{d}", experts=f"{tokens}x{k}:poison", weights=f"{tokens}x{k}",
                 source=f"{tokens * k}x1:poison", gathered=f"{tokens * k}x{d}"))


def scaled(m, n, k):
    rows, cols = -(-n // 128), -(-k // 128)
    return args(a=f"{m}x{k}", b=f"{n}x{k}", sa=f"{m}x{cols}:uniform", sb=f"{rows}x{cols}:uniform", c=f"{m}x{n}")


def experts(k, n, *bounds):
    """Offsets of experts, from 0 to the number of rows."""
    return args(x=f"{bounds[-1]}x{k}", w=f"{len(bounds) - 1}x{k}x{n}", offsets=f"{len(bounds)}:" + ",".join(map(str, bounds)),
                y=f"{bounds[-1]}x{n}")


def decode(batch, length, positions):
    cache = f"{batch}x2x{length}x16"
    return args(x=f"{batch}x64", positions=f"{batch}:{positions}", cosine=f"{length}x8", sine=f"{length}x8",
                k_cache=cache, v_cache=cache, y=f"{batch}x64")


def ffn(m, d, h):
    return args(x=f"{m}x{d}", gate=f"{h}x{d}:normal*0.1", up=f"{h}x{d}:normal*0.1", down=f"{d}x{h}:normal*0.1",
                y=f"{m}x{d}")


def paged(q, cache, table, lengths):
    return args(q=q, k=cache, v=cache, table=table + ":shuffled", lengths=lengths, o=q)


# Few rows, times weights of which no number of rows is too odd.
FEW = "--type bf16 --order n_k --BM 16 --BN 132"
FEW_IN_PANELS = "--type bf16 --order n_k --BM 16 --BN 39 --BK 128"
# A row is one tile, of 16 bits.
ROWS = "--type bf16 --BM 1 --BN 1024"

# Shapes. An empty line is what the program has as its default.
RANKS = [f"--ranks {count}" for count in (1, 2, 3, 4)]

CASES = {
    "hello_add": [""] + same("a b c", "1x1", "0x64", "64x0", "63x65", "64x64", "65x129", "1x1000"),
    "elementwise": [f"--op {op}" for op in ("gelu", "silu", "relu", "tanh", "clamp")] + same("x y", "1x1", "65x33"),
    "vector_dag": [""] + same("a b out", "1x1", "1x300", "63x65", "0x5"),
    "softmax": [""] + same("x y", "1x1", "3x1", "15x129", "17x1001", "0x40") + pairs([ROWS], same("x y", "5x1000", "3x1100")),
    "running_sum": [""] + same("x y", "1x1", "3x1", "15x65", "17x1001", "0x40"),
    "recurrence": [""] + same("a b h", "1x1", "3x1", "65x15", "129x33", "0x40", "40x0"),
    "row_statistics": ["", statistics("1x1"), statistics("3x1"), statistics("15x65"), statistics("17x1001"),
                       statistics("9x40:0,3,1,3,-2")],
    "rms_norm": ["", rows("1x1", w="1"), rows("17x127", w="127"), ROWS + " " + rows("3x1024", w="1024")],
    "layer_norm": ["", rows("1x7", w="7", b="7"), rows("33x129", w="129", b="129"),
                   ROWS + " " + rows("3x1000", w="1000", b="1000"), ROWS + " " + rows("3x1024", w="1024", b="1024")],
    "matmul": [""] + products("a=mk b=kn c=mn", (1, 1, 1), (63, 65, 127), (65, 3, 0), (0, 5, 7), (129, 1, 64)) +
              ["--BM 128 " + args(a="1x1", b="1x129", c="1x129")] +
              pairs([FEW, FEW_IN_PANELS],
                    products("a=mk b=nk c=mn", (1, 133, 64), (16, 264, 200), (17, 5, 131), (3, 40, 0))),
    "down_proj_residual": ["--grid static --BM 64", "--grid computed"] +
                          pairs(["--split none", "--split up_down", "--split left_right"],
                                products("x=mk w=nk r=mn y=mn", (70, 45, 33))) +
                          products("x=mk w=nk r=mn y=mn", (1, 1, 1), (129, 127, 65)),
    "matmul_bias": [""] + [o + " " + args(b=str(n)) for n in (1, 65) for o in
                           products("x=mk w=kn y=mn", (63, n, 1), (1, n, 129))],
    "matmul_fp8": ["", args(a="3x130", b="130x70", sa="3", sb="70", c="3x70"),
                   args(a="33x1", b="1x31", sa="33", sb="31", c="33x31")],
    "matmul_packed": ["", "--BN 128 " + args(a="1x192", c="1x128"), args(a="33x192", c="33x128")],
    "split_k": ["--form atomic", "--form deterministic"] +
               pairs(["--form deterministic"], products("a=mk b=kn c=mn", (1, 1, 1), (33, 65, 129))),
    "top_k": ["", "--K 2 " + args(x="5x2", values="5x2", columns="5x2"),
              args(x="17x200:0,3,1,3", values="17x8", columns="17x8"), "--K 1 " + args(x="1x1", values="1x1", columns="1x1")],
    "feedback": pairs(GROUPS, ["--slots 1", "--slots 3", args(x="1x64", y="1x64"), args(x="0x64", y="0x64")]),
    "two_groups": pairs(GROUPS, ["", "--slots 1"]),
    "matmul_residual_pipes": pairs(GROUPS, [f"--split {s} --slots {n}" for s in ("none", "up_down", "left_right")
                                            for n in (1, 2)]),
    "flash_attention": ["", "--causal yes", attention(2, 5, 130), attention(1, 65, 63), attention(1, 1, 1),
                        "--causal yes " + attention(1, 33, 33), "--causal yes " + attention(1, 1, 1)],
    "swiglu_ffn": ["", ffn(1, 40, 33), ffn(33, 31, 1)],
    "paged_attention": ["--heads 2 --shared 4 --D 32 --block 16 " +
                        paged("5x2x4x32", "40x2x16x32", "5x8", "5:0,1,16,17,128"),
                        "--heads 1 --D 16 --block 16 " + paged("1x1x1x16", "1x1x16x16", "1x1", "1:16")],
    "moe_gate": ["", gate(70, 64, 8, 64), gate(1, 8, 1, 32)],
    "moe_gemm": ["", experts(1, 1, 0, 1), experts(65, 33, 0, 0, 31, 64, 64, 97), experts(7, 5, 0, 0, 0), experts(0, 5, 0, 3)],
    "block_scaled_gemm": ["", scaled(1, 1, 1), scaled(33, 129, 257), scaled(5, 65, 0), scaled(0, 5, 7),
                          "--BM 16 --BN 128 " + scaled(17, 130, 128)],
    "qwen3_decode_layer": ["", decode(17, 65, "3,0,32,31,64"), decode(1, 1, "0")],
    # On several ranks: the arguments of the examples are ragged for 3 and 4 of them.
    "all_reduce": pairs(RANKS, ["", args(x="1x7@0", y="1x7")]),
    "ring_matmul": pairs(RANKS, ["", args(a="5x3@0", b="3x65@1", c="5x65@1")]),
    "tp_ffn": RANKS,
    "tp_decode_layer": RANKS,
    "ep_moe": RANKS,
}

# Nasty values. What the formulas compute in double overflows elsewhere, so only the reference is asked.
VALUES = {
    "hello_add": [args(a=f"11x7:{NASTY}", b=f"11x7:{OTHERS}", c="11x7")],
    "elementwise": [f"--op {op} " + args(x=f"11x7:{NASTY}", y="11x7") for op in ("gelu", "silu", "relu", "tanh", "clamp")],
    "vector_dag": [args(a=f"11x7:{NASTY}", b=f"11x7:{OTHERS}", out="11x7")],
    "softmax": [args(x=f"12x11:{NASTY}", y="12x11"), args(x="5x9:-inf,1,3.4e38,1e-40", y="5x9")],
    "running_sum": [args(x=f"12x11:{OTHERS}", y="12x11")],
    "rms_norm": [args(x=f"12x11:{NASTY}", w="11", y="12x11"), args(x="4x6:1e-40,1e-45,0", w="6:1e-38,3", y="4x6")],
    "layer_norm": [args(x=f"12x11:{NASTY}", w="11", b="11", y="12x11")],
    "matmul": [args(a=f"11x7:{NASTY}", b=f"7x11:{OTHERS}", c="11x11")],
    "matmul_bias": [args(x=f"11x7:{NASTY}", w=f"7x11:{OTHERS}", b="11", y="11x11")],
    "matmul_fp8": [args(a="9x11:448,-448,0.015625,nan,1,0", b="11x9:-448,2,0.001953125,1", sa="9:1e30,1e-40",
                        sb="9:1,1e20", c="9x9")],
    "block_scaled_gemm": [args(a="9x130:448,-448,0.015625,nan,1,0", b="7x130:-448,2,0.001953125,1", sa="9x2:1e30,1e-40,2",
                               sb="1x2:1e20,1", c="9x7")],
    "moe_gemm": [args(x="5x7:inf,1,-1,0,nan", w="2x7x3:1,0,-inf,2", offsets="3:0,2,5", y="5x3")],
    "top_k": [args(x=f"11x30:{NASTY}", values="11x8", columns="11x8")],
    "split_k": ["--form deterministic " + args(a=f"11x7:{OTHERS}", b="7x5", c="11x5")],
    "flash_attention": [args(q="1x9x64:inf,1,-1,0", k="1x9x64:1,0,-inf,2,3", v="1x9x64:1,nan,2", o="1x9x64")],
}

# More of the same, for `scripts/conformance --all`; "large" ones only where code is native.
MORE = {
    "hello_add": same("a b c", *(f"{m}x{n}" for m in (1, 63, 64, 65) for n in (1, 63, 64, 65, 257))),
    "softmax": same("x y", *(f"{m}x{n}" for m in (1, 15, 16, 17, 40) for n in (1, 127, 128, 129, 513))),
    "rms_norm": [rows(f"{m}x{n}", w=str(n)) for m in (1, 15, 16, 17) for n in (1, 127, 128, 129)],
    "layer_norm": [rows(f"{m}x{n}", w=str(n), b=str(n)) for m in (1, 15, 16, 17) for n in (1, 127, 128, 129)],
    "matmul": products("a=mk b=kn c=mn", *((m, n, k) for m in (1, 63, 65) for n in (1, 64, 65) for k in (1, 63, 64, 130))),
    "down_proj_residual": products("x=mk w=nk r=mn y=mn", *((m, n, k) for m in (1, 127, 129) for n in (1, 129) for k in (1, 65))),
    "split_k": pairs(["--form deterministic", "--form atomic"],
                     products("a=mk b=kn c=mn", *((m, n, k) for m in (1, 65) for n in (1, 63) for k in (1, 255, 257)))),
    "flash_attention": [attention(h, q, k) for h in (1, 3) for q in (1, 63, 65) for k in (1, 64, 129)] +
                       ["--causal yes " + attention(2, n, n) for n in (1, 63, 64, 65, 200)],
    "swiglu_ffn": [ffn(m, d, h) for m in (1, 31, 33) for d in (1, 33) for h in (1, 65)],
    "moe_gate": [gate(t, e, k, d) for t in (1, 33, 65) for e, k in ((8, 1), (16, 8), (64, 4)) for d in (32, 128)],
    "block_scaled_gemm": [f"--BM {bm} --BN {bn} " + scaled(m, n, k) for bm in (16, 128) for bn in (32, 128)
                          for m in (1, 129) for n in (127, 257) for k in (127, 129, 384)],
    "moe_gemm": [f"--BM {bm} --BN {bn} --BK {bk} " + experts(k, n, *bounds)
                 for bm in (16, 64, 128) for bn in (32, 128) for bk in (32, 128) for n, k in ((1, 129), (129, 31))
                 for bounds in ((0, 1, 2, 3), (0, 0, 15, 15, 32, 160), (0, 129, 129))],
    "top_k": [f"--K {k} " + args(x=f"{m}x{n}", values=f"{m}x{k}", columns=f"{m}x{k}")
              for m in (1, 33) for n in (32, 129) for k in (1, 8, 32)],
}
LARGE = {
    "hello_add": same("a b c", "3000x2049"),
    "softmax": same("x y", "1025x4097"),
    "matmul": products("a=mk b=kn c=mn", (513, 1025, 2049)),
    "flash_attention": [attention(4, 1025, 1023), "--causal yes " + attention(2, 1000, 1000)],
    "layer_norm": [rows("513x4097", w="4097", b="4097")],
}
