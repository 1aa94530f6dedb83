"""Reads a memory map with nothing but its own words: buffers lie inside their memory, and those alive at once apart."""
import json
import sys

document = json.load(open(sys.argv[1]))
assert document["format"] == 1 and document["machine"] == "ascend910b", document
functions = {function["name"]: function for function in document["functions"]}
assert {"chain", "later", "products", "copied", "pushes", "pops"} <= set(functions), functions.keys()

compared = 0
for function in functions.values():
    for memory in function["memories"]:
        assert memory["used"] <= memory["capacity"]
        buffers = memory["buffers"]
        for buffer in buffers:
            assert 0 <= buffer["address"] and buffer["address"] + buffer["bytes"] <= memory["used"], buffer
            assert all(tile["location"] for tile in buffer["tiles"]), buffer
        for i, a in enumerate(buffers):
            for b in buffers[:i]:
                alive = any(x[0] <= y[1] and y[0] <= x[1] for x in a["alive"] for y in b["alive"])
                apart = a["address"] + a["bytes"] <= b["address"] or b["address"] + b["bytes"] <= a["address"]
                assert apart or not alive, (function["name"], a, b)
                compared += 1
assert compared >= 3
mat = next(m for m in functions["products"]["memories"] if m["name"] == "mat")
assert [buffer["copies"] for buffer in mat["buffers"]] == [4, 4], mat
