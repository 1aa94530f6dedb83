"""Builds programs for Ascend and holds what their orchestration passes to each task against what kernel_config.py says of the
task's kernels: config.py KILN ROOT PLATFORM OUT NAME..."""
import json
import os
import re
import runpy
import subprocess
import sys

kiln, root, platform, out, names = sys.argv[1], sys.argv[2], sys.argv[3], sys.argv[4], sys.argv[5:]
DIRECTIONS = {"input": "IN", "output": "OUT", "inout": "INOUT"}


def payloads(text):
    """By task, each list of what is added to it: a direction, or SCALAR."""
    found = {}
    for task, body in re.findall(r'TaskArgs task\("([^"]+)"\);(.*?)rt\.submit', text, re.S):
        added = re.findall(r"task\.add_(\w+)\(", body)
        found.setdefault(task, []).append([DIRECTIONS.get(way, "SCALAR") for way in added])
    return found


for name in names:
    source = next(path for folder in ("examples", "models") for path in [os.path.join(root, folder, name + ".mlir")]
                  if os.path.exists(path))
    folder = os.path.join(out, name)
    subprocess.run([kiln, "build", source, "-p", platform, "-o", folder], check=True)
    config = runpy.run_path(os.path.join(folder, "kernel_config.py"))
    with open(os.path.join(folder, "kernel_config.json"), encoding="utf-8") as file:
        same = json.load(file)
    kernels = {kernel["func_id"]: kernel for kernel in config["KERNELS"]}
    assert list(kernels) == list(range(len(kernels))), kernels
    for kernel, other in zip(config["KERNELS"], same["KERNELS"], strict=True):
        assert [way.name for way in kernel["signature"]] == other["signature"], kernel
        assert os.path.exists(os.path.join(folder, kernel["source"])), kernel
    assert config["RUNTIME_CONFIG"]["platform"] == platform
    with open(os.path.join(folder, config["ORCHESTRATION"]["source"]), encoding="utf-8") as file:
        text = file.read()
    assert config["ORCHESTRATION"]["function_name"] in text
    table = re.findall(r'^    \{"([^"]+)", (-?\d+), (-?\d+), \d\},$', text, re.M)
    passed, compared = payloads(text), 0
    for task, aic, aiv in table:
        for number in (int(aic), int(aiv)):
            if number < 0:
                continue
            kernel = kernels.pop(number)
            says = [way.name for way in kernel["signature"]] + ["SCALAR"] * len(kernel["scalars"])
            for payload in passed[task]:
                assert payload == says, f"{name}: task {task} carries {payload}, kernel {kernel['name']} says {says}"
                compared += 1
    assert not kernels, f"{name}: nobody launches {kernels}"
    print(f"{name}: {compared} payloads as the signatures say")
