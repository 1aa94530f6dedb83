"""`dump` and `timeline`: what they say of a run is what happened."""
import json
import pathlib
import re
import tempfile
import unittest

import kiln
import kiln.language as kl
from examples.vector_dag import vector_dag
from kiln import KilnError, bf16, f32

try:
    import numpy
except ImportError:
    numpy = None
try:
    import torch
except ImportError:
    torch = None


def random(*shape: int):
    return numpy.random.default_rng().standard_normal(shape).astype("f4")


@unittest.skipUnless(numpy, "numpy is not installed")
class Inspect(unittest.TestCase):
    def setUp(self) -> None:
        self.a, self.b, self.out = random(70, 90), random(180, 70).T[:, ::2], numpy.zeros((70, 90), "f4")

    def test_dump(self) -> None:
        dump = vector_dag.dump(self.a, self.b, self.out)
        self.assertEqual(len(dump), 15)
        total = self.a + self.b
        (first,) = dump.find(task=0, stage="after")
        self.assertEqual((first.kernel, first.name, first.role, first.dtype, first.shape), ("add", "z", "out", f32, (70, 90)))
        numpy.testing.assert_array_equal(first.value, total)
        numpy.testing.assert_array_equal(dump.find(task=0, name="y")[0].value, self.b)
        # The two run side by side, so either may have been captured first.
        self.assertEqual([each.value for task in (1, 2) for each in dump.find(task=task, name="s")], [1.0, 2.0])
        last = dump.find(kernel="add", stage="after")[-1]
        numpy.testing.assert_allclose(last.value, (total + 1) * (total + 2) + total, rtol=1e-5)
        numpy.testing.assert_array_equal(self.out, 0)  # it ran on copies
        self.assertIn("vector_dag", str(dump))

    def test_view(self) -> None:
        page = vector_dag.view(self.a, self.b, self.out, check=True)
        text = page.file.read_text(encoding="utf-8")
        self.assertIn("vector_dag.py", text)
        self.assertIn("tile-peel-masks", text)
        self.assertTrue(page.report)
        self.assertIn("look at it with", str(page))
        with tempfile.TemporaryDirectory() as folder:
            self.assertEqual(vector_dag.view(self.a, self.b, self.out, out=folder).file, pathlib.Path(folder) / "view.html")

    def test_shown_in_a_prompt(self) -> None:
        """What notebooks show of a value: where the files are, and what a parameter or a marked tensor is."""
        dump = vector_dag.dump(self.a, self.b, self.out)
        self.assertEqual(repr(dump), f"<kiln dump: {dump.folder}>")
        timeline = vector_dag.timeline(self.a, self.b, self.out)
        self.assertEqual(repr(timeline), f"<kiln timeline: {timeline.file}>")
        types = [kl.In[f32], kl.Out[bf16, 3], kl.InOut[f32, (kl.dyn, 64)], kl.Scalar[f32], kl.In[f32, (kl.dyn,)]]
        shown = ["kl.In[f32]", "kl.Out[bf16, 3]", "kl.InOut[f32, (kl.dyn, 64)]", "kl.Scalar[f32]", "kl.In[f32, 1]"]
        self.assertEqual([repr(each) for each in types], shown)
        marked = kiln.from_dlpack(self.a).mark_static(1)
        self.assertEqual(repr(marked), "<kiln adaptor: f32 of shape (70, 90), strides (90, 1), marked>")

    def test_timeline(self) -> None:
        timeline = vector_dag.timeline(self.a, self.b, self.out)
        self.assertEqual([each["kernel"] for each in timeline.tasks], ["add", "add_scalar", "add_scalar", "mul", "add"])
        self.assertIn({"from": 0, "to": 1, "kind": "raw", "tensor": "x"},
                      [{key: each[key] for key in ("from", "to", "kind", "tensor")} for each in timeline.edges])
        self.assertRegex(timeline.tasks[0]["source"], r"vector_dag\.py:\d+")
        self.assertIn("critical path", str(timeline))
        self.assertTrue(timeline.file.is_file())

    def test_folders(self) -> None:
        kept = vector_dag.timeline(self.a, self.b, self.out).file
        self.assertFalse(kept.exists())  # it went with the object
        with tempfile.TemporaryDirectory() as folder:
            vector_dag.dump(self.a, self.b, self.out, out=folder, level=3, BM=32)
            self.assertTrue((pathlib.Path(folder) / "tensor_dump" / "tensor_dump.json").is_file())

    @unittest.skipUnless(torch, "torch is not installed")
    def test_element_types(self) -> None:
        """All patterns of the types that numpy does not have arrive as they are."""
        for dtype, size in ((bf16, 65536), (kiln.f8E4M3FN, 256), (kiln.f8E5M2, 256)):

            @kiln.program
            def copy(x: kl.In[dtype], y: kl.Out[f32]):
                @kl.spmd(kl.ceildiv(x.shape[1], 256))
                def copy(i):
                    kl.store(kl.cast(kl.load(x, (0, i * 256), (1, 256)), f32), y, (0, i * 256))

            bits = numpy.arange(size, dtype="u2" if dtype is bf16 else "u1").reshape(1, size)
            x, y = kiln.reinterpret(bits, dtype), numpy.zeros((1, size), "f4")
            copy(x, y)
            dump = copy.dump(x, numpy.zeros_like(y))
            numpy.testing.assert_array_equal(dump.find(stage="before", name="x")[0].value, y)
            numpy.testing.assert_array_equal(dump.find(stage="after")[0].value, y)

    def test_replay(self) -> None:
        """What a report says to type shows the finding again."""

        @kiln.program
        def half(x: kl.In[f32], y: kl.Out[f32]):
            @kl.spmd(1)
            def half(i):
                kl.store(kl.load(x, (0, 0), (8, 64)), y, (0, 0))

        report = half.check(self.a, self.out)
        (replay,) = re.findall(r"replay: (half\.check\(.*\))$", report, re.MULTILINE)
        again = eval(replay, {"half": half})
        self.assertFalse(again)
        self.assertIn("nobody writes", again)

    def test_recorded_calls(self) -> None:
        """Every call leaves a folder, and works on the caller's tensors."""
        with tempfile.TemporaryDirectory() as folder:
            recorded = vector_dag.recorded(dump=2, timeline=True, out=folder)
            recorded(self.a, self.b, self.out)
            recorded.with_(BM=32)(self.a, self.b, self.out)
            total = self.a + self.b
            numpy.testing.assert_allclose(self.out, (total + 1) * (total + 2) + total, rtol=1e-5)
            for number in (1, 2):
                call = pathlib.Path(folder) / f"vector_dag-{number}"
                manifest = json.loads((call / "tensor_dump" / "tensor_dump.json").read_text())
                self.assertEqual(len(manifest["entries"]), 15)
                self.assertEqual(len(json.loads((call / "graph.json").read_text())["tasks"]), 5)
            vector_dag(self.a, self.b, self.out)  # which is another program, and not recorded
            self.assertEqual(len(list(pathlib.Path(folder).iterdir())), 2)
        with self.assertRaisesRegex(KilnError, "dump=4: expected a level from 0 to 3"):
            vector_dag.recorded(dump=4)
        with self.assertRaisesRegex(KilnError, "timeline=True"):
            vector_dag.recorded()

    def test_mistakes(self) -> None:
        with self.assertRaisesRegex(KilnError, "a and b have one shape"):
            vector_dag.dump(self.a, self.a[:3], self.out)
        with self.assertRaisesRegex(KilnError, "vector_dag takes 3 arguments"):
            vector_dag.timeline(self.a)


