"""Runs a command on a terminal of its own, and prints what it wrote there; ESC becomes <esc>, carriage return <cr>.

usage: terminal.py [NAME=VALUE...] COMMAND...
"""
import os
import pty
import sys

words = sys.argv[1:]
os.environ["TERM"] = "xterm"
os.environ.pop("NO_COLOR", None)
while "=" in words[0] and "/" not in words[0].split("=")[0]:
    name, _, value = words.pop(0).partition("=")
    os.environ[name] = value
written = b""


def read(terminal):
    global written
    data = os.read(terminal, 4096)
    written += data
    return b"."


status = pty.spawn(words, read)
print()
print(written.decode().replace("\x1b", "<esc>").replace("\r\n", "\n").replace("\r", "<cr>"))
print("exit code", os.waitstatus_to_exitcode(status))
