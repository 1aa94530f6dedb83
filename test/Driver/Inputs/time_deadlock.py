# The deadlock is reported in under a second (importing torch not counted).
import sys
import time

import torch

namespace = {"__name__": "emitted"}
exec(compile(open(sys.argv[1]).read(), sys.argv[1], "exec"), namespace)
start = time.monotonic()
try:
    namespace["run"](torch.randn(64, 64), torch.zeros(64, 64))
except RuntimeError as error:
    assert "Cross-core simulation deadlock; tasks blocked: [" in str(error), error
else:
    raise SystemExit("no deadlock was reported")
assert time.monotonic() - start < 1.0
