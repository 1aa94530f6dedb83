"""The language of Kiln's programs, by custom `import kiln.language as kl`.

Most functions are the operations of the recorder, made from its list when they are first used; `help(kl.load)` and the stub
language.pyi show them. Those below need a hand: control, launches, and functions that take several kinds of values.
"""
from __future__ import annotations

import builtins
import inspect
import math
import sys
from typing import Any, Callable, Dict, List, NamedTuple, Optional, Sequence, Tuple, Union

from . import _control, _rewrite
from ._errors import counted as _counted
from ._errors import here, mistake, public
from ._launch import Group, Kernel, Mesh, as_list, group, kernel, mesh, role, scope, spmd, submit
from ._params import choice, param, split
from ._record import Operation, operations
from ._signature import In, InOut, Out, dyn, extents
from ._values import Condition, Element, Index, Pipe, Predicate, Scalar, Task, Tensor, Tile, Value, apply, apply_all
from .dtypes import DType, bf16, f8E4M3FN, f8E5M2, f16, f32, i1, i8, i16, i32, i64

aic, aiv, dma, compute = "aic", "aiv", "dma", "compute"
"""The roles of core groups."""

# Operations that other functions of this module, or operators, stand for.
_WRITTEN_BY_HAND = {
    "load", "load_part", "store", "store_part", "part", "pipe_part", "pipe", "push", "pop_all", "submit", "prefetch",
    "sort_rows", "topk_rows", "scan", "require", "max", "min", "and", "or", "not",
}  # fmt: skip
# Parameters that are lists; one thing alone is as good as a list of it.
LISTS = {
    "at", "rows_at", "valid", "offsets", "sizes", "drop", "permutation", "extents", "tiles", "tasks", "deps", "grid",
}  # fmt: skip


# What other languages of kernels and numpy call something that Kiln has.
_NAMED_ELSEWHERE = {
    "arange": "kl.iota(shape, axis)",
    "dot": "kl.matmul(a, b)",
    "mean": "kl.reduce_sum(t, axis) / n",
    "prod": "kl.reduce(t, axis, function)",
    "program_id": "a parameter of the function below @kl.spmd, or kl.block_idx(axis)",
    "static_range": "Python's range",
    "sum": "kl.reduce_sum(t, axis)",
}


def is_function(operation: Operation) -> bool:
    """Whether an operation is a function of this module as it is. Those with a dot have a place of their own."""
    return "." not in operation.name and operation.name not in _WRITTEN_BY_HAND


def _function_of(operation: Operation) -> Callable[..., Any]:
    """The function that records an operation."""
    names = [each.name for each in operation.parameters]
    required = sum(not each.optional for each in operation.parameters)
    lists = [name in LISTS for name in names]

    def record(*arguments: Any, **options: Any) -> Any:
        given = list(arguments)
        if options or not required <= len(given) <= len(names):
            given = _bind(operation, given, options)
        return apply(operation.name, *(as_list(each) if is_list else each for each, is_list in zip(given, lists)))

    record.__name__ = record.__qualname__ = operation.name
    record.__module__ = __name__
    record.__doc__ = operation.summary
    record.__signature__ = inspect.Signature(  # type: ignore[attr-defined]
        [
            inspect.Parameter(
                each.name,
                inspect.Parameter.POSITIONAL_OR_KEYWORD,
                default=each.default if each.optional else inspect.Parameter.empty,
            )
            for each in operation.parameters
        ]
    )
    return public(record)


def _bind(operation: Operation, arguments: List[Any], options: Dict[str, Any]) -> List[Any]:
    """Arguments in the order of the parameters, as Python binds them."""
    function = f"kl.{operation.name}"
    names = [each.name for each in operation.parameters]
    if len(arguments) > len(names):
        raise mistake(f"{function} takes {_counted(len(names), 'argument')}, not {len(arguments)}")
    given = dict(zip(names, arguments))
    for name, value in options.items():
        if name not in names:
            raise mistake(f"{function} has no parameter '{name}'; it has {', '.join(names)}")
        if name in given:
            raise mistake(f"{function} is given '{name}' twice")
        given[name] = value
    missing = [each.name for each in operation.parameters if not each.optional and each.name not in given]
    if missing:
        raise mistake(f"{function} needs '{missing[0]}'")
    return [given.get(each.name, each.default) for each in operation.parameters]


