#!/usr/bin/env python3
"""What a call from Python costs: with warm caches, and the first time.

Usage: calls.py [--repeat N]

Runs on the kiln that is installed (a wheel, or PREFIX/lib/python3/dist-packages on PYTHONPATH), else on that beside this folder. Prints a
table, with the bars and goals that there are. "added by Python" is everything but the call that C++ would make too: reading the tensors, and giving the
interpreter free. It is measured with a function of the library that does nothing in the place of the call. Rows of torch,
numpy and Triton are there if these are installed; Triton's needs a GPU.
"""
import argparse
import ctypes
import importlib.util
import os
import pathlib
import subprocess
import sys
import tempfile
import timeit
from typing import Any, Callable, Iterator, List, Optional, Tuple

FOLDER = pathlib.Path(__file__).resolve().parent.parent
sys.path.append(str(FOLDER))  # behind what is installed

import kiln  # noqa: E402
import kiln.language as kl  # noqa: E402
from kiln import _jit, _library, f32  # noqa: E402
from kiln._tensors import Arguments  # noqa: E402

CALLS = 1000


@kiln.program
def nothing():
    pass


@kiln.program
def add4(a: kl.In[f32], b: kl.In[f32], c: kl.In[f32], d: kl.In[f32], e: kl.Out[f32]):
    @kl.spmd(1)
    def add4(i):
        at, tile = (0, 0), (8, 8)
        kl.store(kl.load(a, at, tile) + kl.load(b, at, tile) + kl.load(c, at, tile) + kl.load(d, at, tile), e, at)


def microseconds(call: Callable[[], Any], repeat: int) -> float:
    """The best of several runs: what the call costs if nothing disturbs it."""
    return min(timeit.repeat(call, number=CALLS, repeat=repeat)) / CALLS * 1e6


def compiled(program: kiln.Program) -> _jit.Compiled:
    return program._compiled({}, _jit.default_platform(on_gpu=False))


def address(function: Any) -> Optional[int]:
    return ctypes.cast(function, ctypes.c_void_p).value


class DoingNothing:
    """Within it, calls of a program read their arguments, and then call a function that only returns 0."""

    def __init__(self, program: kiln.Program) -> None:
        self.program = program

    def _set(self, function: Any, program: kiln.Program) -> None:
        _jit._extension.bind(address(function), address(_library.load().kiln_set_interrupted))
        self.program._remember(compiled(program).handle, False)

    def __enter__(self) -> None:
        self._set(_library.load().kiln_compiled_num_parameters, nothing)  # it has 0

    def __exit__(self, *_: Any) -> None:
        self._set(_library.load().kiln_compiled_call_on, self.program)


def warm_calls(tensors: List[Any], repeat: int) -> Tuple[float, float, float]:
    """Microseconds of a call, of what Python adds to it, and of the call that C++ would make."""
    a, b, c, d, e = tensors
    add4(a, b, c, d, e)
    whole = microseconds(lambda: add4(a, b, c, d, e), repeat)
    if _jit._extension is None:
        return whole, float("nan"), float("nan")
    arguments, handle = Arguments("add4", add4.parameters, tensors), compiled(add4).handle
    run, place = _jit._extension.run, ctypes.addressof(arguments.array)
    plain = microseconds(lambda: run(handle, place, 5, 0), repeat)
    with DoingNothing(add4):
        added = microseconds(lambda: add4(a, b, c, d, e), repeat)
        empty = compiled(nothing).handle
        plain -= microseconds(lambda: run(empty, place, 5, 0), repeat)
    return whole, added, plain


FIRST = """
import sys, time
sys.path.append(sys.argv[1])
from examples.matmul import matmul
try:
    import torch
    a, b, c = torch.ones(64, 64), torch.ones(64, 64), torch.zeros(64, 64)
except ImportError:
    import numpy
    a, b, c = (numpy.ones((64, 64), "f4") for _ in range(3))
from kiln import _library
_library.load()
start = time.perf_counter()
matmul(a, b, c)
print((time.perf_counter() - start) * 1e3)
assert float(c[0, 0]) == 64
"""


