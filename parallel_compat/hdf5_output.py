"""Write an HDF5 file so that a write which fails is an `OSError` of one sentence.

The HDF5 library answers a failed system call with an error of its own at any later time, or crashes when it closes the
file. So it is given no file but an object that never fails: that keeps the first error, and raises it in the end.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from io import FileIO
from typing import Any

import h5py


@contextlib.contextmanager
def writing(path: str | os.PathLike[str]) -> Iterator[tuple[h5py.File, Disk]]:
    """Open a new HDF5 file.

    >>> import pathlib, tempfile
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "weights.h5"
    >>> with writing(path) as (file, disk):
    ...     file["bias"] = [1.0, 2.0]
    >>> h5py.is_hdf5(path)
    True

    Yields:
        The open file, and the disk under it, which takes the bytes of arrays without the library.
    """
    disk = Disk(_open(path))
    try:
        with h5py.File(disk, "w") as file:
            yield file, disk
    except Exception:
        disk.check()
        raise
    finally:
        disk.close()
    disk.check()


def _open(path: str | os.PathLike[str]) -> FileIO:
    return open(path, "w+b", buffering=0)


class Disk:
    """A file object for the HDF5 library whose operations never fail; `check` raises the first error of the disk."""

    def __init__(self, raw: FileIO) -> None:
        self._raw = raw
        self._error: OSError | None = None

    def check(self) -> None:
        """Raise the first error."""
        if self._error is not None:
            raise self._error

    def close(self) -> None:
        """Close the file."""
        self._attempt(self._raw.close)
        if not self._raw.closed:
            with contextlib.suppress(OSError):
                self._raw.close()

    def write_at(self, offset: int, data: Any) -> None:
        """Write bytes past the library."""
        self._attempt(self._raw.seek, offset)
        self.write(data)
        self.check()

    def _attempt(self, operation: Any, *arguments: Any) -> Any:
        if self._error is None:
            try:
                return operation(*arguments)
            except OSError as error:
                # The system's sentence says no name where it was given none.
                self._error = OSError(error.errno, error.strerror, str(self._raw.name))
        return None

    def write(self, data: Any) -> int:
        left = memoryview(data).cast("B")
        size = len(left)
        while left and self._error is None:
            left = left[self._attempt(self._raw.write, left) or 0 :]
        return size

    def readinto(self, buffer: Any) -> int:
        return self._attempt(self._raw.readinto, buffer) or 0

    def read(self, size: int = -1) -> bytes:  # by which h5py tells a file from a path
        return self._attempt(self._raw.read, size) or b""

    def seek(self, offset: int, whence: int = 0) -> int:
        return self._attempt(self._raw.seek, offset, whence) or 0

    def tell(self) -> int:
        return self._attempt(self._raw.tell) or 0

    def truncate(self, size: int | None = None) -> int:
        return self._attempt(self._raw.truncate, size) or 0

    def flush(self) -> None:
        self._attempt(self._raw.flush)
