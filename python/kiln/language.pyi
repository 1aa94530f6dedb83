"""Made by make_stub.py from language.py and the operations of the recorder; do not edit."""
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

def range(*bounds: Any, stages: int=0, parallel: bool=False, unroll: bool=False) -> Any:
    """A loop of the program: `for k in kl.range(lower, upper, step)`, with the bounds of Python's range.

    What the body changes of the names that have values before the loop is carried from iteration to iteration.

    stages: > 0: a pipelined loop with so many iterations in flight.
    parallel: the iterations are independent.
    unroll: asks for it to be unrolled.
    """
    ...

def function(body: Callable[..., Any]) -> Callable[..., Any]:
    """A function that a program calls, whose loops and branches can be the program's."""
    ...

def require(condition: Union[bool, Condition], message: str) -> None:
    """What must hold of the arguments: `kl.require(x.shape[1] % 64 == 0, "columns come in tiles of 64")`.

    Checked before the program runs. What is known while recording is checked at once, and not recorded.
    """
    ...

def ceildiv(a: Union[int, Index], b: Union[int, Index]) -> Any:
    """a / b, rounded up."""
    ...

def min(a: Any, b: Any) -> Any:
    """The smaller of two indices, or of two tiles element by element."""
    ...

def max(a: Any, b: Any) -> Any:
    """The larger of two indices, or of two tiles element by element."""
    ...

def minimum(a: Any, b: Any) -> Tile:
    """The smaller, element by element; NaN if either is NaN."""
    ...

def maximum(a: Any, b: Any) -> Tile:
    """The larger, element by element; NaN if either is NaN."""
    ...

def cast(x: Any, dtype: DType) -> Any:
    """A tile, a scalar, or an index as an element type."""
    ...

def to_index(scalar: Scalar) -> Index:
    """An integer scalar as an index."""
    ...

def zeros(dtype: DType, *shape: Any) -> Tile:
    """A tile of zeros: `kl.zeros(f32, rows, cols)` or `kl.zeros(f32, (rows, cols))`."""
    ...

class Part(NamedTuple):
    """What one lane has of a tile: its shape, where in the whole tile it begins, and the whole."""
    shape: Tuple[int, int]
    row: Any
    col: Any
    whole: Tuple[int, int]

def part(of: Any, split: str='none') -> Part:
    """What this lane has of a tile of a shape, by a split; or what it pushes into a pipe or pops from it."""
    ...

def load(tensor: Tensor, at: Any, shape: Any, pad: str='zero', valid: Any=(), outside: bool=False) -> Tile:
    """Reads a tile at these indices, one per axis; the tile covers the trailing two.

    shape: (rows, columns), or a Part: then `at` and `valid` are those of the whole tile.
    pad: what lies outside the tensor reads as this: "zero", "min" or "max".
    valid: the rows and columns that count.
    outside: the tile may miss the tensor; then all of it is the pad.
    """
    ...

def store(tile: Tile, tensor: Tensor, at: Any, part: Optional[Part]=None, *, valid: Any=(), atomic_add: bool=False) -> None:
    """Writes the elements of a tile that lie inside the tensor.

    part: what this lane has of the tile; then `at` and `valid` are those of the whole tile.
    valid: the rows and columns to write.
    atomic_add: adds to what is there.
    """
    ...

def prefetch(tensor: Tensor, at: Any, shape: Tuple[int, int]) -> None:
    """A hint that this tile will be loaded soon."""
    ...

def transpose(x: Any, permutation: Optional[Sequence[int]]=None) -> Any:
    """A tile whose rows become columns; or a tensor whose axes come in another order, by reference."""
    ...

def reshape(x: Any, shape: Any) -> Any:
    """The same elements in another shape: of a tile row by row, or of a contiguous tensor, by reference."""
    ...

class Sorted(NamedTuple):
    """Rows in order, and the column that each element had (i32)."""
    values: Tile
    columns: Tile