def first_calls(repeat: int) -> Tuple[float, float]:
    """Milliseconds of the first call of a GEMM in a new process: with nothing in the cache, and with all on disk."""
    cold, warm = [], []
    for _ in range(repeat):
        with tempfile.TemporaryDirectory() as cache:
            for times in (cold, warm):
                run = [sys.executable, "-c", FIRST, str(FOLDER)]
                done = subprocess.run(run, capture_output=True, text=True, env={**os.environ, "KILN_CACHE_DIR": cache})
                if done.returncode != 0:
                    raise SystemExit(done.stderr)
                times.append(float(done.stdout))
    return min(cold), min(warm)


TRITON = """
import triton
import triton.language as tl

@triton.jit
def add4(a, b, c, d, e, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    tl.store(e + at, tl.load(a + at) + tl.load(b + at) + tl.load(c + at) + tl.load(d + at))
"""


def triton_launch(repeat: int) -> float:
    """Microseconds that Triton takes to launch a kernel with five tensors; the GPU works meanwhile."""
    import torch

    with tempfile.TemporaryDirectory() as folder:
        file = pathlib.Path(folder) / "add4_of_triton.py"  # Triton reads a kernel's source
        file.write_text(TRITON)
        spec = importlib.util.spec_from_file_location("add4_of_triton", file)
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        a, b, c, d, e = (torch.ones(8, 8, device="cuda") for _ in range(5))
        launch = module.add4[(1,)]
        launch(a, b, c, d, e, BLOCK=64)
        torch.cuda.synchronize()
        found = []
        for _ in range(repeat):
            # Few enough that the queue of the GPU never is full.
            found.append(timeit.timeit(lambda: launch(a, b, c, d, e, BLOCK=64), number=200) / 200 * 1e6)
            torch.cuda.synchronize()
        return min(found)


def gpu_launch(repeat: int) -> float:
    """Microseconds that Kiln takes to launch the same on the GPU."""
    import torch

    a, b, c, d, e = (torch.ones(8, 8, device="cuda") for _ in range(5))
    add4(a, b, c, d, e)
    torch.cuda.synchronize()
    assert float(e.sum()) == 256
    found = []
    for _ in range(repeat):
        found.append(timeit.timeit(lambda: add4(a, b, c, d, e), number=200) / 200 * 1e6)
        torch.cuda.synchronize()
    return min(found)


# Microseconds, or milliseconds of first calls: what it has to be, and what it should be.
BARS = {
    "torch": "1.13: 3, goal 2; 2.11: 3, goal 1",
    "numpy": "1, goal 0.6",
    "cold": "200, goal 100",
    "warm": "15, goal 5",
    "ratio": "3",
}


def rows(repeat: int) -> Iterator[Tuple[str, str, str]]:
    for name in ("torch", "numpy"):
        try:
            library = __import__(name)
        except ImportError:
            continue
        tensors = [library.ones((8, 8), dtype=library.float32) for _ in range(5)]
        whole, added, plain = warm_calls(tensors, repeat)
        what = f"5 tensors of {name} {library.__version__}"
        yield f"call, {what}: added by Python", f"{added:.2f} us", BARS[name]
        yield f"call, {what}: the call that C++ makes", f"{plain:.2f} us", ""
        yield f"call, {what}: whole", f"{whole:.2f} us", ""
    try:
        import torch

        has_gpu = torch.cuda.is_available()
    except ImportError:
        has_gpu = False
    if has_gpu:
        ours = gpu_launch(repeat)
        yield "launch of Kiln on the GPU, 5 tensors of torch", f"{ours:.2f} us", ""
        try:
            import triton

            theirs = triton_launch(repeat)
            yield f"launch of Triton {triton.__version__}, 5 tensors of torch", f"{theirs:.2f} us", ""
            yield "launch of Triton / launch of Kiln", f"{theirs / ours:.2f}", BARS["ratio"]
        except ImportError:
            pass
    cold, warm = first_calls(max(1, repeat // 6))
    yield "first call of a GEMM, nothing in the cache", f"{cold:.1f} ms", BARS["cold"]
    yield "first call of a GEMM, all on disk", f"{warm:.1f} ms", BARS["warm"]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--repeat", type=int, default=30, help="the best of so many runs is shown")
    repeat = parser.parse_args().repeat
    if _jit._extension is None:
        print("The extension is not there, so calls go through ctypes.")
    print(f"kiln of {pathlib.Path(kiln.__file__).parent}")
    print("| what | time | bar |\n|---|---|---|")
    for what, time, bar in rows(repeat):
        print(f"| {what} | {time} | {bar} |", flush=True)


if __name__ == "__main__":
    main()
