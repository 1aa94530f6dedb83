"""Usage: check_timeline.py OUT: timeline.json in OUT is well-formed. Prints its tracks.

Slices of a track nest or lie apart, arrows begin and end in a slice of a task, counters never fall below zero, and what
timeline.json and graph.json say of tasks agrees.
"""
import collections
import json
import sys

events = json.load(open(f"{sys.argv[1]}/timeline.json"))["traceEvents"]
graph = json.load(open(f"{sys.argv[1]}/graph.json"))
ROUNDING = 1e-6

names, tracks = {}, collections.defaultdict(list)
for event in events:
    assert event["ph"] in "MXsfC", event
    if event["ph"] == "M":
        names[event["name"], event["tid"]] = event["args"]["name"]
    else:
        assert event["ts"] >= 0 and event["pid"] == 1, event
    if event["ph"] == "X":
        assert event["dur"] >= 0 and event["name"], event
        assert 0 <= event["args"]["task"] < len(graph["tasks"]), event
        tracks[event["tid"]].append(event)

for tid, slices in tracks.items():
    assert ("thread_name", tid) in names, tid
    open_ends = []
    for event in sorted(slices, key=lambda e: (e["ts"], -e["dur"])):
        end = event["ts"] + event["dur"]
        while open_ends and open_ends[-1] <= event["ts"] + ROUNDING:
            open_ends.pop()
        assert not open_ends or end <= open_ends[-1] + ROUNDING, f"{event} crosses another slice"
        open_ends.append(end)

flows = collections.defaultdict(dict)
for event in events:
    if event["ph"] in "sf":
        assert event["ph"] not in flows[event["id"]], event
        flows[event["id"]][event["ph"]] = event
for flow in flows.values():
    assert set(flow) == {"s", "f"}, flow
    for event in flow.values():
        assert any(s["cat"] == "task" and s["ts"] - ROUNDING <= event["ts"] <= s["ts"] + s["dur"] + ROUNDING
                   for s in tracks[event["tid"]]), f"{event} is tied to nothing"
ran = [t["task"] for t in graph["tasks"] if t["begin_us"] is not None]
assert sorted({s["args"]["task"] for t in tracks.values() for s in t if s["cat"] == "task"}) == ran
assert len(flows) == len({(e["from"], e["to"]) for e in graph["edges"] if e["from"] in ran and e["to"] in ran})
assert all(value >= 0 for e in events if e["ph"] == "C" for value in e["args"].values())

for tid in sorted(tracks):
    kinds = collections.Counter(s["cat"] for s in tracks[tid])
    print(f"{names['thread_name', tid]}: " + ", ".join(f"{kind}" for kind in sorted(kinds)))
for wait in sorted({s["name"] for t in tracks.values() for s in t if s["cat"] == "wait"}):
    print(wait)
