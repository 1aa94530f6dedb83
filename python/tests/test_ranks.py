"""Programs on several ranks: threads of one process, and processes under mpirun."""
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import textwrap
import time
import unittest

import kiln
import kiln.language as kl
from kiln import KilnError, _library, f32

try:
    import numpy
except ImportError:
    numpy = None

needs_numpy = unittest.skipUnless(numpy, "numpy is not installed")
has_mpi = shutil.which("mpirun") and (_library.path().parent / "libkiln_mpi.so").exists()
needs_mpi = unittest.skipUnless(has_mpi, "there is no MPI")


@kiln.program
def total(x: kl.InOut[f32]):
    kl.all_reduce(x, "sum", fixed_order=True)


@kiln.program
def swap(x: kl.In[f32], y: kl.Out[f32]):
    kl.all_to_all(x, y)


@kiln.program
def two_recvs(x: kl.InOut[f32]):
    kl.recv(x, (kl.rank() + 1) % kl.ranks())


@needs_numpy
class Threads(unittest.TestCase):
    def test_ranks_of_one_process_add_up_their_tensors(self):
        for count in (1, 2, 3, 4):
            x = [numpy.full((4, 8), rank + 1, numpy.float32) for rank in range(count)]
            self.assertEqual(kiln.run_ranks(count, lambda rank: (total(x[rank]), rank)[1]), list(range(count)))
            for each in x:
                self.assertTrue((each == count * (count + 1) / 2).all())

    def test_a_body_may_call_several_programs(self):
        count = 3
        x = [numpy.arange(6, dtype=numpy.float32).reshape(3, 2) + 10 * rank for rank in range(count)]
        y = [numpy.zeros((3, 2), numpy.float32) for _ in range(count)]

        def body(rank):
            swap(x[rank], y[rank])
            total(y[rank])

        kiln.run_ranks(count, body)
        expected = sum(numpy.stack([x[other][rank] for other in range(count)]) for rank in range(count))
        for each in y:
            self.assertTrue((each == expected).all())

    def test_one_rank_is_what_a_call_without_ranks_is(self):
        x = numpy.full((2, 2), 3, numpy.float32)
        total(x)
        self.assertTrue((x == 3).all())

    def test_what_a_rank_raises_ends_the_others_and_is_raised(self):
        x = numpy.zeros((2, 2), numpy.float32)

        def body(rank):
            if rank == 1:
                raise ValueError("enough")
            total(x)

        with self.assertRaisesRegex(ValueError, "enough"):
            kiln.run_ranks(2, body)

    def test_ranks_that_wait_for_ever_are_found_with_both_lines(self):
        with self.assertRaisesRegex(KilnError, r"(?s)wait for each other for ever: rank 0 waits in recv.*\.py:\d+.*; rank 1 waits in recv"):
            kiln.run_ranks(2, lambda rank: two_recvs(numpy.zeros((2, 2), numpy.float32)))

    def test_other_extents_are_an_error_of_both(self):
        with self.assertRaisesRegex(KilnError, "different types or extents"):
            kiln.run_ranks(2, lambda rank: total(numpy.zeros((2, 2 + rank), numpy.float32)))

    def test_bad_counts_are_refused(self):
        for count in (0, -1, 1025, 2.5, True, "2"):
            with self.assertRaisesRegex(KilnError, "expected a number of ranks"):
                kiln.run_ranks(count, lambda rank: None)

    def test_without_mpirun_there_is_one_rank(self):
        if "OMPI_COMM_WORLD_SIZE" not in os.environ:
            self.assertEqual(kiln.join_ranks(), (0, 1))


@needs_numpy
@needs_mpi
class Processes(unittest.TestCase):
    def mpirun(self, count, script, timeout=60):
        folder = tempfile.TemporaryDirectory(prefix="kiln-")
        self.addCleanup(folder.cleanup)
        file = pathlib.Path(folder.name) / "program.py"
        file.write_text(textwrap.dedent(script))
        command = ["mpirun", "--oversubscribe", *(["--allow-run-as-root"] if os.geteuid() == 0 else []), "-n", str(count)]
        return subprocess.run([*command, sys.executable, str(file)], capture_output=True, text=True, timeout=timeout)

    PROGRAM = """
        import numpy, sys
        import kiln, kiln.language as kl
        from kiln import f32

        @kiln.program
        def total(x: kl.InOut[f32]):
            kl.all_reduce(x, "sum", fixed_order=True)

        @kiln.program
        def two_recvs(x: kl.InOut[f32]):
            kl.recv(x, (kl.rank() + 1) % kl.ranks())
        """

    def test_processes_that_mpirun_started_are_ranks(self):
        done = self.mpirun(3, self.PROGRAM + """
        rank, count = kiln.join_ranks()
        x = numpy.full((4, 8), rank + 1, numpy.float32)
        total(x)
        total(x)
        sys.stdout.write(f"{rank} of {count}: {x[0, 0]} {x.min() == x.max()}\\n")
        """)
        self.assertEqual(done.returncode, 0, done.stderr)
        for rank in range(3):
            self.assertIn(f"{rank} of 3: 18.0 True", done.stdout)

    def test_a_call_joins_by_itself(self):
        done = self.mpirun(2, self.PROGRAM + """
        x = numpy.ones((2, 2), numpy.float32)
        total(x)
        sys.stdout.write(f"{x[0, 0]}\\n")
        """)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(done.stdout.split(), ["2.0", "2.0"])

    def test_a_rank_that_fails_ends_all(self):
        start = time.monotonic()
        done = self.mpirun(2, self.PROGRAM + """
        if kiln.join_ranks()[0] == 1:
            raise ValueError("enough")
        total(numpy.ones((2, 2), numpy.float32))
        """)
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("ValueError: enough", done.stderr)
        self.assertLess(time.monotonic() - start, 30)

    def test_a_rank_that_ends_before_it_calls_anything_is_missed(self):
        for code in (0, 3):
            done = self.mpirun(2, self.PROGRAM + f"""
        if kiln.join_ranks()[0] == 1:
            sys.exit({code})
        total(numpy.ones((2, 2), numpy.float32))
        """)
            self.assertNotEqual(done.returncode, 0)
            self.assertIn("rank 1 has ended", done.stderr)

    def test_processes_that_wait_for_ever_are_found(self):
        done = self.mpirun(2, self.PROGRAM + """
        two_recvs(numpy.ones((2, 2), numpy.float32))
        """)
        self.assertNotEqual(done.returncode, 0)
        self.assertRegex(done.stderr, "wait for each other for ever: rank 0 waits in recv.*; rank 1 waits in recv")


if __name__ == "__main__":
    unittest.main()
