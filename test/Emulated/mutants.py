#!/usr/bin/env python3
"""Mistakes in the device library are found when programs run on the emulated GPU.

Usage: mutants.py BUILD

Each row of MUTANTS changes one place of device/cuda and runs a program: its results must be wrong, or the emulator must
say what is. So a program that passes there means something.
"""
import os
import re
import stat
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

# Programs, with passes beyond those of the platform, and how they are run.
GEMM = "test/Target/Cuda/Inputs/gemm.mlir a=200x136 b=136x264 c=200x264"
UNALIGNED_GEMM = "test/Target/Cuda/Inputs/gemm.mlir a=130x137 b=137x131 c=130x131"
MATMUL = "examples/matmul.mlir a=70x200 b=200x72 c=70x72"
LONG_MATMUL = "examples/matmul.mlir a=64x1600 b=1600x64 c=64x64"
ADD = "examples/hello_add.mlir a=70x67 b=70x67 c=70x67"
SOFTMAX = "examples/softmax.mlir x=17x200 y=17x200"
TOP_K = "examples/top_k.mlir x=33x129 values=33x8 columns=33x8"
RIGHT = "test/Emulated/Inputs/right-operand.mlir x=64x64 y=64x64"
IN_PLACE = "test/Emulated/Inputs/in-place.mlir a=64x64"
BEGUN = "test/Emulated/Inputs/begun.mlir q=1x200x64 k=1x200x64 v=1x200x64 o=1x200x64"
HANDED_OUT = BEGUN.replace("=1x200", "=3x400")  # more blocks than run at once
STEEP = BEGUN.replace("q=1x200x64", "q=1x200x64:normal*30")  # maxima grow
FEW_ROWS = "test/Emulated/Inputs/few-rows.mlir a=16x300 b=90x300 c=16x90"
EIGHTS = "test/Emulated/eights.mlir a=128x4096:uniform b=72x4096:uniform c=128x72"
STAGED = "test/Target/Cuda/Inputs/gemm.mlir a=640x136 b=136x1024 c=640x1024"  # several whole tiles of each lane
LONG_STAGED = "test/Target/Cuda/Inputs/gemm.mlir a=640x400 b=400x1024 c=640x1024"  # more steps than panels
EMPTY_STAGED = "test/Target/Cuda/Inputs/gemm.mlir a=640x0 b=0x1024 c=640x1024:ones"  # no steps
PAIRED = "test/Target/Cuda/Inputs/gemm.mlir --tile-pair-blocks a=640x400 b=400x1024 c=640x1024"  # clusters of two, several blocks of each
ODD = "test/Target/Cuda/Inputs/gemm.mlir --tile-pair-blocks a=300x400 b=400x250 c=300x250"  # the last block has no other
SHORT = "test/Target/Cuda/Inputs/gemm.mlir --tile-pair-blocks a=129x800 b=800x8 c=129x8"  # one has next to nothing to store
LAYER_NORM = "examples/layer_norm.mlir x=3x200 w=200 b=200 y=3x200"
COUNT_DOWN = "test/Emulated/Inputs/count-down.mlir x=80x16:normal*4 y=80x16"
ROUNDS = "test/Emulated/Inputs/rounds.mlir w=192x64:ones x=192x64:iota y=192x64"
RINGS = "test/Emulated/Inputs/lanes-with-rings.mlir n=3x8:iota x=96x32 w=32x48 o=96x48:zeros s=96x48"
ONE_ROW = "test/Emulated/Inputs/one-row.mlir x=9x1024 y=9x1"

# Its tasks are one kernel, which knows what comes before what.
CHAIN = "test/Emulated/Inputs/chain.mlir x=192x200 w1=200x136 w2=136x264 w3=192x72 y=264x72 z=192x136 q=192x264 --persistent"
LONG_CHAIN = "test/Emulated/Inputs/chain.mlir x=192x64 w1=64x1000 w2=1000x64 w3=192x72 y=64x72 z=192x1000 q=192x64 --persistent"

# What is said of them.
WRONG = r"\bFAIL\b"
STUCK = "the kernel hangs: |nobody can go on"
RACE = "nothing orders that|in flight|nobody has written there"

