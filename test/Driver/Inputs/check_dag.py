import sys

sys.path.insert(0, sys.argv[1])
import kernel_config

kernels = {kernel["name"]: kernel for kernel in kernel_config.KERNELS}
assert list(kernels) == ["add", "add_scalar", "mul"]
assert [kernel["func_id"] for kernel in kernels.values()] == [0, 1, 2]
assert [d.name for d in kernels["add_scalar"]["signature"]] == ["IN", "OUT"]
assert kernels["add_scalar"]["scalars"] == [{"name": "s", "type": "f32"}]
assert [d.name for d in kernel_config.ORCHESTRATION["signature"]] == ["IN", "IN", "OUT"]
