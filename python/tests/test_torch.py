"""Programs as operators of torch."""
import re
import traceback
import unittest

import kiln
import kiln.language as kl
from examples.matmul import matmul
from kiln import KilnError, f32
from kiln._errors import is_own

try:
    import torch

    import kiln.torch as kiln_torch
except ImportError:
    torch = None

has_compile = torch is not None and hasattr(torch, "compile")


@kiln.program
def halves(x: kl.In[f32], factor: kl.Scalar[f32], shift: kl.Scalar[kl.i32], low: kl.Out[f32], total: kl.InOut[f32], high: kl.Out[f32]):
    @kl.spmd(1)
    def halves(i):
        kl.store(kl.load(x, (0, 0), (4, 8)) * factor, low, (0, 0))
        kl.store(kl.load(x, (4, 0), (4, 8)) + kl.cast(shift, f32), high, (0, 0))
        kl.store(kl.load(total, (0, 0), (4, 8)) + 1, total, (0, 0))


@unittest.skipUnless(torch, "torch is not installed")
class Register(unittest.TestCase):
    @classmethod
    def setUpClass(cls) -> None:
        cls.matmul = kiln_torch.register("kiln_test::matmul", matmul, lambda a, b: (a.shape[0], b.shape[1]))
        cls.matmul_into = kiln_torch.register("kiln_test::matmul_into", matmul)
        cls.halves = kiln_torch.register("kiln_test::halves", halves, lambda x, *_: ((4, x.shape[1]), (4, x.shape[1])))

    def test_result(self) -> None:
        a, b = torch.randn(20, 30), torch.randn(30, 40)
        for op in (self.matmul, torch.ops.kiln_test.matmul):
            torch.testing.assert_close(op(a, b), a @ b)

    def test_into(self) -> None:
        a, b, c = torch.randn(20, 30), torch.randn(30, 40), torch.empty(20, 40)
        self.assertIsNone(self.matmul_into(a, b, c))
        torch.testing.assert_close(c, a @ b)

    def test_several_results_and_numbers(self) -> None:
        x, total = torch.randn(8, 8), torch.zeros(4, 8)
        low, high = self.halves(x, 2.5, 3, total)
        torch.testing.assert_close(low, x[:4] * 2.5)
        torch.testing.assert_close(high, x[4:] + 3)
        torch.testing.assert_close(total, torch.ones(4, 8))

    def test_shapes_without_memory(self) -> None:
        made = self.matmul(torch.empty(20, 30, device="meta"), torch.empty(30, 40, device="meta"))
        self.assertEqual((made.device.type, tuple(made.shape), made.dtype), ("meta", (20, 40), torch.float32))

    def test_gradient_is_refused(self) -> None:
        a = torch.randn(8, 8, requires_grad=True)
        with self.assertRaisesRegex((KilnError, RuntimeError), "requires_grad"):
            self.matmul(a, a)

    def test_mistakes(self) -> None:
        with self.assertRaisesRegex(KilnError, "library::name"):
            kiln_torch.register("matmul", matmul)
        with self.assertRaisesRegex(KilnError, "takes a program, not function"):
            kiln_torch.register("kiln_test::f", lambda: 0)
        with self.assertRaisesRegex(KilnError, "torch does not take the operator kiln_test::matmul"):
            kiln_torch.register("kiln_test::matmul", matmul)
        wrong = kiln_torch.register("kiln_test::wrong", halves, lambda x, *_: [(4, 8)])
        with self.assertRaisesRegex((KilnError, RuntimeError), r"says 1 shapes, but there are 2 results \(low, high\)"):
            wrong(torch.randn(8, 8), 1.0, 1, torch.zeros(4, 8))

    def check_mistake(self, run, kind, words: str, source: str) -> None:
        """The error is told at the line that calls torch, and its traceback has no frame of Kiln's."""
        with self.assertRaisesRegex(kind, words) as caught:
            run()
        if kind is KilnError:
            self.assertRegex(str(caught.exception), rf"^{re.escape(__file__)}:\d+:")
            self.assertIn(source, str(caught.exception))
        for frame in traceback.extract_tb(caught.exception.__traceback__):
            self.assertFalse(is_own(frame.filename), f"a frame of Kiln's: {frame}")

    def test_errors_are_at_the_users_line(self) -> None:
        a = torch.zeros(8, 8)
        ops = torch.ops.kiln_test
        self.check_mistake(lambda: ops.matmul(a.double(), a), KilnError, "'a' has elements of float64", "ops.matmul(a.double(), a)")
        self.check_mistake(lambda: ops.matmul_into(a, a, a.half()), KilnError, "'c' is f32", "ops.matmul_into(a, a, a.half())")
        if not has_compile:  # newer ones look at the gradient before
            grad = a.clone().requires_grad_()
            self.check_mistake(lambda: ops.matmul(grad, a), KilnError, "requires_grad", "ops.matmul(grad, a)")

    def test_wrong_shape_functions(self) -> None:
        a = torch.zeros(8, 8)
        raises = kiln_torch.register("kiln_test::raises", matmul, lambda a, b: 1 / 0)
        self.check_mistake(lambda: raises(a, a), ZeroDivisionError, "division by zero", "")
        nothing = kiln_torch.register("kiln_test::nothing", matmul, lambda a, b: None)
        self.check_mistake(lambda: nothing(a, a), KilnError, "of matmul gives None, but has to give a shape", "nothing(a, a)")
        one = kiln_torch.register("kiln_test::one", halves, lambda x, *_: (4, 8))
        self.check_mistake(lambda: one(a, 1.0, 1, a), KilnError, r"gives \(4, 8\), but has to give 2 shapes", "one(a, 1.0, 1, a)")
        self.check_mistake(
            lambda: kiln_torch.register("kiln_test::arity", matmul, lambda a: (1, 1)), KilnError,
            r"called with the operator's 2 arguments \(a, b\), which it does not take", "kiln_torch.register("
        )  # fmt: skip

    @unittest.skipUnless(has_compile, "this torch has no torch.compile")
    def test_compile(self) -> None:
        """The graph stays whole, whatever the shape, and with tensors that are written."""

        def model(a, b):
            c = torch.ops.kiln_test.matmul(a * 2, b)
            d = torch.empty_like(c)
            torch.ops.kiln_test.matmul_into(a, b, d)
            return c + d

        compiled = torch.compile(model, fullgraph=True, backend="aot_eager", dynamic=True)
        for m in (8, 24):
            a, b = torch.randn(m, 30), torch.randn(30, 40)
            torch.testing.assert_close(compiled(a, b), 3 * (a @ b), rtol=1e-4, atol=1e-4)

    @unittest.skipUnless(torch and hasattr(torch.library, "opcheck"), "this torch has no opcheck")
    def test_opcheck(self) -> None:
        torch.library.opcheck(self.matmul, (torch.randn(8, 30), torch.randn(30, 9)))
        torch.library.opcheck(self.matmul_into, (torch.randn(8, 30), torch.randn(30, 9), torch.empty(8, 9)))


if __name__ == "__main__":
    unittest.main()
