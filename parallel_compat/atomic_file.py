"""Write a file whole or not at all.

The protocol, in order: write a temporary file in the folder of the target, flush it to disk (fsync),
rename it over the target (`os.replace`, atomic on one file system), flush the folder. A crash before the
rename leaves the old file, a crash after it leaves the new one; at no moment is there neither. An error
removes the temporary file; only a killed process can leave one behind, named
``.<name>.<host>-<process>-<random>.tmp<suffix>``. The next write of the same target removes it: where the host is this
one and the process is gone.
"""

from __future__ import annotations

import contextlib
import errno
import os
import platform
import re
import secrets
import zlib
from collections.abc import Iterator
from pathlib import Path

_being_written: set[Path] = set()  # by this process


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
        make_folders: whether missing parent folders are made.

    Yields:
        The path to write to, in the same folder.

    Raises:
        OSError: what writing, flushing or renaming raised; `path` is then as it was before.
    """
    target, suffix = Path(os.path.realpath(path)), "".join(Path(path).suffixes[-2:])
    if make_folders:
        target.parent.mkdir(parents=True, exist_ok=True)
    _remove_abandoned(target, suffix)
    owner = f"{host()}-{os.getpid()}-{secrets.token_hex(4)}"
    temporary = target.with_name(f".{target.name}.{owner}.tmp{suffix}")
    _being_written.add(temporary)
    try:
        yield temporary
        if target.exists():
            os.chmod(temporary, target.stat().st_mode & 0o7777)
        _flush(temporary)
        os.replace(temporary, target)
    except BaseException as error:
        with contextlib.suppress(OSError):  # where the folder is read-only, the error that is raised says so
            os.unlink(temporary)
        if isinstance(error, OSError) and str(temporary) in str(error):
            raise _naming(error, temporary, target) from None
        raise
    finally:
        _being_written.discard(temporary)
    _flush_folder(target.parent)


def _naming(error: OSError, temporary: Path, target: Path) -> OSError:
    """Return an error that names the file to be written, and a folder that is not there."""
    if error.errno is None:  # h5py's, whose sentence holds the name
        return type(error)(str(error).replace(str(temporary), str(target)))
    if not target.parent.is_dir():
        return FileNotFoundError(errno.ENOENT, "No such folder", str(target.parent))
    sentence = error.strerror or ""
    if not sentence or str(temporary) in sentence:
        sentence = os.strerror(error.errno)
    return type(error)(error.errno, sentence, str(target))


def host() -> str:
    """Return a name of this machine: process numbers of other machines that write to the same disk mean nothing."""
    return f"{zlib.crc32(platform.node().encode()):08x}"


def _remove_abandoned(target: Path, suffix: str) -> None:
    """Remove the temporary files of this target that processes which are gone left behind."""
    ours = re.compile(rf"\.{re.escape(target.name)}\.{host()}-(\d+)-[0-9a-f]{{8}}\.tmp{re.escape(suffix)}")
    with contextlib.suppress(OSError), os.scandir(target.parent) as entries:
        for entry in entries:
            match = ours.fullmatch(entry.name)
            path = target.parent / entry.name
            if match is not None and path not in _being_written and not _is_running(int(match[1])):
                with contextlib.suppress(OSError):
                    os.unlink(path)


def _is_running(process: int) -> bool:
    """Return whether a process other than this one runs; where the system cannot tell, it is taken to."""
    if process == os.getpid():
        return False  # an earlier process had the same number: what this one writes is in `_being_written`
    if os.name == "nt":  # where `os.kill` ends the process
        return True
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except OSError:
        pass
    return True


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


def why_not_writable(path: str) -> str | None:
    """Say why a file cannot be written, or None where it can: before long work rather than after it."""
    folder = os.path.dirname(os.path.abspath(path))
    if os.path.isdir(path):
        return f"expected a file. Received: {path}, which is a folder"
    if not os.path.isdir(folder):
        return f"expected a file in a folder that exists. Received: {path}. Make {folder} first"
    if not os.access(folder, os.W_OK) or (os.path.exists(path) and not os.access(path, os.W_OK)):
        return f"expected a file that can be written. Received: {path}, without permission"
    return None
