"""The recorder: one operation of the program after the other, through kiln/record_c.h."""
from __future__ import annotations

import ctypes
import functools
import json
import re
import threading
from typing import Any, Callable, Dict, List, NamedTuple, Optional, Sequence, Tuple

from . import _library
from ._errors import NOWHERE, KilnError, Place, called, here, mistake
from ._library import Item, Result, Where

# enum kiln_item_kind
_NOTHING, _INTEGER, _REAL, _TEXT, _VALUE, _LIST = range(6)
_NESTS_FUNCTIONS = 2  # enum kiln_recorder_flags
_INTEGERS = range(-(2**63), 2**63)


class Parameter(NamedTuple):
    """A parameter of an operation."""

    name: str
    kind: str
    optional: bool
    default: Any


class Operation(NamedTuple):
    """An operation of the language, as the library lists it."""

    name: str
    summary: str
    parameters: Tuple[Parameter, ...]


@functools.lru_cache(maxsize=None)
def operations() -> Dict[str, Operation]:
    """Every operation, by name."""
    listed = json.loads(_library.load().kiln_recorder_operations())
    return {
        each["name"]: Operation(
            each["name"],
            each["summary"],
            tuple(
                Parameter(one["name"], one["kind"], "default" in one, one.get("default"))
                for one in each["parameters"]
            ),
        )
        for each in listed
    }


_NEEDS = re.compile(r" needs '\w+'$")


_LEFT = "an exception left {} while it was recorded, and was caught; nothing can be recorded behind that. Catch it inside"


class ValueNumber(int):
    """The number of a value of the program, as opposed to an integer."""


def _fill(item: Item, argument: Any, keep: List[Any]) -> None:
    """Makes an item of a Python object; what it points at is kept."""
    convert = getattr(type(argument), "__kiln_item__", None)
    if convert is not None:
        argument = convert(argument)
    if argument is None:
        item.kind = _NOTHING
    elif isinstance(argument, ValueNumber):
        item.kind, item.value.number = _VALUE, argument
    elif isinstance(argument, str):
        text = argument.encode()
        keep.append(text)
        item.kind, item.value.text = _TEXT, text
    elif isinstance(argument, (tuple, list)):
        made = _items(argument, keep)
        item.kind, item.count = _LIST, len(argument)
        item.value.list = ctypes.addressof(made)
    elif isinstance(argument, float):
        item.kind, item.value.real = _REAL, argument
    elif hasattr(type(argument), "__index__") and not hasattr(argument, "shape"):
        _fill_integer(item, argument.__index__())
    else:
        _fill_foreign(item, argument, keep)


def _fill_integer(item: Item, integer: int) -> None:
    if integer not in _INTEGERS:
        raise mistake(f"the integer {integer} does not fit 64 bits")
    item.kind, item.value.integer = _INTEGER, integer


def _fill_foreign(item: Item, argument: Any, keep: List[Any]) -> None:
    """A number of numpy's or torch's; anything else is a mistake."""
    if getattr(argument, "shape", None) == () and hasattr(argument, "item"):
        number = argument.item()
        if isinstance(number, (bool, int, float)):
            _fill(item, number, keep)
            return
    advice = ""
    if getattr(argument, "shape", None) is not None and not isinstance(argument, type):
        advice = "; tensors are arguments of the whole program"
    elif isinstance(argument, type) or "dtype" in type(argument).__name__:
        advice = "; element types are those of Kiln, such as f32"
    raise mistake(f"{describe(argument)} is no value of the program{advice}")


def describe(argument: Any) -> str:
    """What a Python object is, in a few words."""
    shape = getattr(argument, "shape", None)
    module = type(argument).__module__.partition(".")[0]
    if module in ("numpy", "torch") and shape is not None:
        return f"{'an array' if module == 'numpy' else 'a tensor'} of {module} (of shape {tuple(shape)})"
    if argument is None:
        return "None"
    text = repr(argument)
    return f"{type(argument).__name__} {text if len(text) < 40 else text[:37] + '...'}"


def _items(arguments: Sequence[Any], keep: List[Any]) -> Any:
    made = (Item * max(1, len(arguments)))()
    keep.append(made)
    for item, argument in zip(made, arguments):
        _fill(item, argument, keep)
    return made


