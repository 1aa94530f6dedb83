"""Finds and loads libkiln.so, on first use: importing kiln loads nothing."""
from __future__ import annotations

import ctypes
import functools
import os
import pathlib
from typing import Any, Iterator, Optional, Tuple

_PACKAGE = pathlib.Path(__file__).resolve().parent
_NAME = "libkiln.so.0"  # the version of the C interface that this package speaks


class Where(ctypes.Structure):
    """struct kiln_where: the user's line."""

    _fields_ = [("file", ctypes.c_char_p), ("line", ctypes.c_uint32), ("column", ctypes.c_uint32)]


class _ItemIs(ctypes.Union):
    _fields_ = [
        ("integer", ctypes.c_int64),
        ("real", ctypes.c_double),
        ("text", ctypes.c_char_p),
        ("number", ctypes.c_uint64),
        ("list", ctypes.c_void_p),
    ]


class Item(ctypes.Structure):
    """struct kiln_item: an argument of an operation."""

    _fields_ = [("kind", ctypes.c_int32), ("count", ctypes.c_uint32), ("value", _ItemIs)]


class Result(ctypes.Structure):
    """struct kiln_result: what an operation made."""

    _fields_ = [
        ("number", ctypes.c_int64),
        ("kind", ctypes.c_int32),
        ("dtype", ctypes.c_int32),
        ("rows", ctypes.c_int64),
        ("cols", ctypes.c_int64),
        ("rank", ctypes.c_int32),
        ("reserved", ctypes.c_int32),
    ]


class _ArgValue(ctypes.Union):
    _fields_ = [("integer", ctypes.c_int64), ("real", ctypes.c_double), ("problem", ctypes.c_char_p)]


class CallArg(ctypes.Structure):
    """struct kiln_call_arg: an argument of a call."""

    _fields_ = [
        ("data", ctypes.c_void_p),
        ("extents", ctypes.POINTER(ctypes.c_int64)),
        ("strides", ctypes.POINTER(ctypes.c_int64)),
        ("marks", ctypes.c_uint64),
        ("value", _ArgValue),
        ("dtype", ctypes.c_int32),
        ("rank", ctypes.c_uint16),
        ("kind", ctypes.c_uint8),
        ("flags", ctypes.c_uint8),
    ]


class JitOptions(ctypes.Structure):
    """struct kiln_jit_options. What is zero is as the environment says."""

    _fields_ = [
        ("size", ctypes.c_uint64),
        ("cache_dir", ctypes.c_char_p),
        ("cache_bytes", ctypes.c_uint64),
        ("check", ctypes.c_int32),
        ("dump", ctypes.c_int32),
        ("log", ctypes.c_void_p),
        ("log_data", ctypes.c_void_p),
        ("out", ctypes.c_char_p),
        ("timeline", ctypes.c_int32),
        ("workers", ctypes.c_int32),
    ]


class JitCounters(ctypes.Structure):
    """struct kiln_jit_counters."""

    _fields_ = [
        (name, ctypes.c_uint64)
        for name in ("memory_hits", "disk_hits", "misses", "compiles", "call_states", "evictions", "bytes", "graphs", "graph_launches")
    ]


RankBody = ctypes.CFUNCTYPE(ctypes.c_int32, ctypes.c_int32, ctypes.c_void_p)

