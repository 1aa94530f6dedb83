"""The cache of compiled code on disk, which all programs and processes share: `kiln.cache.stat()`, `kiln.cache.clear()`.

It lies in $KILN_CACHE_DIR, else $XDG_CACHE_HOME/kiln, else ~/.cache/kiln.
"""
from __future__ import annotations

from typing import Any, Dict, List, Tuple

from . import _library
from ._errors import mistake, public


@public
def stat() -> Dict[str, Any]:
    """Its directory, entries, bytes and max_bytes, and the hits, misses and compiles of all processes."""
    return _read(_run("stat", (0,)))


@public
def entries() -> List[Dict[str, Any]]:
    """Its entries, the most recently used first: name, bytes, last_use, program, platform, and whether it is good."""
    return _read(_run("ls", (0,)))


@public
def verify() -> List[str]:
    """The names of the entries that are damaged. Such an entry is never run, but compiled again."""
    return _read(_run("verify", (0, 1)))["damaged"]


@public
def clear() -> None:
    """Removes all entries. What is loaded goes on working."""
    _run("clear", (0,))


def _run(command: str, good: Tuple[int, ...]) -> str:
    import subprocess

    done = subprocess.run([str(_library.tool("kiln")), "cache", "--json", command], capture_output=True, text=True)
    if done.returncode not in good or (command != "clear" and not done.stdout):
        raise mistake((done.stderr or done.stdout).strip())
    return done.stdout


def _read(text: str) -> Any:
    import json

    return json.loads(text)