def _where(place: Place) -> Where:
    return Where(place.file.encode(), place.line, place.column)


class Recorder:
    """A program that is being recorded. It is the thread's active one while its body runs."""

    def __init__(self, name: str, place: Place) -> None:
        self.name = name
        self._library = _library.load()
        self._handle: Optional[int] = self._library.kiln_recorder_create(
            name.encode(), _NESTS_FUNCTIONS, _where(place)
        )
        self._pending: List[Callable[[], None]] = []  # functions whose first operation has not come yet
        self._left = ""  # what an exception left before its end

    def __del__(self) -> None:
        if getattr(self, "_handle", None):
            self._library.kiln_recorder_destroy(self._handle)
            self._handle = None

    def begin_later(self, begin: Callable[[], None]) -> None:
        """Begins a function when its first operation comes: until then its body may state extents."""
        self.flush()
        self._pending.append(begin)

    def leave(self, what: str) -> None:
        """Notes that an exception has left a part of the program: if somebody catches it, the part has no end."""
        self._left = self._left or what

    def flush(self) -> None:
        """Begins what is to be begun."""
        while self._pending:
            self._pending.pop()()

    def record(self, operation: str, arguments: Sequence[Any] = (), place: Optional[Place] = None) -> List[Result]:
        """Records an operation; gives what it made."""
        if self._left:
            raise mistake(_LEFT.format(self._left), place)
        self.flush()
        place = place or here()
        keep: List[Any] = []
        items = _items(arguments, keep)
        room = _room_for(arguments)
        results = (Result * room)()
        count = self._library.kiln_record(
            self._handle, operation.encode(), items, len(arguments), _where(place), results, room
        )
        if count < 0:
            raise self._mistake(place)
        assert count <= room, f"{operation} has more results than were expected"
        return list(results)[:count]

    def choose(self, name: str, value: str) -> None:
        """Chooses for the compiler what its passes would choose by themselves."""
        if self._library.kiln_recorder_choose(self._handle, name.encode(), value.encode()) != 0:
            raise self._mistake(NOWHERE)

    def verify(self) -> None:
        """Checks the whole program."""
        self.flush()
        if self._library.kiln_recorder_verify(self._handle) != 0:
            raise self._mistake(NOWHERE)

    def text(self, locations: bool) -> str:
        """The program as text."""
        return self._library.kiln_recorder_text(self._handle, int(locations)).decode()

    def _mistake(self, place: Place) -> KilnError:
        at = Where()
        message = self._library.kiln_recorder_error(self._handle, 0, ctypes.byref(at)).decode()
        if message.endswith("not what was begun last"):
            message = _LEFT.format("a loop, a branch or a part of a kernel")
        if _NEEDS.search(message):  # what is left out, Python has told
            message += ", but is given None; did the function that made it end without `return`?"
        file = (at.file or b"").decode()
        if not file or (file, at.line) == place[:2]:
            return KilnError(message, place)
        return KilnError(message, Place(file, at.line, at.column))


def _room_for(arguments: Sequence[Any]) -> int:
    """As many results as an operation can have: a few, or up to two for each thing in its lists."""
    return 8 + 2 * sum(len(each) for each in arguments if isinstance(each, (tuple, list)))


class _Active(threading.local):
    recorder: Optional[Recorder] = None


_active = _Active()


def active(what: str) -> Recorder:
    """The program that is being recorded on this thread."""
    if _active.recorder is None:
        raise mistake(f"{called() or what} stands outside any program; call it in a function that is decorated with @kiln.program")
    return _active.recorder


def refuse_nesting(name: str) -> None:
    """A program cannot be used while another is recorded."""
    if _active.recorder is not None:
        raise mistake(
            f"{name} is called while {_active.recorder.name} is recorded; a program is no part of another one. What both need "
            "goes into a function with @kl.function"
        )


class recording:
    """Makes a recorder the active one of this thread, in a `with` statement."""

    def __init__(self, recorder: Recorder) -> None:
        self.recorder = recorder

    def __enter__(self) -> Recorder:
        refuse_nesting(self.recorder.name)
        _active.recorder = self.recorder
        return self.recorder

    def __exit__(self, *_: Any) -> None:
        _active.recorder = None
