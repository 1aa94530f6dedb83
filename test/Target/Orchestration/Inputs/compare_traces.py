"""Usage: compare_traces.py EXAMPLES OUT COMPILER...

Every compiled example is run twice: launched by the interpreter, and by its emitted and compiled orchestration. Both runs
record their task graph; the graphs must be equal but for times and addresses.
"""
import os
import pathlib
import subprocess
import sys

import task_graph

examples, out, compiler = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2]), sys.argv[3:]
out.mkdir(parents=True)


def run(*command):
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        sys.exit(f"{' '.join(map(str, command))}\n{done.stdout}{done.stderr}")
    return done.stdout


programs = sorted(p for p in examples.iterdir() if os.access(p, os.X_OK) and p.is_file())
assert len(programs) >= 21, programs

# One compilation for all: the files share nothing but their header.
sources = "".join(run(program, "emit", "--target", "orchestration", "-p", "a2a3sim") for program in programs)
(out / "all.cpp").write_text(sources)
library = out / "all.so"
run(*compiler, "-Wall", "-Wextra", "-Werror", "-shared", "-fPIC", out / "all.cpp", "-o", library)

for program in programs:
    flags = ["-p", "a2a3sim", "--no-reference", "--timeline", "--out"]
    run(program, *flags, out / program.name / "interpreted")
    said = run(program, *flags, out / program.name / "compiled", "--orchestration", library)
    assert "PASS" in said or "RAN" in said, said
    tasks = task_graph.compare(out / program.name / "interpreted", out / program.name / "compiled")
    print(f"{program.name}: {tasks} tasks")
