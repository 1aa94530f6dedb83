"""Ten mistakes that a Python user makes, and some more: each is told at the user's line, without Kiln's own frames."""
import functools
import inspect
import os
import pydoc
import re
import sys
import threading
import traceback
import types
import unittest

import kiln
import kiln.language as kl
from kiln import KilnError, bf16, f32

try:
    import numpy
except ImportError:
    numpy = None
try:
    import torch
except ImportError:
    torch = None

needs_numpy = unittest.skipUnless(numpy, "numpy is not installed")
needs_torch = unittest.skipUnless(torch, "torch is not installed")
PACKAGE = os.path.dirname(os.path.abspath(kiln.__file__)) + os.sep


@kiln.program
def add(a: kl.In[f32], b: kl.In[f32], c: kl.Out[f32]):
    kl.require_same_shape(a, b, "a and b have one shape")
    kl.require_same_shape(a, c, "c has the shape of a")

    @kl.spmd(kl.ceildiv(c.shape[0], 8), kl.ceildiv(c.shape[1], 8))
    def add(bi, bj):
        at = (bi * 8, bj * 8)
        kl.store(kl.load(a, at, (8, 8)) + kl.load(b, at, (8, 8)), c, at)


@kiln.program
def program_of_itself(x: kl.In[f32]):
    program_of_itself(x)


class Case(unittest.TestCase):
    def assertMistake(self, run, words: str, source: str) -> str:
        """Running makes a KilnError that says these words, shows this piece of the user's code and no frame of Kiln's."""
        try:
            run()
        except KilnError as error:
            text, trace = str(error), traceback.extract_tb(error.__traceback__)
            said = text.partition(f"\n{error.place.line:7d} | ")[0]
        else:
            self.fail("there is no mistake")
        self.assertRegex(said.replace("\n", " "), words)  # without the user's line, in which the test itself has the words
        self.assertIn(source, text)
        self.assertRegex(text, rf"^{re.escape(__file__)}:\d+:")
        for frame in trace:
            self.assertFalse(frame.filename.startswith(PACKAGE), f"a frame of Kiln's: {frame}")
        self.assertLess(len(text.splitlines()), 8, text)
        return text

    def assertBodyMistake(self, body, words: str, source: str) -> str:
        """The same of a program that computes with a tile `t` of 8x8 and a tensor `y` in a kernel."""

        @kiln.program
        def wrong(x: kl.In[f32], y: kl.Out[f32]):
            @kl.spmd(1)
            def kernel(i):
                body(kl.load(x, (0, 0), (8, 8)), y)

        return self.assertMistake(lambda: wrong.text(), words, source)