def sort_rows(x: Tile, order: str='ascending') -> Sorted:
    """Rows in order, "ascending" or "descending", and the column each element had. Stable; NaN comes last."""
    ...

def topk_rows(x: Tile, k: int) -> Sorted:
    """The k largest elements of each row, the largest first, and their columns."""
    ...

Combine = Callable[..., Any]

def reduce(x: Any, axis: int, by: Combine, start: Any) -> Any:
    """Combines the elements along axis 0 (rows become one) or 1 (columns become one): `start` with the first, and so on.

        best, at = kl.reduce((x, columns), 1, better, start=(-math.inf, -1))

    x: a tile, or a tuple of several of one shape.
    by: a function of what is combined so far and what comes next, a tile of each; it gives the two combined. It is recorded
        once, consists of elementwise operations, and is associative up to rounding.
    start: a number, a scalar or a line of a tile, for each tile.
    """
    ...

def scan(x: Any, axis: int, by: Union[str, Combine]='sum', start: Any=None, *, exclusive: bool=False, reverse: bool=False) -> Any:
    """Each element becomes what the elements up to it combine to, along axis 0 (down) or 1 (to the right).

    by: "sum", "product", "max" or "min"; or a function and a start, as in kl.reduce.
    exclusive: the elements before each, without it.
    reverse: from the end.
    """
    ...

def pipe(name: str, source: str, target: str, dtype: Optional[DType]=None, shape: Any=None, *, payload: Sequence[Tuple[DType, Tuple[int, int]]]=(), split: str='none', slots: int=0) -> Pipe:
    """A pipe from one role to another: `kl.pipe("up", kl.aiv, kl.aic, f32, (64, 64))`.

    payload: several tiles that travel together, each with its element type and shape. Without any tile the pipe carries
        tokens, which only say that something has happened.
    split: what a lane has of a tile: "none", "up_down" or "left_right".
    slots: how many tiles it holds; 0: the machine's default.
    """
    ...

def push(pipe: Pipe, *tiles: Tile) -> None:
    """Puts tiles into a pipe; waits for a free slot. With a split, a lane pushes its own part."""
    ...

def pop_all(pipe: Pipe) -> Tuple[Tile, ...]:
    """Takes out of a pipe the tiles that travelled together; waits for a full slot."""
    ...

def require_same_shape(a: Tensor, b: Tensor, message: str) -> None:
    """Requires two tensors to have equal extents."""
    ...

def clamp(x: Tile, low: Any, high: Any) -> Tile:
    """x between low and high. NaN stays NaN; where low is above high, high."""
    ...

def silu(x: Tile) -> Tile:
    """x * sigmoid(x)"""
    ...

def gelu(x: Tile) -> Tile:
    """x / 2 * (1 + erf(x / sqrt(2)))"""
    ...

def softmax(x: Tile) -> Tile:
    """exp(x - max) / sum, row by row, of tiles that hold whole rows."""
    ...

def rms_norm(x: Tile, weight: Tile, count: Any, eps: float) -> Tile:
    """x / sqrt(mean(x^2) + eps) * weight, row by row; `count` is the number of columns that count."""
    ...

def layer_norm(x: Tile, weight: Tile, bias: Tile, eps: float) -> Tile:
    """(x - mean) / sqrt(variance + eps) * weight + bias, row by row, of tiles without padding."""
    ...

def rope(x: Tile, cosine: Tile, sine: Tile) -> Tile:
    """Rotary position embedding: turns each pair (x[i], x[i + D/2]) by the angle of column i."""
    ...

AttentionState = Tuple[Tile, Tile, Tile]

def attention_start(rows: int, cols: int) -> AttentionState:
    """What attention_step begins with: the maximum and the sum of each row, and the output so far."""
    ...

def attention_step(top: Tile, sum: Tile, acc: Tile, scores: Tile, values: Tile, scale: float=1) -> AttentionState:
    """softmax(scale * scores) * values, one block of keys more, so that the scores are never stored.

    Divide the output by the sum at the end. `scores` is rows x keys in f32, `values` keys x columns.
    """
    ...

