"""Reading the task graph of a run."""
import json


def graph(folder):
    """Tasks and edges of a run, without times, buffers numbered in order of appearance."""
    read = json.load(open(f"{folder}/graph.json"))
    buffers = {}
    for task in read["tasks"]:
        for key in ("begin_us", "duration_us", "critical"):
            del task[key]
        for arg in task["arguments"]:
            if "buffer_id" in arg:
                arg["buffer_id"] = buffers.setdefault(arg["buffer_id"], len(buffers))
    for edge in read["edges"]:
        del edge["critical"]
        edge["buffer_id"] = buffers.get(edge["buffer_id"])
    return read["tasks"], read["edges"]


def compare(a, b):
    """The number of tasks of two runs, which launched the same."""
    (tasks, edges), (other_tasks, other_edges) = graph(a), graph(b)
    assert tasks and len(tasks) == len(other_tasks), (a, len(tasks), len(other_tasks))
    for task, other in zip(tasks, other_tasks):
        assert task == other, f"{a}:\n{task}\n{other}"
    assert edges == other_edges, f"{a}:\n{edges}\n{other_edges}"
    return len(tasks)
