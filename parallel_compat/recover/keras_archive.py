"""Look a `.keras` file over before Keras reads it: a zip archive of a config, metadata and an HDF5 file."""

from __future__ import annotations

import os
import shutil
import tempfile
import zipfile
import zlib

from parallel_compat.recover import limits
from parallel_compat.recover.errors import CheckpointError
from parallel_compat.recover.raw_bytes import open_regular
from parallel_compat.recover.reader import look_over

WEIGHTS = "model.weights.h5"


def look_over_archive(path: str | os.PathLike[str]) -> None:
    """Look at what a `.keras` file unpacks to, the HDF5 file in it included."""
    name = os.fspath(path)
    with open_regular(name) as file, tempfile.TemporaryDirectory(prefix="parallel-compat-") as folder:
        size = os.fstat(file.fileno()).st_size
        try:
            with zipfile.ZipFile(file) as archive:
                members = archive.infolist()
                if len(members) > limits.ARCHIVE_MEMBERS:
                    raise CheckpointError(
                        f"{name}: expected at most {limits.ARCHIVE_MEMBERS:,} files in the archive. Received: "
                        f"{len(members):,}."
                    )
                unpacked = sum(member.file_size for member in members)
                if unpacked > limits.byte_budget(size, None):
                    raise CheckpointError(
                        f"{name}: expected at most {limits.byte_budget(size, None):,} bytes in an archive of {size:,}. "
                        f"Received: {unpacked:,}."
                    )
                if [member.filename for member in members].count(WEIGHTS) != 1:
                    raise CheckpointError(f"{name}: expected one '{WEIGHTS}' in the archive.")
                copy = os.path.join(folder, WEIGHTS)
                with archive.open(WEIGHTS) as packed, open(copy, "wb") as out:
                    shutil.copyfileobj(packed, out, limits.BLOCK_BYTES)
        except (zipfile.BadZipFile, zlib.error, NotImplementedError, EOFError, RuntimeError, UnicodeError) as error:
            raise CheckpointError(f"{name}: not an archive that Keras wrote ({error}).") from error
        try:
            look_over(copy)
        except CheckpointError as error:
            raise CheckpointError(str(error).replace(copy, f"{name}: {WEIGHTS}", 1)) from error
