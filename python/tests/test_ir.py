"""Every program of python/examples records the text that its C++ twin does."""
import difflib
import importlib
import pathlib
import unittest

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

if __name__ == "__main__":
    unittest.main()
