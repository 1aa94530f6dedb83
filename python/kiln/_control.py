"""What loops, branches and truth values do in a rewritten function: `_rewrite` makes calls of these.

On plain Python values they do what Python does. On values of the program they record: the body of a loop, or both sides of
a branch, run once.
"""
from __future__ import annotations

import operator
from typing import Any, Callable, Dict, Iterator, List, NoReturn, Optional, Sequence, Tuple

from ._errors import Place, here, mistake, public
from ._record import active
from ._values import Condition, Index, Scalar, Task, Tile, Value, values_of

_MISSING = object()


@public
class Range:
    """`kl.range(...)`: a loop of the program. See language.range."""

    def __init__(self, bounds: Tuple[Any, Any, Any], stages: int, parallel: bool, unroll: bool, place: Place) -> None:
        self.bounds = bounds
        self.options = (stages, parallel, unroll)
        self.place = place

    def __iter__(self) -> Iterator[Any]:
        raise mistake(
            "a loop over kl.range is a `for` statement, not a comprehension, in a function with @kiln.program or @kl.function; "
            "if this is one without, decorate the function with @kl.function"
        )


@public
class Escaped:
    """Stands for a name whose value belongs to a loop or branch that has ended. Whoever uses it is told so."""

    __slots__ = ("_message",)

    def __init__(self, message: str) -> None:
        object.__setattr__(self, "_message", message)

    def __kiln_item__(self) -> NoReturn:
        raise mistake(self._message)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        raise mistake(self._message)

    def _refuse(self, *_: Any, **__: Any) -> NoReturn:
        raise mistake(self._message)

    __add__ = __radd__ = __sub__ = __rsub__ = __mul__ = __rmul__ = __truediv__ = __rtruediv__ = _refuse
    __floordiv__ = __rfloordiv__ = __mod__ = __rmod__ = __pow__ = __rpow__ = __matmul__ = __rmatmul__ = _refuse
    __and__ = __rand__ = __or__ = __ror__ = __xor__ = __rxor__ = __lshift__ = __rshift__ = _refuse
    __neg__ = __pos__ = __invert__ = __abs__ = __bool__ = __int__ = __float__ = __index__ = _refuse
    __lt__ = __le__ = __gt__ = __ge__ = __eq__ = __ne__ = _refuse  # type: ignore[assignment]
    __iter__ = __len__ = __getitem__ = __call__ = __str__ = __format__ = _refuse  # type: ignore[assignment]
    __hash__ = object.__hash__

    def __repr__(self) -> str:
        return "<a value of a loop or branch that has ended>"


def _is_carriable(value: Any) -> bool:
    """Whether loops and branches can pass it on: a value of the program, an integer, or a tuple of such."""
    if isinstance(value, tuple):
        return len(value) > 0 and all(map(_is_carriable, value))
    return isinstance(value, (Tile, Index, Scalar, Task)) or (isinstance(value, int) and not isinstance(value, bool))


def _leaves(value: Any) -> List[Any]:
    """What a carried value consists of."""
    return [leaf for each in value for leaf in _leaves(each)] if isinstance(value, tuple) else [value]


def _rebuilt(like: Any, leaves: Iterator[Any]) -> Any:
    """A value of the same structure, of other leaves."""
    if not isinstance(like, tuple):
        return next(leaves)
    parts = [_rebuilt(each, leaves) for each in like]
    return type(like)(*parts) if hasattr(like, "_fields") else tuple(parts)


def _kind(value: Any) -> str:
    """What a carried value is; an integer is as good as an index."""
    if isinstance(value, tuple):
        return f"({', '.join(map(_kind, value))})"
    return "<an index>" if isinstance(value, int) and not isinstance(value, bool) else repr(value)


def _same(a: Any, b: Any) -> bool:
    """Whether two Python objects are the same, or equal plain ones."""
    if a is b:
        return True
    return type(a) is type(b) and isinstance(a, (bool, int, float, str, bytes)) and a == b


def _line(place: Place) -> str:
    return f"line {place.line}"


