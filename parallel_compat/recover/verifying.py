"""Open what was written and hold it against what was meant, before it takes the place of anything."""

from __future__ import annotations

import contextlib
import errno
import io
import math
import os
import zipfile
import zlib
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import h5py
import numpy as np

from parallel_compat.recover.hdf5 import slabs
from parallel_compat.recover.keras_archive import WEIGHTS


def checksum(pieces: Iterable[Any], start: int = 0) -> int:
    """Return the checksum of bytes that come in pieces."""
    for piece in pieces:
        start = zlib.crc32(piece, start)
    return start


def check_arrays(path: Path, meant: dict[str, int], texts: dict[str, str]) -> None:
    """Compare an HDF5 file with what should be in it.

    Args:
        meant: the checksum of each array's bytes, by its path in the file.
        texts: the attributes of the file that are text.
    """
    with _opened(path) as file:
        found = {name: _checksum_of(file[name]) if name in file else None for name in meant}
        said = {name: file.attrs.get(name) for name in texts}
    different = [name for name, value in meant.items() if found[name] != value]
    different += [name for name, text in texts.items() if said[name] not in (text, text.encode())]
    if different:
        raise _damaged(path, different)


def check_saved_model(path: Path, variables: Iterable[Any]) -> None:
    """Compare a file in Keras 3's own format with the variables that should be in it.

    Keras says nowhere which array of the file is whose: each variable's value must be there as often as it was meant.
    """
    meant: Counter[tuple[Any, ...]] = Counter()
    names = {}
    for variable in variables:
        value = np.asarray(variable.numpy(), order="C")  # `ascontiguousarray` gives a scalar an axis
        key = (value.shape, checksum([value.reshape(-1).view("uint8").data]) if value.size else 0)
        meant[key] += 1
        names[key] = variable.path
    found: Counter[tuple[Any, ...]] = Counter()

    def count(_name: str, thing: Any) -> None:
        if isinstance(thing, h5py.Dataset):
            found[thing.shape, _checksum_of(thing)] += 1

    with _opened(path) as file:
        file.visititems(count)
    missing = [names[key] for key in meant - found]
    if missing:
        raise _damaged(path, missing)


def _damaged(path: Path, different: list[str]) -> OSError:
    listed = ", ".join(different[:5]) + (", ..." if len(different) > 5 else "")
    return OSError(errno.EIO, f"The written file is not as intended (it differs in {listed})", os.fspath(path))


@contextlib.contextmanager
def _opened(path: Path) -> Iterator[h5py.File]:
    """Open an HDF5 file, or the one in an archive of Keras 3; whatever cannot be read is damaged."""
    try:
        if zipfile.is_zipfile(path):
            with zipfile.ZipFile(path) as archive:
                damaged = archive.testzip()
                if damaged is not None:
                    raise _damaged(path, [damaged])
                content = io.BytesIO(archive.read(WEIGHTS))
            with h5py.File(content, "r") as file:
                yield file
        else:
            with h5py.File(path, "r") as file:
                yield file
    except (RuntimeError, KeyError, ValueError, zipfile.BadZipFile) as error:
        raise _damaged(path, [str(error)[:200]]) from error


def _checksum_of(dataset: h5py.Dataset) -> int:
    if not math.prod(dataset.shape):
        return 0
    pieces = (
        np.ascontiguousarray(dataset[tuple(slice(a, a + n) for a, n in zip(start, count, strict=True))])
        for start, count in slabs(dataset.shape, dataset.chunks, dataset.dtype.itemsize)
    )
    return checksum(piece.reshape(-1).view("uint8").data for piece in pieces)
