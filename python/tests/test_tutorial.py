"""The chapters of docs/tutorial.md run, and print what the page shows."""
import contextlib
import io
import os
import pathlib
import re
import tempfile
import unittest
from typing import List, NamedTuple

try:
    import numpy
except ImportError:
    numpy = None

PAGE = pathlib.Path(__file__).resolve().parent.parent.parent / "docs" / "tutorial.md"
FILES = ("first.py", "ragged.py", "pipelines.py", "graphs.py", "debugging.py")
_BLOCK = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


class Piece(NamedTuple):
    code: str
    printed: str  # with ... for whatever


def pieces_of(chapter: str) -> List[Piece]:
    """The code of a chapter, each piece with the block behind it that shows what it prints."""
    found: List[Piece] = []
    for language, text in _BLOCK.findall(chapter):
        if language == "python":
            found.append(Piece(text, ""))
        else:
            found[-1] = found[-1]._replace(printed=text)
    return found


def chapters() -> List[str]:
    return re.split(r"^## ", PAGE.read_text(encoding="utf-8"), flags=re.MULTILINE)[1:]


def pattern_of(shown: str) -> str:
    """What is shown as a pattern: a line of dots stands for any lines, dots in a line for anything there."""
    lines = []
    for line in shown.splitlines(keepends=True):
        lines.append(r"(?:.*\n)*?" if line == "...\n" else ".*".join(map(re.escape, line.split("..."))))
    return "".join(lines)


@unittest.skipUnless(numpy, "numpy is not installed")
@unittest.skipUnless(PAGE.exists(), "the page is not here")
class Tutorial(unittest.TestCase):
    def test_chapters(self) -> None:
        self.assertEqual(len(chapters()), len(FILES))

    def run_chapter(self, number: int) -> None:
        """As a file of its own, piece after piece."""
        pieces = pieces_of(chapters()[number])
        before = os.getcwd()
        with tempfile.TemporaryDirectory() as folder:
            os.chdir(folder)
            try:
                pathlib.Path(FILES[number]).write_text("".join(each.code for each in pieces), encoding="utf-8")
                self.run_pieces(FILES[number], pieces)
            finally:
                os.chdir(before)

    def run_pieces(self, file: str, pieces: List[Piece]) -> None:
        names = {"__name__": "__main__"}
        line = 0
        for piece in pieces:
            with contextlib.redirect_stdout(io.StringIO()) as printed:
                exec(compile("\n" * line + piece.code, file, "exec"), names)
            line += piece.code.count("\n")
            text = re.sub(r"[ \n]+$", "\n", printed.getvalue())  # reports end with an empty line
            if not re.fullmatch(pattern_of(piece.printed), text):
                self.fail(f"{file}, up to line {line}, prints\n{text}\nbut the page shows\n{piece.printed}")


def _chapter(number: int):
    return lambda self: self.run_chapter(number)


for _number, _file in enumerate(FILES):
    setattr(Tutorial, f"test_{_number + 1}_{_file[:-3]}", _chapter(_number))

if __name__ == "__main__":
    unittest.main()
