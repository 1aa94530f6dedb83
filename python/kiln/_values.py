"""The values of a program: indices, conditions, scalars, tiles, tensors, pipes and tasks.

They stand for what is there when the program runs. Every operator records an operation of the program.
"""
from __future__ import annotations

from typing import Any, Callable, Iterator, List, NoReturn, Optional, Sequence, Tuple, Union

from . import dtypes
from ._errors import KilnError, here, mistake, public
from ._library import Result
from ._record import Recorder, ValueNumber, active
from .dtypes import DType

__all__ = ["Value", "Index", "Condition", "Scalar", "Tile", "Tensor", "Element", "Predicate", "Pipe", "Task"]

Number = Union[int, float]


@public
class Value:
    """A value of the program that is being recorded."""

    __slots__ = ("_number", "_recorder")
    _what = "a value"

    def __init__(self, number: Optional[int], recorder: Recorder) -> None:
        self._number = number
        self._recorder = recorder

    def __kiln_item__(self) -> ValueNumber:
        if self._recorder is not active(f"using {self._what}"):
            raise mistake(
                f"this {self._what.partition(' ')[2]} belongs to another program, {self._recorder.name}, which has been "
                "recorded; pass tensors as arguments instead"
            )
        if self._number is None:
            self._recorder.flush()
        return ValueNumber(self._number)

    def __deepcopy__(self, memo: Any) -> Value:
        return self  # it does not change; dataclasses.asdict and others copy what they hold

    # What a value has no answer to before the program runs.

    def __bool__(self) -> bool:
        raise mistake(
            f"{self._what} is known only when the program runs, so Python cannot decide by it; `if`, `while`, `and`, "
            "`or` and `not` can, in a function with @kiln.program or @kl.function"
        )

    def __repr__(self) -> str:
        return f"<{self._describe()}>"

    def _describe(self) -> str:
        return self._what

    def __str__(self) -> str:
        raise mistake(
            f"{self._what} has no text: {'its elements are' if isinstance(self, (Tile, Tensor)) else 'it is'} known only when "
            "the program runs. repr() says what it is; store it into a tensor, or mark a tensor with kl.dump, to see its elements"
        )

    def __format__(self, spec: str) -> str:
        return self.__str__()

    def _refuse_number(self, *_: Any) -> NoReturn:
        raise mistake(f"{self._what} is known only when the program runs; here Python needs a number now")

    __int__ = __float__ = __complex__ = _refuse_number

    def __iter__(self) -> Iterator[Any]:
        raise mistake(f"{self._what} cannot be iterated over; a loop of the program is `for i in kl.range(...)`")

    def __len__(self) -> int:
        raise mistake(f"{self._what} has no length; its extents are in .shape")

    __hash__ = object.__hash__

    def __getattr__(self, name: str) -> NoReturn:
        if name.startswith("__"):
            raise AttributeError(name)
        raise NoSuchAttribute(f"{self._describe()} has no '{name}'{_instead_of(name)}", here())

    # numpy and torch would take a value for an object, element by element.

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **_: Any) -> Any:
        name = _UFUNCS.get(ufunc.__name__)
        if name and method == "__call__" and all(isinstance(each, Value) or is_number(each) for each in inputs):
            return combine(name, *inputs)  # a number of numpy's, as good as one of Python's
        self.__array__()

    def __array__(self, *_: Any, **__: Any) -> NoReturn:
        raise mistake(f"numpy cannot compute with {self._what}, which is no array; use the functions of kiln.language")

    @classmethod
    def __torch_function__(cls, *_: Any, **__: Any) -> NoReturn:
        raise mistake(f"torch cannot compute with {cls._what}, which is no tensor; use the functions of kiln.language")


class NoSuchAttribute(KilnError, AttributeError):
    """A mistake that Python also knows as a missing attribute, so that `hasattr` and `getattr` with a default work."""

    __module__ = "kiln"


def _instead_of(name: str) -> str:
    """What to write instead of a method of numpy's or torch's."""
    from . import language

    if name in ("dim", "size", "rows", "cols"):
        return "; extents are in .shape"
    for known, written in ((f"reduce_{name}", f"kl.reduce_{name}(t, axis)"), (name, f"kl.{name}(t)")):
        if callable(getattr(language, known, None)):
            return f"; write {written}"
    return "; what a program does with its values are functions of kiln.language"


