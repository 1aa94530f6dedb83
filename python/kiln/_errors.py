"""Mistakes, shown at the user's line: `KilnError`, the user's place in the code, and tracebacks without Kiln's own frames."""
from __future__ import annotations

import ast
import copy
import functools
import linecache
import os
import sys
import threading
import types
from typing import Any, Callable, List, NamedTuple, Optional, Tuple, TypeVar

_PACKAGE = os.path.dirname(os.path.abspath(__file__)) + os.sep


class Place(NamedTuple):
    """A place in the user's code. Lines and columns count from 1; column 0: not known."""

    file: str
    line: int
    column: int = 0
    end: int = 0  # the column behind, if it is on the same line


NOWHERE = Place("", 0)


class KilnError(Exception):
    """A mistake in a program or in its arguments, with the line of the user's code that made it."""

    __module__ = "kiln"

    def __init__(self, message: str, place: Place = NOWHERE) -> None:
        super().__init__(message)
        self.message = message
        self.place = place

    @property
    def file(self) -> str:
        return self.place.file

    @property
    def line(self) -> int:
        return self.place.line

    def __str__(self) -> str:
        if not self.place.file:
            return self.message
        column = f":{self.place.column}" if self.place.column else ""
        return f"{self.place.file}:{self.place.line}{column}: {self.message}{_excerpt(self.place)}"

    def __reduce__(self) -> Tuple[Any, ...]:
        return KilnError, (self.message, self.place)


def _excerpt(place: Place) -> str:
    """The user's line with a caret under what is meant."""
    source = linecache.getline(place.file, place.line).rstrip()
    if not source:
        return ""
    number = f"{place.line:7d}"
    shown = f"\n{number} | {source}"
    if place.column and place.column <= len(source):
        width = max(1, min(place.end, len(source) + 1) - place.column)
        # Tabs stay tabs, so that the caret stands below its character.
        before = "".join("\t" if each == "\t" else " " for each in source[: place.column - 1])
        shown += f"\n{' ' * len(number)} | {before}{'^' * width}"
    return shown


@functools.lru_cache(maxsize=1024)
def _positions(code: types.CodeType) -> List[Tuple[Optional[int], ...]]:
    return list(code.co_positions())  # type: ignore[attr-defined]


def is_own(file: str) -> bool:
    """Whether a file is one of this package."""
    return file.startswith(_PACKAGE)


_callers: List[str] = []  # folders of packages that call programs for the user


def add_caller(folder: str) -> None:
    """Says that code of a package is not where a user's mistake is: torch calls its operators for whoever calls torch."""
    if folder not in _callers:
        _callers.append(folder)


def _is_users(frame: types.FrameType) -> bool:
    file = frame.f_code.co_filename
    return not (is_own(file) or _IS_ENTRY in frame.f_globals or any(file.startswith(each) for each in _callers))


