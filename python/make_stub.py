#!/usr/bin/env python3
"""Writes kiln/language.pyi, which says to editors what kiln.language has: its own functions, and the recorder's operations.

Usage: make_stub.py [--check]

With --check nothing is written, and the exit code is 1 if the file is out of date.
"""
import ast
import pathlib
import sys
from typing import List

FOLDER = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(FOLDER))

from kiln import language  # noqa: E402
from kiln._record import Operation, Parameter, operations  # noqa: E402

SOURCE, STUB = FOLDER / "kiln" / "language.py", FOLDER / "kiln" / "language.pyi"

# What the kinds of parameters are in Python.
KINDS = {
    "index": "AnyIndex", "integer": "int", "number": "float", "flag": "bool", "text": "str", "shape": "Tuple[int, int]",
    "dtype": "DType", "role": "str", "tile": "Tile", "operand": "Operand",
    "scalar": "AnyScalar", "condition": "Condition", "tensor": "Tensor", "pipe": "Pipe", "task": "Task",
    "group": "Group", "split": "str", "pad": "str", "order": "str", "predicate": "Optional[Predicate]", "combine": "str",
}  # fmt: skip
# What operations give, where it is not a tile.
RESULTS = {
    "Scalar": {"read", "get", "element"},
    "None": {"write", "require", "dump", "scatter_rows", "barrier", "free"},
    "Tensor": {"slice", "alloc"},
    "Index": {"block_idx", "block_count", "lane", "rank", "ranks"},
    "Task": {"join", "all_reduce", "all_gather", "reduce_scatter", "broadcast", "all_to_all", "send", "recv", "rank_barrier"},
    "AnyIndex": {"dim"},
}

HEAD = '''"""Made by make_stub.py from language.py and the operations of the recorder; do not edit."""
from typing import Any, Callable, List, NamedTuple, Optional, Sequence, Tuple, Union

from ._launch import (
    Group as Group, Kernel as Kernel, Mesh as Mesh, group as group, kernel as kernel, mesh as mesh, role as role, scope as scope,
    spmd as spmd, submit as submit,
)
from ._params import choice as choice, param as param, split as split
from ._signature import In as In, InOut as InOut, Out as Out, dyn as dyn, extents as extents
from ._values import (
    Condition as Condition, Element as Element, Index as Index, Pipe as Pipe, Predicate as Predicate, Scalar as Scalar,
    Task as Task, Tensor as Tensor, Tile as Tile,
)
from .dtypes import (
    DType as DType, bf16 as bf16, f8E4M3FN as f8E4M3FN, f8E5M2 as f8E5M2, f16 as f16, f32 as f32, i1 as i1, i8 as i8, i16 as i16,
    i32 as i32, i64 as i64,
)

AnyIndex = Union[int, Index]
AnyScalar = Union[Scalar, int, float]
Operand = Union[Tile, Scalar, int, float]

aic: str
aiv: str
dma: str
compute: str
'''


def own(node: ast.stmt) -> str:
    """A function or class of language.py without what it does."""
    if isinstance(node, ast.FunctionDef) and node.name in language.__all__:
        text = ast.get_docstring(node, clean=False) or ""
        node.body, node.decorator_list = [ast.Expr(ast.Constant(...))], []
        head = ast.unparse(node).rsplit("\n", 1)[0]
        return f'{head}\n    """{text}"""\n    ...\n'
    if isinstance(node, ast.ClassDef):
        node.body = [each for each in node.body if isinstance(each, (ast.AnnAssign, ast.Expr))]
        return ast.unparse(node) + "\n"
    if isinstance(node, ast.Assign) and isinstance(node.value, ast.Subscript):
        return ast.unparse(node) + "\n"
    return ""


def parameter(each: Parameter) -> str:
    kind = KINDS[each.kind]
    if each.name in language.LISTS:
        kind = f"Union[{kind}, Sequence[{kind}]]"
    if each.optional and each.default is None and not kind.startswith("Optional"):
        kind = f"Optional[{kind}]"
    default = ""
    if each.optional:
        default = f" = {tuple(each.default)!r}" if isinstance(each.default, list) else f" = {each.default!r}"
    return f"{each.name}: {kind}{default}"


def operation(each: Operation) -> str:
    result = next((kind for kind, names in RESULTS.items() if each.name in names), "Tile")
    arguments = ", ".join(map(parameter, each.parameters))
    return f'def {each.name}({arguments}) -> {result}:\n    """{each.summary}"""\n    ...\n'


def stub() -> str:
    tree = ast.parse(SOURCE.read_text())
    parts: List[str] = [HEAD, *filter(None, map(own, tree.body))]
    parts += [operation(each) for each in operations().values() if language.is_function(each)]
    return "\n".join(parts)


def main() -> int:
    made = stub()
    if "--check" in sys.argv[1:]:
        return int(not STUB.exists() or STUB.read_text() != made)
    STUB.write_text(made)
    return 0


if __name__ == "__main__":
    sys.exit(main())
