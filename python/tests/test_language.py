"""What the examples do not use: every part of the language, recorded and, where it computes, run."""
import copy
import dataclasses
import threading
import unittest

import kiln
import kiln.language as kl
from kiln import bf16, f32, i1, i32, i64
from kiln._record import operations

try:
    import numpy
except ImportError:
    numpy = None

N = 8
SQUARE = (N, N)


def run(body, *inputs, out="f4", columns=N):
    """Runs a program of one block that stores the tile which the body makes of tiles of the inputs."""

    @kiln.program
    def one(x: kl.In[f32, SQUARE], y: kl.In[f32, SQUARE], o: kl.Out[{"f4": f32, "i4": i32}[out], (N, columns)]):
        @kl.spmd(1)
        def kernel(_):
            kl.store(body(kl.load(x, (0, 0), SQUARE), kl.load(y, (0, 0), SQUARE)), o, (0, 0))

    result = numpy.full((N, columns), 77, out)
    one(*inputs, result)
    return result


@unittest.skipUnless(numpy, "numpy is not installed")
class Tiles(unittest.TestCase):
    def setUp(self) -> None:
        random = numpy.random.default_rng(7)
        self.x, self.y = (random.standard_normal(SQUARE).astype("f4") for _ in range(2))

    def check(self, body, wanted, **options) -> None:
        numpy.testing.assert_allclose(run(body, self.x, self.y, **options), wanted, rtol=1e-5, atol=1e-5)

    def test_operators(self) -> None:
        x, y = self.x, self.y
        self.check(lambda a, b: 1 - a + b * 2 - (-a) / 4, 1 - x + y * 2 + x / 4)
        self.check(lambda a, b: 2 / (abs(a) + 1), 2 / (abs(x) + 1))
        self.check(lambda a, b: abs(a) ** b, abs(x) ** y)
        self.check(lambda a, b: a @ b.T, x @ y.T)
        self.check(lambda a, b: a % 0.5, numpy.fmod(x, 0.5))
        self.check(lambda a, b: kl.where((a > b) & (a > 0), a, b), numpy.where((x > y) & (x > 0), x, y))
        self.check(lambda a, b: kl.where(~(0 < a), 1, a), numpy.where(~(x > 0), 1, x))
        self.check(lambda a, b: numpy.float32(2) * a + b * numpy.int64(3), 2 * x + 3 * y)
        self.check(lambda a, b: kl.max(a, b) + kl.min(a, 0), numpy.maximum(x, y) + numpy.minimum(x, 0))

    def test_integers(self) -> None:
        ints = numpy.trunc(self.x * 10).astype("i4")
        self.check(lambda a, b: kl.cast(a * 10, i32) << 2 | 1, ints << 2 | 1, out="i4")
        self.check(lambda a, b: (kl.cast(a * 10, i32) ^ 5) & 7, (ints ^ 5) & 7, out="i4")
        self.check(lambda a, b: kl.iota(i32, SQUARE, 1) + kl.cast(3, i32), numpy.arange(N)[None] + 3 + 0 * ints, out="i4")

    def test_augmented(self) -> None:
        @kl.function
        def body(a, b):
            for i in kl.range(3):
                a += b
                a *= 2
            return a

        x = self.x
        for _ in range(3):
            x = (x + self.y) * 2
        self.check(body, x)

    def test_branch_and_while(self) -> None:
        @kl.function
        def body(a, b):
            n, count = kl.block_count(0), 0
            while n < 100 and count < 5:
                n = n * 2
                count += 1
            if n == 32 and not count != 5:
                a = a + b
            elif n > 32:
                a = b
            else:
                a = a - b
            return a + kl.cast(n if n > 3 else 0, f32) + kl.cast(0 if count > 7 else count, f32)

        self.check(body, self.x + self.y + 32 + 5)

    def test_chained_comparison(self) -> None:
        @kl.function
        def body(a, b):
            n = kl.block_count(0)
            return kl.cast(1 if 0 < n <= 1 else 0, f32) + a * 0

        self.check(body, numpy.ones(SQUARE))

    def test_values_in_objects(self) -> None:
        """A value of the program that is copied with the object that holds it stays itself."""

        @dataclasses.dataclass
        class State:
            first: kl.Tile
            second: kl.Tile

        def body(a, b):
            copied = dataclasses.asdict(State(a, b))
            return copied["first"] + copy.copy(copied["second"])

        self.check(body, self.x + self.y)

    def test_scalars(self) -> None:
        def body(a, b):
            s = kl.element(a, 1, 2)
            return b * (s + 1) / (2 - s) + (1 / (s + 9))

        s = self.x[1, 2]
        self.check(body, self.y * (s + 1) / (2 - s) + 1 / (s + 9))

    def test_sorting(self) -> None:
        self.check(lambda a, b: kl.sort_rows(a, "descending").values, -numpy.sort(-self.x, 1))
        self.check(lambda a, b: kl.topk_rows(a, 4).columns, numpy.argsort(-self.x, 1)[:, :4], out="i4", columns=4)

    def test_rearranging(self) -> None:
        x, y = self.x, self.y
        self.check(lambda a, b: kl.concat((a, b), 1), numpy.concatenate((x, y), 1), columns=2 * N)
        self.check(lambda a, b: kl.insert(kl.extract(b, 2, 3, (1, 2)), a, 0, 0), _inserted(x, y))
        self.check(lambda a, b: kl.transpose(kl.reshape(kl.reshape(a, (4, 16)), SQUARE)), x.T)
        self.check(lambda a, b: kl.clamp(a, -0.5, 0.5), x.clip(-0.5, 0.5))

    def test_scan_and_reduce(self) -> None:
        x = self.x
        self.check(lambda a, b: kl.scan(a, 1), x.cumsum(1))
        self.check(lambda a, b: kl.scan(a, 0, "max", reverse=True), numpy.maximum.accumulate(x[::-1])[::-1])
        self.check(lambda a, b: kl.scan(a, 1, lambda s, t: s + t, start=1), 1 + x.cumsum(1))
        self.check(lambda a, b: kl.reduce(a, 1, kl.maximum, start=0) + a * 0, numpy.maximum(x.max(1, keepdims=True), 0) + 0 * x)


