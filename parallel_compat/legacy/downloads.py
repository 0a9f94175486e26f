"""`get_file` with archives unpacked where Keras 2 put them: beside the archive, and not in a folder of their own."""

from __future__ import annotations

import os
import platform
import tarfile
import zipfile
from collections.abc import Sequence
from typing import Any

import keras


def get_file(
    fname: Any = None,
    origin: str | None = None,
    untar: bool = False,
    md5_hash: str | None = None,
    file_hash: str | None = None,
    cache_subdir: str = "datasets",
    hash_algorithm: str = "auto",
    extract: bool = False,
    archive_format: str | Sequence[str] | None = "auto",
    cache_dir: str | None = None,
    **keywords: Any,
) -> str:
    """Download a file unless it is there, and unpack it, as Keras 2 did.

    Args:
        fname: the file's name; a path may lead out of the cache.
        origin: its URL.
        untar: unpack `fname + ".tar.gz"`, and return the path without these endings.
        md5_hash: its MD5 digest.
        file_hash: its digest.
        cache_subdir: the folder in the cache.
        hash_algorithm: "md5", "sha256", or "auto" by the digest's length.
        extract: unpack it into the folder that it is in, and return the path of the archive.
        archive_format: "tar", "zip", a list of them, "auto" for both, None for neither.
        cache_dir: the cache; `~/.keras` by default.
        **keywords: further arguments of today's function.
    """
    hashes = {"md5_hash": md5_hash, "file_hash": file_hash, "hash_algorithm": hash_algorithm}
    rest = {"cache_subdir": cache_subdir, "cache_dir": cache_dir, **hashes, **keywords}
    if not fname:  # which Keras 2 wanted
        archive = {"untar": untar, "extract": extract, "archive_format": archive_format}
        return str(keras.utils.get_file(fname, origin, **archive, **rest))
    # Keras 3 takes no path for a name: the folder is said by `cache_subdir`, which may be absolute.
    path = os.path.join(cache_subdir, str(fname) + (".tar.gz" if untar else ""))
    rest["cache_subdir"], name = os.path.split(path)
    path = str(keras.utils.get_file(name, origin, **rest))
    if untar:
        unpacked = path[: -len(".tar.gz")]
        if not os.path.exists(unpacked):
            _unpack(path, "tar")
        return unpacked
    if extract:
        _unpack(path, archive_format)
    return path


def _unpack(path: str, formats: str | Sequence[str] | None) -> None:
    """Unpack an archive into its folder; another file is not touched."""
    formats = ("tar", "zip") if formats == "auto" else (formats,) if isinstance(formats, str) else formats or ()
    folder = os.path.dirname(path)
    if "tar" in formats and tarfile.is_tarfile(path):
        if not hasattr(tarfile, "data_filter"):
            raise RuntimeError(
                "Expected Python 3.10.12 or newer, in which no path of an archive leads out of its folder. Received: "
                f"Python {platform.python_version()}. Unpack '{path}' by hand."
            )
        with tarfile.open(path) as archive:
            archive.extractall(folder, filter="data")
    elif "zip" in formats and zipfile.is_zipfile(path):
        with zipfile.ZipFile(path) as archive:
            archive.extractall(folder)


__all__ = ["get_file"]
