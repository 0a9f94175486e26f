"""Let pip download wheels: with the user's indexes, proxies and credentials."""

from __future__ import annotations

import contextlib
import importlib.util
import os
import re
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

from parallel_compat.originals.catalogue import Wheel

# `python -m pip` that ends when its standard input does: with the process that started it, even if that is killed.
# A script's folder does not hide modules of the standard library from it.
_PIP = """
import sys
sys.path[:] = [entry for entry in sys.path if entry]
import os, runpy, threading
def end_with_the_other():
    os.read(0, 1)
    os._exit(1)
threading.Thread(target=end_with_the_other, daemon=True).start()
runpy.run_module("pip", run_name="__main__", alter_sys=True)
"""
_SECONDS_BETWEEN_LOOKS = 0.1


class DownloadError(RuntimeError):
    """pip could not download; the message is pip's."""


def why_not() -> str | None:
    """Say why pip cannot be used, and what to do; None if it can."""
    if not sys.executable:
        return "Expected a Python that can start pip. Received: an embedded one."
    if importlib.util.find_spec("pip") is None:
        return (
            f"Expected pip to be installed. Received: {sys.executable} without it. "
            f"Run: {sys.executable} -m ensurepip (with uv: uv pip install pip)."
        )
    return None


def arguments(wheels: Sequence[Wheel]) -> list[str]:
    """Return the arguments with which pip downloads wheels, also those for another Python.

    Args:
        wheels: what to download; all that are not for any Python are for the same one.
    """
    given = ["download", "--no-deps", "--only-binary=:all:"]
    for wheel in wheels:
        if wheel.python is not None:
            given += ["--implementation", "cp", "--python-version", wheel.python]
            given += ["--abi", str(wheel.abi), "--platform", str(wheel.platform)]
    return [*given, *(wheel.requirement for wheel in wheels)]


def download(wheels: Sequence[Wheel], folder: Path, temporary: Path, downloaded: Callable[[int], object]) -> None:
    """Download wheels.

    Args:
        temporary: an empty folder for pip's temporary files.
        downloaded: called several times a second with how many bytes there are so far.
    """
    # A copy of 100 MB in pip's own cache would be of no use: what is fetched is fetched once.
    options = ["--no-input", "--no-cache-dir", "--disable-pip-version-check", "--progress-bar=off"]
    command = [sys.executable, "-c", _PIP, *arguments(wheels), *options, "--dest", str(folder)]
    # Settings of this package would make pip's process prepare old Keras, too.
    environment = {name: value for name, value in os.environ.items() if not name.startswith("PARALLEL_COMPAT_")}
    environment["TMPDIR"] = str(temporary)
    read, write = os.pipe()
    with (
        open(read, "rb") as stdin,
        open(write, "wb") as lifeline,
        subprocess.Popen(
            command, stdin=stdin, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, env=environment
        ) as process,
    ):
        most = 0
        try:
            while True:
                try:
                    printed, _ = process.communicate(timeout=_SECONDS_BETWEEN_LOOKS)
                    break
                except subprocess.TimeoutExpired:
                    most = max(most, _bytes_in(temporary))  # pip removes its temporary files before it ends
                    downloaded(most)
        finally:
            lifeline.close()
            process.wait()
    if process.returncode:
        raise DownloadError(_last_message(printed.decode("utf-8", "replace")))


def _bytes_in(folder: Path) -> int:
    """Return the size of the wheels below a folder, from which pip may be taking files."""
    total = 0
    for directory, _, files in os.walk(folder):
        for file in files:
            if file.endswith(".whl"):
                with contextlib.suppress(OSError):
                    total += os.stat(os.path.join(directory, file)).st_size
    return total


def _last_message(printed: str) -> str:
    """Return the last error that pip printed, and why its last connection failed."""
    lines = [line.strip() for line in printed.splitlines() if line.strip()]
    errors = [
        line.removeprefix("ERROR: ") for line in lines if line.startswith("ERROR: ") and line != "ERROR: Exception:"
    ]
    message = (errors or lines or ["nothing"])[-1]
    broken = re.findall(r"connection broken by '(.*)': ", printed)
    if not broken:
        return message
    return f"{message} (connection broken by {re.sub(r'<[^<>]* object at 0x[0-9a-f]+>: ', '', broken[-1])})"
