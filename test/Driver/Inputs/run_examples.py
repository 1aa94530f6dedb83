"""Runs what --help gives as examples: run_examples.py FOLDER COMMAND..., with the programs of FOLDER, where this is run. Tuning is left out: it takes long."""
import os
import subprocess
import sys

environment = {**os.environ, "PATH": sys.argv[1] + os.pathsep + os.environ["PATH"]}
text = subprocess.run([*sys.argv[2:], "--help"], capture_output=True, text=True, check=True, env=environment).stdout
examples = [line.strip() for line in text.partition("Examples:\n")[2].splitlines() if line.startswith("  ")]
for example in examples:
    if "tune" in example.split():
        print("not run:", example)
        continue
    ran = subprocess.run(example, shell=True, capture_output=True, text=True, env=environment, stdin=subprocess.DEVNULL)
    print("exit code", ran.returncode, "of", example)
    if ran.returncode:
        sys.exit(ran.stderr)
sys.exit(0 if examples else "there are no examples")
