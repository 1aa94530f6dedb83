"""Programs on tensors of torch that are on a GPU: every example against torch, shapes, streams, graphs, threads, records, and in
which order programs and other work follow each other. Run by scripts/gpu-check.

Exits with 77, and says why, where there is no GPU.
"""
import os
import pathlib
import subprocess
import sys
import tempfile
import threading
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))

try:
    import torch
except ImportError:
    print("torch is not installed")
    sys.exit(77)
if not torch.cuda.is_available():
    print("torch finds no GPU")
    sys.exit(77)

import kiln  # noqa: E402
from examples.matmul import matmul  # noqa: E402
from examples.softmax import softmax  # noqa: E402
from examples.vector_dag import vector_dag  # noqa: E402


torch.set_default_device("cuda")  # where the examples make their tensors
from tests.gpu_order import Order  # noqa: E402,F401
from tests.test_numerics import AgainstTorch  # noqa: E402,F401  all of them, through the JIT


def close(got: torch.Tensor, want: torch.Tensor, error: float = 1e-5) -> None:
    torch.testing.assert_close(got, want, rtol=error, atol=error)


def random(*shape: int) -> torch.Tensor:
    return torch.randn(*shape, device="cuda")


def poisoned(*shape: int) -> torch.Tensor:
    return torch.full(shape, float("nan"), device="cuda")


# Triton brings an LLVM of its own. Both compile and run, whichever is imported first.
BESIDE_TRITON = """
import pathlib, sys, tempfile
sys.path.insert(0, sys.argv[1])
for name in sys.argv[2:]:
    __import__(name)
import torch
from examples.softmax import softmax
with tempfile.TemporaryDirectory() as folder:
    (pathlib.Path(folder) / "twice.py").write_text(
        "import triton\\nimport triton.language as tl\\n"
        "@triton.jit\\ndef twice(x, y):\\n    at = tl.arange(0, 64)\\n    tl.store(y + at, tl.load(x + at) * 2)\\n")
    sys.path.insert(0, folder)
    from twice import twice
    x, y = torch.randn(1, 64, device="cuda"), torch.zeros(1, 64, device="cuda")
    for _ in range(2):
        softmax(x, y)
        assert torch.allclose(y, torch.softmax(x, 1), atol=1e-5)
        twice[(1,)](x, y)
        assert torch.equal(y, x * 2)
on_cpu = torch.randn(3, 5)
out = torch.zeros(3, 5)
softmax(on_cpu, out)
assert torch.allclose(out, torch.softmax(on_cpu, 1), atol=1e-5)
"""


