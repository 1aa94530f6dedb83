"""Calling programs: whatever holds the numbers, from many threads, after a fork, interrupted; with and without the extension."""
import base64
import copy
import ctypes
import enum
import os
import pathlib
import pickle
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
import unittest

import kiln
import kiln.language as kl
from kiln import KilnError, _jit, _library, f32, i8, i32, i64
from kiln._tensors import from_dlpack

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
needs_extension = unittest.skipUnless(_jit._extension, "the extension is not built")


@kiln.program
def add(a: kl.In[f32], b: kl.In[f32], c: kl.Out[f32], *, B=kl.param(8, [8, 16])):
    kl.require_same_shape(a, b, "a and b have one shape")
    kl.require_same_shape(a, c, "c has the shape of a")

    @kl.spmd(kl.ceildiv(c.shape[0], B), kl.ceildiv(c.shape[1], B))
    def add(bi, bj):
        at = (bi * B, bj * B)
        kl.store(kl.load(a, at, (B, B)) + kl.load(b, at, (B, B)), c, at)


@kiln.program
def scale(x: kl.In[f32], factor: kl.Scalar[f32], y: kl.Out[f32]):
    @kl.spmd(kl.ceildiv(y.shape[0], 8))
    def scale(i):
        kl.store(kl.load(x, (i * 8, 0), (8, 8)) * factor, y, (i * 8, 0))


@kiln.program
def work(x: kl.InOut[f32], rounds: kl.Scalar[kl.i32]):
    """As many tasks as one likes, one after the other."""

    @kl.kernel
    def step(x: kl.InOut[f32]):
        t = kl.load(x, (0, 0), (64, 64))
        for _ in kl.range(20):
            t = kl.sin(t)
        kl.store(t, x, (0, 0))

    for _ in kl.range(kl.to_index(rounds)):
        step(x)


@kiln.program
def spin(n: kl.Index, y: kl.Out[i32, (1,)]):
    @kl.spmd(1)
    def spin(i):
        count = 0
        while count < n:
            count = count + 1
        kl.write(kl.cast(count, i32), y, 0)


@kiln.program
def long_loop(n: kl.Index, y: kl.Out[f32, (32, 32)]):
    @kl.spmd(1)
    def long_loop(i):
        t = kl.zeros(f32, 32, 32)
        for j in kl.range(n):
            t = kl.sin(t) + 1
        kl.store(t, y, (0, 0))


@kiln.program
def hand_over(n: kl.Index, x: kl.In[f32, (32, 32)], y: kl.Out[f32, (32, 32)]):
    @kl.group
    def hand_over(n: kl.Index, x: kl.In[f32, (32, 32)], y: kl.Out[f32, (32, 32)]):
        up = kl.pipe("up", kl.aiv, kl.aic, f32, (32, 32))
        down = kl.pipe("down", kl.aic, kl.aiv, f32, (32, 32))

        @kl.role(kl.aiv)
        def vector():
            t = kl.load(x, (0, 0), (32, 32))
            for i in kl.range(n):
                kl.push(up, t)
                t = kl.pop(down)
            kl.store(t, y, (0, 0))

        @kl.role(kl.aic)
        def matrix():
            for i in kl.range(n):
                t = kl.pop(up)
                kl.push(down, t @ t)

    hand_over(n, x, y)


class OnlyDLPack:
    """A tensor of a library that nobody knows."""

    def __init__(self, tensor) -> None:
        self._tensor = tensor

    def __dlpack__(self, stream=None):
        return self._tensor.__dlpack__()

    def __dlpack_device__(self):
        return self._tensor.__dlpack_device__()


class DLTensor(ctypes.Structure):
    _fields_ = [
        ("data", ctypes.c_void_p), ("device", ctypes.c_int32 * 2), ("ndim", ctypes.c_int32), ("code", ctypes.c_uint8),
        ("bits", ctypes.c_uint8), ("lanes", ctypes.c_uint16), ("shape", ctypes.POINTER(ctypes.c_int64)),
        ("strides", ctypes.POINTER(ctypes.c_int64)), ("byte_offset", ctypes.c_uint64),
    ]  # fmt: skip


