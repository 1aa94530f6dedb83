"""The parameters that a program is a function of: tile sizes, words and splits, as keyword parameters of it."""
from __future__ import annotations

from typing import Any, List, Optional, Sequence, Tuple

from ._errors import mistake


class Param:
    """A keyword parameter of a program, with the values it may take."""

    def __init__(self, default: Any, choices: Optional[Sequence[Any]], low: Optional[int] = None) -> None:
        self.default = default
        self.choices: Optional[List[Any]] = None if choices is None else list(choices)
        self.low = low

    def check(self, name: str, value: Any) -> Any:
        """The value, if it fits."""
        if self.choices is not None:
            fits = any(type(each) is type(value) and each == value for each in self.choices)
        else:
            fits = isinstance(value, int) and not isinstance(value, bool) and (self.low is None or value >= self.low)
        if not fits:
            raise mistake(f"{name}={value!r} does not fit; it is {self.described()}")
        return value

    def described(self) -> str:
        if self.choices is None:
            return f"an integer of at least {self.low}"
        return "one of " + ", ".join(map(str, self.choices))

    def __repr__(self) -> str:
        return f"<{self.default!r}, {self.described()}>"


def param(default: int, choices: Sequence[int] = ()) -> Any:
    """An integer; without choices any of at least 1. `BM=kl.param(64, [32, 64, 128])`."""
    made = Param(default, choices or None, 1)
    made.check("the default", default)
    return made


def choice(default: str, choices: Sequence[str]) -> Any:
    """A word. `form=kl.choice("atomic", ["atomic", "deterministic"])`."""
    made = Param(default, choices)
    made.check("the default", default)
    return made


SPLITS: Tuple[str, ...] = ("none", "up_down", "left_right")


def split(default: str = "none") -> Any:
    """How lanes share work: "none", "up_down" or "left_right"."""
    return choice(default, SPLITS)