class Gpu(unittest.TestCase):
    def test_shapes_share_one_artifact(self) -> None:
        softmax(random(3, 3), poisoned(3, 3))
        before = kiln.counters()["misses"]
        for shape in ((1, 1), (37, 300), (128, 4096), (5, 64), (1000, 7)):
            x, y = random(*shape), poisoned(*shape)
            softmax(x, y)
            close(y, torch.softmax(x, 1))
        self.assertEqual(kiln.counters()["misses"], before)

    def test_strides(self) -> None:
        a, b, c = random(130, 200).T, random(130, 140)[:, ::2], poisoned(200, 70)
        matmul(a, b, c)
        close(c, (a.double() @ b.double()).float(), 1e-3)

    def test_orchestration(self) -> None:
        a, b, out = random(70, 90), random(70, 90), poisoned(70, 90)
        vector_dag(a, b, out)
        total = a + b
        close(out, (total + 1) * (total + 2) + total, 1e-4)

    def test_graph_of_its_own(self) -> None:
        before = kiln.counters()
        a = random(83, 90)
        for _ in range(5):  # each time other tensors, as a rule at other places
            b, out = random(83, 90), poisoned(83, 90)
            vector_dag(a, b, out)
            total = a + b
            close(out, (total + 1) * (total + 2) + total, 1e-4)
        after = kiln.counters()
        self.assertEqual(after["graphs"] - before["graphs"], 1)
        self.assertEqual(after["graph_launches"] - before["graph_launches"], 4)

    def test_graph_of_several_kernels(self) -> None:
        a, b, out = random(70, 90), random(70, 90), poisoned(70, 90)
        vector_dag(a, b, out)
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            vector_dag(a, b, out)
        a.normal_()
        out.zero_()
        graph.replay()
        torch.cuda.synchronize()
        total = a + b
        close(out, (total + 1) * (total + 2) + total, 1e-4)

    def test_current_stream(self) -> None:
        x, y = random(4096, 4096), poisoned(4096, 4096)
        torch.cuda.synchronize()
        stream = torch.cuda.Stream()
        with torch.cuda.stream(stream):
            torch.cuda._sleep(50_000_000)
            x.mul_(2)
            softmax(x, y)  # has to wait for the line above
            copied = y.clone()
        stream.synchronize()
        close(copied, torch.softmax(x, 1))

    def test_graph(self) -> None:
        x, y = random(512, 512), poisoned(512, 512)
        softmax(x, y)
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            softmax(x, y)
        x.normal_()
        y.zero_()
        graph.replay()
        torch.cuda.synchronize()
        close(y, torch.softmax(x, 1))

    def test_threads(self) -> None:
        wrong = []

        def work() -> None:
            for rows in range(1, 40):
                x, y = random(rows, 100), poisoned(rows, 100)
                softmax(x, y)
                if not torch.allclose(y, torch.softmax(x, 1), atol=1e-5):
                    wrong.append(rows)

        threads = [threading.Thread(target=work) for _ in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(wrong, [])

    def test_cpu_and_gpu_in_turns(self) -> None:
        for device in ("cpu", "cuda", "cpu", "cuda"):
            x = torch.randn(20, 30, device=device)
            y = torch.full_like(x, float("nan"))
            softmax(x, y)
            close(y, torch.softmax(x, 1))

    def test_two_memories(self) -> None:
        with self.assertRaisesRegex(kiln.KilnError, "'y' is in the host's memory, and those before it are on GPU 0"):
            softmax(random(8, 8), torch.zeros(8, 8, device="cpu"))

    def test_records(self) -> None:
        x, y = random(37, 300), poisoned(37, 300)
        dump = softmax.dump(x, y)
        close(torch.tensor(dump.find(stage="after", name="y")[0].value, device="cuda"), torch.softmax(x, 1))
        self.assertIn("softmax", str(softmax.timeline(x, y)))
        with tempfile.TemporaryDirectory() as folder:
            softmax.recorded(dump=2, timeline=True, out=folder)(x, y)
            self.assertEqual(len(os.listdir(folder)), 1)
        close(y, torch.softmax(x, 1))

    def test_beside_triton(self) -> None:
        try:
            import triton  # noqa: F401
        except ImportError:
            self.skipTest("triton is not installed")
        folder = str(pathlib.Path(__file__).resolve().parent.parent)
        for order in (["kiln", "triton"], ["triton", "kiln"]):
            done = subprocess.run([sys.executable, "-c", BESIDE_TRITON, folder, *order], capture_output=True, text=True)
            self.assertEqual(done.returncode, 0, f"{order}: {done.stderr}")

    def test_operator(self) -> None:
        import kiln.torch

        product = kiln.torch.register("kiln_on_gpu::matmul", matmul, lambda a, b: (a.shape[0], b.shape[1]))
        a, b = random(100, 70), random(70, 90)
        close(product(a, b), a @ b, 1e-3)
        close(torch.compile(lambda a, b: product(a, b) + 1)(a, b), a @ b + 1, 1e-3)

    def test_dlpack(self) -> None:
        x, y = random(64, 64), poisoned(64, 64)
        softmax(kiln.from_dlpack(x).mark_static(), kiln.from_dlpack(y))
        torch.cuda.synchronize()
        close(y, torch.softmax(x, 1))


if __name__ == "__main__":
    done = unittest.main(exit=False).result
    print(f"{done.testsRun} tests on {torch.cuda.get_device_name(0)}, torch {torch.__version__}, {len(done.failures) + len(done.errors)} wrong")
    sys.exit(0 if done.wasSuccessful() else 1)
