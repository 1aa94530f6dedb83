"""`kiln.cache`, in a folder of its own."""
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

try:
    import numpy
except ImportError:
    numpy = None

FILLS = """
import numpy
from examples.hello_add import hello_add
a = numpy.ones((8, 8), "f4")
hello_add(a, a, a.copy())
"""


@unittest.skipUnless(numpy, "numpy is not installed")
class Cache(unittest.TestCase):
    def test_cache(self) -> None:
        from kiln import cache

        before = os.environ.get("KILN_CACHE_DIR")
        with tempfile.TemporaryDirectory() as folder:
            os.environ["KILN_CACHE_DIR"] = folder
            try:
                self.assertEqual((cache.stat()["directory"], cache.entries()), (folder, []))
                subprocess.run([sys.executable, "-c", FILLS], check=True)
                self.assertEqual((cache.stat()["entries"], cache.stat()["compiles"]), (1, 1))
                (entry,) = cache.entries()
                self.assertIn("hello_add", entry["program"])
                self.assertEqual(cache.verify(), [])
                file = pathlib.Path(next(found for found in pathlib.Path(folder).rglob(entry["name"])))
                file.chmod(0o600)
                file.write_bytes(file.read_bytes()[:-100] + bytes(100))
                self.assertEqual(len(cache.verify()), 1)
                cache.clear()
                self.assertEqual(cache.entries(), [])
            finally:
                os.environ.pop("KILN_CACHE_DIR")
                if before is not None:
                    os.environ["KILN_CACHE_DIR"] = before


if __name__ == "__main__":
    unittest.main()
