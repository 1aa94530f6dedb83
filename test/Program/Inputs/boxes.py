"""Prints the boxes of a result object: kernel.tensor box, one a line."""
import json
import sys

for kernel, signature in json.load(open(sys.argv[1]))["func_name_to_signature"].items():
    for tensor in signature["tensors"]:
        print(f"{kernel}.{tensor['name']} {tensor.get('box', '-')}")
