"""Operations and programs that kernels for Ascend cannot have: each is refused by its name, at its line, and nothing is written.
refused.py KILN ROOT OUT"""
import os
import re
import subprocess
import sys

kiln, root, out = sys.argv[1:]
os.makedirs(out, exist_ok=True)


def kernel(line, element="f32", result=None):
    """A kernel whose third line is the one in question."""
    tile, made = f"8x64x{element}", result or f"8x64x{element}"
    extents = made.rsplit("x", 1)[0]
    rank1 = extents.endswith("x1")
    tensor = f"{extents[:-2]}x{made.rsplit('x', 1)[1]}" if rank1 else made
    return (f"kiln.func @k(%x: !kiln.tensor<{tile}>, %y: !kiln.tensor<{tensor}> out) incore {{\n"
            f"  %a = tile.load %x[0, 0] : !tile.tile<{tile}>\n"
            f"  {line}\n"
            f"  tile.store %r, %y[{'0' if rank1 else '0, 0'}]\n}}\n")


def unary(name, element="f32"):
    return kernel(f"%r = tile.{name} %a : !tile.tile<8x64x{element}>", element)


def binary(name, element="f32"):
    return kernel(f"%r = tile.{name} %a, %a : !tile.tile<8x64x{element}>", element)


def rows(lines):
    """A kernel with row numbers and scalars, whose third line is the first of `lines`."""
    return ("kiln.func @k(%x: !kiln.tensor<8x64xf32>, %i: !kiln.tensor<8xi32>, %n: i64, %c: index, %y: !kiln.tensor<8x64xf32> out) incore {\n"
            f"  %a = tile.load %x[0, 0] : !tile.tile<8x64xf32>\n  {lines}\n}}\n")


UNKNOWN = "the backend does not have this operation yet"
# By the name that is refused: a kernel whose third line it is, and why.
OPERATIONS = [
    *((f"tile.{name}", unary(name), UNKNOWN) for name in ("sin", "cos")),
    *((f"tile.{name}", binary(name), UNKNOWN) for name in ("pow", "fmod")),
    *((f"tile.{name}", binary(name, "i32"), UNKNOWN) for name in ("and", "or", "xor", "shl", "shr")),
    ("tile.not", unary("not", "i32"), UNKNOWN),
    ("tile.div", binary("div", "i32"), "integers are not divided"),
    ("tile.abs", unary("abs", "i32"), "it is computed of f32 only"),
    ("tile.transpose", kernel("%r = tile.transpose %a : !tile.tile<64x8xf32>", result="64x8xf32"), UNKNOWN),
    ("tile.scan", kernel("%r = tile.scan sum %a axis(1) : !tile.tile<8x64xf32>"), UNKNOWN),
    ("tile.reduce", kernel("%r = tile.reduce argmax %a axis(1) : !tile.tile<8x1xi32>", result="8x1xi32"),
     "only sums, products and extreme values"),
    ("tile.load", kernel("%r = tile.load %x[0, 0] outside : !tile.tile<8x64xf32>"), "a load may miss its tensor"),
    ("kiln.write", "kiln.func @k(%y: !kiln.tensor<8xf32> out) incore {\n  %c = arith.constant 1.0 : f32\n"
                   "  kiln.write %c, %y[0]\n}\n", UNKNOWN),
    ("tile.gather_rows", rows("%r = tile.gather_rows %x[0, 0] rows(%i[0]) : !tile.tile<8x64xf32>\n  tile.store %r, %y[0, 0]"), UNKNOWN),
    ("tile.scatter_rows", rows("tile.scatter_rows %a, %y[0, 0] rows(%i[0])"), UNKNOWN),
    ("tile.barrier", rows("tile.barrier\n  tile.store %a, %y[0, 0]"), UNKNOWN),
    ("tile.random", rows("%r = tile.random key(%n) counter(%c) : !tile.tile<8x64xf32>\n  tile.store %r, %y[0, 0]"), UNKNOWN),
    ("kiln.slice", rows("%s = kiln.slice %x[%c, 0] [4, 64] : !kiln.tensor<4x64xf32>\n"
                        "  %b = tile.load %s[0, 0] : !tile.tile<4x64xf32>\n  tile.store %b, %y[0, 0]"), UNKNOWN),
    ("scf.while", rows("%e = scf.while (%j = %c) : (index) -> index {\n    %on = arith.cmpi slt, %j, %c : index\n"
                       "    scf.condition(%on) %j : index\n  } do {\n  ^bb0(%j: index):\n    tile.store %a, %y[0, 0]\n"
                       "    scf.yield %j : index\n  }"), "its units can be kept in order in for loops and branches only"),
]
# Programs with such an operation somewhere.
PROGRAMS = ["row_statistics", "recurrence", "running_sum", "top_k", "matmul_fp8", "block_scaled_gemm", "moe_gate", "moe_gemm"]


def refusal(path):
    """The line and the text of the first error."""
    done = subprocess.run([kiln, "build", path, "-p", "a2a3", "-o", os.path.join(out, "built")], capture_output=True, text=True)
    assert done.returncode == 2, f"{path}: exit code {done.returncode}\n{done.stderr}"
    assert not os.path.exists(os.path.join(out, "built")), path
    found = re.match(r"(.*?):(\d+):\d+: error: (.*)", done.stderr)
    assert found and os.path.basename(found[1]) == os.path.basename(path), done.stderr
    return int(found[2]), found[3]


for name, text, why in OPERATIONS:
    path = os.path.join(out, "refused.mlir")
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)
    line, said = refusal(path)
    assert line == 3 and f"'{name}'" in said and "cannot be compiled for a2a3" in said and why in said, f"{name}: {line}: {said}"
    print(f"{name}: refused")
for name in PROGRAMS:
    path = next(path for folder in ("examples", "models") for path in [os.path.join(root, folder, name + ".mlir")]
                if os.path.exists(path))
    line, said = refusal(path)
    assert re.search(r"cannot be (compiled|written) for", said), f"{name}: {said}"
    print(f"{name}: {said}")