class Exchange(ctypes.Structure):
    """DLPack's C exchange interface, of which the newest torch has one."""

    READ = ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.py_object, ctypes.POINTER(DLTensor))
    _fields_ = [
        ("major", ctypes.c_uint32), ("minor", ctypes.c_uint32), ("previous", ctypes.c_void_p),
        ("not_used", ctypes.c_void_p * 3), ("read", READ), ("stream", ctypes.c_void_p),
    ]  # fmt: skip


class OnlyExchange:
    """A tensor that can only be read through that interface; Python needs the other one."""

    reads = 0

    def __init__(self, array, device: int = 1) -> None:
        self.array, self.device = array, device
        self.shape = (ctypes.c_int64 * array.ndim)(*array.shape)
        self.strides = (ctypes.c_int64 * array.ndim)(*(each // array.itemsize for each in array.strides))

    def __dlpack__(self, stream=None):
        return self.array.__dlpack__()

    @Exchange.READ
    def read(self, to) -> int:
        OnlyExchange.reads += 1
        made = to.contents
        made.data, made.byte_offset, made.device[0], made.ndim = self.array.ctypes.data - 16, 16, self.device, self.array.ndim
        made.code, made.bits, made.lanes, made.shape, made.strides = 2, 32, 1, self.shape, self.strides
        return 0

    table = Exchange(1, 3, None, (ctypes.c_void_p * 3)(), read)
    newer = Exchange(2, 0, ctypes.addressof(table))  # of a version that nobody knows, with the one before
    ctypes.pythonapi.PyCapsule_New.restype = ctypes.py_object
    ctypes.pythonapi.PyCapsule_New.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]
    name = b"dlpack_exchange_api"  # which the capsule does not copy
    __dlpack_c_exchange_api__ = ctypes.pythonapi.PyCapsule_New(ctypes.addressof(newer), name, None)


def random(*shape: int):
    return numpy.random.default_rng().standard_normal(shape).astype("f4")


@needs_numpy
class Arguments(unittest.TestCase):
    def check_add(self, make, program=add) -> None:
        """Twice: the first call goes through Python, the second through the extension."""
        program = program.with_()
        for shape in ((8, 8), (13, 21), (1, 1)):
            a, b, c = random(*shape), random(*shape), numpy.zeros(shape, "f4")
            for _ in range(2):
                c[:] = 0
                program(make(a), make(b), make(c))
                numpy.testing.assert_array_equal(c, a + b)

    def test_numpy(self) -> None:
        self.check_add(lambda x: x)

    @needs_torch
    def test_torch(self) -> None:
        self.check_add(torch.from_numpy)
        self.check_add(lambda x: torch.nn.Parameter(torch.from_numpy(x), requires_grad=False))

    def test_empty(self) -> None:
        for shape in ((0, 5), (5, 0), (0, 0)):
            a, c = numpy.zeros(shape, "f4"), numpy.zeros(shape, "f4")
            for _ in range(2):
                add(a, a, c)

    def test_dlpack_only(self) -> None:
        self.check_add(OnlyDLPack)

    @needs_extension
    def test_exchange(self) -> None:
        before = OnlyExchange.reads
        self.check_add(OnlyExchange)
        self.assertEqual(OnlyExchange.reads - before, 15)  # but for the very first call
        a = random(8, 8)
        add(a, a, a.copy())
        for _ in range(2):
            add(OnlyExchange(a, device=2), a, a.copy())  # not for the extension, so Python reads it

    def test_adaptor(self) -> None:
        self.check_add(from_dlpack)

    def test_marks(self) -> None:
        def marked(x):
            adaptor = from_dlpack(x)
            return adaptor.mark_layout_dynamic(1).mark_static(1) if x.size else adaptor

        self.check_add(marked)

    @needs_torch
    def test_one_call_with_everything(self) -> None:
        a, b, c = random(9, 9), random(9, 9), random(9, 9)
        for _ in range(3):
            add(torch.from_numpy(a), from_dlpack(b), c)
            numpy.testing.assert_array_equal(c, a + b)
            add(OnlyDLPack(a), b, torch.from_numpy(c))

    def test_read_only_input_with_marks(self) -> None:
        a, c = random(9, 9), random(9, 9)
        a.flags.writeable = False
        for _ in range(2):
            marked = from_dlpack(a).mark_layout_dynamic(1).mark_static(1)
            add(marked, a, c)
            numpy.testing.assert_array_equal(c, a + a)
            with self.assertRaisesRegex(KilnError, "'c' is read-only, but the program writes it"):
                add(c, c, marked)
        del marked
        before = sys.getrefcount(a)
        marked = from_dlpack(a)
        self.assertGreater(sys.getrefcount(a), before)  # it lives as long as what is made of it
        del marked
        self.assertEqual(sys.getrefcount(a), before)
        with self.assertRaisesRegex(KilnError, r"'tensor' has a negative stride \(9, -1\); pass a copy of it"):
            from_dlpack(a[:, ::-1])

    def test_strides(self) -> None:
        for _ in range(2):
            a, b, c = random(30, 40)[::2, ::3], random(14, 15).T, numpy.zeros((15, 14), "f4", order="F")
            add(a[:, :14], b, c)
            numpy.testing.assert_array_equal(c, a[:, :14] + b)

    def test_reinterpret(self) -> None:
        @kiln.program
        def copy(x: kl.In[i8], y: kl.Out[i8]):
            @kl.spmd(1)
            def copy(i):
                kl.store(kl.load(x, (0, 0), (4, 4)), y, (0, 0))

        x, y = numpy.arange(16, dtype="u1").reshape(4, 4), numpy.zeros((4, 4), "u1")
        for _ in range(2):
            y[:] = 0
            copy(kiln.reinterpret(x, i8), kiln.reinterpret(y, i8))
            numpy.testing.assert_array_equal(x, y)
        with self.assertRaisesRegex(KilnError, "cannot be taken for f32"):
            kiln.reinterpret(x, f32)

    def test_numbers(self) -> None:
        x, y = random(8, 8), random(8, 8)
        for factor in (2, 2.5, True, numpy.float32(1.5), numpy.float64(0.5), numpy.int64(3), numpy.array(4.0)):
            for _ in range(2):
                scale(x, factor, y)
                numpy.testing.assert_array_equal(y, x * numpy.float32(factor))
        for wrong in ("2", None, [1], x):
            with self.assertRaisesRegex(KilnError, "'factor' is .*; it has to be a number"):
                scale(x, wrong, y)

    def test_integers_that_do_not_fit(self) -> None:
        @kiln.program
        def tell(n: kl.Index, s: kl.Scalar[i64], u: kl.Scalar[i32], f: kl.Scalar[f32], y: kl.Out[i64, (3,)], z: kl.Out[f32, (1,)]):
            @kl.spmd(1)
            def tell(i):
                kl.write(kl.cast(n, i64), y, 0)
                kl.write(s, y, 1)
                kl.write(kl.cast(u, i64), y, 2)
                kl.write(f, z, 0)

        y, z = numpy.zeros(3, "i8"), numpy.zeros(1, "f4")
        for _ in range(2):  # through Python, and through the extension
            for n, s, u in ((-(2**63), 2**63 - 1, -(2**31)), (2**63 - 1, -(2**63), 2**31 - 1), (numpy.int64(-1), True, 7)):
                tell(n, s, u, 2**70, y, z)
                self.assertEqual([*y, *z], [n, s, u, 2.0**70])
            good = (1, 2, 3, 4.0)
            for at, name, dtype, wrong in (
                (0, "n", "index", 2**70), (0, "n", "index", -(2**63) - 1), (0, "n", "index", numpy.uint64(2**63)),
                (1, "s", "i64", 2**63), (2, "u", "i32", 2**31), (2, "u", "i32", -(2**70)), (2, "u", "i32", 10**4000),
            ):  # fmt: skip
                given = (*good[:at], wrong, *good[at + 1 :], y, z)
                with self.assertRaisesRegex(KilnError, f"'{name}' is .*, but {dtype} goes from -[0-9]+ to [0-9]+"):
                    tell(*given)
            with self.assertRaisesRegex(KilnError, "'f' is an integer of 1329 bits, which is too large for f32"):
                tell(1, 2, 3, 10**400, y, z)

    def test_overlap_after_a_good_call(self) -> None:
        memory = random(48, 8)
        for _ in range(2):
            add(memory[:8], memory[8:16], memory[16:24])
            with self.assertRaisesRegex(KilnError, "'c' overlaps 'b', which is read"):
                add(memory[:8], memory[20:28], memory[16:24])
            add(memory[:8, :4], memory[:8, 2:6], memory[8:16, 4:])
            add(memory[:8, :4], memory[:8, :4], memory[:8, 4:])  # columns side by side

    def test_arguments_by_name(self) -> None:
        a, b, c = random(20, 20), random(20, 20), random(20, 20)
        for given in ({"a": a, "b": b, "c": c}, {"c": c, "b": b, "a": a, "B": 16}):
            c[:] = 0
            add(**given)
            numpy.testing.assert_array_equal(c, a + b)
        add(a, c=c, b=a)
        numpy.testing.assert_array_equal(c, a + a)
        with self.assertRaisesRegex(KilnError, "add is given 'a' twice"):
            add(a, b, a=c)
        with self.assertRaisesRegex(KilnError, "add takes 3 arguments, but is given no 'b'"):
            add(a, c=c)
        with self.assertRaisesRegex(KilnError, "add has no keyword parameter 'd'"):
            add(a, b, c, d=3)
        self.assertTrue(add.check(a=a, b=b, c=c))

    def test_keyword_parameters(self) -> None:
        self.check_add(lambda x: x, add.with_(B=16))
        a, c = random(20, 20), random(20, 20)
        for block in (8, 16, 8):
            add(a, a, c, B=block)
            numpy.testing.assert_array_equal(c, a + a)

    def test_plain_keyword_parameters(self) -> None:
        """An integer of numpy's is as good as one of Python's, and a word of an enumeration as a plain one."""

        class Form(str, enum.Enum):
            TWICE = "twice"

        @kiln.program
        def times(x: kl.In[f32], y: kl.Out[f32], *, n=kl.param(1, [1, 2]), form=kl.choice("once", ["once", "twice"])):
            @kl.spmd(1)
            def times(i):
                kl.store(kl.load(x, (0, 0), (8, 8)) * (n * (2 if form == "twice" else 1)), y, (0, 0))

        x, y = random(8, 8), random(8, 8)
        for n in (numpy.int64(2), numpy.uint8(2)):
            times(x, y, n=n, form=Form.TWICE)
            numpy.testing.assert_array_equal(y, x * 4)
        self.assertEqual(list(map(type, times.with_(n=numpy.int8(2), form=Form.TWICE).params.values())), [int, str])
        for wrong in (numpy.float32(2), numpy.bool_(True), numpy.ones(2, "i4"), 2.0, "2"):
            with self.assertRaisesRegex(KilnError, "does not fit; it is one of 1, 2"):
                times(x, y, n=wrong)

    @needs_torch
    def test_negated_later(self) -> None:
        """torch negates the imaginary part of a conjugate when somebody looks, which a program does not."""
        x = torch.randn(8, 8, dtype=torch.complex64)
        y = torch.empty(8, 8)
        for _ in range(2):
            with self.assertRaisesRegex(KilnError, r"'a' is to be negated.*a\.resolve_neg"):
                add(x.conj().imag, x.conj().imag, y)
            add(x.imag, x.real, y)
            self.assertTrue(torch.equal(y, x.imag + x.real))
        # A column of such a tensor, whose second axis has a stride that says nothing; one element; and what was copied.
        column, result = x[0, :, None], torch.empty(8, 1)
        for _ in range(2):
            add(column.imag, column.real, result)
            self.assertTrue(torch.equal(result, column.imag + column.real))
            for negated in (x[0].conj().imag.unsqueeze(-1), x[:1, :1].conj().imag, x.conj().imag.T):
                with self.assertRaisesRegex(KilnError, r"'a' is to be negated"):
                    add(negated, negated, torch.empty(negated.shape))
            copied = x.conj().imag.clone()
            add(copied, copied, y)
            self.assertTrue(torch.equal(y, -2 * x.imag))

    @needs_torch
    def test_sparse(self) -> None:
        x = torch.eye(8).to_sparse()
        for _ in range(2):
            with self.assertRaisesRegex(KilnError, "'a' has the layout torch.sparse_coo"):
                add(x, x, x)

    def test_arguments_are_not_kept(self) -> None:
        a, c = random(8, 8), random(8, 8)
        add(a, a, c)
        before = sys.getrefcount(a)
        for _ in range(20):
            add(a, OnlyDLPack(a), from_dlpack(c))
        self.assertEqual(sys.getrefcount(a), before)


def mistakes():
    """Wrong calls of `add`, by name."""
    a, c = random(8, 8), random(8, 8)
    read_only = random(8, 8)
    read_only.flags.writeable = False
    swapped = a.astype(">f4")
    raw = numpy.zeros(8 * 8 * 6, "u1")
    odd = numpy.lib.stride_tricks.as_strided(raw.view("f4"), (8, 8), (32, 6))
    unaligned = raw[1 : 1 + 256].view("f4").reshape(8, 8)
    found = {
        "too few": (a, a), "too many": (a, a, a, a), "a number": (a, 3, c), "nothing": (a, None, c), "a list": (a, [1.0], c),
        "f64": (a, a.astype("f8"), c), "i32": (a, a.astype("i4"), c), "rank 1": (a, a[0], c), "rank 0": (a, a[0, 0], c),
        "rank 6": (a, a.reshape(1, 1, 1, 1, 8, 8), c), "read-only": (a, a, read_only), "negative": (a, a[:, ::-1], c),
        "swapped": (a, swapped, c), "odd strides": (a, odd, c), "unaligned": (a, unaligned, c),
        "shape": (a, a[:4], c), "broadcast output": (a, a, numpy.lib.stride_tricks.as_strided(c, (8, 8), (0, 4))),
        "huge integer": (a, 1 << 70, c), "text": (a, "b", c),
    }  # fmt: skip
    if torch:
        t = torch.zeros(8, 8)
        found.update({
            "gradient": (a, torch.zeros(8, 8, requires_grad=True), c), "meta": (a, torch.zeros(8, 8, device="meta"), c),
            "complex": (a, t.to(torch.complex64), c), "expanded output": (a, a, torch.zeros(8, 1).expand(8, 8)),
            "parameter": (a, torch.nn.Parameter(t), c), "f64 of torch": (t.double(), t, t),
        })  # fmt: skip
    return found


@needs_numpy
class Mistakes(unittest.TestCase):
    @needs_extension
    def test_same_words(self) -> None:
        """The extension and Python say the same of each mistake, at the same place."""

        program = add.with_()
        program(*mistakes()["shape"][:1] * 2, random(8, 8))
        for name, arguments in mistakes().items():
            with self.subTest(name):
                said = []
                for values in ({}, {"B": 8}):  # with values it goes through Python
                    with self.assertRaises(KilnError) as caught:
                        program(*arguments, **values)
                    said.append(str(caught.exception))
                self.assertEqual(said[0], said[1])
                self.assertIn("program(*arguments, **values)" if name != "shape" else "kl.require_same_shape", said[0])

    @needs_torch
    def test_requires_grad(self) -> None:
        x = torch.zeros(8, 8, requires_grad=True)
        for _ in range(2):
            with self.assertRaisesRegex(KilnError, r"'b' has requires_grad.*pass b\.detach\(\)"):
                add(x.detach(), x, x)
        with self.assertRaisesRegex(KilnError, "requires_grad"):
            from_dlpack(x)


@needs_numpy
class Threads(unittest.TestCase):
    def test_sixteen_at_once(self) -> None:
        wrong = []

        def calls(seed: int) -> None:
            numbers = numpy.random.default_rng(seed)
            try:
                for _ in range(30):
                    shape = tuple(numbers.integers(1, 40, 2))
                    a, b = (numbers.standard_normal(shape).astype("f4") for _ in range(2))
                    c = numpy.empty(shape, "f4")
                    program(a, b, c)
                    numpy.testing.assert_array_equal(c, a + b)
            except BaseException as error:
                wrong.append(error)

        program = add.with_()  # all of them make the first call
        threads = [threading.Thread(target=calls, args=(seed,)) for seed in range(16)]
        for each in threads:
            each.start()
        for each in threads:
            each.join()
        self.assertEqual(wrong, [])

    def test_interpreter_is_free(self) -> None:
        x = random(64, 64)
        work(x, 1)
        counted, done = [0], threading.Event()

        def count() -> None:
            while not done.is_set():
                counted[0] += 1
                time.sleep(0.001)

        thread = threading.Thread(target=count)
        thread.start()
        counted_before = counted[0]
        rounds = 100
        while True:  # until a call takes long enough to see
            counted_before, start = counted[0], time.monotonic()
            work(x, rounds)
            counted_after, took = counted[0], time.monotonic() - start
            if took > 0.3:
                break
            rounds *= 4
        done.set()
        thread.join()
        self.assertGreater(counted_after - counted_before, 5)


@needs_numpy
@needs_extension
class Interrupts(unittest.TestCase):
    def interrupted(self, call) -> float:
        """How long the call took to end after Ctrl-C."""
        pressed = []

        def press() -> None:
            pressed.append(time.monotonic())
            os.kill(os.getpid(), signal.SIGINT)

        timer = threading.Timer(0.3, press)
        timer.start()
        with self.assertRaises(KeyboardInterrupt):
            call()
        ended = time.monotonic()
        timer.join()
        return ended - pressed[0]

    def test_ends_a_call(self) -> None:
        x = random(64, 64)
        program = work.with_()
        program.compile(x, 1)
        for _ in range(2):  # the first through Python
            self.assertLess(self.interrupted(lambda: program(x, 100_000_000)), 1)
            x = random(64, 64)
            y = x.copy()
            program(x, 2)  # and the next works
            self.assertFalse(numpy.array_equal(x, y))

    def test_ends_loops_inside_a_kernel(self) -> None:
        """A `while` that never ends, a `for` over tiles, and roles that hand tiles to each other."""
        y, n = numpy.zeros((32, 32), "f4"), numpy.zeros(1, "i4")
        few, many = 3, 10**10
        for _ in range(2):
            for run in (lambda k: spin(k, n), lambda k: long_loop(k, y), lambda k: hand_over(k, y.copy(), y)):
                run(few)
                self.assertLess(self.interrupted(lambda: run(many)), 1)
                run(few)
            self.assertEqual(n[0], few)

    def test_ends_calls_of_other_threads(self) -> None:
        y, said, has_ended = numpy.zeros((32, 32), "f4"), [], threading.Event()

        def call() -> None:
            try:
                long_loop(10**10, y)
            except KilnError as error:
                said.append(str(error))
            has_ended.set()

        long_loop(1, y)
        threading.Thread(target=call).start()
        self.assertLess(self.interrupted(has_ended.wait), 1)
        self.assertTrue(has_ended.wait(2))
        self.assertIn("interrupted", said[0])
        long_loop(1, y)

    def test_after_another_handler(self) -> None:
        """Notebooks set the handler of Python again before each cell."""
        x = random(64, 64)
        work(x, 1)
        signal.signal(signal.SIGINT, signal.default_int_handler)
        time.sleep(0.01)
        self.assertLess(self.interrupted(lambda: work(x, 100_000_000)), 1)

    def test_own_handler(self) -> None:
        """A call goes on, and the handler runs behind it; Ctrl-C again ends the call."""
        seen, x = [], random(64, 64)
        work(x, 1)
        before = signal.signal(signal.SIGINT, lambda *_: seen.append(1))
        try:
            time.sleep(0.01)
            timer = threading.Timer(0.1, os.kill, (os.getpid(), signal.SIGINT))
            timer.start()
            rounds = 1000
            while not seen:  # until a call takes long enough
                work(x, rounds)
                rounds *= 2
            self.assertEqual(seen, [1])
            timers = [threading.Timer(after, os.kill, (os.getpid(), signal.SIGINT)) for after in (0.1, 0.3)]
            for each in timers:
                each.start()
            with self.assertRaisesRegex(KilnError, "interrupted"):
                work(x, 100_000_000)
            self.assertGreaterEqual(len(seen), 2)
        finally:
            signal.signal(signal.SIGINT, before)
        work(x, 1)

    def test_asyncio(self) -> None:
        """A task of asyncio is cancelled behind the call: from Python 3.11 on asyncio has a handler of its own."""
        code = """
import asyncio, os, signal, sys, threading
from tests.test_call import random, work
x, said = random(64, 64), []
async def main():
    work(x, 1)
    threading.Timer(0.1, os.kill, (os.getpid(), signal.SIGINT)).start()
    try:
        for rounds in range(12):
            work(x, 1000 << rounds)
            said.append("done")
            await asyncio.sleep(0)
    except asyncio.CancelledError:
        said.append("cancelled")
        raise
try:
    asyncio.run(main())
except KeyboardInterrupt:
    said.append("interrupted")
assert said[-2:] == (["cancelled", "interrupted"] if sys.version_info >= (3, 11) else said[-2:]), said
assert said[-1] == "interrupted" and "done" in said, said"""
        self.assertEqual(run_python(code), "")


FORKS = """
import os, sys, time
import numpy, kiln
from tests.test_call import add, random

def check():
    a, c = random(100, 100), random(100, 100)
    for _ in range(3):
        add(a, a, c)
        numpy.testing.assert_array_equal(c, a + a)

def fork():
    # A thread that begins allocates; in a child that is forked meanwhile nobody gives AddressSanitizer's lock back.
    if "libasan" in os.environ.get("LD_PRELOAD", ""):
        time.sleep(0.3)
    return os.fork()

if "first" in sys.argv:
    check()
if "recording" in sys.argv:  # another thread records meanwhile
    import threading
    held = threading.Event()
    def hold():
        with kiln._program._lock:
            held.set()
            threading.Event().wait(1)
    threading.Thread(target=hold).start()
    held.wait()
child = fork()
if child == 0:
    check()
    grandchild = fork()
    if grandchild == 0:
        check()
        os._exit(7)
    os._exit(os.waitstatus_to_exitcode(os.waitpid(grandchild, 0)[1]) - 2)
check()
assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 5
check()
print("forked")
"""


def run_python(code: str, *arguments: str, **environment: str) -> str:
    done = subprocess.run([sys.executable, "-c", code, *arguments], capture_output=True, text=True, timeout=120,
                          env={**os.environ, **environment})
    if done.returncode != 0:
        raise AssertionError(done.stdout + done.stderr)
    return done.stdout


class Processes(unittest.TestCase):
    def test_one_jit(self) -> None:
        """Threads that make the first call at once: one of them makes the JIT, which has the cache and the counters."""
        code = """
import sys, threading
from kiln import _jit
sys.setswitchinterval(1e-5)
start, found = threading.Barrier(16), set()
threads = [threading.Thread(target=lambda: (start.wait(), found.add(_jit.jit()))) for _ in range(16)]
for each in threads: each.start()
for each in threads: each.join()
print(len(found))"""
        self.assertEqual(run_python(code), "1\n")

    def test_worker_limit(self) -> None:
        code = """
import os, numpy, kiln
from tests.test_call import work, random
kiln.set_workers(int(__import__("sys").argv[1]))
x = random(512, 512)
work(x, 3)
print(len(os.listdir("/proc/self/task")))"""
        one, five = (int(run_python(code, count, OPENBLAS_NUM_THREADS="1")) for count in ("1", "5"))
        self.assertEqual(five, one + 4)
        for wrong in (0, -1, True, "2", 10**6):
            with self.assertRaisesRegex(KilnError, "a call runs on one thread or more|at most 1024"):
                kiln.set_workers(wrong)

    def test_wrong_variables(self) -> None:
        """The place stands first and once, and no word such as `error:` behind it."""
        code = """
import kiln
try:
    kiln.counters()
except kiln.KilnError as error:
    print(error)
try:
    kiln.set_workers(10**6)
except kiln.KilnError as error:
    print(error)"""
        for name in ("KILN_CACHE_BYTES", "KILN_DUMP"):
            said = run_python(code, **{name: "nonsense"})
            self.assertRegex(said, rf"(?m)^<string>:4:?\d*: .*{name}")
            self.assertNotIn("error:", said)
        self.assertRegex(run_python(code), r"(?m)^<string>:8:?\d*: [^:]*1024")

    def test_variables_that_name_no_file(self) -> None:
        for name in ("KILN_CALL", "KILN_LIBRARY"):
            with self.assertRaisesRegex(AssertionError, f"ImportError: kiln: {name} is /nowhere.so, where there is no file"):
                run_python("import kiln; kiln.counters()", **{name: "/nowhere.so"})

    def test_where_the_library_lies(self) -> None:
        """In a prefix, in the folders that distributions have for libraries; and the tool beside it."""
        package, library = pathlib.Path(kiln.__file__).parent, _library.path()
        for folder in ("lib", "lib64", f"lib/{os.uname().machine}-linux-gnu"):
            with self.subTest(folder), tempfile.TemporaryDirectory() as prefix:
                packages, libraries = pathlib.Path(prefix, "lib/python3/dist-packages"), pathlib.Path(prefix, folder)
                shutil.copytree(package, packages / "kiln", ignore=shutil.ignore_patterns("lib", "bin", "__pycache__"))
                libraries.mkdir(exist_ok=True)
                (libraries / _library._NAME).symlink_to(library)
                pathlib.Path(prefix, "bin").mkdir()
                pathlib.Path(prefix, "bin/kiln").symlink_to(_library.tool("kiln"))
                code = "import sys; sys.path.pop(0); import kiln; print(kiln._library.path(), kiln._library.tool('kiln'))"
                said = run_python(code, PYTHONPATH=str(packages), KILN_LIBRARY="")
                self.assertEqual(said.split(), [f"{libraries}/{_library._NAME}", f"{prefix}/bin/kiln"])

    def test_version_and_tool(self) -> None:
        self.assertRegex(kiln.__version__, r"^\d+\.\d+\.\d+$")
        done = subprocess.run([sys.executable, "-m", "kiln", "--version"], capture_output=True, text=True)
        self.assertIn(f"kiln {kiln.__version__}", done.stdout)

    @needs_numpy
    def test_pickle(self) -> None:
        """Another process finds a program by its name; a copy is the program itself."""
        for protocol in range(pickle.HIGHEST_PROTOCOL + 1):
            self.assertIs(pickle.loads(pickle.dumps(add, protocol)), add)
        wide = add.with_(B=16)
        self.assertIs(copy.deepcopy({"key": wide})["key"], wide)
        self.assertIs(copy.copy(wide), wide)
        code = """
import base64, pickle, sys
from tests.test_call import numpy, random
program, a, c = pickle.loads(base64.b64decode(sys.argv[1])), random(20, 20), random(20, 20)
program(a, a, c)
numpy.testing.assert_array_equal(c, a + a)
print(program.params)"""
        self.assertEqual(run_python(code, base64.b64encode(pickle.dumps(wide)).decode()), "{'B': 16}\n")

        @kiln.program
        def local(x: kl.In[f32]):
            pass

        self.assertIs(copy.deepcopy(local), local)
        with self.assertRaisesRegex(KilnError, "local cannot be pickled.*level of a module"):
            pickle.dumps(local)
        marked = from_dlpack(random(8, 8))
        for run in (copy.copy, copy.deepcopy, pickle.dumps):
            with self.assertRaisesRegex(KilnError, "call kiln.from_dlpack again"):
                run(marked)

    @needs_numpy
    def test_fork(self) -> None:
        self.assertEqual(run_python(FORKS), "forked\n")
        self.assertEqual(run_python(FORKS, "first"), "forked\n")
        self.assertEqual(run_python(FORKS, "recording"), "forked\n")

    @needs_torch
    def test_either_order(self) -> None:
        use = "\nfrom examples.hello_add import hello_add as add\na = torch.ones(9, 9); c = a * 0; add(a, a, c); print(int(c.sum()))"
        self.assertEqual(run_python("import kiln, torch" + use), "162\n")
        self.assertEqual(run_python("import torch, kiln" + use), "162\n")

    def test_import_is_quick(self) -> None:
        """The time that the processor takes, the best of a few: other processes do not count, nor does compiling the sources."""
        code = "import time; a = time.process_time(); import kiln; print(time.process_time() - a, 'torch' in __import__('sys').modules)"
        with tempfile.TemporaryDirectory() as cache:
            options = {"PYTHONPYCACHEPREFIX": cache, "PYTHONDONTWRITEBYTECODE": ""}
            seconds, has_torch = min(run_python(code, **options).split() for _ in range(5))
        self.assertLess(float(seconds), 0.15)
        self.assertEqual(has_torch, "False")


@needs_numpy
class WithoutExtension(unittest.TestCase):
    @needs_extension
    def test_everything_else(self) -> None:
        """The tests of this file and those of mistakes, in a process that has no extension."""
        names = [f"tests.test_call.{each}" for each in ("Arguments", "Mistakes", "Threads", "Processes.test_fork")]
        code = "import sys, unittest; unittest.main(module=None, argv=['', *sys.argv[1:]])"
        run_python(code, *names, "tests.test_mistakes", KILN_CALL="")


if __name__ == "__main__":
    unittest.main()
