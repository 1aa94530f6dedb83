"""The parameters that a program is a function of: tile sizes, words and splits, as keyword parameters of it."""
from __future__ import annotations

import numbers
from typing import Any, Optional, Sequence, Tuple

from ._errors import mistake, public


class Param:
    """A keyword parameter of a program, with the values it may take."""

    def __init__(self, default: Any, choices: Optional[Sequence[Any]], low: int = 1) -> None:
        self.default = default
        self.choices = choices  # None: any integer of at least `low`
        self.low = low

    def check(self, name: str, value: Any) -> Any:
        """The value, if it fits; a number of numpy's or a word of an enumeration as a plain one."""
        value = self._plain(value)
        fits = type(value) is type(self.default)
        if not fits or not (value >= self.low if self.choices is None else value in self.choices):
            raise mistake(f"{name}={value!r} does not fit; it is {self.described()}")
        return value

    def _plain(self, value: Any) -> Any:
        if type(self.default) is str and isinstance(value, str):
            return str.__str__(value)
        if type(self.default) is int and isinstance(value, numbers.Integral) and not isinstance(value, bool):
            return int(value)
        return value

    def described(self) -> str:
        if self.choices is None:
            return f"an integer of at least {self.low}"
        if isinstance(self.choices, range):
            step = f", in steps of {self.choices.step}" if self.choices.step != 1 else ""
            return f"an integer from {self.choices[0]} to {self.choices[-1]}{step}"
        return "one of " + ", ".join(map(str, self.choices))

    def __repr__(self) -> str:
        return f"<{self.default!r}, {self.described()}>"


@public
def param(default: int, choices: Sequence[int] = (), *, at_least: int = 1) -> Any:
    """An integer: `BM=kl.param(64, [32, 64, 128])`, `n=kl.param(2, range(0, 9))`, or without choices any of at least 1."""
    made = Param(default, choices or None, at_least)
    made.check("the default", default)
    return made


@public
def choice(default: str, choices: Sequence[str]) -> Any:
    """A word. `form=kl.choice("atomic", ["atomic", "deterministic"])`."""
    made = Param(default, choices)
    made.check("the default", default)
    return made


SPLITS: Tuple[str, ...] = ("none", "up_down", "left_right")


@public
def split(default: str = "none") -> Any:
    """How lanes share work: "none", "up_down" or "left_right"."""
    return choice(default, SPLITS)