def is_number(x: Any) -> bool:
    """Whether x is a number of Python's, or one of numpy's or torch's that stands alone."""
    return isinstance(x, (int, float)) or (not isinstance(x, Value) and getattr(x, "shape", None) == ())


def apply(operation: str, *arguments: Any) -> Any:
    """Records an operation: nothing, the value that it made, or a tuple of several."""
    recorder = active(operation)
    made = values_of(recorder, recorder.record(operation, arguments))
    return None if not made else made[0] if len(made) == 1 else tuple(made)


def apply_all(operation: str, *arguments: Any) -> Tuple[Any, ...]:
    """The same, always as a tuple."""
    recorder = active(operation)
    return tuple(values_of(recorder, recorder.record(operation, arguments)))


def values_of(recorder: Recorder, results: Sequence[Result]) -> List[Any]:
    """What an operation made, as Python objects."""
    return [_MAKERS[each.kind](recorder, each) for each in results]


_SIGNS = {
    "add": "+", "sub": "-", "mul": "*", "div": "/", "rem": "%", "fmod": "%", "and": "&", "or": "|", "xor": "^",
    "shl": "<<", "shr": ">>", "pow": "**", "lt": "<", "le": "<=", "gt": ">", "ge": ">=", "eq": "==", "ne": "!=",
}  # fmt: skip

_UFUNCS = {
    "add": "add", "subtract": "sub", "multiply": "mul", "divide": "div", "true_divide": "div", "power": "pow",
    "less": "lt", "less_equal": "le", "greater": "gt", "greater_equal": "ge", "equal": "eq", "not_equal": "ne",
}  # fmt: skip


def _binary(name: str, swapped: bool = False) -> Callable[[Any, Any], Any]:
    """An operator of two operands. The kinds of the operands say which operation it is."""

    def operator(self: Value, other: Any) -> Any:
        lhs, rhs = (other, self) if swapped else (self, other)
        return combine(name, lhs, rhs)

    return operator


def combine(name: str, lhs: Any, rhs: Any) -> Any:
    """lhs and rhs combined by an arithmetic operation or a comparison."""
    kinds = {type(each) for each in (lhs, rhs) if isinstance(each, Value)}
    if not all(isinstance(each, Value) or is_number(each) for each in (lhs, rhs)):
        other = rhs if isinstance(lhs, Value) else lhs
        raise mistake(_not_an_operand(name, lhs if other is rhs else rhs, other))
    if Index in kinds and len(kinds) > 1:
        raise mistake(
            f"{_SIGNS[name]} of {lhs!r} and {rhs!r}: an index takes part as a number of an element type, such as "
            "kl.cast(i, i32)"
        )
    for kind in (Tile, Scalar, Index):
        if kind in kinds:
            return kind._combine(name, lhs, rhs)  # type: ignore[attr-defined]
    raise mistake(f"{lhs!r} {_SIGNS[name]} {rhs!r}: there is no such operation")


def _not_an_operand(name: str, value: Value, other: Any) -> str:
    sign = _SIGNS[name]
    if isinstance(other, Element):
        other._refuse()
    if other is None:
        return f"{sign} of {value!r} and None: did the function that made it end without `return`?"
    if type(other).__module__.partition(".")[0] in ("numpy", "torch"):
        return (
            f"{sign} of {value!r} and {type(other).__module__.partition('.')[0]}.{type(other).__name__}: a program "
            "computes with tiles, which it loads from its arguments"
        )
    return f"{sign} of {value!r} and {type(other).__name__}: there is no such operation"


@public
class _Comparable(Value):
    __slots__ = ()
    __lt__ = _binary("lt")
    __le__ = _binary("le")
    __gt__ = _binary("gt")
    __ge__ = _binary("ge")
    __eq__ = _binary("eq")  # type: ignore[assignment]
    __ne__ = _binary("ne")  # type: ignore[assignment]
    __hash__ = Value.__hash__


@public
class _Arithmetic(_Comparable):
    __slots__ = ()
    __add__, __radd__ = _binary("add"), _binary("add", swapped=True)
    __sub__, __rsub__ = _binary("sub"), _binary("sub", swapped=True)
    __mul__, __rmul__ = _binary("mul"), _binary("mul", swapped=True)
    __hash__ = Value.__hash__


