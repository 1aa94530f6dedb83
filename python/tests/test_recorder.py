"""The recorder survives whatever it is told: random operations with random arguments are recorded or refused.

`python3 -m tests.test_recorder SEED COUNT` tries more of them.
"""
import random
import sys
import unittest
from typing import Any, Dict, List

import kiln.language as kl
from kiln import KilnError
from kiln._errors import Place
from kiln._record import Operation, Parameter, Recorder, ValueNumber, operations

# enum kiln_value_kind, by the kinds of parameters
VALUES = {"index": 1, "condition": 2, "scalar": 3, "tile": 4, "tensor": 5, "pipe": 6, "task": 7}
LISTS = kl.LISTS | {"carried", "next", "results", "starts", "arguments", "combined"}
WORDS = ["f32", "bf16", "i32", "index", "aic", "up_down", "none", "min", ">", "incore", "main", "k", "x", "", "é"]
NUMBERS = [0, 1, 2, 3, 8, 16, 64, -1, 2**31, 2**62, -(2**63)]
PARAMETERS = [
    ["x", "in", "f32", 2, [-1, 64]], ["y", "out", "f32", 2, []], ["t", "inout", "i32", 1, []], ["s", "scalar", "f32", 0, []],
    ["n", "index", "index", 0, []], ["z", "in", "i1", 5, []],
]  # fmt: skip


class Attack:
    """One program of random operations."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.recorder = Recorder("attack", Place("attack.py", 1, 1))
        self.made: Dict[int, List[ValueNumber]] = {}

    def record(self, operation: str, *arguments: Any) -> None:
        for each in self.recorder.record(operation, arguments, Place("attack.py", self.random.randrange(1, 99), 1)):
            if each.kind:
                self.made.setdefault(each.kind, []).append(ValueNumber(each.number))

    def run(self) -> None:
        try:
            self.begin()
            for _ in range(self.random.randrange(1, 25)):
                operation = self.random.choice(list(operations().values()))
                if not operation.name.endswith(".end") or self.random.random() < 0.4:
                    self.record(operation.name, *self.arguments(operation))
        except KilnError as error:
            assert error.message, "a mistake without words"
        try:
            self.recorder.verify()
        except KilnError as error:
            assert error.message, "a mistake without words"
        self.recorder.text(True)

    def begin(self) -> None:
        """Opens a function of some kind, with values of every kind."""
        self.record("function.begin", "orchestration", "main", PARAMETERS)
        where = self.random.choice(["main", "spmd", "kernel", "role"])
        if where == "spmd":
            self.record("spmd.begin", "k", [1, 2])
        elif where == "kernel":
            self.record("function.begin", "incore", "k", PARAMETERS)
        elif where == "role":
            self.record("function.begin", "group", "g", PARAMETERS)
            self.record("pipe", "p", "aic", "aiv", [["f32", [8, 8]]])
            self.record("pipe", "q", "aiv", "aic", [["f32", [8, 8]], ["i32", [8, 1]]])
            self.record("role.begin", "a", self.random.choice(["aic", "aiv"]))
        if where != "main":
            for dtype, shape in (("f32", [8, 8]), ("i32", [8, 8]), ("i1", [8, 1])):
                self.record("full", dtype, shape, 1)
            self.record("element", self.made[VALUES["tile"]][0], 0, 0)
            self.record("index.lt", self.made[VALUES["index"]][0], 3)

    def arguments(self, operation: Operation) -> List[Any]:
        given = [self.argument(each) for each in operation.parameters]
        return given if self.random.random() < 0.9 else given[:1]

    def argument(self, parameter: Parameter) -> Any:
        pick = self.random.choice
        if self.random.random() < 0.08:
            return self.anything()
        if parameter.optional and self.random.random() < 0.5:
            return None
        if parameter.kind == "shape":
            return [pick([1, 8, 8, 8, 16, 0, -1, 2**40]) for _ in range(2)]
        if parameter.kind in ("integer", "flag"):
            return pick([0, 1, 1, 2, -1, 2**40])
        if parameter.kind in ("dtype", "role", "split", "pad", "order", "text", "kernel", "combine"):
            return pick(WORDS)
        if parameter.name in LISTS:
            return [self.value(parameter.kind) for _ in range(pick([0, 1, 2, 2, 2, 3]))]
        return self.value(parameter.kind)

    def value(self, kind: str) -> Any:
        """A value of a kind, if there is one."""
        if kind == "index" and self.random.random() < 0.5:
            return self.random.choice([0, 1, 8, 64])
        wanted = VALUES.get(kind) or self.random.choice([1, 3, 4, 5, 7])
        return self.random.choice(self.made[wanted]) if wanted in self.made else self.anything()

    def anything(self, depth: int = 0) -> Any:
        pick = self.random.choice
        forms = [
            lambda: pick([each for kind in self.made.values() for each in kind] or [ValueNumber(0)]),
            lambda: ValueNumber(pick([0, 1, 10**6, 2**63])),
            lambda: pick(NUMBERS),
            lambda: pick([0.5, float("nan"), float("inf"), -1e308]),
            lambda: pick(WORDS),
            lambda: None,
            lambda: [self.anything(depth + 1) for _ in range(self.random.randrange(5))] if depth < 3 else 1,
        ]
        return pick(forms)()


class Survives(unittest.TestCase):
    def test_random_operations(self) -> None:
        for seed in range(200):
            Attack(seed).run()

    def test_a_program_that_is_gone(self) -> None:
        """One that was given up in the middle of a function leaves nothing behind."""
        place = Place("a.py", 1, 1)
        first, second = Recorder("first", place), Recorder("second", place)
        first.record("function.begin", ("orchestration", "main", PARAMETERS), place)
        second.record("function.begin", ("orchestration", "main", []), place)
        del first
        second.record("function.end", (), place)
        with self.assertRaisesRegex(KilnError, "stands outside any function of a program"):
            second.record("alloc", ("a", "f32", [0, 64]), place)


if __name__ == "__main__":
    start, count = int(sys.argv[1]), int(sys.argv[2])
    for number in range(start, start + count):
        print(f"\r{number}", end="", flush=True)
        Attack(number).run()
    print()