# A file of device/cuda, what is there, what is there instead, a program, what is said.
MUTANTS = [
    ("shared.cuh", "  publishToAsyncUnits();\n  barrier::meet(1 + int(lane));", "  barrier::meet(1 + int(lane));", RIGHT,
     "without fence.proxy.async"),
    ("shared.cuh", "  publishToAsyncUnits();\n  barrier::meet(1 + int(lane));", "  publishToAsyncUnits();", TOP_K, RACE),
    ("shared.cuh", "beginFilling(i64 lane) { barrier::meet(1 + int(lane)); }", "beginFilling(i64 lane) {}", TOP_K, RACE),
    ("shared.cuh", "return at ^ (at >> 3 & (rowBytes - 16));", "return at;", MATMUL, WRONG),
    ("pipe.cuh", "bytes += Tile::bytes;", "bytes += Tile::bytes / 2;", MATMUL,
     "bytes more than the barrier|" + RACE),
    ("pipe.cuh", "bytes += Tile::bytes;", "bytes += 2 * Tile::bytes;", MATMUL, STUCK),
    ("pipe.cuh", "pushed.parity() ^ 1,", "pushed.parity(),", MATMUL, STUCK),
    ("pipe.cuh", "    barrier::wait(full(popped.slot()), popped.parity(), Waits::ForTiles, name, popped.slot());\n", "", MATMUL,
     RACE),
    ("pipe.cuh", "    barrier::wait(empty(pushed.slot()), pushed.parity() ^ 1, Waits::ForSpace, name, pushed.slot());\n", "",
     LONG_MATMUL, RACE + "|have come already"),
    ("pipe.cuh", "  if (isCopied)\n    publishToAsyncUnits();\n", "", UNALIGNED_GEMM, "without fence.proxy.async"),
    ("pipe.cuh", "lanes * kWarpgroup / (everyThreadArrives", "2 * lanes * kWarpgroup / (everyThreadArrives", LONG_MATMUL,
     STUCK),
    ("pipe.cuh", "said.parity() ^ 1,", "said.parity(),", HANDED_OUT, STUCK),
    ("pipe.cuh", "next < blocks ? next : none", "next", HANDED_OUT, STUCK),
    ("rolepipe.cuh", "    publishToAsyncUnits();\n", "", ROUNDS, "without fence.proxy.async"),
    ("rolepipe.cuh", "pushed.parity() ^ 1,", "pushed.parity(),", COUNT_DOWN, STUCK),
    ("rolepipe.cuh", "    barrier::wait(empty(lane, slot), pushed.parity() ^ 1, Waits::ForSpace, name, slot,\n                  "
     "{from, int(lane)});\n", "", COUNT_DOWN, RACE + "|have come already"),
    ("rolepipe.cuh", "    barrier::wait(full(lane, slot), popped.parity(), Waits::ForTiles, name, slot, {to, int(lane)});\n", "",
     COUNT_DOWN, RACE),
    ("rolepipe.cuh", "init(full(lane, slot), pushers / rings * each)", "init(full(lane, slot), each)", ROUNDS,
     RACE + "|have come already"),
    ("rolepipe.cuh", "init(empty(lane, slot), poppers / rings * each)", "init(empty(lane, slot), poppers * each)", RINGS, STUCK),
    ("rolepipe.cuh", "rows == To::rows ? 0 : int(lane) * rows", "0", ROUNDS, WRONG + "|" + RACE),
    ("wgmma.cuh", "    ptx::wgmmaWait();\n    wgmma::pin(acc);", "    wgmma::pin(acc);", GEMM + " --persistent",
     WRONG + "|matrix unit multiplies|" + RACE),
    ("wgmma.cuh", "    wgmma::pin(acc);\n    ptx::wgmmaFence();\n", "    wgmma::pin(acc);\n", GEMM,
     "no wgmma.fence came before it"),
    ("wgmma.cuh", "(acc, left, b);\n    ptx::wgmmaCommit();\n", "(acc, left, b);\n", GEMM, "a product was not committed"),
    ("wgmma.cuh", "  ptx::wgmmaWait<pending>();\n", "", BEGUN, WRONG + "|matrix unit multiplies|" + RACE),
    ("wgmma.cuh", "wgmmaWait<pending>()", "wgmmaWait<pending + 1>()", BEGUN, WRONG + "|matrix unit multiplies|" + RACE),
    ("elementwise.cuh", "if (!__all_sync(0xffffffffu, areOnes))", "if (__all_sync(0xffffffffu, areOnes))", STEEP, WRONG),
    ("wgmma.cuh", "    ptx::wgmmaWait();\n    wgmma::pin(sum);", "    wgmma::pin(sum);", FEW_ROWS,
     WRONG + "|matrix unit multiplies|" + RACE),
    ("wgmma.cuh", "    wgmma::pin(sum);\n    ptx::wgmmaFence();\n", "    wgmma::pin(sum);\n", FEW_ROWS,
     "no wgmma.fence came before it"),
    ("wgmma.cuh", "return descriptor(tile.base, offset, Tile::panelBytes,", "return descriptor(tile.base, offset, 16,", GEMM, WRONG),
    ("wgmma.cuh", "+ unsigned(offset >> 4)", "+ unsigned(offset >> 5)", GEMM, WRONG + "|begins in the middle"),
    ("elementwise.cuh", "acrossThreads<L>([](float x, float y) { return x + y; }, parts.at[i][0])", "parts.at[i][0]", BEGUN, WRONG),
    ("register.cuh", "L::colsFromFirst(j) >= end", "L::colsFromFirst(j) > end", LAYER_NORM, WRONG),
    ("wgmma.cuh", "rowBytes == 128 ? 1 : rowBytes == 64 ? 2 : 3", "rowBytes == 128 ? 2 : rowBytes == 64 ? 1 : 3", GEMM,
     WRONG + "|in the middle of the pattern|" + RACE),
    ("wgmma.cuh", "[col / 4 + j] += part", "[col / 4 + j] = part", EIGHTS, WRONG),
    ("wgmma.cuh", "      ptx::wgmmaWait();\n      pin(part);", "      pin(part);", EIGHTS, WRONG + "|matrix unit multiplies|" + RACE),
    ("wgmma.cuh", "      pin(part);\n      ptx::wgmmaFence();\n", "      pin(part);\n", EIGHTS, "no wgmma.fence came before it"),
    ("staged.cuh", "  finishFilling(lane);\n", "  barrier::meet(1 + int(lane));\n", STAGED, "without fence.proxy.async"),
    ("staged.cuh", "  finishFilling(lane);\n", "  publishToAsyncUnits();\n", STAGED,
     RACE + "|without fence.proxy.async"),
    ("staged.cuh", "  beginFilling(lane);\n", "", STAGED, RACE),
    ("staged.cuh", "awaitStoredBoxes<1>()", "awaitStoredBoxes<2>()", STAGED, RACE),
    ("staged.cuh", "    ptx::awaitStoredBoxes<0>();\n}", "    ;\n}", STAGED, "ended while the copy engine reads"),
    ("staged.cuh", "piece ^ within % 8", "piece", STAGED, WRONG),
    ("staged.cuh", "next = all ? panels : first + 1;", "next = panels;", LONG_STAGED, WRONG + "|" + RACE),
    ("staged.cuh", "!hasNext || ", "", STAGED, WRONG),
    ("staged.cuh", "number == first || (all && number > first)", "number == first", STAGED, WRONG + "|" + RACE),
    ("staged.cuh", " || !hasProducts", "", EMPTY_STAGED, WRONG),
    ("persistent.cuh", "      await(before[k]);", "      ;", CHAIN, WRONG),
    ("persistent.cuh", "    ptx::addOneReleasing(tasks.counters + number);\n", "", CHAIN, STUCK),
    ("persistent.cuh", "own == slot || (from < end && begin < to)", "own == slot", LONG_CHAIN, RACE),
    ("persistent.cuh", "own < 2 && placeFrom < end", "own < 0 && placeFrom < end", CHAIN, RACE),
    ("persistent.cuh", "parityOf(own) ^ 1", "parityOf(own)", CHAIN, STUCK),
    ("persistent.cuh", "((places >> 1) & 1) ^ 1", "(places >> 1) & 1", CHAIN, STUCK),
    ("persistent.cuh", "ring.parities = news.parities, ring.next", "ring.next", CHAIN, STUCK + "|" + RACE),
    ("persistent.cuh", "ring.empty(first + freed), kComersOfLane / lanes", "ring.empty(first + freed), 1", CHAIN, STUCK),
    ("staged.cuh", "    ptx::awaitWrittenBoxes();", "    ;", STAGED + " --persistent", "ended while the copy engine reads|" + RACE),
    ("pipe.cuh", "barrier::init(empty(slot), blocks * lanes", "barrier::init(empty(slot), lanes", PAIRED,
     "have come already|" + RACE),
    ("pipe.cuh", "hasOther ? block : blockInPair()", "blockInPair()", PAIRED, RACE),
    ("pipe.cuh", "hasOther ? block : blockInPair()", "block", ODD, STUCK + "|has ended|come already"),
    ("pairs.cuh", "(number ^ 1) < blocks", "true", ODD, STUCK + "|has ended"),
    ("pairs.cuh", "(block.differs & axes) == 0", "true", PAIRED, WRONG),
    ("pairs.cuh", "(number + slot) % 2 == blockInPair()", "true", PAIRED, RACE + "|bytes more than the barrier"),
    ("pairs.cuh", "at, 0b11)", "at, 0b01)", PAIRED, STUCK + "|" + RACE + "|bytes more than the barrier"),
    ("pairs.cuh", "enterPair() { ptx::meetCluster(); }", "enterPair() { __syncthreads(); }", PAIRED,
     "there is no barrier|has not been made visible"),
    ("pairs.cuh", "leavePair() { ptx::meetCluster(); }", "leavePair() {}", SHORT, "of its cluster has ended"),
    ("barrier.cuh", "  ptx::fenceMbarrierInit();\n", "", MATMUL, "has not been made visible to the copy engine"),
    ("barrier.cuh", "ptx::barSync<kWarpgroup>(number);", "", IN_PLACE, WRONG),
    ("register.cuh", "distance < L::threadsPerRow &&", "distance < L::threadsPerRow / 2 &&", SOFTMAX, WRONG),
    ("register.cuh", "  barrier::meet(1 + lane);\n  value = parts", "  value = parts", ONE_ROW, WRONG),
    ("global.cuh", "tile.hasRow(i) && row >= window.rowBegin && row < window.rowEnd)", "tile.hasRow(i))", GEMM,
     WRONG + "|that it does not have"),
    ("global.cuh", "clamp(smaller(colExtent - colIndex, cols), result.colBegin, C)", "C", ADD,
     WRONG + "|that it does not have"),
    ("global.cuh", "first += L::colStep, at +=", "at +=", UNALIGNED_GEMM,
     WRONG + "|that it does not have"),
    ("global.cuh", "hasCol[j] = col >= to.colBegin && col < to.colEnd;", "hasCol[j] = true;", FEW_ROWS,
     WRONG + "|that it does not have"),
    ("global.cuh", "bool hasRow = row >= to.rowBegin && row < to.rowEnd;", "bool hasRow = true;", FEW_ROWS.replace("16x", "13x"),
     WRONG + "|that it does not have"),
]