def _inserted(x, y):
    made = x.copy()
    made[0, :2] = y[2, 3:5]
    return made


@unittest.skipUnless(numpy, "numpy is not installed")
class Graphs(unittest.TestCase):
    def test_block_indices(self) -> None:
        """A kernel may have parameters of its own with defaults, and take its indices as one tuple."""

        @kiln.program
        def columns(x: kl.In[f32], y: kl.Out[f32]):
            for column in range(2):

                @kl.spmd(2)
                def copy(i, j=column):
                    at = (i * N, j * N)
                    kl.store(kl.load(x, at, SQUARE), y, at)

            @kl.spmd((2, 1))
            def last(*at):
                kl.store(kl.load(x, (at[0] * N, at[1] + 2 * N), SQUARE), y, (at[0] * N, 2 * N))

        x, y = numpy.random.rand(2 * N, 3 * N).astype("f4"), numpy.zeros((2 * N, 3 * N), "f4")
        columns(x, y)
        numpy.testing.assert_array_equal(y, x)

    def test_tasks(self) -> None:
        @kiln.program
        def graph(x: kl.In[f32, SQUARE], flags: kl.In[i32, 1], n: kl.Index, s: kl.Scalar[f32], y: kl.InOut[f32, SQUARE]):
            @kl.kernel
            def step(x: kl.In[f32, SQUARE], s: kl.Scalar[f32], n: kl.Index, y: kl.InOut[f32, SQUARE]):
                t = kl.load(x, (0, 0), SQUARE) * s + kl.cast(n, f32)
                kl.store(kl.load(y, (0, 0), SQUARE) + t, y, (0, 0))

            last = kl.join(())
            for i in kl.range(n):
                last = step(x, s, i, y, deps=[last])
            with kl.scope():
                t = kl.alloc("t", f32, SQUARE)

                @kl.spmd(1, deps=[last])
                def double(_):
                    kl.store(kl.load(y, (0, 0), SQUARE) * 2, t, (0, 0))

                step(t, 1.0, 0, y, deps=[double])
            kl.submit(step, [x, 100.0, 0, y], predicate=flags[0] > 0)
            kl.submit(step, [x, 1000.0, 0, y], predicate=flags[1] == 0)
            if n > 2:
                step(x, 0.0, 5, y)

        x, y = numpy.ones(SQUARE, "f4"), numpy.zeros(SQUARE, "f4")
        graph(x, numpy.array([1, 1], "i4"), 3, 0.5, y)
        wanted = 0.5 * 3 + 0 + 1 + 2
        numpy.testing.assert_allclose(y, wanted * 3 + 100 + 5)

    def test_views_and_elements(self) -> None:
        @kiln.program
        def views(x: kl.In[f32], table: kl.In[i32, 1], y: kl.Out[f32]):
            turned = kl.transpose(x, (1, 0))
            box = kl.slice(turned, (2, 0), (4, x.shape[0]))
            size = kl.to_index(kl.get(table, 0))

            @kl.spmd(kl.max(size, 1))
            def copy(b):
                r = kl.to_index(kl.read(table, 1))
                kl.store(kl.load(box, (0, 0), (4, 8), valid=(4, r)), y, (0, 0))

            @kl.spmd(1)
            def mark(b):
                kl.write(5.0, y, (3, 7))

        x, y = numpy.random.rand(8, 8).astype("f4"), numpy.zeros((4, 8), "f4")
        views(x, numpy.array([1, 6], "i4"), y)
        wanted = x.T[2:6].copy()
        wanted[:, 6:] = 0
        wanted[3, 7] = 5
        numpy.testing.assert_array_equal(y, wanted)

    def test_pops_from_left_to_right(self) -> None:
        @kiln.program
        def pops(y: kl.Out[f32, SQUARE]):
            @kl.group
            def both(y: kl.Out[f32, SQUARE]):
                up = kl.pipe("up", kl.aic, kl.aiv, f32, SQUARE)
                two = kl.pipe("two", kl.aic, kl.aiv, payload=[(f32, SQUARE), (f32, (N, 1))])
                token = kl.pipe("token", kl.aic, kl.aiv)

                @kl.role(kl.aic)
                def first():
                    kl.push(up, kl.full(f32, SQUARE, 10))
                    kl.push(up, kl.full(f32, SQUARE, 1))
                    kl.push(two, kl.full(f32, SQUARE, 3), kl.full(f32, (N, 1), 4))
                    kl.push(token)

                @kl.role(kl.aiv)
                def second():
                    t = kl.pop(up) - kl.pop(up)
                    a, b = kl.pop_all(two)
                    assert kl.pop_all(token) == ()
                    kl.store(t + a * b, y, (0, 0))

            both(y)

        y = numpy.zeros(SQUARE, "f4")
        pops(y)
        numpy.testing.assert_array_equal(y, 9 + 12)

    def test_named_pops(self) -> None:
        @kiln.program
        def pops(y: kl.Out[f32, SQUARE]):
            @kl.group
            def both(y: kl.Out[f32, SQUARE]):
                up = kl.pipe("up", kl.aic, kl.aiv, f32, SQUARE)

                @kl.role(kl.aic)
                def first():
                    kl.push(up, kl.full(f32, SQUARE, 10))
                    kl.push(up, kl.full(f32, SQUARE, 1))

                @kl.role(kl.aiv)
                def second():
                    a = kl.pop(up)
                    b = kl.pop(up)
                    kl.store(a - b, y, (0, 0))

            both(y)

        y = numpy.zeros(SQUARE, "f4")
        pops(y)
        numpy.testing.assert_array_equal(y, 9)


