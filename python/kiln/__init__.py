"""Kiln: tile programs in Python, compiled and called on the tensors one has.

    import kiln, kiln.language as kl
    from kiln import f32

    @kiln.program
    def add(a: kl.In[f32], b: kl.In[f32], c: kl.Out[f32]):
        @kl.spmd(kl.ceildiv(c.shape[0], 64), kl.ceildiv(c.shape[1], 64))
        def add(bi, bj):
            i, j = bi * 64, bj * 64
            kl.store(kl.load(a, (i, j), (64, 64)) + kl.load(b, (i, j), (64, 64)), c, (i, j))

    add(a, b, c)  # tensors of torch or numpy
"""
from typing import Any

from ._errors import KilnError
from ._jit import counters, set_workers
from ._program import Program, Report, program
from ._ranks import join_ranks, run_ranks
from ._tensors import from_dlpack, reinterpret
from .dtypes import DType, bf16, f8E4M3FN, f8E5M2, f16, f32, i1, i8, i16, i32, i64
from . import cache, language

__all__ = [
    "DType", "KilnError", "Program", "Report", "bf16", "cache", "counters", "f16", "f32", "f8E4M3FN", "f8E5M2", "from_dlpack", "i1",
    "i16", "i32", "i64", "i8", "join_ranks", "language", "program", "reinterpret", "run_ranks", "set_workers",
]  # fmt: skip


def __getattr__(name: str) -> Any:
    if name == "__version__":  # asked for rarely, and importing kiln loads no library
        from ._library import load

        return load().kiln_version().decode()
    raise AttributeError(f"module 'kiln' has no attribute '{name}'")
