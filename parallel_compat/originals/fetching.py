"""Fetch an original: by pip, or from a folder of wheels.

The wheels are checked by their sha256 before anything is taken out of them. What is kept is put together in a temporary
folder beside its place and renamed into it, under a lock: a second process waits and then finds it.
"""

from __future__ import annotations

import contextlib
import errno
import hashlib
import json
import os
import shlex
import sys
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import BinaryIO

from parallel_compat.originals import cache, cache_changes, pip_download
from parallel_compat.originals.cache import FetchError as FetchError
from parallel_compat.originals.catalogue import ORIGINALS, Original, Wheel

_ANOTHER_PLACE = f"set {cache.VARIABLE} to another folder"
_ANOTHER_INDEX = "Try again, or let pip use another package index (the variable PIP_INDEX_URL)."
_FULL = (errno.ENOSPC, errno.EDQUOT)
_MOST_KEPT = 40_000_000  # bytes; no original has more sources
_CHUNK = 1 << 20  # bytes
_MOST_NAMES = 8  # of wheels, in one message


def fetch(name: str, *, wheels_from: Path | None = None, quiet: bool = False, contents: bool = False) -> Path:
    """Fetch an original and what it needs, unless they are there.

    Args:
        wheels_from: a folder with the wheels; None to let pip download them.
        contents: whether files that are there are read and compared, beyond their sizes.

    Raises:
        FetchError: it could not be fetched; no incomplete files remain.
    """
    original = ORIGINALS[name]
    for needed in original.needs:
        fetch(needed, wheels_from=wheels_from, quiet=quiet, contents=contents)
    if cache.is_complete(name, contents=contents):
        cache_changes.tidy()
        return cache.folder(name)

    def say(line: str) -> None:
        if not quiet:
            print(line, file=sys.stderr)

    try:
        with cache_changes.changing(lambda: say(f"{original.title}: waiting for another process that fetches")) as work:
            if cache.is_complete(name, contents=contents):
                return cache.folder(name)
            if os.path.lexists(cache.folder(name)):
                say(f"{original.title} is fetched again: {cache.damage(name, contents=contents)}")
            wheels = _downloaded(original, work, quiet) if wheels_from is None else _given(original, wheels_from)
            _make(wheels, work / "new", _ANOTHER_INDEX if wheels_from is None else "Download it again.")
            _put_into_place(name, work)
    except OSError as error:
        # pip writes a wheel twice.
        downloads = 0 if wheels_from else 2 * sum(wheel.size for wheel in original.wheels)
        raise FetchError(_of_the_disk(original, error, downloads)) from error
    fetched = sum(wheel.size for wheel in original.wheels)
    kept = cache.size(name)
    say(f"{original.title} is fetched ({megabytes(fetched)}; {megabytes(kept)} are kept in {cache.folder(name)})")
    return cache.folder(name)


def megabytes(size: int) -> str:
    """Return a number of bytes as people read it.

    >>> megabytes(405_822), megabytes(145_000_000)
    ('0.4 MB', '145 MB')
    """
    return f"{size / 1e6:.1f} MB" if size < 9.95e6 else f"{size / 1e6:.0f} MB"


def _downloaded(original: Original, work: Path, quiet: bool) -> dict[Wheel, Path]:
    """Let pip download the wheels, and return where they are."""
    with_wheels = f"Without pip or a network: parallel-compat originals fetch {original.name} --from FOLDER_OF_WHEELS"
    if why_not := pip_download.why_not():
        raise FetchError(f"{why_not} {with_wheels}")
    folder, temporary = work / "wheels", work / "pip"
    folder.mkdir()
    temporary.mkdir()
    try:
        with _progress(original, quiet) as downloaded:
            pip_download.download(original.wheels, folder, temporary, downloaded)
    except pip_download.DownloadError as error:
        for number in _FULL:
            if os.strerror(number) in str(error):
                raise OSError(number, os.strerror(number)) from error
        raise FetchError(
            f"Expected pip to download {original.title}. Received: {error}. Check the network, and which package index "
            f"pip uses. {with_wheels}"
        ) from error
    wheels, there = _wheels_in(folder, original)
    if len(wheels) < len(original.wheels):
        expected = ", ".join(wheel.file for wheel in original.wheels)
        raise FetchError(f"Expected pip to download {expected}. Received: {there}. {_ANOTHER_INDEX}")
    return wheels


def _given(original: Original, folder: Path) -> dict[Wheel, Path]:
    """Return where the wheels are in a user's folder."""
    try:
        wheels, there = _wheels_in(folder, original)
    except OSError as error:
        raise FetchError(f"Expected a folder of wheels. Received: {folder} ({error.strerror}).") from error
    if missing := [wheel for wheel in original.wheels if wheel not in wheels]:
        command = ["python", "-m", "pip", *pip_download.arguments(missing), "--dest", str(folder)]
        raise FetchError(
            f"Expected {', '.join(wheel.file for wheel in missing)} in {folder}. Received: {there}. "
            f"Where there is a network, run: {shlex.join(command)}"
        )
    return wheels