class Text(unittest.TestCase):
    def test_every_operation_is_reached(self) -> None:
        """An operation of the recorder is a function, or belongs to one that is written by hand."""
        by_hand = {"index", "condition", "scalar", "tile", "tensor", "function", "spmd", "role", "scope", "loop", "while", "if",
                   "reduce", "body", "require"}
        for name, operation in operations().items():
            head = name.partition(".")[0] if "." in name else None
            self.assertTrue(head in by_hand | {"scan", "require"} or hasattr(kl, name) or name in kl._WRITTEN_BY_HAND, name)

    def test_options(self) -> None:
        @kiln.program
        def options(x: kl.In[f32], y: kl.Out[f32]):
            kl.dump(x)

            @kl.spmd(4, split="left_right", lanes=2, slots=3, stages=2, sync_start=True)
            def kernel(b):
                kl.prefetch(x, (0, 0), (64, 64))
                kl.barrier()
                for i in kl.range(0, 4, parallel=True):
                    kl.store(kl.load(x, (b * 64, i), (64, 64), outside=True), y, (b * 64, i))

        text = options.text()
        for word in ("split(left_right)", "lanes(2)", "slots(3)", "sync_start", "tile.barrier", "tile.prefetch", "parallel"):
            self.assertIn(word, text)

    def test_many_carried_values(self) -> None:
        @kiln.program
        def many(y: kl.Out[f32]):
            @kl.spmd(1)
            def kernel(b):
                tiles = tuple(kl.full(f32, (8, 8), n) for n in range(100))
                for i in kl.range(3):
                    tiles = tiles[1:] + tiles[:1]
                kl.store(tiles[99], y, (0, 0))

        self.assertIn("%arg100 = ", many.text())

    def test_threads(self) -> None:
        """Programs are recorded by several threads at once."""
        from examples.flash_attention import flash_attention

        wanted, found = flash_attention.text(), []
        threads = [threading.Thread(target=lambda: found.append(flash_attention.with_().text())) for _ in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(found, [wanted] * 8)

    def test_locations(self) -> None:
        @kiln.program
        def located(x: kl.In[f32], y: kl.Out[f32]):
            @kl.spmd(1)
            def kernel(b):
                kl.store(kl.load(x, (0, 0), (8, 8)), y, (0, 0))

        line = located.place.line + 4
        self.assertIn(f'loc("{__file__}":{line}:', located.text(locations=True))
        self.assertNotIn("loc(", located.text())

    def test_scalars_of_other_types(self) -> None:
        @kiln.program
        def typed(n: kl.Scalar[i64], x: kl.In[bf16, 1], m: kl.InOut[i1, 3]):
            pass

        self.assertIn("%n: i64, %x: !kiln.tensor<?xbf16> in, %m: !kiln.tensor<?x?x?xi1> inout", typed.text())

    def test_emit_and_check(self) -> None:
        from examples.hello_add import hello_add

        self.assertEqual(hello_add.emit(), hello_add.text())
        self.assertIn("torch", hello_add.emit("torch"))
        report = hello_add.check()
        self.assertTrue(report)
        self.assertIn("CLEAN", report)

    def test_with(self) -> None:
        from examples.matmul import matmul

        self.assertEqual(matmul.with_(BM=32).params, {"BM": 32, "BN": 64, "BK": 64})
        self.assertEqual(matmul.with_(BM=32).text(), matmul.text(BM=32))
        self.assertNotEqual(matmul.with_(BM=32).text(), matmul.text())


if __name__ == "__main__":
    unittest.main()
