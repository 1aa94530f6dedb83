"""The examples compute what torch does: each is run as a user would run it, and its errors are read."""
import contextlib
import io
import re
import runpy
import unittest

from .test_ir import PROGRAMS

try:
    import torch
except ImportError:
    torch = None

# Results in bf16 have eight bits.
BOUNDS = {name: 2e-2 for name in ("paged_attention", "swiglu_ffn", "matmul_fp8", "block_scaled_gemm", "moe_gemm",
                                  "qwen3_decode_layer", "tp_decode_layer", "tp_ffn")}


@unittest.skipUnless(torch, "torch is not installed")
class AgainstTorch(unittest.TestCase):
    pass


def _run(name: str):
    def test(self: unittest.TestCase) -> None:
        torch.manual_seed(len(name))
        with contextlib.redirect_stdout(io.StringIO()) as printed:
            runpy.run_module(f"examples.{name}", run_name="__main__")
        errors = [float(each) for each in re.findall(r"\|error\|.* (\S+)$", printed.getvalue(), re.MULTILINE)]
        equal = re.findall(r"equal: (\w+)", printed.getvalue())
        self.assertTrue(errors or equal, "the example compares nothing")
        self.assertEqual(set(equal) - {"True"}, set())
        for error in errors:
            self.assertLess(error, BOUNDS.get(name, 1e-3))

    return test


for _name in PROGRAMS:
    setattr(AgainstTorch, f"test_{_name}", _run(_name))

if __name__ == "__main__":
    unittest.main()
