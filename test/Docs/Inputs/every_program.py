"""Runs every program of a page on every platform, on other data each time, and checks it.

Usage: every_program.py EXECUTABLE, which scripts/page-programs made of the page. Prints a line for each program.
"""
import os
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor

LINES = ["-p torch", "-p a2a3sim --data-seed 1", "-p a5sim --data-seed 2", "-p cpu --data-seed 3"]


def output_of(*command):
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    return done.returncode, done.stdout


def fault_of(executable, name, batch):
    """What is wrong with a program, or nothing."""
    code, text = output_of(executable, name, "--batch", batch)
    passed = sum(line == "PASS" for line in text.splitlines())
    if code != 0 or passed != len(LINES) or text.count("against formula") < len(LINES):
        return text
    code, text = output_of(executable, name, "check", "--seeds", "2")
    clean = code == 0 and text.endswith("\nCLEAN\n") and "compared with the formula" in text
    return "" if clean else text


def main():
    executable = sys.argv[1]
    names = output_of(executable)[1].split()
    with tempfile.NamedTemporaryFile("w", suffix=".batch") as batch, ThreadPoolExecutor(os.cpu_count()) as pool:
        batch.write("\n".join(LINES) + "\n")
        batch.flush()
        faults = list(pool.map(lambda name: fault_of(executable, name, batch.name), names))
    for name, fault in zip(names, faults):
        print(f"{name}: right and CLEAN" if not fault else f"{name}: WRONG\n{fault}")
    return 1 if any(faults) or not names else 0


sys.exit(main())