@public
class Index(_Arithmetic):
    """An integer for indices and extents that is known when the program runs.

    `+ - *` are as in Python. `//` rounds toward zero, and `%` is what then remains.
    """

    __slots__ = ()
    _what = "an index"
    _OPERATIONS = {"add", "sub", "mul", "div", "rem", "lt", "le", "gt", "ge", "eq", "ne"}

    __floordiv__, __rfloordiv__ = _binary("div"), _binary("div", swapped=True)
    __mod__, __rmod__ = _binary("rem"), _binary("rem", swapped=True)
    __hash__ = Value.__hash__

    def __truediv__(self, other: Any) -> NoReturn:
        raise mistake("the quotient of indices is an index; write // instead of /")

    __rtruediv__ = __truediv__

    def __neg__(self) -> Index:
        return 0 - self

    def __pos__(self) -> Index:
        return self

    def __index__(self) -> int:
        raise mistake(
            "an index is known only when the program runs; here Python needs a number now. A loop of the program is "
            "`for i in kl.range(...)`"
        )

    @staticmethod
    def _combine(name: str, lhs: Any, rhs: Any) -> Any:
        for each in (lhs, rhs):
            if isinstance(each, float):
                raise mistake(f"{_SIGNS[name]} of an index and the number {each}: an index is an integer")
        return apply("index." + name, lhs, rhs)


@public
class Condition(Value):
    """Whether something holds, known when the program runs: for `if`, `while`, `and`, `or`, `not` and kl.require."""

    __slots__ = ()
    _what = "a condition"

    def __and__(self, other: Any) -> Condition:
        return apply("condition.and", self, other)

    def __or__(self, other: Any) -> Condition:
        return apply("condition.or", self, other)

    def __invert__(self) -> Condition:
        return apply("condition.not", self)

    def __bool__(self) -> bool:
        raise mistake(
            "a condition is known only when the program runs, so Python cannot decide by it; `if`, `while`, `and`, `or` and `not` "
            "can, in a function with @kiln.program or @kl.function, but not around `:=`. kl.min and kl.max choose between indices"
        )

    def _refuse_comparison(self, other: Any) -> NoReturn:
        raise mistake("conditions are combined with `and`, `or` and `not`, and not compared")

    __eq__ = __ne__ = _refuse_comparison  # type: ignore[assignment]
    __hash__ = Value.__hash__


@public
class Scalar(_Arithmetic):
    """A number of an element type: a parameter, or an element of a tensor or tile.

    `kl.Scalar[f32]` says that a parameter is one.
    """

    __slots__ = ("dtype",)
    _what = "a scalar"
    _OPERATIONS = {"add", "sub", "mul", "div", "lt", "le", "gt", "ge"}

    def __init__(self, number: Optional[int], recorder: Recorder, dtype: DType) -> None:
        super().__init__(number, recorder)
        self.dtype = dtype

    def __class_getitem__(cls, dtype: DType) -> Any:
        from ._signature import scalar_type

        return scalar_type(dtype)

    __truediv__, __rtruediv__ = _binary("div"), _binary("div", swapped=True)
    __hash__ = Value.__hash__

    def _describe(self) -> str:
        return f"a scalar of {self.dtype}"

    @staticmethod
    def _combine(name: str, lhs: Any, rhs: Any) -> Any:
        if name not in Scalar._OPERATIONS:
            raise mistake(f"{_SIGNS[name]} of scalars: scalars have + - * / and < <= > >=")
        return apply("scalar." + name, lhs, rhs)


