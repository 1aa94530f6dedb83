# Checks every program of a folder: each answer takes less than a second. Every eighth is checked twice, and the answers
# are the same. Seconds of the processor are counted, because the machine may be busy with other tests.
import pathlib
import resource
import subprocess
import sys


def cpu_seconds():
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


kiln, folder = sys.argv[1:]
programs = sorted(pathlib.Path(folder).glob("*.mlir"))
assert len(programs) >= 30, f"only {len(programs)} programs in {folder}"
for number, program in enumerate(programs):
    answers = set()
    for _ in range(2 if number % 8 == 0 else 1):
        start = cpu_seconds()
        run = subprocess.run([kiln, "check", program], capture_output=True, text=True, timeout=60, check=False)
        answers.add((run.returncode, run.stdout, run.stderr))
        assert cpu_seconds() - start < 1.0, f"{program}: {cpu_seconds() - start} s"
    assert len(answers) == 1, f"{program}: two runs differ"