_Pointer, _Text, _Int = ctypes.c_void_p, ctypes.c_char_p, ctypes.c_int32
_SIGNATURES: Tuple[Tuple[str, Any, Tuple[Any, ...]], ...] = (
    ("kiln_recorder_create", _Pointer, (_Text, ctypes.c_uint32, Where)),
    ("kiln_recorder_destroy", None, (_Pointer,)),
    (
        "kiln_record",
        _Int,
        (_Pointer, _Text, ctypes.POINTER(Item), ctypes.c_uint32, Where, ctypes.POINTER(Result), ctypes.c_uint32),
    ),
    ("kiln_recorder_choose", _Int, (_Pointer, _Text, _Text)),
    ("kiln_recorder_verify", _Int, (_Pointer,)),
    ("kiln_recorder_error", _Text, (_Pointer, ctypes.c_uint32, ctypes.POINTER(Where))),
    ("kiln_recorder_text", _Text, (_Pointer, _Int)),
    ("kiln_recorder_operations", _Text, ()),
    ("kiln_version", _Text, ()),
    ("kiln_jit_platform", _Text, (_Int,)),
    ("kiln_jit_compiler_choices", _Text, (_Text,)),
    ("kiln_jit_create", _Pointer, ()),
    ("kiln_jit_create_with", _Pointer, (ctypes.POINTER(JitOptions),)),
    ("kiln_jit_destroy", None, (_Pointer,)),
    ("kiln_jit_error", _Text, ()),
    ("kiln_jit_compile", _Pointer, (_Pointer, _Text, ctypes.c_uint64, _Text, _Text)),
    ("kiln_compiled_destroy", None, (_Pointer,)),
    ("kiln_compiled_call_on", _Int, (_Pointer, ctypes.POINTER(CallArg), ctypes.c_uint32, _Pointer)),
    ("kiln_compiled_compile_only", _Int, (_Pointer, ctypes.POINTER(CallArg), ctypes.c_uint32)),
    ("kiln_jit_get_counters", None, (_Pointer, ctypes.POINTER(JitCounters))),
    ("kiln_adaptor_create", _Pointer, (_Pointer, _Int, ctypes.c_uint32, ctypes.POINTER(ctypes.c_int64), ctypes.POINTER(ctypes.c_int64))),
    ("kiln_adaptor_from_dlpack", _Pointer, (_Pointer,)),
    ("kiln_adaptor_destroy", None, (_Pointer,)),
    ("kiln_adaptor_mark_layout_dynamic", _Int, (_Pointer, _Int, ctypes.c_int64)),
    ("kiln_adaptor_mark_static", _Int, (_Pointer, ctypes.c_uint32, ctypes.POINTER(ctypes.c_int32))),
    ("kiln_adaptor_arg", CallArg, (_Pointer,)),
    # Of libkiln_runtime.so, which libkiln.so needs.
    ("kiln_set_interrupted", None, (_Int,)),
    ("kiln_last_error", _Text, ()),
    ("kiln_ranks_run", _Int, (_Int, RankBody, _Pointer)),
    ("kiln_ranks_join", _Int, (ctypes.POINTER(_Int), ctypes.POINTER(_Int))),
    ("kiln_ranks_leave", None, (_Int,)),
)


def _places() -> Iterator[pathlib.Path]:
    """Where the library may lie: in the package (a wheel), in an installed prefix, in a source tree."""
    yield _PACKAGE / "lib" / _NAME
    for above in _PACKAGE.parents:
        yield above / "lib" / _NAME
        yield above / "build" / "lib" / _NAME
    for above in _PACKAGE.parents:  # distributions have folders of their own for libraries
        yield above / "lib64" / _NAME
        yield above / "lib" / f"{os.uname().machine}-linux-gnu" / _NAME


def built_extension() -> Optional[str]:
    """The extension `_call` that belongs to the library of a source tree, if it is built."""
    try:
        file = path().parent.parent / "python" / "kiln" / "_call.abi3.so"
    except ImportError:
        return None
    return str(file) if file.is_file() else None


@functools.lru_cache(maxsize=None)
def path() -> pathlib.Path:
    """The library's file."""
    said = os.environ.get("KILN_LIBRARY")
    if said:
        if not pathlib.Path(said).is_file():
            raise ImportError(f"kiln: KILN_LIBRARY is {said}, where there is no file")
        return pathlib.Path(said)
    for place in _places():
        if place.is_file():
            return place
    raise ImportError(
        f"kiln: {_NAME} is not there. Install Kiln, build it (`make build`), or set KILN_LIBRARY to the "
        f"library's file. The first place looked at was {_PACKAGE / 'lib' / _NAME}"
    )


@functools.lru_cache(maxsize=None)
def load() -> ctypes.CDLL:
    """The library, with the types of its functions."""
    try:
        library = ctypes.CDLL(str(path()))
    except OSError as error:
        raise ImportError(f"kiln: {path()} cannot be loaded: {error}") from None
    for name, result, arguments in _SIGNATURES:
        try:
            function = getattr(library, name)
        except AttributeError:
            raise ImportError(f"kiln: {path()} has no {name}; it is of another version than this package") from None
        function.restype, function.argtypes = result, arguments
    return library


def tool(name: str) -> pathlib.Path:
    """A command-line tool of Kiln, which lies beside the library."""
    for above in list(path().parents)[:3]:
        if (above / "bin" / name).is_file():
            return above / "bin" / name
    raise FileNotFoundError(f"kiln: the tool {name} is not beside {path()}")
