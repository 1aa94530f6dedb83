import json
import pathlib
import sys

folder, tensors, scalars = pathlib.Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3])
sys.path.insert(0, str(folder))
import kernel_config

[kernel] = kernel_config.KERNELS
assert kernel["name"] == "many"
assert [d.name for d in kernel["signature"]] == ["OUT" if i % 3 == 2 else "IN" for i in range(tensors)]
assert [s["name"] for s in kernel["scalars"]] == [f"s{i}" for i in range(scalars)]
assert {s["type"] for s in kernel["scalars"]} == {"index"}
in_json = json.loads((folder / "kernel_config.json").read_text())
assert [d for d in in_json["KERNELS"][0]["signature"]] == [d.name for d in kernel["signature"]]
