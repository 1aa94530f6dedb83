"""Usage: server.py start|stop FOLDER

`start` imports torch once, then answers at FOLDER/socket: every request of warm-python is run by a fork. It ends by `stop`,
when nobody has asked for ten minutes, or when its socket is gone.
"""
import gc
import os
import select
import signal
import socket
import struct
import sys
import time
import traceback

IDLE_SECONDS = 600


def receive(connection):
    """The script, the folder, the environment and the three files of a request."""
    head, files, _, _ = socket.recv_fds(connection, 8, 3)
    (size,) = struct.unpack("Q", head)
    data = bytearray()
    while len(data) < size:
        more = connection.recv(size - len(data))
        if not more:
            raise EOFError
        data += more
    script, folder, *variables = bytes(data).split(b"\0")[:-1]
    return script.decode(), folder, dict(entry.split(b"=", 1) for entry in variables if b"=" in entry), files


def run(script, folder, variables, files):
    """In a fork: what `python3 -c SCRIPT` would do. Never returns."""
    status = 1
    try:
        signal.signal(signal.SIGINT, signal.default_int_handler)
        for number, file in enumerate(files):
            os.dup2(file, number)
        os.closerange(3, 256)
        os.chdir(folder)
        os.environb.clear()
        os.environb.update(variables)
        sys.argv = ["-c"]
        exec(compile(script, "<string>", "exec"), {"__name__": "__main__"})
        status = 0
    except SystemExit as end:
        status = end.code if isinstance(end.code, int) else int(end.code is not None)
    except BaseException:
        traceback.print_exc()
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(status)


class Server:
    def __init__(self, listener):
        self.listener = listener
        self.poll = select.poll()
        self.poll.register(listener, select.POLLIN)
        self.running = {}  # by file number: the fork of a connection, or the connection of a fork

    def accept(self):
        connection, _ = self.listener.accept()
        try:
            request = receive(connection)
        except (OSError, EOFError, struct.error, ValueError):
            connection.close()
            return
        pid = os.fork()
        if pid == 0:
            run(*request)
        for file in request[-1]:
            os.close(file)
        ended = os.pidfd_open(pid)
        self.running[ended] = self.running[connection.fileno()] = (pid, ended, connection)
        for file in (ended, connection.fileno()):
            self.poll.register(file, select.POLLIN)

    def end(self, pid, ended, connection):
        """A script has ended, or who asked for it is gone and it ends now."""
        if not select.select([ended], [], [], 0)[0]:
            os.kill(pid, signal.SIGKILL)
        state = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
        for file in (ended, connection.fileno()):
            self.poll.unregister(file)
            del self.running[file]
        try:
            connection.sendall(struct.pack("i", state))
        except OSError:
            pass
        os.close(ended)
        connection.close()

    def serve(self):
        asked = time.monotonic()
        while os.path.exists("socket") and (self.running or time.monotonic() - asked < IDLE_SECONDS):
            for file, _ in self.poll.poll(1000):
                asked = time.monotonic()
                if file == self.listener.fileno():
                    self.accept()
                elif file in self.running:
                    self.end(*self.running[file])


def start():
    stop()
    listener = socket.socket(socket.AF_UNIX)
    listener.bind("socket")
    listener.listen(64)
    if os.fork() > 0:
        return  # a request waits until torch is there
    os.setsid()
    quiet = os.open(os.devnull, os.O_RDWR)
    for number in range(3):
        os.dup2(quiet, number)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    import torch  # noqa: F401

    gc.freeze()  # so that collecting garbage in a fork does not copy all of torch
    Server(listener).serve()


def stop():
    if os.path.exists("socket"):
        os.remove("socket")


if __name__ == "__main__":
    command, folder = sys.argv[1:]
    os.makedirs(folder, mode=0o700, exist_ok=True)
    os.chdir(folder)
    {"start": start, "stop": stop}[command]()
