"""Runs a command and fails if it takes more than SECONDS of CPU time, each of three times: within.py SECONDS COMMAND..."""
import resource
import subprocess
import sys


def cpu_seconds(command):
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, stdout=subprocess.DEVNULL, check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


best = min(cpu_seconds(sys.argv[2:]) for _ in range(3))
print(f"{best:.2f} s of CPU time")
sys.exit(best > float(sys.argv[1]))
