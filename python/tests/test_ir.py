"""Every program of python/examples records the text that its C++ twin does."""
import difflib
import importlib
import pathlib
import subprocess
import sys
import unittest

from kiln import _library

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
RECORDED = {each.stem: each for folder in ("examples", "models") for each in (ROOT / folder).glob("*.mlir")}
PROGRAMS = sorted(each.stem for each in (ROOT / "python" / "examples").glob("[a-z]*.py"))


def program_of(name: str):
    """The program of an example, which has the name of its file."""
    return getattr(importlib.import_module(f"examples.{name}"), name)


class EqualText(unittest.TestCase):
    def test_every_program_is_there(self) -> None:
        self.assertEqual(PROGRAMS, sorted(RECORDED))


def _compare(name: str):
    def test(self: unittest.TestCase) -> None:
        wanted, found = RECORDED[name].read_text(), program_of(name).text()
        if found != wanted:
            lines = difflib.unified_diff(wanted.splitlines(), found.splitlines(), "C++", "Python", lineterm="", n=2)
            self.fail("\n" + "\n".join(lines))

    return test


for _name in PROGRAMS:
    setattr(EqualText, f"test_{_name}", _compare(_name))

# Other values of the keyword parameters, as C++ would take them on its command line.
OTHERS = [
    ("matmul", {"BM": 32, "BN": 128, "BK": 32}),
    ("down_proj_residual", {"BN": 256, "split": "left_right"}),
    ("elementwise", {"op": "silu"}),
    ("elementwise", {"op": "relu"}),
    ("elementwise", {"op": "tanh"}),
    ("elementwise", {"op": "clamp"}),
    ("feedback", {"slots": 3}),
    ("matmul_packed", {"BN": 128, "BK": 32}),
    ("matmul_residual_pipes", {"split": "none"}),
    ("matmul_residual_pipes", {"split": "left_right", "slots": 1}),
    ("split_k", {"form": "atomic"}),
    ("top_k", {"K": 1}),
    ("flash_attention", {"causal": "yes", "BN": 16}),
    ("moe_gate", {"E": 8, "K": 4, "D": 32}),
    ("moe_gate", {"K": 1}),
    ("paged_attention", {"heads": 2, "shared": 4, "D": 16}),
    ("paged_attention", {"shared": 5, "rows": 64, "parts": 3}),
    ("qwen3_decode_layer", {"config": "14b"}),
    ("qwen3_decode_layer", {"config": "14b", "tiles": "even"}),
]
COMPILED = _library.path().parent.parent / "examples"


class OtherValues(unittest.TestCase):
    def test_equal_text(self) -> None:
        for name, values in OTHERS:
            program = COMPILED / name
            if not program.is_file():
                self.skipTest(f"{program} has not been built")
            flags = [f"--{key}={value}" for key, value in values.items()]
            emitted = subprocess.run([str(program), "emit", *flags], capture_output=True, text=True, check=True)
            with self.subTest(name, **values):
                self.assertEqual(program_of(name).text(**values), emitted.stdout)


class Stub(unittest.TestCase):
    def test_is_up_to_date(self) -> None:
        made = subprocess.run([sys.executable, str(ROOT / "python" / "make_stub.py"), "--check"])
        self.assertEqual(made.returncode, 0, "run python/make_stub.py")


if __name__ == "__main__":
    unittest.main()
