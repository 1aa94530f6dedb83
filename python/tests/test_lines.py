"""Code is kept and shared without the lines of the programs that it is of: what goes wrong in it is told at the line of who called."""
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest
from typing import Dict, Tuple

try:
    import numpy
except ImportError:
    numpy = None

# One fault in each program, at the line that ends with its name.
PROGRAMS = """
import sys
import numpy
import kiln
import kiln.language as kl
from kiln import f32


@kiln.program
def in_a_kernel(x: kl.In[f32], n: kl.Index, y: kl.Out[f32]):
    @kl.spmd(1)
    def copy(i):
        kl.store(kl.load(x, (8 + n, 0), (8, 8)), y, (0, 0))  # in_a_kernel


@kiln.program
def division(x: kl.In[f32], n: kl.Index, y: kl.Out[f32]):
    @kl.spmd(1)
    def copy(i):
        kl.store(kl.load(x, (8 // n, 0), (8, 8)), y, (0, 0))  # division


@kiln.program
def orchestration(x: kl.In[f32], n: kl.Index, y: kl.Out[f32]):
    rows = 8 // n  # orchestration

    @kl.spmd(rows)
    def copy(i):
        kl.store(kl.load(x, (0, 0), (8, 8)), y, (0, 0))


@kiln.program
def element(x: kl.In[f32], n: kl.Index, y: kl.Out[f32]):
    scale = x[n + 9, 0]

    @kl.spmd(1)
    def copy(i):
        kl.store(kl.load(x, (0, 0), (8, 8)) * scale, y, (0, 0))  # element


@kiln.program
def second_task(x: kl.In[f32], n: kl.Index, y: kl.Out[f32]):
    @kl.kernel
    def copy(x: kl.In[f32], n: kl.Index, y: kl.Out[f32]):
        kl.require(n > 0, "n counts rows")  # second_task
        kl.store(kl.load(x, (0, 0), (8, 8)), y, (0, 0))

    copy(x, n + 1, y)
    copy(x, n, y)


@kiln.program
def required(x: kl.In[f32], n: kl.Index, y: kl.Out[f32]):
    kl.require(n > 0, "n counts rows")  # required

    @kl.spmd(1)
    def copy(i):
        kl.store(kl.load(x, (0, 0), (8, 8)), y, (0, 0))


@kiln.program
def role(x: kl.In[f32], n: kl.Index, y: kl.Out[f32]):
    @kl.group
    def both(x: kl.In[f32], n: kl.Index, y: kl.Out[f32]):
        up = kl.pipe("up", kl.aiv, kl.aic, f32, (8, 8))

        @kl.role(kl.aiv)
        def send():
            kl.push(up, kl.load(x, (8 + n, 0), (8, 8)))  # role

        @kl.role(kl.aic)
        def take():
            kl.store(kl.pop(up), y, (0, 0))

    both(x, n, y, grid=(1,))


x, y = numpy.zeros((8, 8), "f4"), numpy.zeros((8, 8), "f4")
for program in (in_a_kernel, division, orchestration, element, second_task, required, role):
    for _ in range(2):  # through Python, and through the extension
        try:
            program(x, 0, y)
            print(program.__name__, "did not fail", sep="|")
        except kiln.KilnError as error:
            print(program.__name__, str(error).splitlines()[0], sep="|")
print("compiles", kiln.counters()["compiles"], sep="|")
print("from disk", kiln.counters()["disk_hits"], sep="|")
"""
PLACE = re.compile(r"(.*?):(\d+):(\d+): (.*)")


def places_in(text: str) -> Dict[str, int]:
    """The line of each fault."""
    found = ((number, re.search(r"  # (\w+)$", line)) for number, line in enumerate(text.splitlines(), 1))
    return {marked[1]: number for number, marked in found if marked}


@unittest.skipUnless(numpy, "numpy is not installed")
class Lines(unittest.TestCase):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def faults_of(self, text: str, name: str = "mine.py") -> Tuple[Dict[str, Tuple[int, int, str]], Dict[str, int]]:
        """What running the text says of each program, line, column and words; and the counters."""
        file = self.folder / name
        file.write_text(text)
        environment = {**os.environ, "KILN_CACHE_DIR": str(self.folder / "cache")}
        done = subprocess.run([sys.executable, str(file)], env=environment, capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stderr)
        found, counters = {}, {}
        for line in done.stdout.splitlines():
            program, said = line.split("|", 1)
            if said.isdigit():
                counters[program] = int(said)
                continue
            place = PLACE.fullmatch(said)
            self.assertIsNotNone(place, line)
            self.assertEqual(place[1], str(file), line)
            fault = (int(place[2]), int(place[3]), place[4])
            self.assertEqual(found.setdefault(program, fault), fault, "the second call says something else")
        return found, counters

    def assertLines(self, found: Dict[str, Tuple[int, int, str]], text: str) -> None:
        wanted = places_in(text)
        self.assertEqual({name: at[0] for name, at in found.items()}, wanted)
        if sys.version_info >= (3, 11):  # which knows columns
            self.assertTrue(all(column > 1 for _, column, _ in found.values()), found)

    def test_other_processes(self) -> None:
        """A line above, other names of files and other columns: the code is on disk already, the places are those of the text that runs."""
        found, counters = self.faults_of(PROGRAMS)
        self.assertLines(found, PROGRAMS)
        self.assertGreater(counters["compiles"], 0)
        edited = "# a remark\n\n" + PROGRAMS
        for name in ("mine.py", "renamed.py"):
            found, again = self.faults_of(edited, name)
            self.assertLines(found, edited)
            self.assertEqual((again["compiles"], again["from disk"]), (0, counters["compiles"]), "a remark has everything compiled anew")
        further = PROGRAMS.replace("kl.store(kl.load(x, (8 +", "kl.store(  kl.load(x, (8 +")
        first = found["in_a_kernel"]
        found, again = self.faults_of(further)
        self.assertEqual(again["compiles"], 0)
        self.assertLines(found, further)
        if sys.version_info >= (3, 11):
            self.assertEqual(found["in_a_kernel"][1], first[1] + 2, "the column is that of another text")

    def test_one_process(self) -> None:
        """Two equal programs of one process: one is compiled, each tells its own lines."""
        (self.folder / "other.py").write_text("# a remark\n" + PROGRAMS.split("x, y =")[0])
        calls = "\nimport other\n" + "".join(
            f"""
for program in (in_a_kernel, other.in_a_kernel, in_a_kernel):
    try:
        program(x, 0, y)
    except kiln.KilnError as error:
        print(error.place.file.rpartition("/")[2], error.place.line, sep="|")
print("compiles", kiln.counters()["compiles"], sep="|")
"""
        )
        text = PROGRAMS.split("for program in")[0] + calls
        file = self.folder / "mine.py"
        file.write_text(text)
        environment = {**os.environ, "KILN_CACHE": "0"}
        done = subprocess.run([sys.executable, str(file)], env=environment, capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stderr)
        line = places_in(text)["in_a_kernel"]
        self.assertEqual(done.stdout.split(), [f"mine.py|{line}", f"other.py|{line + 1}", f"mine.py|{line}", "compiles|1"])


if __name__ == "__main__":
    unittest.main()
