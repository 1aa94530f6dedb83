"""Several ranks: threads of this process, or the processes that mpirun started."""
from __future__ import annotations

import atexit
import ctypes
import re
import sys
import threading
from typing import Any, Callable, Dict, List, Optional, Tuple, TypeVar

from . import _library
from ._errors import mistake, public
from ._tensors import mistake_of

T = TypeVar("T")

_lock = threading.Lock()
_joined: Optional[Tuple[int, int]] = None
_has_failed = False

# What only ranks do. A program without it is the same whoever else runs.
_OF_RANKS = re.compile(r"\bkiln\.(ranks?|all_reduce|all_gather|reduce_scatter|broadcast|all_to_all|send|recv|rank_barrier)\b")


def _leave() -> None:
    _library.load().kiln_ranks_leave(_has_failed)


def _note_failures() -> None:
    """What ends this process with an error ends the others too: they would wait for it."""
    before = sys.excepthook

    def hook(*error: Any) -> None:
        global _has_failed
        _has_failed = True
        before(*error)

    sys.excepthook = hook


@public
def join_ranks() -> Tuple[int, int]:
    """Makes this process one rank of those that mpirun started, and gives its number and how many there are.

    From then on programs that are called run on all of them. The first call of a program that needs ranks does the same.
    Without mpirun there is one: (0, 1).
    """
    global _joined
    with _lock:
        if _joined is None:
            rank, count = ctypes.c_int32(), ctypes.c_int32()
            library = _library.load()
            if library.kiln_ranks_join(ctypes.byref(rank), ctypes.byref(count)) != 0:
                raise mistake_of(library.kiln_last_error().decode())
            if count.value > 0:
                atexit.register(_leave)
                _note_failures()
            _joined = (rank.value, max(1, count.value))
        return _joined


def join_for(text: str) -> None:
    """Joins the others if a program needs them."""
    if _joined is None and _OF_RANKS.search(text):
        join_ranks()


@public
def run_ranks(count: int, body: Callable[[int], T]) -> List[T]:
    """Calls `body(rank)` for ranks 0 to count - 1, each on a thread of its own, and gives what they return.

    Programs that a body calls run as its rank, together with the programs that the others call:

        kiln.run_ranks(2, lambda rank: all_reduce(x[rank], y[rank]))

    What a rank raises ends the others, and is raised.
    """
    if isinstance(count, bool) or not hasattr(type(count), "__index__") or not 1 <= count.__index__() <= 1024:
        raise mistake(f"run_ranks({count!r}, ...): expected a number of ranks, from 1 to 1024")
    results: Dict[int, T] = {}
    errors: List[BaseException] = []

    def call(rank: int, _data: Any) -> int:
        try:
            results[rank] = body(rank)
            return 0
        except BaseException as error:  # raised below, where the caller is
            errors.append(error)
            return 1

    callback = _library.RankBody(call)
    library = _library.load()
    # On a thread of its own, so that this one sees Ctrl-C.
    runner = threading.Thread(target=library.kiln_ranks_run, args=(count.__index__(), callback, None))
    runner.start()
    _await(runner, library)
    if errors:
        raise _first(errors)
    return [results[rank] for rank in range(count)]


def _await(runner: threading.Thread, library: ctypes.CDLL) -> None:
    try:
        while runner.is_alive():
            runner.join(0.1)
    except BaseException:
        library.kiln_set_interrupted(1)
        runner.join()
        library.kiln_set_interrupted(0)
        raise


def _first(errors: List[BaseException]) -> BaseException:
    """The one that the others failed because of."""
    own = [error for error in errors if not re.search(r"\brank \d+ failed: ", str(error))]
    return (own or errors)[0]