def place_of(frame: types.FrameType) -> Place:
    """Where a frame is."""
    code = frame.f_code
    if sys.version_info < (3, 11) or frame.f_lasti < 0:
        return Place(code.co_filename, frame.f_lineno)
    line, end_line, column, end = _positions(code)[frame.f_lasti // 2]
    if line is None or column is None:
        return Place(code.co_filename, frame.f_lineno)
    # Columns of Python count bytes of UTF-8, those of people characters.
    source = linecache.getline(code.co_filename, line).encode()
    start = len(source[:column].decode(errors="replace"))
    last = len(source[:end].decode(errors="replace")) if end_line == line and end is not None else start
    return Place(code.co_filename, line, start + 1, last + 1)


def here() -> Place:
    """The user's place: the innermost frame that is not Kiln's."""
    frame: Optional[types.FrameType] = sys._getframe(1)
    while frame is not None and not _is_users(frame):
        frame = frame.f_back
    return place_of(frame) if frame is not None else NOWHERE


def counted(number: int, what: str, many: str = "") -> str:
    """A number of things, as people say it."""
    return f"{number} {what if number == 1 else many or what + 's'}"


def mistake(message: str, place: Optional[Place] = None) -> KilnError:
    """A mistake at the user's line, to be raised."""
    return KilnError(message, here() if place is None else place)


def without_own_frames(trace: Optional[types.TracebackType]) -> Optional[types.TracebackType]:
    """A traceback with the user's frames only."""
    users = []
    while trace is not None:
        if not is_own(trace.tb_frame.f_code.co_filename):
            users.append(trace)
        trace = trace.tb_next
    made: Optional[types.TracebackType] = None
    for each in reversed(users):
        made = types.TracebackType(made, each.tb_frame, each.tb_lasti, each.tb_lineno)
    return made


def endless(error: RecursionError) -> KilnError:
    """A mistake in place of what Python says when functions call each other too deeply, at the user's innermost line."""
    trace, users = without_own_frames(error.__traceback__), []
    while trace is not None:
        users.append((trace.tb_frame.f_code, trace.tb_lineno))
        trace = trace.tb_next
    for code, line in reversed(users):
        if sum(each is code for each, _ in users) > 1:
            message = f"{code.co_name} calls itself without end: what ends it must be known while the program is recorded"
            return KilnError(message, Place(code.co_filename, line))
    return KilnError(str(error))


# An entry runs a method of Kiln's and raises what goes wrong in it. A Python function cannot leave its own frame out of a
# traceback; so that none of Kiln's is seen, an entry claims to stand where the user's program does.
_IS_ENTRY = "__kiln_entry__"
# Parsed once: Python 3.11 fails at times where several threads parse.
_ENTRY = ast.parse("""
def entry(*arguments, **options):
    value, error = run(*arguments, **options)
    if error is not None:
        raise error
    return value
""")

F = TypeVar("F", bound=Callable[..., Any])


class _Guarding(threading.local):
    depth = 0  # of the guarded methods that run on this thread
    outermost = ""  # what the user called


_guarding = _Guarding()


def called() -> str:
    """What the user called, if that was a function of the language outside of any program."""
    return _guarding.outermost


def _guarded(method: Callable[..., Any]) -> Callable[..., Tuple[Any, Optional[BaseException]]]:
    def run(*arguments: Any, **options: Any) -> Tuple[Any, Optional[BaseException]]:
        if _guarding.depth == 0:
            is_of_language = getattr(method, "__module__", "").endswith(".language")
            _guarding.outermost = f"kl.{method.__name__}" if is_of_language else ""
        _guarding.depth += 1
        try:
            return method(*arguments, **options), None
        except BaseException as error:
            if isinstance(error, KilnError):
                error.__cause__, error.__suppress_context__ = None, True
            return None, error.with_traceback(without_own_frames(error.__traceback__))
        finally:
            _guarding.depth -= 1

    return run


def error_of(method: Callable[..., Any], *arguments: Any) -> Optional[BaseException]:
    """Runs a method and gives what went wrong, to be raised where no frame of Kiln's is seen."""
    return _guarded(method)(*arguments)[1]


@functools.lru_cache(maxsize=4096)
def _entry_code(file: str, line: int, name: str) -> types.CodeType:
    """What an entry at a line of the user's consists of."""
    tree = copy.deepcopy(_ENTRY)
    source = linecache.getline(file, line).rstrip()
    columns = {"col_offset": len(source) - len(source.lstrip()), "end_col_offset": len(source)}
    for node in ast.walk(tree):
        if hasattr(node, "lineno"):
            vars(node).update(columns, lineno=max(1, line), end_lineno=max(1, line))
    module = compile(tree, file or "<program>", "exec")
    code = next(each for each in module.co_consts if isinstance(each, types.CodeType))
    return code.replace(co_name=name, **({"co_qualname": name} if sys.version_info >= (3, 11) else {}))


def entry_at(place: Place, name: str, method: Callable[..., Any]) -> Callable[..., Any]:
    """The method as a function that stands at the user's place."""
    return types.FunctionType(_entry_code(place.file, place.line, name), {"run": _guarded(method), _IS_ENTRY: True}, name)


class _Entry:
    """A method that is called through an entry; made once for each object."""

    def __init__(self, method: Callable[..., Any]) -> None:
        self.method = method
        functools.update_wrapper(self, method)  # type: ignore[arg-type]

    def __get__(self, owner: Any, kind: Any = None) -> Any:
        if owner is None:
            return self
        entries = owner.__dict__.setdefault("_entries", {})
        name = self.method.__name__
        if name not in entries:
            made = entry_at(owner.place, owner.__name__, self.method.__get__(owner))
            made.__doc__ = self.method.__doc__
            entries[name] = made
        return entries[name]


def entry(method: F) -> F:
    """Decorates a method whose mistakes are shown without Kiln's own frames. The object has a `place` and a `__name__`."""
    return _Entry(method)  # type: ignore[return-value]


class _Call:
    """How a public function is called: where an outer one does not take Kiln's frames away, through an entry at the caller's line.

    Python asks for the method before it calls it, so that nothing of this is left when the method raises.
    """

    def __get__(self, owner: Any, kind: Any = None) -> Any:
        return owner._at_caller(owner.function)


class _Public:
    """A function or method that users call; see `public`."""

    __call__ = _Call()

    def __init__(self, function: Callable[..., Any], name: str) -> None:
        functools.update_wrapper(self, function)
        self.function = function
        self.name = name

    def __repr__(self) -> str:
        return repr(self.function)

    def __get__(self, owner: Any, kind: Any = None) -> Any:
        return self if owner is None else self._at_caller(self.function.__get__(owner))

    def _at_caller(self, function: Callable[..., Any]) -> Callable[..., Any]:
        return function if _guarding.depth else entry_at(here(), self.name, function)


def public(what: F) -> F:
    """Decorates a function that users call, or a class with such methods: its mistakes are shown without Kiln's own frames."""
    if not isinstance(what, type):
        return _Public(what, what.__name__)  # type: ignore[return-value]
    for name, member in list(vars(what).items()):
        if name.startswith("_") and not name.startswith("__"):
            continue
        if isinstance(member, types.FunctionType):
            setattr(what, name, _Public(member, name))
        elif isinstance(member, property):
            setattr(what, name, property(_Public(member.fget, name), doc=member.__doc__))
    return what