class TenMistakes(Case):
    @needs_numpy
    def test_01_wrong_shape(self) -> None:
        a, b = numpy.zeros((8, 8), "f4"), numpy.zeros((8, 9), "f4")
        text = self.assertMistake(lambda: add(a, b, a.copy()), "a and b have one shape", "kl.require_same_shape(a, b")
        self.assertRegex(text, r"a.dim\(1\) is 8 and b.dim\(1\) is 9")
        flat = numpy.zeros(8, "f4")
        self.assertMistake(lambda: add(flat, b, b), r"'a' is f32\[\?, \?\] in the program; given: f32 of rank 1", "add(flat, b, b)")

    @needs_numpy
    def test_02_wrong_dtype(self) -> None:
        a, b = numpy.zeros((8, 8)), numpy.zeros((8, 8), "i4")
        self.assertMistake(lambda: add(a, a, a), "'a' has elements of float64", "add(a, a, a)")
        self.assertMistake(lambda: add(b, b, b), r"'a' is f32\[\?, \?\] in the program; given: i32", "add(b, b, b)")

    def test_03_missing_return(self) -> None:
        def step(acc, t):
            acc + t

        @kl.function
        def body(t, y):
            acc = kl.zeros(f32, 8, 8)
            for k in kl.range(4):
                acc = step(acc, t)
            kl.store(acc, y, (0, 0))

        self.assertBodyMistake(body, "'acc' is a tile of 8x8 f32 when the loop begins and None .*`return`", "kl.range(4)")

        def without_loop(t, y):
            kl.store(t + step(t, t), y, (0, 0))

        self.assertBodyMistake(without_loop, r"\+ of .* and None: did the function .* `return`", "t + step(t, t)")

    def test_04_tile_after_its_loop(self) -> None:
        @kl.function
        def body(t, y):
            for k in kl.range(4):
                last = t + 1
            kl.store(last, y, (0, 0))

        self.assertBodyMistake(body, r"'last' belongs to the loop of line \d+, which made it", "kl.store(last, y, (0, 0))")

    def test_05_print_of_a_tile(self) -> None:
        self.assertBodyMistake(lambda t, y: print(t), "a tile has no text", "print(t)")
        self.assertBodyMistake(lambda t, y: f"{t:.3f}", "a tile has no text", 'f"{t:.3f}"')

    def test_06_captured_variable(self) -> None:
        @kiln.program
        def wrong(x: kl.In[f32], y: kl.Out[f32]):
            total = 0

            @kl.spmd(4)
            def kernel(i):
                total += 1

        self.assertMistake(lambda: wrong.text(), "'total' is a variable of the function around this one", "total += 1")

    @needs_numpy
    def test_07_numpy_on_a_tile(self) -> None:
        self.assertBodyMistake(lambda t, y: numpy.exp(t), "numpy cannot compute with a tile", "numpy.exp(t)")
        self.assertBodyMistake(lambda t, y: numpy.asarray(t), "numpy cannot compute with a tile", "numpy.asarray(t)")
        ones = numpy.ones((8, 8), "f4")
        self.assertBodyMistake(lambda t, y: ones + t, "numpy", "ones + t")
        self.assertBodyMistake(lambda t, y: t + ones, "numpy", "t + ones")

    @needs_numpy
    def test_08_negative_stride(self) -> None:
        a = numpy.zeros((8, 8), "f4")
        self.assertMistake(lambda: add(a[::-1], a, a.copy()), "'a' has a negative stride", "add(a[::-1]")

    @needs_numpy
    def test_09_read_only(self) -> None:
        a, c = numpy.zeros((8, 8), "f4"), numpy.zeros((8, 8), "f4")
        c.flags.writeable = False
        self.assertMistake(lambda: add(a, a, c), "'c' is read-only, but the program writes it", "add(a, a, c)")
        add(c, c, a)  # to be read it may

    def test_10_cuda_tensor(self) -> None:
        tensor = types.SimpleNamespace(
            data_ptr=lambda: 4096, requires_grad=False, device=types.SimpleNamespace(type="cuda", index=0), layout="torch.strided",
            is_neg=lambda: False, dtype="torch.float32", element_size=lambda: 4, shape=(8, 8), stride=lambda: (8, 1)
        )  # fmt: skip
        on_cpu = add.with_(platform="cpu")
        self.assertMistake(
            lambda: on_cpu(tensor, tensor, tensor), "'a' is on a GPU, but the program is compiled for cpu; pass a.cpu()", "on_cpu(tensor"
        )
        other = types.SimpleNamespace(**{**vars(tensor), "device": types.SimpleNamespace(type="mps", index=0)})
        self.assertMistake(lambda: add(other, other, other), "'a' lies on .*mps.*", "add(other, other, other)")

    @needs_numpy
    def test_11_tensors_in_two_memories(self) -> None:
        tensor = types.SimpleNamespace(
            data_ptr=lambda: 4096, requires_grad=False, device=types.SimpleNamespace(type="cuda", index=1), layout="torch.strided",
            is_neg=lambda: False, dtype="torch.float32", element_size=lambda: 4, shape=(8, 8), stride=lambda: (8, 1)
        )  # fmt: skip
        a = numpy.zeros((8, 8), "f4")
        self.assertMistake(
            lambda: add(a, tensor, a), "'b' is on GPU 1, and those before it are in the host's memory", "add(a, tensor, a)"
        )


