"""`tune` and `tuned`: values that were found are right, kept and used."""
import io
import json
import math
import os
import pathlib
import tempfile
import time
import unittest
from unittest import mock

import kiln
import kiln.language as kl
from kiln import KilnError, f32
from kiln._tune import Tuner, _Candidate, _difference

try:
    import numpy
except ImportError:
    numpy = None


@kiln.program
def doubled(x: kl.In[f32], y: kl.Out[f32], *, BM=kl.param(16, [8, 16, 32]), factor=kl.param(2, [2, 3]), word=kl.choice("a", ["a", "b"])):
    kl.require_same_shape(x, y, "y has the shape of x")

    @kl.spmd(kl.ceildiv(x.shape[0], BM))
    def double(block):
        kl.store(kl.load(x, (block * BM, 0), (BM, 64)) * float(factor), y, (block * BM, 0))


@unittest.skipIf(numpy is None, "numpy is not installed")
class Tune(unittest.TestCase):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        patch = mock.patch.dict(os.environ, {"KILN_CACHE_DIR": folder.name, "KILN_CACHE": "1"})
        patch.start()
        self.addCleanup(patch.stop)
        self.x = numpy.random.default_rng(1).standard_normal((100, 64), "f4")
        self.y = numpy.full_like(self.x, 7)

    def test_the_winner_is_right_kept_and_used(self) -> None:
        tuning = doubled.tune(self.x, self.y, seconds=2)
        self.assertEqual(tuning.values["factor"], 2, "another result is no choice")
        self.assertTrue(any("not what the defaults compute" in each.refused for each in tuning.tried))
        self.assertIn("<- winner", str(tuning))
        self.assertNotIn("word", tuning.values)
        self.assertTrue((self.y == 7).all(), "tuning runs on copies")
        found = json.loads(pathlib.Path(tuning.file).read_text())
        self.assertEqual(found["values"], tuning.values)
        self.assertEqual(doubled.tuned(self.x, self.y).params["BM"], tuning.values["BM"])
        doubled(self.x, self.y)
        numpy.testing.assert_array_equal(self.y, self.x * 2)

    def test_progress_is_for_who_watches(self) -> None:
        class Terminal(io.StringIO):
            def isatty(self) -> bool:
                return True

        for kind, wanted, is_shown in ((Terminal, True, True), (Terminal, False, False), (io.StringIO, True, False)):
            with mock.patch("sys.stderr", kind()) as err, mock.patch.dict(os.environ, {"TERM": "xterm", "COLUMNS": "60"}), mock.patch("kiln._tune._Progress.patience", 0):
                doubled.tune(self.x, self.y, seconds=1.5, progress=wanted)
                said = err.getvalue()
            self.assertEqual("BM=" in said, is_shown)
            if is_shown:
                self.assertRegex(said, r"measuring in turns: \d+, 0:0\d \(")
                self.assertTrue(said.endswith("\r\x1b[K"), "the line is gone in the end")
                self.assertLess(max(len(line) for line in said.split("\r\x1b[K")), 60)
            else:
                self.assertEqual(said, "")

    def test_a_value_that_was_refused_beside_the_defaults_is_tried_beside_others(self) -> None:
        tuner = Tuner(doubled, [self.x, self.y], 1, [])
        tuner.add([tuner.usual, {**tuner.usual, "BM": 8}, {**tuner.usual, "BM": 32}, {**tuner.usual, "factor": 3}])
        factors = tuner.factors(tuner.tried[0])
        self.assertEqual(factors["factor", 3], factors["factor", 2], "it was refused")
        self.assertTrue(all(math.isfinite(each) for each in factors.values()))

    def test_what_does_not_fit_is_not_used(self) -> None:
        tuning = doubled.tune(self.x, self.y, seconds=1)
        file = pathlib.Path(tuning.file)
        kept = json.loads(file.read_text())
        for text in ("[", json.dumps({**kept, "values": {"BM": 7}}), json.dumps({**kept, "values": {"nothing": 1}}), json.dumps({**kept, "key": "other"}), "3"):
            file.write_text(text)
            self.assertEqual(doubled.tuned(self.x, self.y).params, doubled.params)
        file.write_text(json.dumps({**kept, "values": {"BM": 32}}))
        self.assertEqual(doubled.tuned(self.x, self.y).params["BM"], 32)
        self.assertEqual(doubled.with_(BM=8).tuned(self.x, self.y).params["BM"], 8, "what the user says wins")
        file.write_text(json.dumps({**kept, "values": {"BM": 32, "compiler.slots": "3"}}))
        with mock.patch("kiln._tune.compiler_choices", return_value={"compiler.slots": ["2", "3"]}):
            self.assertIn("slots = 3", doubled.tuned(self.x, self.y).text())
            self.assertNotIn("slots", doubled.with_(BM=16).tuned(self.x, self.y).text(), "also where it is the default")
        file.write_text(json.dumps({**kept, "values": {"BM": 32}}))
        with mock.patch.dict(os.environ, {"KILN_UNTUNED": "1"}):
            self.assertEqual(doubled.tuned(self.x, self.y).params, doubled.params)
        file.chmod(0o666)
        self.assertEqual(doubled.tuned(self.x, self.y).params, doubled.params, "others can write it")
        other = numpy.zeros((999, 64), "f4")
        self.assertEqual(doubled.tuned(other, other.copy()).params, doubled.params)

    def test_what_others_could_have_written_or_nobody_kept_is_not_used(self) -> None:
        tuning = doubled.tune(self.x, self.y, seconds=1)
        file = pathlib.Path(tuning.file)
        good = json.dumps({**json.loads(file.read_text()), "values": {"BM": 32}})

        def is_used() -> bool:
            return doubled.tuned(self.x, self.y).params["BM"] == 32

        file.write_text(good)
        self.assertTrue(is_used())
        for folder in (file.parent, file.parent.parent):
            for mode in (0o777, 0o720, 0o1702):
                folder.chmod(mode)
                self.assertFalse(is_used(), f"{folder} {mode:o}")
                with self.assertWarnsRegex(UserWarning, "could not be kept: '.*' is not used: others may write to it.*chmod go-w"):
                    self.assertIsNone(doubled.tune(self.x, self.y, seconds=0.1).file)
            folder.chmod(0o700)
            self.assertTrue(is_used())
        for text in (good[:-5], "[" * 100_000, good.replace("32", "[32]"), good.replace("32", "true"), good.replace("32", "1e400"), good.replace("32", "{}"), "\0", good + " " * (1 << 24)):
            file.write_text(text)
            self.assertFalse(is_used(), text[-50:])
        file.write_bytes(b"\xff\xfe")
        self.assertFalse(is_used())
        elsewhere = file.with_name("elsewhere")
        elsewhere.write_text(good)
        file.unlink()
        file.symlink_to(elsewhere)
        self.assertFalse(is_used(), "a link")
        file.unlink()
        os.mkfifo(file)
        self.assertFalse(is_used(), "nobody writes to it")
        file.unlink()
        file.mkdir()
        self.assertFalse(is_used())

    def test_nothing_is_kept_in_part(self) -> None:
        file = pathlib.Path(doubled.tune(self.x, self.y, seconds=0.1).file)
        before = file.read_text()
        with mock.patch("json.dump", side_effect=OSError("no space left")), self.assertWarnsRegex(UserWarning, "no space left"):
            self.assertIsNone(doubled.tune(self.x, self.y, seconds=0.1).file)
        self.assertEqual(file.read_text(), before)
        with mock.patch("json.dump", side_effect=KeyboardInterrupt), self.assertRaises(KeyboardInterrupt):
            doubled.tune(self.x, self.y, seconds=0.1)
        self.assertEqual(os.listdir(file.parent), [file.name])

    def test_what_the_compiler_is_told(self) -> None:
        told = doubled.with_(**{"compiler.slots": 3})
        self.assertIn("kiln.compiler = {slots = 3 : i64}", told.text())
        self.assertNotIn("kiln.compiler", doubled.text())
        told(self.x, self.y)
        numpy.testing.assert_array_equal(self.y, self.x * 2)
        with self.assertRaisesRegex(KilnError, "--compiler.walk wild does not fit"):
            doubled.text(**{"compiler.walk": "wild"})
        with self.assertRaisesRegex(KilnError, "the compiler can be told its lanes, slots and walk"):
            doubled.with_(**{"compiler.lane": 2}).text()
        # What was kept for a machine that has such choices.
        tuning = doubled.with_(factor=2).tune(self.x, self.y, seconds=0.5)
        file = pathlib.Path(tuning.file)
        kept = json.loads(file.read_text())
        file.write_text(json.dumps({**kept, "values": {"BM": 32, "compiler.slots": "3"}}))
        with mock.patch("kiln._tune.compiler_choices", return_value={"compiler.slots": ["2", "3"]}):
            self.assertIn("slots = 3", doubled.with_(factor=2).tuned(self.x, self.y).text())
        self.assertEqual(doubled.with_(factor=2).tuned(self.x, self.y).params["BM"], 16, "the cpu has none")

    def test_what_is_right_is_decided_element_by_element(self) -> None:
        want = numpy.full((64, 64), 1e-3, "f4")
        want[0, 0] = 1000
        for have, dtype, is_right in ((want * (1 + 1e-6), "f32", True), (want * (1 + 1e-2), "f32", False), (want * (1 + 1e-3), "bf16", True)):
            self.assertEqual(_difference(have, want, dtype) == "", is_right, _difference(have, want, dtype))
        want[0, 0] = 1e-3
        wrong = want.copy()
        wrong[63, 1] += 1e-4
        self.assertEqual(_difference(wrong, want, "f32"), "1 elements differ, such as 0.00109999999 where 0.00100000005 is right")
        want[0, 0], want[0, 1] = numpy.inf, numpy.nan
        self.assertEqual(_difference(want.copy(), want, "f32"), "")
        for value in (numpy.nan, -numpy.inf, 0):
            wrong = want.copy()
            wrong[0, 0] = value
            self.assertNotEqual(_difference(wrong, want, "f32"), "", value)
        self.assertEqual(_difference(numpy.arange(3), numpy.arange(3), "i64"), "")
        self.assertNotEqual(_difference(numpy.array([2**60]), numpy.array([2**60 + 1]), "i64"), "", "as f64 they would be equal")
        self.assertEqual(_difference(numpy.empty((0, 4), "f4"), numpy.empty((0, 4), "f4"), "f32"), "")

    def test_the_fastest_is_found_though_others_use_the_cores(self) -> None:
        tuner = Tuner(doubled, [self.x, self.y], 1, [])
        tuner.tried = [_Candidate({"number": number}) for number in range(40)]
        seconds = [1.1] + [1 + 0.01 * number for number in range(1, 40)]
        seconds[27] = 0.95
        for seed in range(9):
            disturbed = numpy.random.default_rng(seed)

            def visit(each: _Candidate) -> None:  # half of the time at half the speed
                each.times.append(seconds[each.values["number"]] * disturbed.choice([1, 2]))

            for each in tuner.tried:
                each.times = [1.0]
            with mock.patch.object(tuner, "visit", visit), mock.patch.object(tuner, "begin", time.monotonic()):
                self.assertEqual(tuner.play_off(tuner.tried[0]).values["number"], 27, seed)

    def test_mistakes(self) -> None:
        for seconds in (0, -1, math.nan):
            with self.assertRaisesRegex(KilnError, "expected a positive number"):
                doubled.tune(self.x, self.y, seconds=seconds)
        with self.assertRaisesRegex(KilnError, "there is nothing to tune"):
            doubled.with_(BM=8, factor=2).tune(self.x, self.y)
        with self.assertRaisesRegex(KilnError, "has no keyword parameter 'nothing'"):
            doubled.tune(self.x, self.y, vary=["nothing"])


if __name__ == "__main__":
    unittest.main()
