"""port_in_use.py COMMAND...: the command with --port and a port that is taken; what it says, and its exit code."""
import socket
import subprocess
import sys

with socket.create_server(("127.0.0.1", 0)) as taken:
    done = subprocess.run([*sys.argv[1:], "--port", str(taken.getsockname()[1])], capture_output=True, text=True, timeout=60)
print(done.stdout + done.stderr + f"exit code {done.returncode}")
