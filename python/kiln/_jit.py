"""Compiling and calling: the JIT of this process, and the extension `_call` where it is installed."""
from __future__ import annotations

import contextlib
import ctypes
import functools
import importlib.machinery
import importlib.util
import os
import re
from types import ModuleType
from typing import Any, Dict, Iterator, List, NamedTuple, Optional, Tuple

from . import _library
from ._errors import KilnError, Place, entry, mistake, public
from ._library import JitCounters, JitOptions
from ._tensors import Arguments, destroy_with, last_error, mistake_of


def _find_extension() -> Optional[ModuleType]:
    """The extension: the file that KILN_CALL names ("": none), the one of the package, or in a source tree the one of the build."""
    file = os.environ.get("KILN_CALL")
    if file == "":
        return None
    if file is None:
        try:
            from . import _call

            return _call
        except ImportError:
            file = _library.built_extension()
        if file is None:
            return None
    elif not os.path.isfile(file):
        raise ImportError(f"kiln: KILN_CALL is {file}, where there is no file")
    name = __package__ + "._call"
    loader = importlib.machinery.ExtensionFileLoader(name, file)
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader(name, loader))
    loader.exec_module(module)
    return module


_extension = _find_extension()


class _CallableInPython:
    """What programs derive from where there is no extension."""

    @entry
    def __call__(self, *arguments: Any, **values: Any) -> None:
        error = self._run_in_python(*arguments, **values)  # type: ignore[attr-defined]
        if error is not None:
            raise error

    def _remember(self, compiled: int, on_gpu: bool) -> None:
        pass


@contextlib.contextmanager
def without_calls() -> Iterator[None]:
    """A block in which calls on this thread go to Python, which refuses them: while a program is recorded."""
    if _extension is None:
        yield
        return
    _extension.set_recording(True)
    try:
        yield
    finally:
        _extension.set_recording(False)


# A call goes to _run_in_python, and to _explain if it failed; with the extension only if it must.
Callable: Any = _extension.Callable if _extension else _CallableInPython


@functools.lru_cache(maxsize=None)
def _bound_extension() -> Optional[ModuleType]:
    """The extension, once it knows the libraries."""
    if _extension is None:
        return None
    library = _library.load()
    address = lambda function: ctypes.cast(function, ctypes.c_void_p).value  # noqa: E731
    _extension.bind(address(library.kiln_compiled_call_on), address(library.kiln_set_interrupted))
    return _extension


class Records(NamedTuple):
    """What calls write down about themselves, each into a folder of its own in `out`."""

    dump: int  # a level, as in Program.dump; 0: as KILN_DUMP says
    timeline: bool  # False: as KILN_TIMELINE says
    out: str  # "": as KILN_OUT says


_jits: Dict[Tuple[int, Optional[Records]], int] = {}


def jit(records: Optional[Records] = None) -> int:
    """The JIT of this process whose calls are recorded so; a forked one gets its own."""
    key = (os.getpid(), records)
    if key not in _jits:
        made = _new_jit(records)
        if _jits.setdefault(key, made) != made:  # another thread was first
            _library.load().kiln_jit_destroy(made)
    return _jits[key]


def _new_jit(records: Optional[Records]) -> int:
    if records is None:
        made = _library.load().kiln_jit_create()
    else:
        options = JitOptions(size=ctypes.sizeof(JitOptions), dump=records.dump, timeline=records.timeline)
        options.out = os.fsencode(records.out) if records.out else None
        made = _library.load().kiln_jit_create_with(ctypes.byref(options))
    if not made:
        raise mistake_of(last_error())
    return made


def default_platform(on_gpu: bool) -> str:
    """The platform that computes where the tensors are."""
    return _library.load().kiln_jit_platform(on_gpu).decode()


def compiler_choices(platform: str) -> Dict[str, List[str]]:
    """What the compiler of a platform can be told to choose, and the values that are worth trying."""
    lines = _library.load().kiln_jit_compiler_choices(platform.encode()).decode().splitlines()
    return {words[0]: words[1:] for words in map(str.split, lines)}


class Compiled:
    """A program that has been compiled for a platform, to be called."""

    def __init__(self, text: str, platform: str, records: Optional[Records] = None) -> None:
        self._library = _library.load()
        self._extension = _bound_extension()
        source = text.encode()
        self.handle = self._library.kiln_jit_compile(jit(records), source, len(source), platform.encode(), b"main")
        if not self.handle:
            said = last_error()
            is_no_jit = "the JIT compiles for" in said
            raise call_error(said + ("; program.run(..., platform=...) runs it on a simulator or on torch" if is_no_jit else ""))
        destroy_with(self, self._library.kiln_compiled_destroy, self.handle)

    def call(self, arguments: Arguments) -> None:
        """Runs it. The interpreter is free for other threads meanwhile."""
        if self._extension is not None:
            code = self._extension.run(self.handle, ctypes.addressof(arguments.array), arguments.count, arguments.stream)
        else:
            code = self._library.kiln_compiled_call_on(self.handle, arguments.array, arguments.count, arguments.stream)
        if code != 0:
            raise call_error(last_error())

    def compile_only(self, arguments: Arguments) -> None:
        """Fills the cache without running."""
        if self._library.kiln_compiled_compile_only(self.handle, arguments.array, arguments.count) != 0:
            raise call_error(last_error())


_AT_A_LINE = re.compile(r"(?:kiln: )?(?P<file>[^\n:]+?):(?P<line>\d+)(?::(?P<column>\d+))?: error: (?P<message>.*)", re.DOTALL)


def call_error(text: str) -> KilnError:
    """What went wrong in a call: at a line of the program, or with the arguments."""
    found = _AT_A_LINE.fullmatch(text)
    if not found:
        return mistake_of(text)
    return KilnError(found["message"], Place(found["file"], int(found["line"]), int(found["column"] or 0)))


@public
def set_workers(count: int) -> None:
    """Sets how many threads calls of programs may run on, the caller's among them. It holds for the whole process.

    Without it that is what KILN_WORKERS says, or as many as there are cores.
    """
    if isinstance(count, bool) or not hasattr(type(count), "__index__") or not 1 <= count.__index__() < 2**31:
        raise mistake(f"set_workers({count!r}): a call runs on one thread or more")
    library = _library.load()
    options = JitOptions(size=ctypes.sizeof(JitOptions), workers=count.__index__())
    made = library.kiln_jit_create_with(ctypes.byref(options))
    if not made:
        raise mistake_of(last_error())
    library.kiln_jit_destroy(made)


@public
def counters() -> Dict[str, int]:
    """What the JIT has done: hits and misses of its caches, compilations, bytes."""
    found = JitCounters()
    _library.load().kiln_jit_get_counters(jit(), ctypes.byref(found))
    return {name: getattr(found, name) for name, _ in JitCounters._fields_}