class _Construct:
    """A loop or branch of a rewritten function."""

    what = ""

    def __init__(self, recording: bool) -> None:
        self.recording = recording
        self.place = here() if recording else Place("", 0)

    def leave(self, how: str) -> None:
        """Before a `return`, `break` or `continue` in it: the program has no such thing."""
        if self.recording:
            raise mistake(
                f"`{how}` cannot leave {self.what} of the program ({_line(self.place)}), whose body is recorded once; "
                + _INSTEAD[how]
            )

    def change(self, what: str) -> None:
        """Before a change of an object that was there before the loop or branch: the change would happen once, while recording."""
        if self.recording:
            raise mistake(
                f"{what} belongs to what is outside of {self.what} of the program ({_line(self.place)}), whose body is "
                "recorded once; use a name of its own, which is carried, and change the object afterwards"
            )

    def _record(self, operation: str, *arguments: Any) -> List[Any]:
        recorder = active(operation)
        return values_of(recorder, recorder.record(operation, arguments, self.place))


_INSTEAD = {
    "return": "give a name its value there and return it at the end of the function",
    "break": "use `while` with a condition",
    "continue": "use `if`",
}


class _Loop(_Construct):
    """What `for` and `while` have in common: the names whose values go from one iteration to the next."""

    what = "a loop"

    def __init__(self, recording: bool, names: Sequence[str], known: Dict[str, Any]) -> None:
        super().__init__(recording)
        if not recording:
            return
        self.names = names
        self.entry = [known.get(name, _MISSING) for name in names]
        for index, value in enumerate(self.entry):
            if isinstance(value, Escaped):
                self.entry[index] = _MISSING
        self.is_carried = [_is_carriable(value) for value in self.entry]
        self.carried: Tuple[Any, ...] = ()
        self.results: Tuple[Any, ...] = ()

    def _inside(self, made: Sequence[Any]) -> Tuple[Any, ...]:
        """The values of the names in the body: carried ones, and others as they are."""
        remaining = iter(made)
        return tuple(
            _rebuilt(value, remaining) if carried else self._unbound(name) if value is _MISSING else value
            for name, value, carried in zip(self.names, self.entry, self.is_carried)
        )

    def _unbound(self, name: str) -> Escaped:
        return Escaped(
            f"'{name}' has no value before the loop of {_line(self.place)} begins; give it one before, and it is carried"
        )

    def _initial(self) -> List[Any]:
        return [leaf for value, carried in zip(self.entry, self.is_carried) if carried for leaf in _leaves(value)]

    def _next(self, known: Dict[str, Any]) -> List[Any]:
        """The next values of what is carried."""
        following: List[Any] = []
        for name, value, carried in zip(self.names, self.entry, self.is_carried):
            now = known.get(name, _MISSING)
            if carried:
                self._check_kind(name, value, now)
                following += _leaves(now)
            elif value is not _MISSING and not _same(value, now):
                raise mistake(self._changed(name, value, now), self.place)
        return following

    def _check_kind(self, name: str, before: Any, now: Any) -> None:
        if _kind(before) == _kind(now):
            return
        why = "; did a function that made it end without `return`?" if now is None else ""
        raise mistake(
            f"'{name}' is {_words(before)} when the loop begins and {_words(now)} at the end of its body{why or _ALIKE}",
            self.place,
        )

    def _changed(self, name: str, before: Any, now: Any) -> str:
        message = f"'{name}' is {_words(before)} when the loop begins and {_words(now)} at the end of its body. "
        if isinstance(before, float):
            return message + f"Begin with a value of the program, such as kl.full(f32, shape, {before}) or kl.cast(0, f32)"
        return message + "The body is recorded once: what changes must be a tile, an index, a scalar or a task before, or a tuple of them"

    def _after(self, made: Sequence[Any]) -> Tuple[Any, ...]:
        """The values of the names after the loop."""
        remaining = iter(made)
        return tuple(
            _rebuilt(value, remaining) if carried else self._lost(name) if value is _MISSING else value
            for name, value, carried in zip(self.names, self.entry, self.is_carried)
        )

    def _lost(self, name: str) -> Escaped:
        return Escaped(
            f"'{name}' belongs to the loop of {_line(self.place)}, which made it. To use it after the loop, give it a value "
            "before the loop; it is then carried from iteration to iteration"
        )


_ALIKE = "; a loop carries values of one shape and type"


def _words(value: Any) -> str:
    if value is _MISSING:
        return "without a value"
    if isinstance(value, (Value, Escaped)):
        return repr(value)[1:-1]
    if isinstance(value, tuple):
        return f"({', '.join(map(_words, value))})"
    return "None" if value is None else f"{type(value).__name__} {value!r}"