class OtherMistakes(Case):
    @needs_torch
    def test_requires_grad(self) -> None:
        a = torch.zeros(8, 8, requires_grad=True)
        self.assertMistake(lambda: add(a, a, a), "'a' has requires_grad", "add(a, a, a)")

    def test_number_of_arguments(self) -> None:
        self.assertMistake(lambda: add(1), r"add takes 3 arguments \(a, b, c\), but 1 is given", "add(1)")
        self.assertMistake(lambda: add(1, 2, 3), "'a' is int; it has to be a tensor", "add(1, 2, 3)")

    def test_keyword_parameters(self) -> None:
        @kiln.program
        def sized(x: kl.In[f32], *, B=kl.param(8, [8, 16]), n=kl.param(0, range(0, 9)), m=kl.param(0, at_least=0)):
            pass

        self.assertMistake(lambda: sized.text(B=9), "B=9 does not fit; it is one of 8, 16", "sized.text(B=9)")
        self.assertMistake(lambda: sized.text(B=True), "B=True does not fit", "sized.text(B=True)")
        self.assertMistake(lambda: sized.text(n=9), "n=9 does not fit; it is an integer from 0 to 8", "sized.text(n=9)")
        self.assertMistake(lambda: sized.text(m=-1), "m=-1 does not fit; it is an integer of at least 0", "sized.text(m=-1)")
        self.assertMistake(lambda: sized.with_(C=9), "sized has no keyword parameter 'C'; it has B, n, m", "sized.with_(C=9)")
        self.assertEqual(sized.with_(n=8, m=10).params, {"B": 8, "n": 8, "m": 10})

    def test_shapes_of_tiles(self) -> None:
        self.assertBodyMistake(
            lambda t, y: kl.matmul(t, kl.zeros(f32, 4, 8)), "the inner extents 8 and 4 differ", "kl.matmul(t, kl.zeros"
        )
        self.assertBodyMistake(
            lambda t, y: kl.store(kl.cast(t, bf16), y, (0, 0)), "store of a tile of bf16 into a tensor of f32", "kl.store(kl.cast"
        )

    def test_functions(self) -> None:
        self.assertBodyMistake(lambda t, y: kl.mask(t, 1), "kl.mask needs 'cols'", "kl.mask(t, 1)")
        self.assertBodyMistake(lambda t, y: kl.mask(t, 1, 2, bad=3), "has no parameter 'bad'", "bad=3")
        self.assertBodyMistake(lambda t, y: kl.exp(3), "takes a tile", "kl.exp(3)")
        self.assertBodyMistake(lambda t, y: kl.exp(None), "exp needs 'x', but is given None; did .* `return`", "kl.exp(None)")
        self.assertBodyMistake(lambda t, y: kl.store(None, y, (0, 0)), "store needs .*, but is given None", "kl.store(None")
        self.assertBodyMistake(lambda t, y: kl.load(y, (0, 0), (8, 8), pad="no"), "zero, min or max", 'pad="no"')
        self.assertBodyMistake(lambda t, y: kl.exp(t, t), "kl.exp takes 1 argument, not 2", "kl.exp(t, t)")

    def test_which_argument(self) -> None:
        """Of several arguments the one is named that is wrong, also where it is in a list."""
        self.assertBodyMistake(lambda t, y: kl.load(y, 0, 8), "load: 'shape' takes a list, not the integer 8", "kl.load(y, 0, 8)")
        self.assertBodyMistake(
            lambda t, y: kl.load(y, (0, 0.5), (8, 8)), "load: 'at' takes an integer or an index, not the number 0.5", "kl.load(y"
        )
        self.assertBodyMistake(lambda t, y: kl.matmul(t, 3), "matmul: 'b' takes a tile, not the integer 3", "kl.matmul(t, 3)")
        self.assertBodyMistake(lambda t, y: kl.read(y, 0, 0), "read: 'dtype' takes an element type, not", "kl.read(y, 0, 0)")

    def test_what_is_meant(self) -> None:
        """Slips of those who know numpy, torch or Triton: the words say what to write here."""
        self.assertBodyMistake(lambda t, y: kl.zeros(f32, 8), r"kl.zeros takes .* rows and columns: kl.zeros\(", "kl.zeros(f32, 8)")
        self.assertBodyMistake(lambda t, y: kl.zeros(float, 8, 8), "element types are those of Kiln, such as f32", "kl.zeros(float")
        self.assertBodyMistake(lambda t, y: t * y[0, 0], r"names an element .* kl.read\(x, i\)", "t * y[0, 0]")
        index = lambda: kl.block_idx(0)
        self.assertBodyMistake(lambda t, y: kl.minimum(index(), 3), "kl.min chooses between indices", "kl.minimum(index(), 3)")
        self.assertBodyMistake(lambda t, y: str(index()), "an index has no text: it is known only when", "str(index())")
        self.assertBodyMistake(lambda t, y: y.size(0), "has no 'size'; extents are in .shape", "y.size(0)")
        for name, words in (("sum", "kl.reduce_sum"), ("dot", "kl.matmul"), ("program_id", "kl.block_idx"), ("arange", "kl.iota")):
            with self.assertRaisesRegex(AttributeError, f"has no '{name}'; write .*{words}"):
                getattr(kl, name)

    def test_truth_of_a_tile(self) -> None:
        @kl.function
        def body(t, y):
            if t > 0:
                kl.store(t, y, (0, 0))

        self.assertBodyMistake(body, "a tile of 8x8 i1 is no condition", "t > 0")

    def test_comparisons(self) -> None:
        self.assertBodyMistake(lambda t, y: y.shape == (8, 8), "shapes are compared extent by extent", "y.shape == (8, 8)")
        index = lambda: kl.block_idx(0)
        self.assertBodyMistake(lambda t, y: min(index(), 3), "kl.min", "min(index(), 3)")
        self.assertBodyMistake(lambda t, y: (index() < 3) == True, "not compared", "(index() < 3) == True")
        self.assertBodyMistake(lambda t, y: list(kl.range(3)), "is a `for` statement", "list(kl.range(3))")

    def test_elements_of_a_tile(self) -> None:
        def changes(t, y):
            t[0, 0] = 1

        self.assertBodyMistake(changes, "kl.insert", "t[0, 0] = 1")
        self.assertBodyMistake(lambda t, y: t[0, 0], "kl.element", "t[0, 0]")
        self.assertBodyMistake(lambda t, y: list(t), "cannot be iterated over", "list(t)")

    def test_misspelt(self) -> None:
        with self.assertRaisesRegex(AttributeError, "kiln.language has no 'laod'") as caught:
            kl.laod
        self.assertEqual((caught.exception.name, caught.exception.obj), ("laod", kl))  # from which Python suggests `load`

    @needs_numpy
    def test_arrays_in_a_program(self) -> None:
        a, words = numpy.zeros((8, 8), "f4"), r": an array of numpy \(of shape \(8, 8\)\) is no value of the program; tensors are arguments"
        self.assertBodyMistake(lambda t, y: kl.load(a, (0, 0), (8, 8)), words, "kl.load(a, (0, 0)")
        self.assertBodyMistake(lambda t, y: kl.store(t, a, (0, 0)), words, "kl.store(t, a")

    @needs_torch
    def test_meta_tensor(self) -> None:
        a = torch.zeros(8, 8, device="meta")
        self.assertMistake(lambda: add(a, a, a), "'a' lies on meta; .*; it has a shape, but no elements", "add(a, a, a)")

    def test_tensor_arithmetic(self) -> None:
        self.assertBodyMistake(lambda t, y: y + 1, "a tensor lies in global memory", "y + 1")

    def test_index_arithmetic(self) -> None:
        self.assertBodyMistake(lambda t, y: kl.block_idx(0) / 2, "write // instead of /", "kl.block_idx(0) / 2")
        self.assertBodyMistake(lambda t, y: t + kl.block_idx(0), "kl.cast", "t + kl.block_idx(0)")
        self.assertBodyMistake(lambda t, y: range(kl.block_idx(0)), "kl.range", "range(kl.block_idx(0))")

    def test_outside_a_program(self) -> None:
        """Each is told by the name that the user has written."""
        for run, words, source in (
            (lambda: kl.zeros(f32, 8, 8), "kl.zeros stands outside any program", "kl.zeros(f32, 8, 8)"),
            (lambda: kl.exp(1), "kl.exp stands outside any program", "kl.exp(1)"),
            (lambda: kl.pipe("a", kl.aic, kl.aiv), "kl.pipe stands outside any program", 'kl.pipe("a"'),
            (lambda: kl.spmd(1)(lambda i: None), "@kl.spmd stands outside any program", "kl.spmd(1)"),
            (lambda: kl.kernel(stages=2)(lambda: None), "@kl.kernel stands outside any program", "kl.kernel(stages=2)"),
            (lambda: kl.role(kl.aic)(lambda: None), "@kl.role stands outside any program", "kl.role(kl.aic)"),
            (lambda: kl.scope().__enter__(), "kl.scope stands outside any program", "kl.scope()"),
            (lambda: [1 for _ in kl.range(3)], "is a `for` statement", "kl.range(3)"),
            (lambda: kl.range(), "kl.range takes an upper bound", "kl.range()"),
        ):  # fmt: skip
            with self.subTest(source):
                self.assertMistake(run, words, source)

    def test_wrong_keyword_parameters(self) -> None:
        self.assertMistake(lambda: kl.param(64, [32, 128]), "the default=64 does not fit; it is one of 32, 128", "kl.param(64")
        self.assertMistake(lambda: kl.choice("c", ["a"]), "does not fit", 'kl.choice("c"')
        self.assertMistake(lambda: kl.split("diagonal"), "none, up_down, left_right", 'kl.split("diagonal")')

    def test_escaped_values(self) -> None:
        """A tile that is kept after its program has been recorded."""
        kept = []
        self.assertBodyMistake(lambda t, y: kept.extend([t, y]) or y + 1, "global memory", "y + 1")
        t, y = kept
        self.assertEqual((repr(t), t.shape), ("<a tile of 8x8 f32>", (8, 8)))
        self.assertMistake(lambda: t + 1, "stands outside any program", "t + 1")
        self.assertMistake(lambda: 1 - t, "stands outside any program", "1 - t")
        self.assertMistake(lambda: t.T, "stands outside any program", "t.T")
        self.assertMistake(lambda: y.shape[0], "stands outside any program", "y.shape[0]")
        self.assertMistake(lambda: y[0] + 1, "names an element", "y[0] + 1")
        self.assertMistake(lambda: str(t), "a tile has no text", "str(t)")
        self.assertMistake(lambda: bool(t), "is no condition", "bool(t)")
        self.assertMistake(lambda: t.sum(), "has no 'sum'", "t.sum()")

    def test_task_behind_its_scope(self) -> None:
        @kiln.program
        def wrong(x: kl.InOut[f32]):
            @kl.kernel
            def clear(x: kl.InOut[f32]):
                kl.store(kl.zeros(f32, 8, 8), x, (0, 0))

            with kl.scope():
                first = clear(x)
            clear(x, deps=[first])

        self.assertMistake(wrong.text, "task .* belongs to the scope that made it .* ordered by the tensors", "clear(x, deps=[first])")

    @needs_numpy
    def test_fault_of_a_run(self) -> None:
        """What shows when a kernel runs has a column, too."""

        @kiln.program
        def far(x: kl.In[f32], n: kl.Index, y: kl.Out[f32]):
            @kl.spmd(1)
            def far(i):
                kl.store(kl.load(x, (n, 0), (8, 8)), y, (0, 0))

        x, y = numpy.zeros((8, 8), "f4"), numpy.zeros((8, 8), "f4")
        text = self.assertMistake(lambda: far(x, 64, y), "lies wholly outside 'x'", "kl.load(x, (n, 0), (8, 8))")
        place, line, caret = text.splitlines()
        if sys.version_info >= (3, 11):  # which knows columns
            self.assertEqual(line[caret.index("^") :].find("kl.load("), 0, text)

    @needs_numpy
    def test_fault_of_an_equal_program(self) -> None:
        """Equal programs share code; each tells its own lines, also those of a helper."""

        def load_far(x, n):
            return kl.load(x, (n, 0), (8, 8))  # of the helper

        @kiln.program
        def same(x: kl.In[f32], n: kl.Index, y: kl.Out[f32]):
            @kl.spmd(1)
            def kernel(i):
                kl.store(load_far(x, n), y, (0, 0))

        first = same

        @kiln.program
        def same(x: kl.In[f32], n: kl.Index, y: kl.Out[f32]):
            @kl.spmd(1)
            def kernel(i):
                kl.store(kl.load(x, (n, 0), (8, 8)), y, (0, 0))  # of the second

        self.assertEqual(first.text(), same.text())
        x, y = numpy.zeros((8, 8), "f4"), numpy.zeros((8, 8), "f4")
        for _ in range(2):  # through Python, and through the extension
            self.assertMistake(lambda: first(x, 64, y), "lies wholly outside 'x'", "# of the helper")
            self.assertMistake(lambda: same(x, 64, y), "lies wholly outside 'x'", "# of the second")

    def test_functions_of_the_package(self) -> None:
        self.assertMistake(lambda: kiln.set_workers(0), "one thread or more", "kiln.set_workers(0)")
        self.assertMistake(lambda: kiln.run_ranks(0, print), "from 1 to 1024", "kiln.run_ranks(0, print)")
        self.assertMistake(lambda: kiln.program(print), "decorates a function", "kiln.program(print)")
        self.assertMistake(lambda: kiln.program()(print), "decorates a function", "kiln.program()(print)")
        self.assertMistake(lambda: kl.function(lambda: 0), "no function of `def`", "kl.function(lambda: 0)")
        self.assertMistake(lambda: kl.function(print), "no function of `def`", "kl.function(print)")
        self.assertMistake(lambda: kiln.from_dlpack([1]), "list offers no tensor through DLPack", "kiln.from_dlpack([1])")
        self.assertMistake(lambda: kiln.reinterpret([1], f32), "it has to be a tensor", "kiln.reinterpret([1], f32)")

    def test_error_of_a_rank(self) -> None:
        def body(rank):
            return 1 / rank

        with self.assertRaises(ZeroDivisionError):
            self.assertMistake(lambda: kiln.run_ranks(2, body), "", "")
        self.assertMistake(lambda: kiln.run_ranks(1, lambda rank: kl.exp(1)), "kl.exp stands outside", "kl.exp(1)")

    @needs_numpy
    def test_what_only_looks_like_a_tensor(self) -> None:
        class HasInterface:
            __array_interface__ = numpy.zeros((8, 8), "f4").__array_interface__

        a, like = numpy.zeros((8, 8), "f4"), HasInterface()
        for _ in range(2):
            self.assertMistake(lambda: add(a, like, a), "'b' is HasInterface; it has to be a tensor of", "add(a, like, a)")
            self.assertMistake(lambda: add(a, numpy.ndarray, a), "'b' is the class ndarray; it has to be", "add(a, numpy.ndarray, a)")
            self.assertMistake(lambda: add(a, HasInterface, a), r"'b' is the class \S*HasInterface; it has", "add(a, HasInterface, a)")
        self.assertMistake(lambda: kiln.from_dlpack(like), "HasInterface offers no tensor", "from_dlpack(like)")
        self.assertMistake(lambda: kiln.from_dlpack(numpy.ndarray), "class ndarray", "from_dlpack(numpy.ndarray)")

    @needs_numpy
    def test_masked_array(self) -> None:
        a = numpy.zeros((8, 8), "f4")
        masked = numpy.ma.masked_array(a, mask=a == 0)
        for _ in range(2):
            self.assertMistake(lambda: add(a, masked, a.copy()), r"'b' is a masked array.*b\.filled\(0\) or b\.data", "add(a, masked")
        self.assertMistake(lambda: kiln.from_dlpack(masked), "masked array", "from_dlpack(masked)")

    @needs_numpy
    def test_marks(self) -> None:
        """Each is told of itself, and changes nothing."""
        x, y = numpy.ones((8, 8), "f4"), numpy.zeros((8, 8), "f4")
        a = kiln.from_dlpack(x).mark_layout_dynamic(1, 4).mark_static(0)
        marks = a.view.marks
        self.assertMistake(lambda: a.mark_static(5), ": mark_static: there is no axis 5 in a tensor of rank 2", "a.mark_static(5)")
        self.assertMistake(
            lambda: a.mark_layout_dynamic(0, 1), ": mark_layout_dynamic: the leading dimension has stride 1", "a.mark_layout_dynamic(0, 1)"
        )
        self.assertEqual(a.view.marks, marks)
        add(a, a, y)
        self.assertTrue((y == 2).all())

    def test_types_as_text(self) -> None:
        """As `from __future__ import annotations` makes them."""

        def make(T):
            @kiln.program
            def unknown(x: "kl.In[T]"):
                pass

            return unknown

        def make_known(T):
            @kiln.program
            def known(x: "kl.In[T]"):
                T

            return known

        self.assertIn("bf16", make_known(bf16).text())
        self.assertMistake(make(bf16).text, "name 'T' is not defined; with `from __future__ .* use the name in the body too", "@kiln.program")

    def test_method(self) -> None:
        class Model:
            @kiln.program
            def forward(self, x: kl.In[f32]):
                pass

        self.assertEqual(repr(Model.forward), "<kiln.program forward(self, x)>")
        self.assertMistake(lambda: Model.forward.text(), "parameter 'self' of forward has no type", "@kiln.program")
        self.assertMistake(lambda: Model().forward.parameters, "parameter 'self' of forward has no type", "@kiln.program")

    def test_functions_know_themselves(self) -> None:
        """What editors and `help` show."""
        for function in (kl.zeros, kl.exp, kl.spmd, kiln.from_dlpack):
            shown = pydoc.render_doc(function, renderer=pydoc.plaintext)
            self.assertIn(f"{function.__name__}{inspect.signature(function)}", shown)
            self.assertIn(function.__doc__.splitlines()[0], shown)

    def test_value_of_another_program(self) -> None:
        kept = []

        @kiln.program
        def first(x: kl.In[f32], y: kl.Out[f32]):
            kept.append(x)

        first.text()
        self.assertBodyMistake(lambda t, y: kl.load(kept[0], (0, 0), (8, 8)), "belongs to another program, first", "kept[0]")

    def test_program_in_a_program(self) -> None:
        self.assertBodyMistake(lambda t, y: add(t, t, t), "is called while wrong is recorded", "add(t, t, t)")

    @needs_numpy
    def test_call_in_a_program(self) -> None:
        """Also of a program that has been called before, which the extension would call at once."""
        a, c = numpy.ones((8, 8), "f4"), numpy.zeros((8, 8), "f4")
        add(a, a, c.copy())
        self.assertBodyMistake(lambda t, y: add(a, a, c), "add is called while wrong is recorded", "add(a, a, c)")
        self.assertFalse(c.any())
        add(a, a, c)
        self.assertTrue((c == 2).all())

    def test_store_into_an_input(self) -> None:
        @kiln.program
        def wrong(x: kl.In[f32], y: kl.Out[f32]):
            @kl.spmd(1)
            def kernel(i):
                kl.store(kl.zeros(f32, 8, 8), x, (0, 0))

        self.assertMistake(lambda: wrong.text(), "store into an In tensor", "kl.store(kl.zeros(f32, 8, 8), x")

    def test_untyped_parameter(self) -> None:
        @kiln.program
        def untyped(x):
            pass

        self.assertMistake(lambda: untyped.text(), "parameter 'x' of untyped has no type", "@kiln.program")

    def test_grid_and_function(self) -> None:
        @kiln.program
        def wrong(x: kl.In[f32]):
            @kl.spmd(1, 2)
            def kernel(i):
                pass

        self.assertMistake(lambda: wrong.text(), "kernel takes 1 block index, but its grid has 2 dimensions", "@kl.spmd(1, 2)")

    def test_kernel_that_calls_itself(self) -> None:
        @kiln.program
        def wrong(x: kl.In[f32]):
            @kl.kernel
            def again(x: kl.In[f32]):
                again(x)

            again(x)

        self.assertMistake(lambda: wrong.text(), "again calls itself: it is recorded once", "                again(x)")

    def test_function_that_calls_itself_without_end(self) -> None:
        @kl.function
        def endless(t):
            return endless(t + 1)

        self.assertBodyMistake(lambda t, y: endless(t), "endless calls itself without end", "return endless(t + 1)")

    def test_program_that_calls_itself(self) -> None:
        self.assertMistake(lambda: program_of_itself.text(), "a program is no part of another one", "program_of_itself(x)")

    def test_assert(self) -> None:
        @kl.function
        def body(t, y):
            assert y.shape[0] > 3, "large"

        self.assertBodyMistake(body, r"`assert` decides while.*kl\.require\(condition, message\)", "y.shape[0] > 3")

    def test_raise_in_a_branch(self) -> None:
        @kl.function
        def body(t, y):
            if y.shape[0] > 3:
                if t.rows > 8:
                    raise ValueError("known while recording")
            else:
                raise ValueError("small")

        self.assertBodyMistake(body, r"`raise` stands in a branch .*line \d+.*kl\.require\(condition, message\)", 'raise ValueError("small")')

        @kl.function
        def known(t, y):
            if y.shape[0] > 3:
                for j in kl.range(2):
                    if t.rows == 8:
                        raise ZeroDivisionError("known while recording")

        with self.assertRaisesRegex(ZeroDivisionError, "known while recording"):
            self.assertBodyMistake(known, "", "")

    def test_assignment_in_a_condition(self) -> None:
        @kl.function
        def body(t, y):
            k = y.shape[0]
            while (k := k - 1) > 0:
                t = t + 1

        self.assertBodyMistake(body, "the condition of this `while` gives 'k' a value with `:=`", "while (k := k - 1) > 0")

    def test_exception_that_is_caught(self) -> None:
        """What an exception left has no end, so nothing can follow it."""

        def scope(x):
            with kl.scope():
                1 / 0

        @kl.function
        def branch(x):
            if x.shape[0] > 3:
                1 / 0

        def kernel(x):
            @kl.spmd(1)
            def kernel(i):
                1 / 0

        for body, left in ((scope, "a scope"), (branch, "a loop, a branch"), (kernel, "kernel")):

            @kiln.program
            def wrong(x: kl.InOut[f32]):
                try:
                    body(x)
                except ZeroDivisionError:
                    pass

                kl.alloc("t", f32, (8, 8))

            with self.subTest(left):
                self.assertMistake(wrong.text, f"an exception left {left}.* and was caught.*Catch it inside", "")

    def test_arguments_of_a_kernel_by_name(self) -> None:
        launches = {
            "step(x, z=y)": "step has no parameter 'z'; it has x, y", "step(x, y, x=x)": "step is given 'x' twice",
            "step(y=y)": "step is given no 'x'", "step(x, y, y)": r"step has 2 parameters \(x, y\), but 3",
        }  # fmt: skip
        for launch, words in [*launches.items(), ("step(y=y, x=x)", "")]:

            @kiln.program
            def wrong(x: kl.In[f32], y: kl.Out[f32]):
                @kl.kernel
                def step(x: kl.In[f32], y: kl.Out[f32]):
                    kl.store(kl.load(x, (0, 0), (8, 8)), y, (0, 0))

                eval(launch)

            with self.subTest(launch):
                if not words:
                    self.assertIn("(%x, %y)", wrong.text())
                    continue
                with self.assertRaisesRegex(KilnError, words):
                    wrong.text()

    def test_value_of_a_kernel(self) -> None:
        def generator():
            yield 1

        for made in (1, generator()):

            @kiln.program
            def wrong(x: kl.In[f32]):
                @kl.spmd(1)
                def kernel(i):
                    return made

            self.assertMistake(lambda: wrong.text(), "kernel returns a value, but a kernel has no results", "@kl.spmd(1)")

    def test_another_decorator_below(self) -> None:
        def logged(function):
            @functools.wraps(function)
            def inner(*arguments):
                return function(*arguments)

            return inner

        @kiln.program
        @logged
        def wrong(x: kl.In[f32]):
            pass

        self.assertMistake(lambda: wrong.text(), "another decorator has wrapped wrong", "wrong.text()")

        def body(t, y):
            @kl.function
            @logged
            def helper(t):
                return t

        self.assertBodyMistake(body, "another decorator has wrapped helper", "@kl.function")

    def test_methods_of_arrays(self) -> None:
        self.assertBodyMistake(lambda t, y: t.sum(), r"a tile of 8x8 f32 has no 'sum'; write kl\.reduce_sum\(t, axis\)", "t.sum()")
        self.assertBodyMistake(lambda t, y: t.exp(), r"has no 'exp'; write kl\.exp\(t\)", "t.exp()")
        self.assertBodyMistake(lambda t, y: y.frobnicate(), "has no 'frobnicate'; what a program does", "y.frobnicate()")
        self.assertBodyMistake(lambda t, y: divmod(t, 2), "a tile has no divmod", "divmod(t, 2)")
        self.assertBodyMistake(lambda t, y: (hasattr(t, "sum"), getattr(t, "sum", 0), y + 1), "global memory", "y + 1")

    def test_writing_an_element(self) -> None:
        def body(t, y):
            y[0, 0] = 1.0

        self.assertBodyMistake(body, r"kl\.write\(value, y, row, col\).*kl\.store", "y[0, 0] = 1.0")

    def test_value_of_a_program(self) -> None:
        @kiln.program
        def wrong(x: kl.In[f32]):
            return x

        self.assertMistake(lambda: wrong.text(), "wrong returns a value, but .*kl.Out parameters", "@kiln.program")

    def test_parameter_that_is_no_keyword(self) -> None:
        @kiln.program
        def wrong(x: kl.In[f32], BM=kl.param(8)):
            pass

        self.assertMistake(lambda: wrong.text(), r"'BM' of wrong .*write `\*, BM=\.\.\.`", "@kiln.program")

    def test_types_that_there_are_not(self) -> None:
        """They are told at the annotation, when the program is used."""
        wrong_types = {
            "kl.In[float]": r"kl\.In\[float\]: a tensor has an element type", "kl.Out[f32, 0]": "ranks go from 1 to",
            "kl.InOut[f32, 60]": "ranks go from 1 to", "kl.In[f32, 'n']": "a rank, or a tuple of extents",
            "kl.In[f32, (8, -2)]": "an extent is not negative", "kl.Scalar['x']": "a scalar has an element type",
        }  # fmt: skip
        for annotation, words in wrong_types.items():

            @kiln.program
            def wrong(x: eval(annotation)):
                pass

            with self.subTest(annotation), self.assertRaisesRegex(KilnError, words) as caught:
                wrong.text()
            trace = traceback.extract_tb(caught.exception.__traceback__)
            self.assertFalse([frame for frame in trace if frame.filename.startswith(PACKAGE)])

    def test_one_place_in_a_message(self) -> None:
        """What the compiler or a tool says has its place once."""
        self.assertMistake(lambda: add.emit("ptx"), "there is no target 'ptx'", 'add.emit("ptx")')
        self.assertMistake(lambda: add.check(options=["--nonsense"]), r": --nonsense is no flag", "--nonsense")

    @needs_numpy
    def test_unknown_platform(self) -> None:
        a, tpu = numpy.zeros((8, 8), "f4"), add.with_(platform="tpu")
        text = self.assertMistake(lambda: tpu(a, a, a.copy()), ": the JIT compiles for .*not for 'tpu'", "tpu(a, a")
        self.assertNotIn("error:", text)

    def test_own_exception_has_only_own_frames(self) -> None:
        def body(t, y):
            return 1 / 0

        with self.assertRaises(ZeroDivisionError):
            self.assertBodyMistake(body, "", "")

    def test_recovers(self) -> None:
        """After a mistake the thread can record other programs, and others have not noticed."""
        self.assertBodyMistake(lambda t, y: y + 1, "global memory", "y + 1")
        self.assertIn("module @add", add.with_().text())
        texts = []
        thread = threading.Thread(target=lambda: texts.append(add.with_().text()))
        thread.start()
        thread.join()
        self.assertEqual(texts, [add.text()])


if __name__ == "__main__":
    unittest.main()
