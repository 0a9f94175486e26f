"""Change the cache of originals: one process at a time, and nothing half-done stays.

A change is prepared in a temporary folder of the cache and put into place by a rename. A process that is killed leaves
its temporary folder behind; the next change removes it. The lock is the system's own, so it ends with its process.
"""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from parallel_compat.atomic_file import host
from parallel_compat.originals import cache

_LOCK = ".lock"
_TEMPORARY = ".change-"
_DAY = 86_400  # seconds


@contextlib.contextmanager
def changing(waiting: Callable[[], object]) -> Iterator[Path]:
    """Hold the lock of the cache and yield a temporary folder in it, which is removed when the block ends.

    Args:
        waiting: called once if another process holds the lock.
    """
    root = cache.root()
    root.mkdir(parents=True, exist_ok=True)
    descriptor = os.open(root / _LOCK, os.O_RDWR | os.O_CREAT, 0o666)
    try:
        locked = _lock(descriptor, waiting)
        _remove_abandoned(root, locked)
        temporary = Path(tempfile.mkdtemp(prefix=f"{_TEMPORARY}{host()}-", dir=root))
        try:
            yield temporary
        finally:
            shutil.rmtree(temporary, ignore_errors=True)
    finally:
        os.close(descriptor)


def tidy() -> None:
    """Remove what killed processes left behind, if there is any and nobody changes the cache now."""
    root = cache.root()
    with contextlib.suppress(OSError):
        if not _temporaries(root):
            return
        descriptor = os.open(root / _LOCK, os.O_RDWR | os.O_CREAT, 0o666)
        try:
            if _lock(descriptor):
                _remove_abandoned(root, True)
        finally:
            os.close(descriptor)


def remove(name: str, waiting: Callable[[], object]) -> bool:
    """Remove an original, also as other versions of the catalogue had it.

    Returns:
        Whether there was one.
    """
    root = cache.root()
    ours = re.compile(rf"{re.escape(name)}-[0-9a-f]{{12}}")
    if not root.is_dir():
        return False
    found = [entry for entry in os.listdir(root) if ours.fullmatch(entry)]
    if found:
        with changing(waiting) as temporary:
            for entry in found:
                with contextlib.suppress(FileNotFoundError):
                    os.rename(root / entry, temporary / entry)
    return bool(found)


def _lock(descriptor: int, waiting: Callable[[], object] | None = None) -> bool:
    """Lock a file, and say whether that was possible: without `waiting`, only if nobody holds the lock."""
    try:
        import fcntl
    except ImportError:  # Windows
        return False
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        if waiting is None:
            return False
        waiting()
        fcntl.flock(descriptor, fcntl.LOCK_EX)
    except OSError:  # a file system without locks; the renames alone keep the cache whole
        return False
    return True


def _temporaries(root: Path) -> list[Path]:
    return [root / entry for entry in os.listdir(root) if entry.startswith(_TEMPORARY)]


def _remove_abandoned(root: Path, locked: bool) -> None:
    """Remove the temporary folders of processes that are gone.

    Those of this host are, while the lock is held. Locks of a network's disk may hold on one host alone: what others
    made is taken for abandoned after a day.
    """
    for path in _temporaries(root):
        with contextlib.suppress(OSError):
            ours = locked and path.name.startswith(f"{_TEMPORARY}{host()}-")
            if ours or time.time() - path.stat().st_mtime > _DAY:
                shutil.rmtree(path, ignore_errors=True)