def dim(tensor: Tensor, axis: int) -> AnyIndex:
    """The extent of an axis."""
    ...

def alloc(name: str, dtype: DType, extents: Union[AnyIndex, Sequence[AnyIndex]]) -> Tensor:
    """An intermediate tensor; lives to the end of its block."""
    ...

def slice(tensor: Tensor, offsets: Union[AnyIndex, Sequence[AnyIndex]], sizes: Union[AnyIndex, Sequence[AnyIndex]], drop: Union[int, Sequence[int]] = ()) -> Tensor:
    """A box of a tensor, by reference: offsets and sizes, one per axis."""
    ...

def dump(tensor: Tensor) -> None:
    """Marks a tensor for the argument dump (levels 1 and 3)."""
    ...

def gather_rows(tensor: Tensor, at: Union[AnyIndex, Sequence[AnyIndex]], rows: Tensor, rows_at: Union[AnyIndex, Sequence[AnyIndex]], shape: Tuple[int, int], pad: str = 'zero', valid: Union[AnyIndex, Sequence[AnyIndex]] = (), outside: bool = False) -> Tile:
    """Reads a tile whose row r is row at + rows[rows_at + r] of the tensor; where there is no such row, the pad value."""
    ...

def scatter_rows(tile: Tile, tensor: Tensor, at: Union[AnyIndex, Sequence[AnyIndex]], rows: Tensor, rows_at: Union[AnyIndex, Sequence[AnyIndex]], valid: Union[AnyIndex, Sequence[AnyIndex]] = (), atomic_add: bool = False) -> None:
    """Writes the rows of a tile where gather_rows would read them."""
    ...

def read(tensor: Tensor, at: Union[AnyIndex, Sequence[AnyIndex]], dtype: Optional[DType] = None) -> Scalar:
    """Reads one element of a tensor in a kernel."""
    ...

def get(tensor: Tensor, at: Union[AnyIndex, Sequence[AnyIndex]], dtype: Optional[DType] = None) -> Scalar:
    """Reads one element in an orchestration; waits for the tasks that produce it."""
    ...

def write(value: AnyScalar, tensor: Tensor, at: Union[AnyIndex, Sequence[AnyIndex]], dtype: Optional[DType] = None) -> None:
    """Writes one element of a tensor in a kernel."""
    ...

def full(dtype: DType, shape: Tuple[int, int], value: float) -> Tile:
    """A tile of one number."""
    ...

def iota(dtype: DType, shape: Tuple[int, int], axis: int) -> Tile:
    """Each element is its index along an axis."""
    ...

def random(dtype: DType, shape: Tuple[int, int], key: AnyScalar, counter: AnyIndex) -> Tile:
    """Random bits (i32) or numbers uniform in [0, 1) (f32), of a key (i64) and a counter."""
    ...

def matmul(a: Tile, b: Tile, trans_a: bool = False, trans_b: bool = False) -> Tile:
    """The product of two tiles, either of them transposed."""
    ...

def matmul_acc(acc: Tile, a: Tile, b: Tile, trans_a: bool = False, trans_b: bool = False) -> Tile:
    """acc + the product of two tiles."""
    ...

def add(lhs: Operand, rhs: Operand) -> Tile:
    """lhs + rhs"""
    ...

def sub(lhs: Operand, rhs: Operand) -> Tile:
    """lhs - rhs"""
    ...

def mul(lhs: Operand, rhs: Operand) -> Tile:
    """lhs * rhs"""
    ...

def div(lhs: Operand, rhs: Operand) -> Tile:
    """lhs / rhs; integers round toward zero"""
    ...

def fmod(lhs: Operand, rhs: Operand) -> Tile:
    """the remainder of lhs / rhs, with the sign of lhs"""
    ...

def pow(lhs: Operand, rhs: Operand) -> Tile:
    """lhs to the power of rhs; floats only"""
    ...