@public
class Tile(_Arithmetic):
    """A two-dimensional value of static shape, on a core."""

    __slots__ = ("shape", "dtype")
    _what = "a tile"

    def __init__(self, number: Optional[int], recorder: Recorder, shape: Tuple[int, int], dtype: DType) -> None:
        super().__init__(number, recorder)
        self.shape = shape
        self.dtype = dtype

    @property
    def rows(self) -> int:
        return self.shape[0]

    @property
    def cols(self) -> int:
        return self.shape[1]

    def _describe(self) -> str:
        return f"a tile of {self.rows}x{self.cols} {self.dtype}"

    __truediv__, __rtruediv__ = _binary("div"), _binary("div", swapped=True)
    __mod__, __rmod__ = _binary("fmod"), _binary("fmod", swapped=True)
    __pow__, __rpow__ = _binary("pow"), _binary("pow", swapped=True)
    __and__, __rand__ = _binary("and"), _binary("and", swapped=True)
    __or__, __ror__ = _binary("or"), _binary("or", swapped=True)
    __xor__, __rxor__ = _binary("xor"), _binary("xor", swapped=True)
    __lshift__, __rlshift__ = _binary("shl"), _binary("shl", swapped=True)
    __rshift__, __rrshift__ = _binary("shr"), _binary("shr", swapped=True)
    __hash__ = Value.__hash__

    def __neg__(self) -> Tile:
        return apply("neg", self)

    def __pos__(self) -> Tile:
        return self

    def __invert__(self) -> Tile:
        return apply("not", self)

    def __abs__(self) -> Tile:
        return apply("abs", self)

    def __matmul__(self, other: Tile) -> Tile:
        return apply("matmul", self, other)

    @property
    def T(self) -> Tile:
        """Rows become columns."""
        return apply("tile.transpose", self)

    def __floordiv__(self, other: Any) -> NoReturn:
        raise mistake("a tile is divided by /; integers round toward zero")

    __rfloordiv__ = __floordiv__

    def __divmod__(self, other: Any) -> NoReturn:
        raise mistake("a tile has no divmod: a / b is the quotient, which rounds toward zero of integers, and a % b what remains")

    __rdivmod__ = __divmod__

    def __getitem__(self, at: Any) -> NoReturn:
        raise mistake("a tile has no [...]: kl.element(t, row, col) is an element, kl.extract(t, row, col, shape) a box")

    def __setitem__(self, at: Any, value: Any) -> NoReturn:
        raise mistake("a tile is a value and does not change: kl.insert(x, t, row, col) is t with a box of it replaced by x")

    def __bool__(self) -> bool:
        raise mistake(
            f"{self._describe()} is no condition: Python cannot decide by its elements. kl.where(t > 0, a, b) chooses "
            "element by element, kl.element(t, 0, 0) > 0 is a condition"
        )

    def __iter__(self) -> Iterator[Any]:
        raise mistake(f"{self._describe()} cannot be iterated over; kl.extract(t, row, col, shape) is a box of it")

    @staticmethod
    def _combine(name: str, lhs: Any, rhs: Any) -> Any:
        return apply(name, lhs, rhs)


@public
class Shape(Sequence[Any]):
    """The extents of a tensor. Each is an integer where the program fixes it, else an index, recorded where it is asked for."""

    __slots__ = ("_tensor",)

    def __init__(self, tensor: Tensor) -> None:
        self._tensor = tensor

    def __len__(self) -> int:
        return self._tensor.rank

    def __getitem__(self, axis: Any) -> Any:
        rank = len(self)
        if isinstance(axis, slice):
            return tuple(self[each] for each in range(*axis.indices(rank)))
        if isinstance(axis, Value) or not hasattr(type(axis), "__index__"):
            raise mistake("an axis is a number that is known while the program is recorded")
        if not -rank <= axis < rank:
            raise mistake(f"axis {axis} of {self._tensor._describe()}: it has {rank}")
        return apply("dim", self._tensor, axis % rank)

    def __iter__(self) -> Iterator[Any]:
        return (self[axis] for axis in range(len(self)))

    def __kiln_item__(self) -> Tuple[Any, ...]:
        return tuple(self)

    def __eq__(self, other: Any) -> NoReturn:
        raise mistake("shapes are compared extent by extent, or required to be equal by kl.require_same_shape")

    __ne__ = __eq__
    __hash__ = object.__hash__

    def __repr__(self) -> str:
        return f"<the shape of {self._tensor._describe()}>"


