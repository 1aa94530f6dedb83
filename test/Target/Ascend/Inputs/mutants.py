"""Builds programs for a2a3 and leaves out each of their flags and barriers in turn: mutants.py KILN ROOT NAME..."""
import os
import subprocess
import sys

kiln, root, names = sys.argv[1], sys.argv[2], sys.argv[3:]
opt = os.path.join(os.path.dirname(kiln), "kiln-opt")
for name in names:
    source = next(path for folder in ("examples", "models") for path in [os.path.join(root, folder, name + ".mlir")]
                  if os.path.exists(path))
    program = subprocess.run([kiln, "emit", source, "-p", "a2a3"], capture_output=True, text=True, check=True).stdout
    done = subprocess.run([opt, "-", "--tile-verify-sync=machine=a2a3 mutants=true", "-o", os.devnull], input=program,
                          capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"{name}: {done.stderr}")
    tried = sum(int(line.split(": ")[-1].split()[0]) for line in done.stderr.splitlines() if " were left out in turn" in line)
    print(f"{name}: {tried} left out, each missed")