@unittest.skipUnless(numpy, "numpy is not installed")
class Platforms(unittest.TestCase):
    def test_outputs_are_written(self) -> None:
        """A run on a simulator has the bits of a run here, whatever the layout."""

        @kiln.program
        def halve(x: kl.In[f32], s: kl.Scalar[f32], y: kl.Out[kiln.bf16], z: kl.InOut[f32], w: kl.Out[kiln.f8E4M3FN]):
            @kl.spmd(kl.ceildiv(x.shape[0], 16), kl.ceildiv(x.shape[1], 16))
            def halve(bi, bj):
                at = (bi * 16, bj * 16)
                t = kl.load(x, at, (16, 16)) * s
                kl.store(kl.cast(t, kiln.bf16), y, at)
                kl.store(kl.cast(t, kiln.f8E4M3FN), w, at)
                kl.store(kl.load(z, at, (16, 16)) + t, z, at)

        random = numpy.random.default_rng(3)
        x = random.standard_normal((20, 40), "f4")[:, ::2]

        def call(run):
            y, w, z = numpy.zeros((20, 20), "i2"), numpy.zeros((20, 20), "i1"), numpy.ones((20, 20), "f4").T
            run(x, 0.5, kiln.reinterpret(y, kiln.bf16), z, kiln.reinterpret(w, kiln.f8E4M3FN))
            return y, z, w

        here = call(halve)
        for platform in ("a2a3sim", "cpu"):
            for one, other in zip(here, call(lambda *given: halve.run(*given, platform=platform))):
                numpy.testing.assert_array_equal(one, other)
        with self.assertRaisesRegex(kiln.KilnError, "tpu"):
            call(lambda *given: halve.run(*given, platform="tpu"))


if __name__ == "__main__":
    unittest.main()
