"""The reading process, forked from one that has imported HDF5: its imports take an eighth of a second of each read.

What the process does, and its limits, are the same; that it is a fresh one with an environment of its own is tested in
`evidence/attacks`, which starts it as users do.
"""

from __future__ import annotations

import atexit
import functools
import json
import os
import signal
import socket
import sys
from subprocess import DEVNULL, Popen
from typing import Any

from parallel_compat.recover import reading_process

START = (
    "import json, sys; sys.path[:] = json.loads(sys.argv.pop(1)); "
    "from tests.forked_reading import serve; serve(int(sys.argv[1]))"
)


class Forked:
    """A reading process, with as much of `Popen` as the reader uses."""

    def __init__(self, request: dict[str, Any]) -> None:
        read, write = os.pipe()
        socket.send_fds(_server(), [json.dumps(request).encode()], [write])
        os.close(write)
        self.pid = int(_server().recv(20))
        self.stdout = open(read, "rb", buffering=0)  # noqa: SIM115
        self.returncode: int | None = None

    def kill(self) -> None:
        """End the process; it stays in the list of processes until `wait`."""
        if self.returncode is None:
            os.kill(self.pid, signal.SIGKILL)

    def wait(self, timeout: float | None = None) -> int:
        """Wait for its end."""
        if self.returncode is None:
            _server().send(str(self.pid).encode())
            self.returncode = os.waitstatus_to_exitcode(int(_server().recv(20)))
        return self.returncode


@functools.cache
def _server() -> socket.socket:
    """Start the process that forks, and return the way to it."""
    here, there = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    command = [sys.executable, "-B", "-c", START, json.dumps([os.path.abspath(each) for each in sys.path])]
    process = Popen([*command, str(there.fileno())], pass_fds=[there.fileno()], stdin=DEVNULL, stderr=DEVNULL)
    there.close()
    atexit.register(process.wait)
    atexit.register(here.close)  # the last that is registered is the first that runs
    return here


def serve(number: int) -> None:
    """Fork for each request, and say how a process ended that is asked for."""
    way = socket.socket(fileno=number)
    while True:
        data, files, *_ = socket.recv_fds(way, 1 << 20, 1)
        if not data:
            return
        if not files:
            way.send(str(os.waitpid(int(data), 0)[1]).encode())
            continue
        child = os.fork()
        if not child:
            _answer(way, files[0], data.decode())
        os.close(files[0])
        way.send(str(child).encode())


def _answer(way: socket.socket, output: int, request: str) -> None:
    code = 1
    try:
        way.close()
        os.dup2(output, 1)
        sys.argv[1:] = [request]
        reading_process.main()
        code = 0
    finally:
        os._exit(code)