def __getattr__(name: str) -> Any:
    operation = None if name.startswith("_") else operations().get(name)
    if operation is None or not is_function(operation):
        instead = f"; write {_NAMED_ELSEWHERE[name]}" if name in _NAMED_ELSEWHERE else ""
        raise AttributeError(f"kiln.language has no '{name}'{instead}", name=name, obj=sys.modules[__name__])
    made = globals()[name] = _function_of(operation)
    return made


def __dir__() -> List[str]:
    own = [name for name in globals() if not name.startswith("_") and name in __all__]
    return sorted({*own, *(each.name for each in operations().values() if is_function(each))})


def _op(name: str) -> Any:
    return globals().get(name) or __getattr__(name)


# Control


@public
def range(*bounds: Any, stages: int = 0, parallel: bool = False, unroll: bool = False) -> Any:  # noqa: A001
    """A loop of the program: `for k in kl.range(lower, upper, step)`, with the bounds of Python's range.

    What the body changes of the names that have values before the loop is carried from iteration to iteration.

    stages: > 0: a pipelined loop with so many iterations in flight.
    parallel: the iterations are independent.
    unroll: asks for it to be unrolled.
    """
    if not 1 <= len(bounds) <= 3:
        raise mistake(f"kl.range takes an upper bound, or a lower and an upper one and a step, not {len(bounds)} numbers")
    for bound in bounds:
        if not isinstance(bound, (Index, _control.Escaped)) and not hasattr(type(bound), "__index__"):
            raise mistake(f"the bounds of kl.range are integers and indices, not {bound!r}")
    lower, upper = (0, bounds[0]) if len(bounds) == 1 else bounds[:2]
    step = bounds[2] if len(bounds) == 3 else 1
    return _control.Range((lower, upper, step), stages, parallel, unroll, here())


@public
def function(body: Callable[..., Any]) -> Callable[..., Any]:
    """A function that a program calls, whose loops and branches can be the program's."""
    return body if _rewrite.is_rewritten(body) else _rewrite.rewrite(body)


# Requirements, indices and scalars


@public
def require(condition: Union[bool, Condition], message: str) -> None:
    """What must hold of the arguments: `kl.require(x.shape[1] % 64 == 0, "columns come in tiles of 64")`.

    Checked before the program runs. What is known while recording is checked at once, and not recorded.
    """
    if isinstance(condition, bool):
        if not condition:
            raise mistake(f"this does not hold: {message}")
    else:
        apply("require", condition, message)


def _is_now(*numbers: Any) -> bool:
    return all(isinstance(each, int) for each in numbers)


