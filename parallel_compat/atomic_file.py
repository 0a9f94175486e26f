"""Write a file whole or not at all.

The protocol, in order: write a temporary file in the folder of the target, flush it to disk (fsync),
rename it over the target (`os.replace`, atomic on one file system), flush the folder. A crash before the
rename leaves the old file, a crash after it leaves the new one; at no moment is there neither. An error
removes the temporary file; only a killed process can leave one behind, named
``.<name>.<random>.tmp<suffix>``.
"""

from __future__ import annotations

import contextlib
import os
import secrets
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator


@contextlib.contextmanager
def replacing(path: str | os.PathLike[str], *, make_folders: bool = False) -> Iterator[Path]:
    """Yield a temporary path that becomes `path` when the block ends well.

    >>> import pathlib, tempfile
    >>> target = pathlib.Path(tempfile.mkdtemp()) / "model.weights.h5"
    >>> with replacing(target) as temporary:
    ...     _ = temporary.write_bytes(b"weights")
    >>> target.read_bytes()
    b'weights'

    The temporary name ends in the target's suffixes, because Keras tells a file's format by them. Where the
    target is a symbolic link, the file it points to is replaced; a file that is replaced keeps its
    permissions.

    Args:
        path: the file to write.
        make_folders: whether missing parent folders are made.

    Yields:
        The path to write to, in the same folder.

    Raises:
        OSError: what writing, flushing or renaming raised; `path` is then as it was before.
    """
    target = Path(os.path.realpath(path))
    if make_folders:
        target.parent.mkdir(parents=True, exist_ok=True)
    temporary = target.with_name(f".{target.name}.{secrets.token_hex(4)}.tmp{''.join(target.suffixes[-2:])}")
    try:
        yield temporary
        if target.exists():
            os.chmod(temporary, target.stat().st_mode & 0o7777)
        _flush(temporary)
        os.replace(temporary, target)
    except BaseException:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(temporary)
        raise
    _flush_folder(target.parent)


def _flush(path: Path) -> None:
    descriptor = os.open(path, os.O_RDWR)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _flush_folder(folder: Path) -> None:
    if os.name == "nt":  # Windows has no fsync of a folder
        return
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