def xor(lhs: Operand, rhs: Operand) -> Tile:
    """the bits set in exactly one"""
    ...

def shl(lhs: Operand, rhs: Operand) -> Tile:
    """lhs shifted left by rhs bits; a count outside 0 to width - 1 leaves 0"""
    ...

def shr(lhs: Operand, rhs: Operand) -> Tile:
    """lhs shifted right by rhs bits, copying the sign; a count outside 0 to width - 1 leaves the sign"""
    ...

def neg(x: Operand) -> Tile:
    """-x"""
    ...

def abs(x: Tile) -> Tile:
    """the absolute value"""
    ...

def floor(x: Tile) -> Tile:
    """the largest whole number that is not larger"""
    ...

def ceil(x: Tile) -> Tile:
    """the smallest whole number that is not smaller"""
    ...

def trunc(x: Tile) -> Tile:
    """the whole part: rounds toward zero"""
    ...

def round(x: Tile) -> Tile:
    """the nearest whole number; of two that are as near, the even one"""
    ...

def exp(x: Tile) -> Tile:
    """e to the x"""
    ...

def exp2(x: Tile) -> Tile:
    """2 to the x"""
    ...

def expm1(x: Tile) -> Tile:
    """exp(x) - 1, exact where x is near 0"""
    ...

def log(x: Tile) -> Tile:
    """the natural logarithm"""
    ...

def log1p(x: Tile) -> Tile:
    """log(1 + x), exact where x is near 0"""
    ...

def sqrt(x: Tile) -> Tile:
    """the square root"""
    ...

def rsqrt(x: Tile) -> Tile:
    """1 / sqrt(x)"""
    ...

def recip(x: Tile) -> Tile:
    """1 / x"""
    ...

def cbrt(x: Tile) -> Tile:
    """the cube root"""
    ...

def tanh(x: Tile) -> Tile:
    """the hyperbolic tangent"""
    ...

def sigmoid(x: Tile) -> Tile:
    """1 / (1 + exp(-x))"""
    ...

def erf(x: Tile) -> Tile:
    """the error function"""
    ...

def sin(x: Tile) -> Tile:
    """the sine"""
    ...

def cos(x: Tile) -> Tile:
    """the cosine"""
    ...

def lt(lhs: Operand, rhs: Operand) -> Tile:
    """lhs < rhs, as a tile of i1"""
    ...

def le(lhs: Operand, rhs: Operand) -> Tile:
    """lhs <= rhs, as a tile of i1"""
    ...

def gt(lhs: Operand, rhs: Operand) -> Tile:
    """lhs > rhs, as a tile of i1"""
    ...

def ge(lhs: Operand, rhs: Operand) -> Tile:
    """lhs >= rhs, as a tile of i1"""
    ...

def eq(lhs: Operand, rhs: Operand) -> Tile:
    """lhs == rhs, as a tile of i1"""
    ...

def ne(lhs: Operand, rhs: Operand) -> Tile:
    """lhs != rhs, as a tile of i1"""
    ...

def where(condition: Tile, a: Operand, b: Operand) -> Tile:
    """Where the condition holds the first, elsewhere the second."""
    ...

def reduce_sum(x: Tile, axis: int) -> Tile:
    """Sums along axis 0 (rows become one) or 1 (columns become one)."""
    ...

def reduce_max(x: Tile, axis: int) -> Tile:
    """The largest along an axis."""
    ...

def reduce_min(x: Tile, axis: int) -> Tile:
    """The smallest along an axis."""
    ...

def reduce_prod(x: Tile, axis: int) -> Tile:
    """Products along an axis."""
    ...

def argmax(x: Tile, axis: int) -> Tile:
    """The i32 index of the largest element; the first of equal ones."""
    ...

def argmin(x: Tile, axis: int) -> Tile:
    """The i32 index of the smallest element; the first of equal ones."""
    ...