@public
def ceildiv(a: Union[int, Index], b: Union[int, Index]) -> Any:
    """a / b, rounded up."""
    if _is_now(a, b) and a >= 0 and b > 0:
        return -(-a // b)
    return apply("index.ceildiv", a, b)


@public
def min(a: Any, b: Any) -> Any:  # noqa: A001
    """The smaller of two indices, or of two tiles element by element."""
    return _extreme("min", a, b)


@public
def max(a: Any, b: Any) -> Any:  # noqa: A001
    """The larger of two indices, or of two tiles element by element."""
    return _extreme("max", a, b)


def _extreme(name: str, a: Any, b: Any) -> Any:
    if isinstance(a, Tile) or isinstance(b, Tile):
        return apply(name, a, b)
    if _is_now(a, b):
        return (a if a < b else b) if name == "min" else (a if a > b else b)
    return apply("index." + name, a, b)


@public
def minimum(a: Any, b: Any) -> Tile:
    """The smaller, element by element; NaN if either is NaN."""
    return _elementwise("min", a, b)


@public
def maximum(a: Any, b: Any) -> Tile:
    """The larger, element by element; NaN if either is NaN."""
    return _elementwise("max", a, b)


def _elementwise(name: str, a: Any, b: Any) -> Tile:
    if isinstance(a, Index) or isinstance(b, Index):
        raise mistake(f"kl.{name}imum is of tiles and scalars; kl.{name} chooses between indices")
    return apply(name, a, b)


@public
def cast(x: Any, dtype: DType) -> Any:
    """A tile, a scalar, or an index as an element type."""
    if isinstance(x, (Index, int)):
        return apply("index.cast", x, dtype)
    return apply("scalar.cast" if isinstance(x, Scalar) else "tile.cast", x, dtype)


@public
def to_index(scalar: Scalar) -> Index:
    """An integer scalar as an index."""
    return apply("scalar.index", scalar)


# Tiles and tensors


@public
def zeros(dtype: DType, *shape: Any) -> Tile:
    """A tile of zeros: `kl.zeros(f32, rows, cols)` or `kl.zeros(f32, (rows, cols))`."""
    extents = shape[0] if len(shape) == 1 else shape
    if not isinstance(extents, (tuple, list)) or len(extents) != 2:
        raise mistake("kl.zeros takes an element type, rows and columns: kl.zeros(f32, 8, 64)")
    return apply("full", dtype, extents, 0)


class Part(NamedTuple):
    """What one lane has of a tile: its shape, where in the whole tile it begins, and the whole."""

    shape: Tuple[int, int]
    row: Any
    col: Any
    whole: Tuple[int, int]

    def __kiln_item__(self) -> Tuple[Any, ...]:
        return (*self.shape, self.row, self.col, *self.whole)


@public
def part(of: Any, split: str = "none") -> Part:
    """What this lane has of a tile of a shape, by a split; or what it pushes into a pipe or pops from it."""
    if isinstance(of, Pipe):
        rows, cols, row, col, *whole = apply_all("pipe_part", of)
        return Part((rows, cols), row, col, (whole[0], whole[1]))
    rows, cols, row, col = apply_all("part", of, split)
    return Part((rows, cols), row, col, (of[0], of[1]))


@public
def load(tensor: Tensor, at: Any, shape: Any, pad: str = "zero", valid: Any = (), outside: bool = False) -> Tile:
    """Reads a tile at these indices, one per axis; the tile covers the trailing two.

    shape: (rows, columns), or a Part: then `at` and `valid` are those of the whole tile.
    pad: what lies outside the tensor reads as this: "zero", "min" or "max".
    valid: the rows and columns that count.
    outside: the tile may miss the tensor; then all of it is the pad.
    """
    name = "load_part" if isinstance(shape, Part) else "load"
    return apply(name, tensor, as_list(at), shape, pad, as_list(valid), outside)


@public
def store(tile: Tile, tensor: Tensor, at: Any, part: Optional[Part] = None, *, valid: Any = (), atomic_add: bool = False) -> None:
    """Writes the elements of a tile that lie inside the tensor.

    part: what this lane has of the tile; then `at` and `valid` are those of the whole tile.
    valid: the rows and columns to write.
    atomic_add: adds to what is there.
    """
    if part is None:
        apply("store", tile, tensor, as_list(at), as_list(valid), atomic_add)
    else:
        apply("store_part", tile, tensor, as_list(at), part, as_list(valid), atomic_add)


@public
def prefetch(tensor: Tensor, at: Any, shape: Tuple[int, int]) -> None:
    """A hint that this tile will be loaded soon."""
    apply("prefetch", tensor, as_list(at), shape)


@public
def transpose(x: Any, permutation: Optional[Sequence[int]] = None) -> Any:
    """A tile whose rows become columns; or a tensor whose axes come in another order, by reference."""
    if isinstance(x, Tensor):
        order = permutation if permutation is not None else tuple(reversed(builtins.range(x.rank)))
        return apply("tensor.transpose", x, order)
    return apply("tile.transpose", x)


@public
def reshape(x: Any, shape: Any) -> Any:
    """The same elements in another shape: of a tile row by row, or of a contiguous tensor, by reference."""
    return apply("tensor.reshape" if isinstance(x, Tensor) else "tile.reshape", x, as_list(shape))


class Sorted(NamedTuple):
    """Rows in order, and the column that each element had (i32)."""

    values: Tile
    columns: Tile


@public
def sort_rows(x: Tile, order: str = "ascending") -> Sorted:
    """Rows in order, "ascending" or "descending", and the column each element had. Stable; NaN comes last."""
    return Sorted(*apply_all("sort_rows", x, order))


@public
def topk_rows(x: Tile, k: int) -> Sorted:
    """The k largest elements of each row, the largest first, and their columns."""
    return Sorted(*apply_all("topk_rows", x, k))


# Reductions and scans by a function of one's own

Combine = Callable[..., Any]


@public
def reduce(x: Any, axis: int, by: Combine, start: Any) -> Any:
    """Combines the elements along axis 0 (rows become one) or 1 (columns become one): `start` with the first, and so on.

        best, at = kl.reduce((x, columns), 1, better, start=(-math.inf, -1))

    x: a tile, or a tuple of several of one shape.
    by: a function of what is combined so far and what comes next, a tile of each; it gives the two combined. It is recorded
        once, consists of elementwise operations, and is associative up to rounding.
    start: a number, a scalar or a line of a tile, for each tile.
    """
    return _by_function("reduce.begin", x, axis, by, start)


@public
def scan(
    x: Any, axis: int, by: Union[str, Combine] = "sum", start: Any = None, *, exclusive: bool = False, reverse: bool = False
) -> Any:
    """Each element becomes what the elements up to it combine to, along axis 0 (down) or 1 (to the right).

    by: "sum", "product", "max" or "min"; or a function and a start, as in kl.reduce.
    exclusive: the elements before each, without it.
    reverse: from the end.
    """
    if isinstance(by, str):
        if start is not None:
            raise mistake("kl.scan has a start only with a function of your own")
        return apply("scan", x, axis, by, exclusive, reverse)
    return _by_function("scan.begin", x, axis, by, start, exclusive, reverse)


def _by_function(operation: str, x: Any, axis: int, by: Combine, start: Any, *options: bool) -> Any:
    several = isinstance(x, (tuple, list))
    tiles = as_list(x)
    combined = by(*apply_all(operation, tiles, axis, as_list(start), *options))
    if combined is None:
        raise mistake(f"{getattr(by, '__name__', 'the function')} combines tiles, but ends without `return`")
    made = apply_all("body.end", as_list(combined))
    return made if several else made[0]


# Groups


@public
def pipe(
    name: str,
    source: str,
    target: str,
    dtype: Optional[DType] = None,
    shape: Any = None,
    *,
    payload: Sequence[Tuple[DType, Tuple[int, int]]] = (),
    split: str = "none",
    slots: int = 0,
) -> Pipe:
    """A pipe from one role to another: `kl.pipe("up", kl.aiv, kl.aic, f32, (64, 64))`.

    payload: several tiles that travel together, each with its element type and shape. Without any tile the pipe carries
        tokens, which only say that something has happened.
    split: what a lane has of a tile: "none", "up_down" or "left_right".
    slots: how many tiles it holds; 0: the machine's default.
    """
    if (dtype is None) != (shape is None) or (dtype is not None and payload):
        raise mistake("a pipe carries tiles of one element type and shape, or a payload of several, or nothing")
    return apply("pipe", name, source, target, ((dtype, shape),) if dtype is not None else tuple(payload), split, slots)


@public
def push(pipe: Pipe, *tiles: Tile) -> None:
    """Puts tiles into a pipe; waits for a free slot. With a split, a lane pushes its own part."""
    apply("push", pipe, tiles)


@public
def pop_all(pipe: Pipe) -> Tuple[Tile, ...]:
    """Takes out of a pipe the tiles that travelled together; waits for a full slot."""
    return apply_all("pop_all", pipe)


# Functions composed of others; see kiln/Language/Library.h


@public
def require_same_shape(a: Tensor, b: Tensor, message: str) -> None:
    """Requires two tensors to have equal extents."""
    if a.rank != b.rank:
        raise mistake(f"tensors of rank {a.rank} and {b.rank} have no equal shape: {message}")
    same = None
    for axis in builtins.range(a.rank):
        one, other = a.shape[axis], b.shape[axis]
        if _is_now(one, other) and one == other:
            continue
        equal = apply("index.eq", one, other)
        same = equal if same is None else same & equal
    if same is not None:
        apply("require", same, message)


@public
def clamp(x: Tile, low: Any, high: Any) -> Tile:
    """x between low and high. NaN stays NaN; where low is above high, high."""
    return minimum(maximum(x, low), high)


@public
def silu(x: Tile) -> Tile:
    """x * sigmoid(x)"""
    return x * _op("sigmoid")(x)


@public
def gelu(x: Tile) -> Tile:
    """x / 2 * (1 + erf(x / sqrt(2)))"""
    inner = _op("erf")(x * 0.70710678118654752)
    return x * 0.5 * (inner + 1)


@public
def softmax(x: Tile) -> Tile:
    """exp(x - max) / sum, row by row, of tiles that hold whole rows."""
    e = _op("exp")(x - _op("reduce_max")(x, 1))
    return e / _op("reduce_sum")(e, 1)


@public
def rms_norm(x: Tile, weight: Tile, count: Any, eps: float) -> Tile:
    """x / sqrt(mean(x^2) + eps) * weight, row by row; `count` is the number of columns that count."""
    mean = _op("reduce_sum")(x * x, 1) / count
    return x * _op("rsqrt")(mean + eps) * weight


@public
def layer_norm(x: Tile, weight: Tile, bias: Tile, eps: float) -> Tile:
    """(x - mean) / sqrt(variance + eps) * weight + bias, row by row, of tiles without padding."""
    scale = 1.0 / x.cols
    centred = x - _op("reduce_sum")(x, 1) * scale
    variance = _op("reduce_sum")(centred * centred, 1) * scale
    return centred * _op("rsqrt")(variance + eps) * weight + bias


@public
def rope(x: Tile, cosine: Tile, sine: Tile) -> Tile:
    """Rotary position embedding: turns each pair (x[i], x[i + D/2]) by the angle of column i."""
    half = x.cols // 2
    low = _op("extract")(x, 0, 0, (x.rows, half))
    high = _op("extract")(x, 0, half, (x.rows, half))
    return _op("concat")((low * cosine - high * sine, high * cosine + low * sine), 1)


AttentionState = Tuple[Tile, Tile, Tile]


@public
def attention_start(rows: int, cols: int) -> AttentionState:
    """What attention_step begins with: what the scores of each row are compared with, their sum, the output so far."""
    full = _op("full")
    return full(f32, (rows, 1), -1e38), full(f32, (rows, 1), 0), full(f32, (rows, cols), 0)


@public
def attention_step(
    top: Tile, sum: Tile, acc: Tile, scores: Tile, values: Tile, scale: float = 1  # noqa: A002
) -> AttentionState:
    """softmax(scale * scores) * values, one block of keys more, so that the scores are never stored.

    Divide the output by the sum at the end. `scores` is rows x keys in f32, `values` keys x columns. Weights are at most
    e^5.5: what scores are compared with changes only where that would be exceeded.
    """

    def scaled(x: Tile) -> Tile:
        return x if scale == 1 else x * scale

    greatest = scaled(_op("reduce_max")(scores, 1))
    following = _op("where")(greatest > top + 5.5, greatest, top)
    weights = _op("exp")(scaled(scores) - following)
    fade = _op("exp")(top - following)
    shares = weights if values.dtype is f32 else cast(weights, values.dtype)
    sums = sum * fade + _op("reduce_sum")(weights, 1)
    return following, sums, _op("matmul_acc")(acc * fade, shares, values)


__all__ = [
    name
    for name, value in list(globals().items())
    if not name.startswith("_")
    and name not in {"annotations", "builtins", "inspect", "math", "sys", "here", "mistake", "public", "operations", "is_function", "LISTS"}
    and name not in {"Operation", "apply", "apply_all", "as_list", "Value"}
    and getattr(value, "__module__", "") != "typing"
    and name != "Combine"
]
