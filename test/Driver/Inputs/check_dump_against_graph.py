"""Usage: check_dump_against_graph.py OUT LEAST_TASKS: the dump in OUT has every argument of every task of its graph."""
import collections
import json
import sys

out, least_tasks = sys.argv[1], int(sys.argv[2])
graph = json.load(open(f"{out}/graph.json"))
dump = json.load(open(f"{out}/tensor_dump/tensor_dump.json"))

wanted = collections.Counter()
for task in graph["tasks"]:
    if not task["kernel"] or task["state"] != "done" or 0 in task["grid"]:
        continue
    for index, arg in enumerate(task["arguments"]):
        role = arg.get("role", "in")  # scalars have none
        if role != "out":
            wanted[task["task"], index, arg["name"], "before_dispatch"] += 1
        if role != "in":
            wanted[task["task"], index, arg["name"], "after_completion"] += 1
found = collections.Counter((e["task"], e["arg_index"], e["arg_name"], e["stage"]) for e in dump["entries"])
assert found == wanted, f"missing {wanted - found}, unexpected {found - wanted}"
assert len(graph["tasks"]) >= least_tasks, len(graph["tasks"])
totals = dump["totals"]
assert totals["records"] == sum(wanted.values()), totals
assert totals["dropped"] == totals["truncated"] == totals["unsigned"] == 0, totals
print(f"{len(graph['tasks'])} tasks, {totals['records']} records")