class For(_Loop):
    """`for`: over kl.range a loop of the program, whose body runs once while recording; else Python's."""

    def __init__(self, over: Any, known: Dict[str, Any], names: Sequence[str] = (), lost: Sequence[str] = ()) -> None:
        super().__init__(isinstance(over, Range), names, known)
        self.over = over
        self.lost = lost  # names of the target that are used afterwards
        if self.recording:
            self.place = over.place
            made = self._record("loop.begin", *over.bounds, self._initial(), *over.options)
            self.index, self.carried = made[0], self._inside(made[1:])

    def __iter__(self) -> Iterator[Any]:
        return iter((self.index,)) if self.recording else iter(self.over)

    def end(self, known: Dict[str, Any]) -> None:
        """The end of the recorded body."""
        made = self._record("loop.end", self._next(known))
        self.results = self._after(made) + tuple(self._ended(name) for name in self.lost)

    def _ended(self, name: str) -> Escaped:
        return Escaped(f"'{name}' is the index of the loop of {_line(self.place)} and ends with it")


class While(_Loop):
    """`while`: a loop of the program if its condition is made of the program's values; else Python's."""

    def __init__(
        self, known: Dict[str, Any], condition: Sequence[str], names: Sequence[str] = (), in_test: Sequence[str] = ()
    ) -> None:
        involved = [known.get(name) for name in condition]
        super().__init__(any(isinstance(each, Value) for each in involved), names, known)
        if self.recording and in_test:
            raise mistake(
                f"the condition of this `while` gives '{in_test[0]}' a value with `:=`, which the loop would not carry; give it its "
                "value before the loop and at the end of the body"
            )
        if self.recording:
            self.carried = self._inside(self._record("while.begin", self._initial()))

    def test(self, holds: Any) -> bool:
        """Whether the body runs (again)."""
        if not self.recording:
            if isinstance(holds, Condition):
                raise mistake(
                    "the condition of this `while` was Python's when the loop began, and is the program's now; let a name in it have "
                    "a value of the program before the loop, and compare it in the `while` itself"
                )
            return bool(holds)
        if not isinstance(holds, Condition):
            raise mistake(
                f"the condition of this `while` is made of values of the program, but is {_words(holds)}; compare indices or "
                "scalars, or compute what is known now before the loop",
                self.place,
            )
        self.carried = self._inside(self._record("while.body", holds))
        return True

    def end(self, known: Dict[str, Any]) -> None:
        """The end of the recorded body."""
        self.results = self._after(self._record("while.end", self._next(known)))


class If(_Construct):
    """`if`: a branch of the program on a condition of it, both of whose sides are recorded; else Python's."""

    what = "a branch"

    def __init__(
        self,
        test: Any,
        known: Dict[str, Any],
        names: Sequence[str] = (),
        results: Sequence[str] = (),
        one_sided: Sequence[str] = (),
    ) -> None:
        super().__init__(isinstance(test, Condition))
        if not self.recording:
            self.then = bool(test)
            self.otherwise = not self.then
            return
        self.then = self.otherwise = True
        self.names = names  # what a side changes and somebody reads
        self.result_names = results  # what is read after the branch
        self.one_sided = one_sided  # what only one side gives a value
        self.entry = {name: known.get(name, _MISSING) for name in names}
        self.first: Optional[Dict[str, Any]] = None
        self._record("if.begin", test)

    def fail(self) -> None:
        """Before a `raise` on one of the sides: both are recorded, so it would always come."""
        if self.recording:
            raise mistake(
                f"`raise` stands in a branch of the program ({_line(self.place)}), both sides of which are recorded; "
                "kl.require(condition, message) states what must hold of the arguments, and is checked before each run"
            )

    def turn(self, known: Dict[str, Any]) -> Tuple[Any, ...]:
        """Between the two sides: ends the first one. Gives the names the values they had before."""
        self._end_first(known)
        return tuple(
            self._unbound(name) if value is _MISSING else value for name, value in self.entry.items()
        )

    def end(self, known: Dict[str, Any]) -> Tuple[Any, ...]:
        """Ends the branch. Gives the names their values after it."""
        if self.first is None:  # there is no `else`
            self._end_first(known, only_if_needed=True)
            known = self.entry
        second = {name: self._second(name, known) for name in self.passed}
        made = iter(self._record("if.end", _leaves(tuple(second.values()))))
        after = {name: _rebuilt(value, made) for name, value in second.items()}
        return tuple(after[name] if name in after else self._kept(name, known) for name in self.names)

    def _end_first(self, known: Dict[str, Any], only_if_needed: bool = False) -> None:
        self.first = {name: known.get(name, _MISSING) for name in self.names}
        self.passed = [name for name in self.result_names if self._is_passed(name)]
        if self.passed or not only_if_needed:
            self._record("if.else", _leaves(tuple(self.first[name] for name in self.passed)))

    def _is_passed(self, name: str) -> bool:
        assert self.first is not None
        before, now = self.entry[name], self.first[name]
        if name in self.one_sided and (before is _MISSING or isinstance(before, Escaped)):
            return False
        return _is_carriable(now) and (_is_carriable(before) or name not in self.one_sided)

    def _second(self, name: str, known: Dict[str, Any]) -> Any:
        value = known.get(name, _MISSING)
        assert self.first is not None
        if _kind(value) != _kind(self.first[name]):
            raise mistake(
                f"'{name}' is {_words(self.first[name])} after one side of this `if` and {_words(value)} after the other; a "
                "branch of the program gives values of one shape and type",
                self.place,
            )
        return value

    def _kept(self, name: str, known: Dict[str, Any]) -> Any:
        """A name that the branch does not pass on: the same on both sides, or lost."""
        assert self.first is not None
        first, second = self.first[name], known.get(name, _MISSING)
        if second is not _MISSING and _same(first, second):
            return second
        if first is _MISSING or second is _MISSING:
            return Escaped(
                f"'{name}' has a value on one side of the `if` of {_line(self.place)} only; give it one before, or on both sides"
            )
        return Escaped(
            f"'{name}' is {_words(first)} after one side of the `if` of {_line(self.place)} and {_words(second)} after the "
            "other; which one it is, is known only when the program runs"
        )

    def _unbound(self, name: str) -> Escaped:
        return Escaped(f"'{name}' has no value on this side of the `if` of {_line(self.place)}")


