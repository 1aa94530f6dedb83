"""The rewriting of loops, branches and truth values, on a recorder that only writes down what it is told."""
import importlib.util
import inspect
import math
import os
import tempfile
import traceback
import unittest
from typing import Any, List, Sequence

import kiln.language as kl
from kiln import KilnError, _record
from kiln._library import Result
from kiln._rewrite import rewrite
from kiln._values import Condition, Index, Tile, Value
from kiln.dtypes import f32

counter = 0

_CONSTANT, _INDEX, _CONDITION, _SCALAR, _TILE = range(5)


class Recorder:
    """Writes down operations; values are numbered in the order in which they are made."""

    name = "fake"

    def __init__(self) -> None:
        self.log: List[str] = []
        self.made = 0
        self.carried: List[List[int]] = []

    def flush(self) -> None:
        pass

    def result(self, kind: int) -> Result:
        self.made += 1
        return Result(self.made, kind, 0, 8, 8, 0, 0)

    def index(self) -> Index:
        return Index(self.result(_INDEX).number, self)

    def tile(self) -> Tile:
        return Tile(self.result(_TILE).number, self, (8, 8), f32)

    def record(self, operation: str, arguments: Sequence[Any] = (), place: Any = None) -> List[Result]:
        kinds = self.kinds(operation, arguments)
        results = [self.result(kind) for kind in kinds]
        names = ", ".join(f"%{each.number}" for each in results)
        shown = ", ".join(map(self.show, arguments))
        self.log.append(f"{names + ' = ' if names else ''}{operation}({shown})")
        return results

    def kinds(self, operation: str, arguments: Sequence[Any]) -> List[int]:
        def of(values: Sequence[Any]) -> List[int]:
            return [_TILE if isinstance(each, Tile) else _INDEX for each in values]

        if operation == "loop.begin":
            self.carried.append(of(arguments[3]))
            return [_INDEX, *self.carried[-1]]
        if operation == "while.begin":
            self.carried.append(of(arguments[0]))
            return self.carried[-1]
        if operation == "while.body":
            return self.carried[-1]
        if operation in ("loop.end", "while.end", "if.end"):
            return of(arguments[0])
        if operation.startswith(("if.", "require")):
            return []
        if operation.rpartition(".")[2] in ("lt", "gt", "eq", "ne", "le", "ge", "and", "or", "not"):
            return [_CONDITION]
        return [_INDEX if operation.startswith("index.") else _TILE]

    def show(self, argument: Any) -> str:
        if isinstance(argument, Value):
            return f"%{argument._number}"
        if isinstance(argument, (tuple, list)):
            return "[" + ", ".join(map(self.show, argument)) + "]"
        return str(argument)


class Case(unittest.TestCase):
    def setUp(self) -> None:
        self.recorder = Recorder()
        _record._active.recorder = self.recorder  # type: ignore[assignment]
        self.addCleanup(setattr, _record._active, "recorder", None)

    def log(self) -> str:
        return "\n".join(self.recorder.log)


