# Prints each program of some folders, and the same read back from its generic form: the texts are equal.
import pathlib
import subprocess
import sys


def printed(*arguments, text=None):
    return subprocess.run([opt, *arguments], input=text, capture_output=True, text=True, check=True).stdout


opt, *folders = sys.argv[1:]
programs = sorted(path for folder in folders for path in pathlib.Path(folder).glob("*.mlir"))
assert len(programs) >= 21, f"only {len(programs)} programs in {folders}"
for program in programs:
    generic = printed("--mlir-print-op-generic", program)
    assert printed(text=generic) == printed(program), f"{program}: the generic form means something else"
