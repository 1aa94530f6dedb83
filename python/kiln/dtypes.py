"""The element types of tiles and tensors: `kiln.f32`, `kiln.bf16` and so on."""
from __future__ import annotations

from typing import Dict, List

__all__ = ["DType", "f32", "f16", "bf16", "f8E4M3FN", "f8E5M2", "i8", "i16", "i32", "i64", "i1"]


class DType:
    """An element type. There is one object for each, so `is` compares them."""

    __slots__ = ("name", "code", "size")

    def __init__(self, name: str, code: int, size: int) -> None:
        self.name = name
        self.code = code  # enum kiln_dtype
        self.size = size  # bytes in memory

    def __repr__(self) -> str:
        return self.name

    def __kiln_item__(self) -> str:
        return self.name

    def __reduce__(self) -> str:
        return self.name


f32 = DType("f32", 0, 4)
f16 = DType("f16", 1, 2)
bf16 = DType("bf16", 2, 2)
f8E4M3FN = DType("f8E4M3FN", 3, 1)
f8E5M2 = DType("f8E5M2", 4, 1)
i8 = DType("i8", 5, 1)
i16 = DType("i16", 6, 2)
i32 = DType("i32", 7, 4)
i64 = DType("i64", 8, 8)
i1 = DType("i1", 9, 1)
index = DType("index", 10, 8)  # of scalars only

BY_CODE: List[DType] = [f32, f16, bf16, f8E4M3FN, f8E5M2, i8, i16, i32, i64, i1, index]
BY_NAME: Dict[str, DType] = {each.name: each for each in BY_CODE}
