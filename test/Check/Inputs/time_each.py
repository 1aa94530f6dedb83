# Checks every program of a folder, several times; each answer comes in under a second and is the same every time.
import pathlib
import subprocess
import sys
import time

kiln, folder = sys.argv[1:]
programs = sorted(pathlib.Path(folder).glob("*.mlir"))
assert len(programs) >= 30, f"only {len(programs)} programs in {folder}"
for program in programs:
    answers, seconds = set(), []
    for _ in range(2):
        start = time.monotonic()
        run = subprocess.run([kiln, "check", program], capture_output=True, text=True, timeout=60, check=False)
        seconds.append(time.monotonic() - start)
        answers.add((run.returncode, run.stdout, run.stderr))
    assert len(answers) == 1, f"{program}: two runs differ"
    # The faster of two: the machine may be busy with other tests.
    assert min(seconds) < 1.0, f"{program}: {seconds}"