def _wheels_in(folder: Path, original: Original) -> tuple[dict[Wheel, Path], str]:
    """Return where the wheels of an original are, and the names of all wheels there; their case says nothing."""
    there = {entry.lower(): folder / entry for entry in sorted(os.listdir(folder)) if entry.endswith(".whl")}
    found = {wheel: there[wheel.file.lower()] for wheel in original.wheels if wheel.file.lower() in there}
    names = [path.name if path.name.isprintable() else ascii(path.name) for path in there.values()]
    more = f" and {len(names) - _MOST_NAMES} more" if len(names) > _MOST_NAMES else ""
    return found, ", ".join(names[:_MOST_NAMES]) + more or "no wheel"


def _make(wheels: dict[Wheel, Path], new: Path, what_to_do: str) -> None:
    """Make the folder of an original."""
    files: dict[str, tuple[int, str]] = {}
    for wheel, path in wheels.items():
        with _opened(path) as opened:
            size = os.fstat(opened.fileno()).st_size
            received = _sha256(opened) if size == wheel.size else f"{size:,} bytes, where it has {wheel.size:,}"
            if received != wheel.sha256:
                raise FetchError(
                    f"Expected {path.name} with the sha256 {wheel.sha256}. Received: {received}. {what_to_do}"
                )
            files |= _extract(wheel, opened, new / cache.SOURCES)
    (new / cache.LIST_OF_FILES).write_text(json.dumps(files), encoding="utf-8")


def _opened(path: Path) -> BinaryIO:
    try:
        if not (path.is_file() or path.is_dir()):  # a pipe would be waited for
            raise OSError(errno.EINVAL, "not a regular file")
        return path.open("rb")
    except OSError as error:
        raise FetchError(f"Expected a wheel that can be read. Received: {path} ({error.strerror}).") from error


def _sha256(opened: BinaryIO) -> str:
    digest = hashlib.sha256()
    while chunk := opened.read(_CHUNK):
        digest.update(chunk)
    return digest.hexdigest()


def _extract(wheel: Wheel, opened: BinaryIO, sources: Path) -> dict[str, tuple[int, str]]:
    """Write the Python sources that are kept of a wheel; return their sizes and digests."""
    files = {}
    with zipfile.ZipFile(opened) as archive:
        for member in archive.namelist():
            if {"", ".", ".."} & set(member.removesuffix("/").split("/")) or "\\" in member or ":" in member:
                raise FetchError(
                    f"Expected files in folders of the wheel {wheel.file}. Received: {member!r}. Do not use this wheel."
                )
            if not member.endswith(".py") or not member.startswith(wheel.keep):
                continue
            file = member
            if wheel.top is not None and member.startswith(wheel.top[0]):
                file = wheel.top[1] + member[len(wheel.top[0]) :]
            content = archive.read(member)
            target = sources / file
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(content)
            files[file] = (len(content), hashlib.sha256(content).hexdigest())
    return files


def _put_into_place(name: str, work: Path) -> None:
    directory = cache.folder(name)
    if os.path.lexists(directory):
        os.rename(directory, work / "old")
    try:
        os.rename(work / "new", directory)
    except OSError:
        if not cache.is_complete(name):  # on a disk without locks another process may have been first
            raise


def _of_the_disk(original: Original, error: OSError, downloads: int) -> str:
    """Say in a sentence why the cache could not be written."""
    root, name = cache.root(), original.name
    broken = f" {original.title} in it is damaged: {cache.damage(name)}." if os.path.lexists(cache.folder(name)) else ""
    if error.errno in _FULL:
        needed = megabytes(downloads + _MOST_KEPT)
        return (
            f"Expected {needed} of free space in {root} to fetch {original.title}. Received: {error.strerror}.{broken} "
            f"Make room, or {_ANOTHER_PLACE}."
        )
    what = f"{error.strerror or error} ({error.filename})" if error.filename else str(error)
    return (
        f"Expected to write {original.title} into {root}. Received: {what}.{broken} "
        f"Make it writable, or {_ANOTHER_PLACE}."
    )


@contextlib.contextmanager
def _progress(original: Original, quiet: bool) -> Iterator[Callable[[int], object]]:
    """Show a progress bar where somebody looks; yield what takes the bytes that there are so far."""
    if quiet or not sys.stderr.isatty():
        yield lambda count: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TimeRemainingColumn, TransferSpeedColumn

    columns = (BarColumn(), DownloadColumn(), TransferSpeedColumn(), TimeRemainingColumn())
    progress = Progress(TextColumn(original.title), *columns, console=Console(stderr=True), transient=True)
    with progress:
        work = progress.add_task("fetch", total=sum(wheel.size for wheel in original.wheels))
        yield lambda count: progress.update(work, completed=count)
