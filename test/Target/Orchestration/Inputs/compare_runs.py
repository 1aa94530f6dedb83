"""Usage: compare_runs.py A B LEAST: two runs launched the same tasks, at least so many, and dumped the same values."""
import json
import sys

import task_graph

a, b, least = sys.argv[1], sys.argv[2], int(sys.argv[3])
tasks = task_graph.compare(a, b)
assert tasks >= least, tasks


def dumped(folder):
    entries = json.load(open(f"{folder}/tensor_dump/tensor_dump.json"))["entries"]
    for entry in entries:
        for key in ("address", "buffer_id"):
            entry.pop(key, None)
    return entries


assert dumped(a) == dumped(b)
assert any(e["kind"] == "tensor" and e["bin_size"] > 0 for e in dumped(a)), "nothing was marked"
payload = [open(f"{folder}/tensor_dump/tensor_dump.bin", "rb").read() for folder in (a, b)]
assert payload[0] == payload[1]