# Truth values. Operands after the first are functions, since Python evaluates them only if they are needed.

Later = Callable[[], Any]


def and_(first: Any, *rest: Later) -> Any:
    """first and ..."""
    return _combined(first, rest, "condition.and", neutral=True)


def or_(first: Any, *rest: Later) -> Any:
    """first or ..."""
    return _combined(first, rest, "condition.or", neutral=False)


def _combined(value: Any, rest: Sequence[Later], operation: str, neutral: bool) -> Any:
    for later in rest:
        if not isinstance(value, Condition):
            if bool(value) is not neutral:
                return value
            value = later()
            continue
        other = later()
        if isinstance(other, Condition):
            recorder = active(operation)
            value = values_of(recorder, recorder.record(operation, (value, other)))[0]
        elif bool(other) is not neutral:
            value = other
    return value


def not_(value: Any) -> Any:
    """not value"""
    if isinstance(value, Condition):
        return ~value
    return not value


def asserted(holds: Any) -> Any:
    """assert holds"""
    if isinstance(holds, Condition):
        raise mistake(
            "`assert` decides while the program is recorded, and this is known only when it runs; kl.require(condition, message) "
            "states what must hold of the arguments, and is checked before each run"
        )
    return holds


def before_else(holds: Any) -> Any:
    """while holds: ... else: ..."""
    if isinstance(holds, Condition):
        raise mistake(
            "this `while` is one of the program, which has no `else`: no `break` leaves it, so what the `else` does stands behind the loop"
        )
    return holds


_COMPARISONS: Dict[str, Callable[[Any, Any], Any]] = {
    "Lt": operator.lt, "LtE": operator.le, "Gt": operator.gt, "GtE": operator.ge, "Eq": operator.eq, "NotEq": operator.ne,
    "Is": operator.is_, "IsNot": operator.is_not, "In": lambda a, b: a in b, "NotIn": lambda a, b: a not in b,
}  # fmt: skip


def chain(first: Any, *rest: Tuple[str, Later]) -> Any:
    """a < b < c"""
    holds: Any = True
    for name, later in rest:
        second = later()
        holds = and_(holds, lambda: _COMPARISONS[name](first, second))
        if not isinstance(holds, Condition) and not holds:
            return holds
        first = second
    return holds


def choose(test: Any, then: Later, otherwise: Later) -> Any:
    """a if test else b"""
    if not isinstance(test, Condition):
        return then() if test else otherwise()
    branch = If(test, {})
    first = then()
    branch._record("if.else", _leaves(first))
    second = otherwise()
    if _kind(first) != _kind(second):
        raise mistake(f"one side of this `if` is {_words(first)}, the other {_words(second)}", branch.place)
    return _rebuilt(first, iter(branch._record("if.end", _leaves(second))))
