"""Read arrays from where they lie in a file, without HDF5.

A contiguous array without filters is a run of bytes in the file. The reading process says where it begins; what
it says is held against the file here, and the bytes are read from there. This spares the way through a pipe,
and hands no byte of the file to any parser.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator, Sequence
from typing import BinaryIO

from parallel_compat.recover import damage
from parallel_compat.recover.errors import CheckpointError


def open_regular(path: str) -> BinaryIO:
    """Open a file for reading; refuse, before anything is read, what is no file."""
    # A pipe that stands there without a writer would otherwise hold the caller for ever.
    flags = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
    try:
        if os.path.isdir(path):
            raise CheckpointError(f"{path}: {damage.of_tensorflow(path) or 'expected a file. Received: a folder.'}")
        if not stat.S_ISREG(os.stat(path).st_mode):  # opening a device can do things
            raise CheckpointError(f"{path}: not a regular file.")
        file = open(os.open(path, flags), "rb", buffering=0)  # noqa: SIM115
    except (FileNotFoundError, NotADirectoryError):
        raise CheckpointError(f"{path}: {damage.of_tensorflow(path) or 'no such file.'}") from None
    except CheckpointError:
        raise
    except (OSError, ValueError) as error:
        raise CheckpointError(f"{path}: cannot be opened ({error}).") from error
    if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
        file.close()
        raise CheckpointError(f"{path}: not a regular file.")
    return file


def state_of(state: os.stat_result) -> list[int]:
    """Return values that change when a file is replaced or its content changes."""
    return [state.st_dev, state.st_ino, state.st_size, state.st_mtime_ns]


def check_places(places: Sequence[tuple[str, int, int]], size: int) -> None:
    """Raise an error unless each array has bytes of its own within the file.

    Args:
        places: name, first byte and number of bytes of each array.
    """
    end, before = 0, ""
    for start, count, name in sorted((start, count, name) for name, start, count in places if count):
        if start < 0 or start + count > size:
            raise CheckpointError(
                f"{name[:120]!r}: its {count:,} bytes from byte {start:,} on reach beyond the end of the file, which "
                f"has {size:,}; it is truncated or damaged."
            )
        if start < end:
            raise CheckpointError(f"{name[:120]!r} and {before[:120]!r} are stored in the same bytes.")
        end, before = start + count, name


def pieces(file: BinaryIO, start: int, count: int, buffer: bytearray) -> Iterator[memoryview]:
    """Read `count` bytes from byte `start` on, in pieces that are valid until the next is requested."""
    view = memoryview(buffer)
    while count:
        # Sought each time: between two pieces the caller may do anything.
        file.seek(start)
        try:
            read = file.readinto(view[:count])  # type: ignore[attr-defined]
        except OSError as error:
            raise CheckpointError(f"cannot be read ({error}).") from error
        if not read:
            raise CheckpointError("ends early; it was truncated while it was read.")
        yield view[:read]
        start += read
        count -= read