def compiler_of(folder, mutant, nvcc):
    """An nvcc that changes the device library before it compiles; says where it is."""
    file, old, new = mutant[:3]
    path = os.path.join(folder, "nvcc")
    with open(path, "w", encoding="utf-8") as script:
        script.write(f"""#!/usr/bin/env python3
import os, sys
file = os.path.join(next(arg[2:] for arg in sys.argv if arg.startswith("-I")), {file!r})
text = open(file).read()
open(file, "w").write(text.replace({old!r}, {new!r}))
os.execv({nvcc!r}, [{nvcc!r}, *sys.argv[1:]])
""")
    os.chmod(path, os.stat(path).st_mode | stat.S_IXUSR)
    return path


def survives(build, mutant):
    """What is wrong with a mutant: nothing, if it is found."""
    file, old, new, program, said = mutant
    with open(os.path.join(ROOT, "device", "cuda", file), encoding="utf-8") as library:
        if library.read().count(old) != 1:
            return "its place is not in the file, or not once"
    source, *words = program.split()
    source, flags = os.path.join(ROOT, source), [word for word in words if word == "--persistent"]
    passes = [word for word in words if word.startswith("--") and word not in flags]
    args = [word for word in words if not word.startswith("--")]
    with tempfile.TemporaryDirectory() as folder:
        environment = {**os.environ, "KILN_NVRTC": "", "KILN_CACHE": "0",
                       "KILN_NVCC": compiler_of(folder, mutant, os.path.join(build, "device", "emulated", "nvcc")),
                       "LD_LIBRARY_PATH": os.path.join(build, "device", "emulated")}
        if passes:
            subprocess.run([os.path.join(build, "bin", "kiln-opt"), source, "--kiln-pipeline=platform=h200", *passes,
                            "-o", os.path.join(folder, "program.mlir")], check=True)
            source = os.path.join(folder, "program.mlir")
        command = [os.path.join(build, "bin", "kiln"), "run", source, "-p", "h200", *flags]
        done = subprocess.run([*command, *(part for arg in args for part in ("--arg", arg))], env=environment,
                              capture_output=True, text=True, timeout=300)
    text = done.stdout + done.stderr
    return "" if done.returncode != 0 and re.search(said, text) else f"exit code {done.returncode}: {text[-600:]}"


def main():
    build = os.path.abspath(sys.argv[1])
    failures = 0
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        for mutant, wrong in zip(MUTANTS, pool.map(lambda mutant: survives(build, mutant), MUTANTS)):
            if wrong:
                failures += 1
                print(f"{mutant[0]}: {mutant[1]!r} as {mutant[2]!r}\n  in {mutant[3]}\n  {wrong}")
    print(f"{len(MUTANTS)} mistakes, {failures} not found as expected")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