@kl.function
def sum_by_halves(xs):
    if len(xs) == 1:
        return xs[0]
    return sum_by_halves(xs[: len(xs) // 2]) + sum_by_halves(xs[len(xs) // 2 :])


class PythonStaysPython(Case):
    def test_loops_and_branches(self) -> None:
        def collatz(n, limit=100):
            steps, seen = 0, []
            while n != 1 and steps < limit:
                if n % 2 == 0:
                    n //= 2
                elif n > 1000:
                    break
                else:
                    n = 3 * n + 1
                steps += 1
                if n == 4:
                    continue
                seen.append(n)
            else:
                seen.append("end")
            for i, x in enumerate(seen):
                if x == 16:
                    return i
            return steps, seen, 1 < steps < 50, (not seen) or None, "a" if seen else "b"

        for n in (1, 2, 6, 7, 27, 97):
            self.assertEqual(rewrite(collatz)(n), collatz(n))

    def test_for_else_and_unbound_names(self) -> None:
        def find(xs, wanted):
            for x in xs:
                found = x
                if x == wanted:
                    break
            else:
                found = None
            return found

        for xs in ([], [1, 2], [3]):
            self.assertEqual(rewrite(find)(xs, 2), find(xs, 2))

    def test_functions_that_call_themselves(self) -> None:
        @kl.function
        def inner(xs):
            return xs[0] if len(xs) == 1 else inner(xs[: len(xs) // 2]) + inner(xs[len(xs) // 2 :])

        for sum_of in (inner, sum_by_halves):
            self.assertEqual(sum_of(list(range(10))), 45)

    def test_try_with_and_comprehensions(self) -> None:
        def run(xs):
            total = 0
            try:
                for x in xs:
                    total += 1 / x if x != 5 else 0
            except ZeroDivisionError as error:
                total = str(error)
            finally:
                done = True
            return total, done, [x if x and x > 1 else -x for x in xs], (y := len(xs)) and y

        for xs in ([1, 2, 5], [1, 0], []):
            self.assertEqual(rewrite(run)(xs), run(xs))

    def test_closures_defaults_and_signature(self) -> None:
        offset = 10

        def outer(a, b=2, *args, c=3, **rest):
            """Says something."""

            def inner(x):
                nonlocal a
                a += x
                return a + offset if x else b

            return inner(1), inner(0), args, c, rest

        made = rewrite(outer)
        self.assertEqual(made(1, 5, 6, c=7, d=8), outer(1, 5, 6, c=7, d=8))
        self.assertEqual(made(1), outer(1))
        self.assertEqual(inspect.signature(made), inspect.signature(outer))
        self.assertEqual(made.__doc__, "Says something.")
        offset = 20
        self.assertEqual(made(1)[0], 22)

    def test_private_names(self) -> None:
        class _Owner:
            __factor = 3

            def scaled(self, __x):
                __twice = lambda: 2 * __x if __x else 0
                return self.__factor * __twice() if self.__factor else None

            def inside(self):
                def inner(__x):
                    return self.__factor + __x if __x else __x

                return rewrite(inner)

        self.assertEqual(rewrite(_Owner.scaled)(_Owner(), 5), 30)
        self.assertEqual(_Owner().inside()(4), 7)

    def test_lines_survive(self) -> None:
        def fails(x):
            for i in range(3):
                if i == 2 and x:
                    raise ValueError("here")

        try:
            rewrite(fails)(True)
        except ValueError as error:
            last = traceback.extract_tb(error.__traceback__)[-1]
        self.assertEqual((last.filename, last.lineno), (__file__, fails.__code__.co_firstlineno + 3))


class Loops(Case):
    def test_carries_what_changes(self) -> None:
        def body(acc, n):
            other = acc
            for k in kl.range(0, n, 4):
                t = acc + acc
                acc = t + other
            return acc

        rewrite(body)(self.recorder.tile(), self.recorder.index())
        self.assertEqual(
            self.log(),
            "%3, %4 = loop.begin(0, %2, 4, [%1], 0, False, False)\n%5 = add(%4, %4)\n%6 = add(%5, %1)\n%7 = loop.end([%6])",
        )

    def test_else_follows_the_loop(self) -> None:
        def body(acc, n):
            for k in kl.range(n):
                acc = acc + acc
            else:
                acc = acc * 2
            return acc - 1

        rewrite(body)(self.recorder.tile(), 4)
        self.assertEqual(
            self.log(),
            "%2, %3 = loop.begin(0, 4, 1, [%1], 0, False, False)\n%4 = add(%3, %3)\n%5 = loop.end([%4])\n"
            "%6 = mul(%5, 2)\n%7 = sub(%6, 1)",
        )

    def test_order_is_that_of_the_first_mention(self) -> None:
        def body(n, tile):
            top, total = tile(), tile()
            for k in kl.range(n):
                total = total + top
                top = total
            return top, total

        rewrite(body)(4, self.recorder.tile)
        self.assertIn("loop.begin(0, 4, 1, [%1, %2]", self.log())
        self.assertIn("loop.end([%6, %6])", self.log())

    def test_temporaries_are_not_carried(self) -> None:
        def body(a):
            for j in kl.range(3):
                t = a + 1
                a + t
            for j in kl.range(3):
                t = a + 2
                a + t

        rewrite(body)(self.recorder.tile())
        self.assertEqual(self.log().count("loop.begin(0, 3, 1, []"), 2)

    def test_nested_loops(self) -> None:
        def body(acc):
            for i in kl.range(2):
                for j in kl.range(3):
                    for k in range(2):
                        acc = acc + k
            return acc

        rewrite(body)(self.recorder.tile())
        self.assertEqual(
            self.log(),
            "%2, %3 = loop.begin(0, 2, 1, [%1], 0, False, False)\n%4, %5 = loop.begin(0, 3, 1, [%3], 0, False, False)\n"
            "%6 = add(%5, 0)\n%7 = add(%6, 1)\n%8 = loop.end([%7])\n%9 = loop.end([%8])",
        )

    def test_numbers_become_indices(self) -> None:
        def body(n):
            count = 0
            for i in kl.range(n):
                count = count + i
            return count

        self.assertIsInstance(rewrite(body)(self.recorder.index()), Index)

    def test_value_used_after_its_loop(self) -> None:
        def body(a):
            for j in kl.range(3):
                t = a + 1
            return a + t

        with self.assertRaisesRegex(KilnError, r"'t' belongs to the loop of line \d+, which made it"):
            rewrite(body)(self.recorder.tile())

    def test_index_used_after_its_loop(self) -> None:
        def body(a):
            for j in kl.range(3):
                a = a + 1
            return a, j + 1

        with self.assertRaisesRegex(KilnError, "'j' is the index of the loop"):
            rewrite(body)(self.recorder.tile())

    def test_kind_changes(self) -> None:
        def body(a):
            for j in kl.range(3):
                a = None
            return a

        with self.assertRaisesRegex(KilnError, "'a' is a tile of 8x8 f32 when the loop begins and None .*`return`"):
            rewrite(body)(self.recorder.tile())

    def test_python_value_changes(self) -> None:
        def body(a):
            total = 0.0
            for j in kl.range(3):
                total = a + total
            return total

        with self.assertRaisesRegex(KilnError, "'total' is float 0.0 when the loop begins .* kl.full"):
            rewrite(body)(self.recorder.tile())

    def test_tuples_are_carried(self) -> None:
        def body(pair, n):
            for j in kl.range(3):
                pair = (pair[0] + 1, (pair[1][0], n))
            return pair

        first, (second, third) = rewrite(body)((self.recorder.tile(), (self.recorder.tile(), 0)), self.recorder.index())
        self.assertIsInstance(third, Index)
        self.assertIn("loop.begin(0, 3, 1, [%1, %2, 0]", self.log())

    def test_objects_from_outside(self) -> None:
        def item(a, outside):
            for j in kl.range(3):
                outside["a"] = a + 1

        def attribute(a, outside):
            if a > 3:
                outside.total += 1

        def local(a, outside):
            for j in kl.range(3):
                inside = {}
                inside["a"] = a
            for j in range(3):
                outside[j] = a

        with self.assertRaisesRegex(KilnError, r"`outside\['a'\]` belongs to what is outside of a loop"):
            rewrite(item)(self.recorder.tile(), {})
        with self.assertRaisesRegex(KilnError, "`outside.total` belongs to what is outside of a branch"):
            rewrite(attribute)(self.recorder.index(), self)
        rewrite(local)(self.recorder.tile(), {})

    def test_global_variables(self) -> None:
        def counts(over):
            global counter
            counter = 0
            for j in over:
                counter += 1

        rewrite(counts)(range(3))
        self.assertEqual(counter, 3)
        with self.assertRaisesRegex(KilnError, "`counter` belongs to what is outside of a loop"):
            rewrite(counts)(kl.range(3))

    def test_names_that_helpers_change(self) -> None:
        def body(total):
            def bump():
                nonlocal total
                total = total + 1

            for j in kl.range(3):
                bump()
            return total

        rewrite(body)(self.recorder.tile())
        self.assertEqual(
            self.log(), "%2, %3 = loop.begin(0, 3, 1, [%1], 0, False, False)\n%4 = add(%3, 1)\n%5 = loop.end([%4])"
        )

    def test_break_and_return(self) -> None:
        def breaks(a):
            for j in kl.range(3):
                break

        def returns(a):
            for j in kl.range(3):
                return a

        def python_break(a):
            for j in kl.range(3):
                for k in range(5):
                    if k == 2:
                        break
                    a = a + k
            return a

        for body, word in ((breaks, "break"), (returns, "return")):
            with self.assertRaisesRegex(KilnError, f"`{word}` cannot leave a loop of the program"):
                rewrite(body)(self.recorder.tile())
        rewrite(python_break)(self.recorder.tile())
        self.assertEqual(self.log().count("add("), 2)

    def test_while(self) -> None:
        def body(n, m):
            count = 0
            while n < m:
                n = n * 2
                count = count + 1
            return n, count

        n, count = rewrite(body)(1, self.recorder.index())
        self.assertIsInstance(count, Index)
        self.assertEqual(
            self.log(),
            "%2, %3 = while.begin([1, 0])\n%4 = index.lt(%2, %1)\n%5, %6 = while.body(%4)\n%7 = index.mul(%5, 2)\n"
            "%8 = index.add(%6, 1)\n%9, %10 = while.end([%7, %8])",
        )

    def test_while_over_a_call(self) -> None:
        def body(n):
            is_small = lambda: n < 3
            while is_small():
                n = n + 1

        with self.assertRaisesRegex(KilnError, "was Python's when the loop began, and is the program's now"):
            rewrite(body)(self.recorder.index())

    def test_while_that_is_known(self) -> None:
        def body(t, queue):
            while len(queue) > 0 and t is not None:
                t = t + queue.pop()
            return t

        with self.assertRaisesRegex(KilnError, "is made of values of the program, but is bool True"):
            rewrite(body)(self.recorder.tile(), [1, 2])

    def test_else_of_while(self) -> None:
        """Python's own has one, the program's has not."""

        def body(n, j):
            while j < n:
                j = j + 1
            else:
                j = j * 10
            return j

        self.assertEqual(rewrite(body)(3, 0), 30)
        with self.assertRaisesRegex(KilnError, "has no `else`: .* stands behind the loop"):
            rewrite(body)(self.recorder.index(), 0)

    def test_helper_that_is_not_rewritten(self) -> None:
        def body():
            for j in kl.range(3):
                pass

        with self.assertRaisesRegex(KilnError, "decorate the function with @kl.function"):
            body()


class Branches(Case):
    def test_both_sides(self) -> None:
        def body(n, a):
            if n > 3:
                a = a + 1
            else:
                a = a + 2
            return a

        rewrite(body)(self.recorder.index(), self.recorder.tile())
        self.assertEqual(
            self.log(),
            "%3 = index.gt(%1, 3)\nif.begin(%3)\n%4 = add(%2, 1)\nif.else([%4])\n%5 = add(%2, 2)\n%6 = if.end([%5])",
        )

    def test_one_side(self) -> None:
        def body(n, a):
            if n > 3:
                a = a + 1
            if n > 4:
                a + 3
            return a

        rewrite(body)(self.recorder.index(), self.recorder.tile())
        self.assertEqual(
            self.log(),
            "%3 = index.gt(%1, 3)\nif.begin(%3)\n%4 = add(%2, 1)\nif.else([%4])\n%5 = if.end([%2])\n"
            "%6 = index.gt(%1, 4)\nif.begin(%6)\n%7 = add(%5, 3)\nif.end([])",
        )

    def test_elif_and_expression(self) -> None:
        def body(n):
            if n > 3:
                m = 1
            elif n > 2:
                m = 2
            else:
                m = n
            return m if n < 5 else 7

        self.assertIsInstance(rewrite(body)(self.recorder.index()), Index)
        self.assertEqual(self.log().count("if.begin"), 3)

    def test_value_of_one_side(self) -> None:
        def body(n, a):
            if n > 3:
                t = a + 1
            return t + 1

        with self.assertRaisesRegex(KilnError, "'t' has a value on one side of the `if`"):
            rewrite(body)(self.recorder.index(), self.recorder.tile())

    def test_sides_differ(self) -> None:
        def body(n):
            if n > 3:
                word = "a"
            else:
                word = "b"
            return word + "c"

        with self.assertRaisesRegex(KilnError, "'word' is str 'a' after one side .* and str 'b' after the other"):
            rewrite(body)(self.recorder.index())

    def test_return_in_a_branch(self) -> None:
        def body(n, a):
            if n > 3:
                return a
            return a + 1

        with self.assertRaisesRegex(KilnError, "`return` cannot leave a branch of the program"):
            rewrite(body)(self.recorder.index(), self.recorder.tile())

    def test_truth_values(self) -> None:
        def body(n, m):
            return n > 3 and m > 4 or not (1 < n <= m)

        self.assertIsInstance(rewrite(body)(self.recorder.index(), self.recorder.index()), Condition)
        self.assertEqual(
            self.log(),
            "%3 = index.gt(%1, 3)\n%4 = index.gt(%2, 4)\n%5 = condition.and(%3, %4)\n%6 = index.gt(%1, 1)\n"
            "%7 = index.le(%1, %2)\n%8 = condition.and(%6, %7)\n%9 = condition.not(%8)\n%10 = condition.or(%5, %9)",
        )

    def test_mixed_truth_values(self) -> None:
        def body(n, flag):
            return flag and n > 3, n > 3 and flag, flag or n > 3

        for flag in (True, False):
            first, second, third = rewrite(body)(self.recorder.index(), flag)
            self.assertEqual(isinstance(first, Condition), flag)
            self.assertEqual(isinstance(second, Condition), flag)
            self.assertEqual(isinstance(third, Condition), not flag)


class Captured(Case):
    def test_kernel_changes_a_variable_around_it(self) -> None:
        def body(decorator):
            total = 0

            @decorator
            def kernel(i):
                total = total + i

        with self.assertRaisesRegex(KilnError, "'total' is a variable of the function around this one") as caught:
            rewrite(body)
        self.assertEqual(caught.exception.line, body.__code__.co_firstlineno + 5)

    def test_nonlocal(self) -> None:
        def body(decorator):
            total = 0

            @decorator
            def kernel(i):
                nonlocal total
                total = i

        with self.assertRaisesRegex(KilnError, "'total' is a variable of the function around this one"):
            rewrite(body)


class Sources(unittest.TestCase):
    def test_no_source(self) -> None:
        scope: dict = {}
        exec("def f(x):\n    return x", scope)
        with self.assertRaisesRegex(KilnError, "the source of f cannot be found"):
            rewrite(scope["f"])

    def test_file_that_changes(self) -> None:
        """A program is what its file said when it was imported."""
        program = (
            "import kiln, kiln.language as kl\n\n@kiln.program\ndef kept(y: kl.Out[kiln.f32], *, n=kl.param(3)):\n"
            "    for i in kl.range(n):\n        pass\n"
        )
        with tempfile.TemporaryDirectory() as folder:
            file = os.path.join(folder, "changing.py")
            with open(file, "w") as out:
                out.write(program)
            spec = importlib.util.spec_from_file_location("changing", file)
            module = importlib.util.module_from_spec(spec)
            spec.loader.exec_module(module)
            with open(file, "w") as out:
                out.write("# another line\n" * 3 + program.replace("kept", "lost") + "\n# and one more\n")
            os.utime(file, (1, 1))
            self.assertEqual(module.kept.text().count("scf.for"), 1)
            self.assertEqual(module.kept.with_(n=5).text().count("scf.for"), 1)

    def test_lambda_generator_builtin(self) -> None:
        def generator():
            yield 1

        with self.assertRaisesRegex(KilnError, "is no function of `def`"):
            rewrite(lambda x: x)
        with self.assertRaisesRegex(KilnError, "generator"):
            rewrite(generator)
        with self.assertRaisesRegex(KilnError, "is no function of `def`"):
            rewrite(math.sqrt)


if __name__ == "__main__":
    unittest.main()
