"""Random functions compute the same as Python and as programs: what loops and branches carry is what Python would.

`python3 -m tests.test_random_programs SEED COUNT` tries more of them.
"""
import contextlib
import importlib.util
import os
import random
import sys
import tempfile
import types
import unittest
from typing import Iterator, List

import kiln
import kiln.language as kl
from kiln import KilnError, i32

try:
    import numpy
except ImportError:
    numpy = None

NAMES = "abcd"
PYTHON = types.SimpleNamespace(range=range, min=min, max=max)  # what kl is when Python alone runs a function
INPUTS = [(3, 5), (0, 1), (8, 2), (1, 30)]
REFUSED = "refused"
# Whether a `while` is the program's has to be clear when it begins.
REFUSALS = ("was Python's when the loop began", "is made of values of the program, but is")


class Writer:
    """Writes a function of two numbers, `body(kl, n, m)`, with loops and branches of all kinds."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.lines: List[str] = []
        self.count = 0
        self.has_helper = self.random.random() < 0.3

    def source(self) -> str:
        pick = self.random.choice
        self.lines = [
            "def body(kl, n, m):",
            f"    a, b, c, d = {pick(['n', '4'])}, m, {self.random.randrange(5)}, {pick(['n', '7'])}",
        ]
        if self.has_helper:
            self.lines += ["    def bump():", "        nonlocal a", "        a = (a + b) % 50"]
        self.block(1)
        self.block(1)
        self.lines.append("    return a % 1000, b % 1000, c % 1000, d % 1000")
        return "\n".join(self.lines) + "\n"

    def name(self) -> str:
        return self.random.choice(NAMES)

    def fresh(self, prefix: str) -> str:
        self.count += 1
        return f"{prefix}{self.count}"

    def expression(self, depth: int = 0) -> str:
        """Never negative, since // and % of the program round toward zero."""
        e = lambda: self.expression(depth + 1)
        forms = [
            self.name,
            self.name,
            lambda: str(self.random.randrange(9)),
            lambda: f"({e()} + {e()}) % 97",
            lambda: f"({e()} * {e()}) % 89",
            lambda: f"kl.max({e()} - {e()}, 0)",
            lambda: f"kl.min({e()}, {e()})",
            lambda: f"({e()} if {self.condition(depth + 1)} else {e()})",
            lambda: f"{e()} // {self.random.randrange(1, 5)}",
        ]
        return self.random.choice(forms[:2] if depth > 2 else forms)()

    def condition(self, depth: int = 0) -> str:
        e, c = (lambda: self.expression(depth + 1)), (lambda: self.condition(depth + 1))
        simple = lambda: f"{e()} {self.random.choice(['<', '<=', '>', '>=', '==', '!='])} {e()}"
        forms = [
            simple,
            simple,
            lambda: f"({c()} {self.random.choice(['and', 'or'])} {c()})",
            lambda: f"(not {c()})",
            lambda: f"({e()} <= {e()} < {e()})",
        ]
        return self.random.choice(forms[:1] if depth > 1 else forms)()

    def block(self, indent: int) -> None:
        statements = [self.assign, self.assign, self.assign, self.branch, self.branch, self.loop, self.loop, self.repeat]
        for _ in range(self.random.randrange(1, 4)):
            self.random.choice(statements[:3] if indent > 4 else statements)(indent)

    def line(self, indent: int, text: str) -> None:
        self.lines.append("    " * indent + text)

    def assign(self, indent: int) -> None:
        one, other = self.random.sample(NAMES, 2)
        forms = [f"{one} = {self.expression()}", f"{one} += {self.expression()}",
                 f"{one}, {other} = {self.expression()}, {self.expression()}"] + ["bump()"] * self.has_helper
        self.line(indent, self.random.choice(forms))

    def branch(self, indent: int) -> None:
        self.line(indent, f"if {self.condition()}:")
        self.block(indent + 1)
        if self.random.random() < 0.3:
            self.line(indent, f"elif {self.condition()}:")
            self.block(indent + 1)
        if self.random.random() < 0.6:
            self.line(indent, "else:")
            self.block(indent + 1)

    def loop(self, indent: int) -> None:
        index = self.fresh("i")
        over = self.random.choice(
            ["range(3)", "kl.range(2)", "kl.range(0)", "kl.range(1, 4)", f"kl.range(0, {self.name()} % 4, 2)",
             f"kl.range({self.name()} % 4)"]
        )
        self.line(indent, f"for {index} in {over}:")
        self.line(indent + 1, f"{self.name()} = ({index} + {self.name()}) % 31")
        self.block(indent + 1)

    def repeat(self, indent: int) -> None:
        index = self.fresh("w")
        self.line(indent, f"{index} = {self.random.choice(['0', self.name() + ' % 3'])}")
        more = f" and {self.condition()}" if self.random.random() < 0.3 else ""
        self.line(indent, f"while {index} < {self.random.choice(['3', self.name() + ' % 5'])}{more}:")
        self.line(indent + 1, f"{index} = {index} + 1")
        self.block(indent + 1)


@contextlib.contextmanager
def module_of(source: str) -> Iterator[types.ModuleType]:
    """A module with this source, in a file, which the rewriting reads."""
    with tempfile.TemporaryDirectory() as folder:
        file = os.path.join(folder, "written.py")
        with open(file, "w") as out:
            out.write(source)
        spec = importlib.util.spec_from_file_location("written", file)
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        yield module


def compare(seed: int) -> str:
    """What is wrong with the function of a seed; "" if nothing is, REFUSED if Kiln says that it cannot record it."""
    source = Writer(seed).source()
    with module_of(source) as module:
        body = kl.function(module.body)

        @kiln.program
        def written(n: kl.Index, m: kl.Index, out: kl.Out[i32, (1, 4)]):
            @kl.spmd(1)
            def kernel(_):
                for at, value in enumerate(body(kl, n, m)):
                    kl.write(kl.cast(value, i32), out, (0, at))

        for n, m in INPUTS:
            found = numpy.zeros((1, 4), "i4")
            try:
                written(n, m, found)
            except KilnError as error:
                is_refusal = any(each in str(error) for each in REFUSALS)
                return REFUSED if is_refusal else f"{error}\n{source}"
            wanted = module.body(PYTHON, n, m)
            if tuple(found[0]) != wanted:
                return f"body({n}, {m}) is {wanted}, but the program gives {tuple(found[0])}\n{source}"
    return ""


@unittest.skipUnless(numpy, "numpy is not installed")
class RandomPrograms(unittest.TestCase):
    def test_agree_with_python(self) -> None:
        outcomes = [compare(seed) for seed in range(15)]
        self.assertEqual([each for each in outcomes if each not in ("", REFUSED)], [])
        self.assertGreaterEqual(outcomes.count(""), 12, "most are recorded and agree")


if __name__ == "__main__":
    first, count = int(sys.argv[1]), int(sys.argv[2])
    outcomes = [compare(seed) for seed in range(first, first + count)]
    failures = [each for each in outcomes if each not in ("", REFUSED)]
    print(*failures, sep="\n\n")
    print(f"{outcomes.count('')} agree, {outcomes.count(REFUSED)} are refused, {len(failures)} are wrong")
    sys.exit(bool(failures))