def mask(x: Tile, rows: AnyIndex, cols: AnyIndex, pad: str = 'zero') -> Tile:
    """Replaces the elements outside the first rows and columns."""
    ...

def mask_diag(x: Tile, offset: AnyIndex, pad: str = 'zero') -> Tile:
    """Keeps the elements with column <= row + offset; the others become the pad value."""
    ...

def gather(x: Tile, index: Tile, axis: int) -> Tile:
    """x[index[r, c], c] along axis 0, x[r, index[r, c]] along axis 1."""
    ...

def extract(x: Tile, row: AnyIndex, col: AnyIndex, shape: Tuple[int, int]) -> Tile:
    """A box of a tile."""
    ...

def insert(x: Tile, into: Tile, row: AnyIndex, col: AnyIndex) -> Tile:
    """`into` with a box of it replaced by x."""
    ...

def concat(tiles: Union[Tile, Sequence[Tile]], axis: int) -> Tile:
    """Tiles one after the other along an axis."""
    ...

def element(tile: Tile, row: AnyIndex, col: AnyIndex, dtype: Optional[DType] = None) -> Scalar:
    """One element of a tile."""
    ...

def block_idx(dim: int = 0) -> Index:
    """The block of the launch, along a dimension of its grid."""
    ...

def block_count(dim: int = 0) -> Index:
    """How many blocks the launch has along a dimension."""
    ...

def lane() -> Index:
    """The lane of the role."""
    ...

def barrier() -> None:
    """Waits until every block of the launch has got here; the launch needs sync_start."""
    ...

def join(tasks: Union[Task, Sequence[Task]]) -> Task:
    """A task that does nothing but wait for others."""
    ...

def pop(pipe: Pipe) -> Tile:
    """Takes the oldest tile out of a pipe; waits for a full slot."""
    ...

def free(pipe: Pipe) -> None:
    """Releases the oldest popped slot; with none the compiler places them."""
    ...

def rank(along: Optional[Group] = None) -> Index:
    """Which rank this is, from 0; with a group, its place in that."""
    ...

def ranks(along: Optional[Group] = None) -> Index:
    """How many ranks there are; with a group, in that."""
    ...

def all_reduce(tensor: Tensor, how: str = 'sum', fixed_order: bool = False, along: Optional[Group] = None, deps: Union[Task, Sequence[Task]] = ()) -> Task:
    """Combines the tensors of all ranks and gives the result to each."""
    ...

def all_gather(source: Tensor, target: Tensor, along: Optional[Group] = None, deps: Union[Task, Sequence[Task]] = ()) -> Task:
    """Gives each rank the tensors of all, joined along the first axis."""
    ...

def reduce_scatter(source: Tensor, target: Tensor, how: str = 'sum', fixed_order: bool = False, along: Optional[Group] = None, deps: Union[Task, Sequence[Task]] = ()) -> Task:
    """Combines the tensors of all ranks and gives each its part along the first axis."""
    ...

def broadcast(tensor: Tensor, root: AnyIndex, along: Optional[Group] = None, deps: Union[Task, Sequence[Task]] = ()) -> Task:
    """Gives each rank the tensor of one."""
    ...

def all_to_all(source: Tensor, target: Tensor, along: Optional[Group] = None, deps: Union[Task, Sequence[Task]] = ()) -> Task:
    """Gives part i of the source, along the first axis, to rank i."""
    ...

def send(tensor: Tensor, to: AnyIndex, along: Optional[Group] = None, deps: Union[Task, Sequence[Task]] = ()) -> Task:
    """Gives a tensor to another rank; ends when that has it."""
    ...

def recv(tensor: Tensor, sender: AnyIndex, along: Optional[Group] = None, deps: Union[Task, Sequence[Task]] = ()) -> Task:
    """Takes a tensor from another rank."""
    ...

def rank_barrier(along: Optional[Group] = None, deps: Union[Task, Sequence[Task]] = ()) -> Task:
    """Waits until every rank has come here, with all it launched before."""
    ...
