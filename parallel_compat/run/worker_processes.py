"""`run --workers N`: N processes of this machine, which run the same script and end together."""

from __future__ import annotations

import contextlib
import json
import random
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Sequence
from typing import IO

from parallel_compat.run.workers import SEED, alike

# Seconds for the other workers to end by themselves after one failed.
GRACE = 5.0


def start(command: Sequence[str], environment: dict[str, str], count: int) -> int:
    """Run a command in `count` processes of this machine, and end all when one fails.

    Args:
        environment: of all, without `TF_CONFIG`.

    Returns:
        0, or the exit code of the first one that failed.
    """
    addresses = [f"127.0.0.1:{port}" for port in free_ports(count)]
    seeded = {SEED: str(random.SystemRandom().randrange(2**32)), **environment}
    alone = {**seeded, **alike(seeded), "PYTHONUNBUFFERED": "1"}
    processes, readers = [], []
    for index in range(count):
        task = {"cluster": {"worker": addresses}, "task": {"type": "worker", "index": index}}
        process = subprocess.Popen(
            command,
            env={**alone, "TF_CONFIG": json.dumps(task)},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            errors="replace",
        )
        processes.append(process)
        for source, target in ((process.stdout, sys.stdout), (process.stderr, sys.stderr)):
            assert source is not None
            readers.append(threading.Thread(target=_with_prefix, args=(f"[worker {index}] ", source, target)))
            readers[-1].start()
    try:
        code = _first_failure(processes)
    finally:
        _end(processes)
        for reader in readers:
            reader.join()
    return code


def free_ports(count: int) -> list[int]:
    """Return ports of this machine that nobody listens on."""
    with contextlib.ExitStack() as opened:
        sockets = [opened.enter_context(socket.socket()) for _ in range(count)]
        for each in sockets:
            each.bind(("127.0.0.1", 0))
        return [each.getsockname()[1] for each in sockets]


def _with_prefix(prefix: str, source: IO[str], target: IO[str]) -> None:
    for line in source:
        target.write(prefix + line)
        target.flush()


def _first_failure(processes: Sequence[subprocess.Popen[str]]) -> int:
    while True:
        codes = [process.poll() for process in processes]
        failed = [(index, code) for index, code in enumerate(codes) if code]
        if failed:
            index, code = failed[0]
            how = f"by signal {-code}" if code < 0 else f"with exit code {code}"
            print(f"parallel-compat run: worker {index} ended {how}; the others are stopped.", file=sys.stderr)
            return code if code > 0 else 128 - code
        if all(code == 0 for code in codes):
            return 0
        time.sleep(0.05)


def _end(processes: Sequence[subprocess.Popen[str]]) -> None:
    for process in processes:
        if process.poll() is None:
            process.terminate()
    until = time.monotonic() + GRACE
    for process in processes:
        try:
            process.wait(max(0.0, until - time.monotonic()))
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
