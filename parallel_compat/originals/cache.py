"""Where the originals are kept, and whether they are whole.

Each has a folder `<name>-<digits>`. The digits are a hash of its wheels and of what is kept of them: another catalogue
means another folder. In it are `sources/`, which goes on the import path, and `files.json`, which lists each file of
the sources with its size and sha256. The folder is made elsewhere and renamed into place, so that it is whole or not
there.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
from pathlib import Path

from parallel_compat.originals.catalogue import ORIGINALS, Original

VARIABLE = "PARALLEL_COMPAT_ORIGINALS"
SOURCES = "sources"
LIST_OF_FILES = "files.json"

NOT_FETCHED = "not fetched"
COMPLETE = "complete"
DAMAGED = "damaged"


class FetchError(RuntimeError):
    """An original could not be fetched, or cannot be kept; the message says why and what to do."""


def root() -> Path:
    """Return the folder that the originals are kept in."""
    if named := os.environ.get(VARIABLE):
        return Path(os.path.abspath(os.path.expanduser(named)))
    caches = os.environ.get("XDG_CACHE_HOME", "")
    # The specification of the variable says that a relative path is to be ignored.
    base = Path(caches) if os.path.isabs(caches) else Path(os.path.expanduser("~")) / ".cache"
    if not base.is_absolute():
        raise FetchError(f"Expected a home folder to keep old Keras in. Received: none. Set {VARIABLE} to a folder.")
    return base / "parallel_compat" / "originals"


def folder(name: str) -> Path:
    """Return the folder of an original, which need not be there."""
    original = ORIGINALS[name]
    return root() / f"{name}-{_digits(original)}"


def _digits(original: Original) -> str:
    kept = [(wheel.sha256, wheel.keep, wheel.top) for wheel in original.wheels]
    return hashlib.sha256(repr(kept).encode()).hexdigest()[:12]


def is_complete(name: str, *, contents: bool = False) -> bool:
    """Say whether an original is there, with each of its files at its size.

    Args:
        contents: whether the files are read and compared, beyond their sizes.
    """
    return os.path.isdir(folder(name)) and damage(name, contents=contents) is None


def state(name: str) -> str:
    """Say whether an original is "not fetched", "complete" or "damaged", by the contents of its files."""
    if not os.path.lexists(folder(name)):
        return NOT_FETCHED
    return COMPLETE if damage(name, contents=True) is None else DAMAGED


def damage(name: str, *, contents: bool = False) -> str | None:
    """Say what is wrong with the files of an original; None if nothing is."""
    directory = folder(name)
    try:
        files = _listed(directory)
    except (OSError, ValueError) as error:
        return f"{LIST_OF_FILES} cannot be read ({error})"
    sources = os.path.join(directory, SOURCES)
    for file, (size, sha256) in files.items():
        path = os.path.join(sources, file)
        try:
            if os.stat(path).st_size != size:
                return f"{file} has changed"
            if contents and hashlib.sha256(Path(path).read_bytes()).hexdigest() != sha256:
                return f"{file} has changed"
        except FileNotFoundError:
            return f"{file} is missing"
        except OSError as error:
            return f"{file} cannot be read ({error.strerror})"
    return None


def _listed(directory: Path) -> dict[str, tuple[int, str]]:
    """Read the list of files: their sizes and digests."""
    files = json.loads((directory / LIST_OF_FILES).read_bytes())
    if not files or not isinstance(files, dict) or any(len(about) != 2 for about in files.values()):
        raise ValueError("not a list of files")
    return files


def size(name: str) -> int:
    """Return the bytes that an original takes, with what was written beside its sources."""
    total = 0
    for directory, _, files in os.walk(folder(name)):
        for file in files:
            with contextlib.suppress(OSError):
                total += os.stat(os.path.join(directory, file)).st_size
    return total
