"""What TensorFlow writes to stderr while it starts is kept from the user; what anybody else writes there is not.

`TF_CPP_MIN_LOG_LEVEL` silences what TensorFlow's C++ logs once its logging is set up. Before that, while its libraries
are loaded, it writes whatever the level, straight to file descriptor 2. So for the length of `import tensorflow` this
descriptor leads to a process that leaves out lines of that form and passes on all others, at once and in order. It is
a process of its own because an import can end this one (a processor without AVX, a broken CUDA), and the reason for
that must arrive.
"""

from __future__ import annotations

import contextlib
import importlib.util
import os
import subprocess
import sys
from collections.abc import Iterator
from importlib.machinery import ModuleSpec
from typing import Any

from parallel_compat.module_loaders import LoaderAround

LEVEL = "TF_CPP_MIN_LOG_LEVEL"
FATAL_ALONE = "3"
# The form of a line that is logged before logging is set up: severity, date, time, thread, file. F stays.
FILTER = r"""
import os, re, sys
known = re.compile(rb"(?:WARNING: All log messages before absl::InitializeLog\(\) is called are written to STDERR|"
                   rb"[IWE]\d{4} \d\d:\d\d:\d+\.\d+ +\d+ [\w./-]+:\d+\] .*|"
                   rb"To enable the following instructions: .* rebuild TensorFlow with .*)\r?\n")
left = b""
while True:
    read = os.read(0, 65536)
    *lines, left = (left + read).splitlines(keepends=True) or [b""]
    if left.endswith(b"\n") or not read or not left.startswith((b"W", b"I", b"E", b"T")):
        lines, left = [*lines, left], b""
    kept = b"".join(line for line in lines if not known.fullmatch(line))
    while kept:
        kept = kept[os.write(2, kept):]
    if not read:
        break
"""
_SECONDS = 5.0  # for the filter to end; a process that the import left running may hold the descriptor


def leave_out() -> None:
    """Leave TensorFlow's start-up lines out of stderr, in this process and in those that it starts.

    Who has set `TF_CPP_MIN_LOG_LEVEL` has chosen what to see, and sees it.
    """
    if LEVEL in os.environ or "tensorflow" in sys.modules:
        return
    os.environ[LEVEL] = FATAL_ALONE
    leave_out_of_import()


def leave_out_of_import() -> None:
    """Leave the lines out that TensorFlow writes while it is imported, whatever the level."""
    if os.name == "posix" and not any(isinstance(finder, _OnImport) for finder in sys.meta_path):
        sys.meta_path.insert(0, _OnImport())


class _OnImport:
    """Finds TensorFlow once, as the other finders do, to be loaded with a filtered stderr."""

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> ModuleSpec | None:
        if name != "tensorflow":
            return None
        if self in sys.meta_path:
            sys.meta_path.remove(self)
        spec = importlib.util.find_spec(name)
        if spec is not None and spec.loader is not None:
            spec.loader = LoaderAround(spec.loader, within=filtered)  # type: ignore[assignment]
        return spec


@contextlib.contextmanager
def filtered() -> Iterator[None]:
    """Leave TensorFlow's start-up lines out of file descriptor 2 for the length of the block."""
    _flush()
    try:
        kept = os.dup(2)
    except OSError:  # there is no stderr
        yield
        return
    try:
        command = [sys.executable, "-I", "-S", "-c", FILTER]
        reader = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, start_new_session=True)
    except OSError:  # no process to be had: better all lines than none
        os.close(kept)
        yield
        return
    assert reader.stdin is not None
    os.dup2(reader.stdin.fileno(), 2)
    reader.stdin.close()
    try:
        yield
    finally:
        _flush()
        os.dup2(kept, 2)
        os.close(kept)
        with contextlib.suppress(subprocess.TimeoutExpired):
            reader.wait(_SECONDS)


def _flush() -> None:
    if sys.stderr is not None:
        with contextlib.suppress(OSError, ValueError):
            sys.stderr.flush()