@public
class Tensor(Value):
    """A tensor in global memory: a parameter, what kl.alloc makes, or a view of one."""

    __slots__ = ("dtype", "rank", "name", "_begin")
    _what = "a tensor"

    def __init__(self, number: Optional[int], recorder: Recorder, dtype: DType, rank: int, name: str = "") -> None:
        super().__init__(number, recorder)
        self.dtype = dtype
        self.rank = rank
        self.name = name
        self._begin: Any = None  # the function of which it is a parameter

    @property
    def shape(self) -> Shape:
        """The extents, one per axis."""
        return Shape(self)

    def _describe(self) -> str:
        return f"a tensor {self.name + ' ' if self.name else ''}of rank {self.rank}, {self.dtype}"

    def __getitem__(self, at: Any) -> Element:
        """One element, to compare in a predicate: `flags[i] > 0`."""
        indices = at if isinstance(at, tuple) else (at,)
        if any(isinstance(each, slice) or each is ... for each in indices):
            raise mistake("a box of a tensor is kl.slice(x, offsets, sizes), a tile of it kl.load(x, at, shape)")
        return Element(self, indices)

    def _refuse(self, *_: Any) -> NoReturn:
        raise mistake("a tensor lies in global memory and is not computed with; kl.load(x, at, shape) makes a tile of it")

    __add__ = __radd__ = __sub__ = __rsub__ = __mul__ = __rmul__ = _refuse
    __truediv__ = __rtruediv__ = __matmul__ = __rmatmul__ = __neg__ = __lt__ = __le__ = __gt__ = __ge__ = _refuse

    def __setitem__(self, at: Any, value: Any) -> NoReturn:
        raise mistake("a kernel writes an element of a tensor with kl.write(value, y, row, col), and a tile with kl.store(t, y, at)")


@public
class Element:
    """An element of a tensor, named but not read."""

    __slots__ = ("tensor", "at")

    def __init__(self, tensor: Tensor, at: Tuple[Any, ...]) -> None:
        self.tensor = tensor
        self.at = at

    def _compare(sign: str) -> Callable[[Element, Any], Predicate]:  # type: ignore[misc]
        def compare(self: Element, constant: Any) -> Predicate:
            return Predicate(self, sign, constant)

        return compare

    __lt__, __le__, __gt__, __ge__ = _compare("<"), _compare("<="), _compare(">"), _compare(">=")
    __eq__, __ne__ = _compare("=="), _compare("!=")  # type: ignore[assignment]
    __hash__ = object.__hash__

    def _refuse(self, *_: Any) -> NoReturn:
        raise mistake(
            "x[i] names an element for a predicate; kl.read(x, i) reads it in a kernel, kl.get(x, i) in an orchestration"
        )

    __add__ = __radd__ = __sub__ = __rsub__ = __mul__ = __rmul__ = __truediv__ = __rtruediv__ = _refuse
    __int__ = __float__ = __index__ = __bool__ = __str__ = __iter__ = __kiln_item__ = _refuse


@public
class Predicate:
    """What decides, when its turn comes, whether a task runs: an element of a tensor against a constant."""

    __slots__ = ("element", "sign", "constant")

    def __init__(self, element: Element, sign: str, constant: int) -> None:
        self.element = element
        self.sign = sign
        self.constant = constant

    def __kiln_item__(self) -> Tuple[Any, ...]:
        return (self.element.tensor, self.element.at, self.sign, self.constant)

    def __bool__(self) -> bool:
        raise mistake("this is a predicate, for `predicate=` of a launch; kl.get(x, i) > 0 is a condition")


class Pipe(Value):
    """A bounded queue of tiles from one role of a group to another."""

    __slots__ = ()
    _what = "a pipe"


class Task(Value):
    """A launched task, for others to wait for: `deps=[task]`."""

    __slots__ = ()
    _what = "a task"


_MAKERS: Tuple[Callable[[Recorder, Result], Any], ...] = (
    lambda recorder, made: int(made.number),
    lambda recorder, made: Index(made.number, recorder),
    lambda recorder, made: Condition(made.number, recorder),
    lambda recorder, made: Scalar(made.number, recorder, dtypes.BY_CODE[made.dtype]),
    lambda recorder, made: Tile(made.number, recorder, (made.rows, made.cols), dtypes.BY_CODE[made.dtype]),
    lambda recorder, made: Tensor(made.number, recorder, dtypes.BY_CODE[made.dtype], made.rank),
    lambda recorder, made: Pipe(made.number, recorder),
    lambda recorder, made: Task(made.number, recorder),
)  # by enum kiln_value_kind
