"""What is generated is up to date."""
import pathlib
import subprocess
import sys
import unittest

FOLDER = pathlib.Path(__file__).resolve().parent.parent


class Generated(unittest.TestCase):
    @unittest.skipUnless((FOLDER / "make-api").exists(), "this is not a source tree")
    def test_api_reference(self) -> None:
        done = subprocess.run([sys.executable, str(FOLDER / "make-api"), "--check"], capture_output=True, text=True)
        self.assertEqual((done.returncode, done.stderr), (0, ""), "run python/make-api, and look at what it changes")


if __name__ == "__main__":
    unittest.main()
