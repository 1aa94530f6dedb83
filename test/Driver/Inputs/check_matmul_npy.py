import pathlib
import sys

import numpy
import torch

files = {path.name: numpy.load(path) for path in pathlib.Path(sys.argv[1]).glob("*.npy")}
assert sorted(files) == [
    "task0_matmul_after_completion_c.npy",
    "task0_matmul_before_dispatch_a.npy",
    "task0_matmul_before_dispatch_b.npy",
], sorted(files)
a = torch.from_numpy(files["task0_matmul_before_dispatch_a.npy"])
b = torch.from_numpy(files["task0_matmul_before_dispatch_b.npy"])
c = torch.from_numpy(files["task0_matmul_after_completion_c.npy"])
assert a.shape == (200, 136) and b.shape == (136, 100) and a.std() > 0.5
error = (c.double() - a.double() @ b.double()).abs().max()
assert error < 1e-4, error
