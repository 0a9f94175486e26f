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
from typing import TYPE_CHECKING, BinaryIO

from parallel_compat.originals import cache, cache_changes, pip_download
from parallel_compat.originals.cache import FetchError as FetchError
from parallel_compat.originals.catalogue import ORIGINALS, Original, Wheel

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

_ANOTHER_PLACE = f"set {cache.VARIABLE} to another folder"
_CHUNK = 1 << 20  # bytes


def fetch(name: str, *, wheels_from: Path | None = None, quiet: bool = False, contents: bool = False) -> Path:
    """Fetch an original and what it needs, unless they are there.

    Args:
        name: its name in the catalogue.
        wheels_from: a folder with the wheels; None to let pip download them.
        quiet: whether nothing is printed.
        contents: whether files that are there are read and compared, beyond their sizes.

    Returns:
        The folder of the original.

    Raises:
        FetchError: it could not be fetched; nothing half-done is left.
    """
    original = ORIGINALS[name]
    for needed in original.needs:
        fetch(needed, wheels_from=wheels_from, quiet=quiet, contents=contents)
    if cache.is_complete(name, contents=contents):
        cache_changes.tidy()
        return cache.folder(name)
    say = _nothing if quiet else _say
    try:
        with cache_changes.changing(lambda: say(f"{original.title}: waiting for another process that fetches")) as work:
            if cache.is_complete(name, contents=contents):
                return cache.folder(name)
            if os.path.lexists(cache.folder(name)):
                say(f"{original.title} is fetched again: {cache.damage(name, contents=contents)}")
            wheels = _wheels_in(wheels_from, original) if wheels_from else _download(original, work, quiet)
            new = work / "new"
            kept = _make(wheels, new, "Download it again" if wheels_from else "Try again, or use another package index")
            _put_into_place(new, cache.folder(name), work / "old")
    except OSError as error:
        raise FetchError(_of_the_disk(original, error)) from error
    fetched = sum(wheel.size for wheel in original.wheels)
    say(f"{original.title} is fetched ({megabytes(fetched)}; {megabytes(kept)} are kept in {cache.folder(name)})")
    return cache.folder(name)


def megabytes(size: int) -> str:
    """Return a number of bytes as people read it.

    >>> megabytes(405_822), megabytes(145_000_000)
    ('0.4 MB', '145 MB')

    Args:
        size: the number of bytes.
    """
    return f"{size / 1e6:.1f} MB" if size < 9.95e6 else f"{size / 1e6:.0f} MB"


def _say(line: str) -> None:
    print(line, file=sys.stderr)


def _nothing(line: str) -> None:
    pass


def _download(original: Original, work: Path, quiet: bool) -> dict[Wheel, Path]:
    """Let pip download the wheels into the folder of this work, and return where they are."""
    why_not = pip_download.why_not()
    if why_not is not None:
        raise FetchError(f"{why_not}. {_without_network(original)}")
    folder, temporary = work / "wheels", work / "pip"
    folder.mkdir()
    temporary.mkdir()
    try:
        with _progress(original, quiet) as downloaded:
            pip_download.download(original.wheels, folder, temporary, downloaded)
    except pip_download.DownloadError as error:
        if "No space left on device" in str(error):
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC)) from error
        raise FetchError(
            f"Expected pip to download {original.title}. Received: {error}. Check the network and the package index "
            f"that pip is configured for. {_without_network(original)}"
        ) from error
    return _wheels_in(folder, original)


def _without_network(original: Original) -> str:
    return (
        f"A machine without them can be given the wheels: parallel-compat originals fetch {original.name} --from FOLDER"
    )


def _wheels_in(folder: Path, original: Original) -> dict[Wheel, Path]:
    """Return where the wheels are in a folder; case says nothing in the name of a wheel."""
    try:
        there = {entry.lower(): folder / entry for entry in os.listdir(folder)}
    except OSError as error:
        raise FetchError(f"Expected a folder with wheels. Received: {folder} ({error.strerror}).") from error
    missing = [wheel for wheel in original.wheels if wheel.file.lower() not in there]
    if missing:
        command = ["python", "-m", "pip", *pip_download.arguments(missing), "--dest", str(folder)]
        others = ", ".join(sorted(path.name for path in there.values() if path.suffix == ".whl")) or "no wheel"
        raise FetchError(
            f"Expected {', '.join(wheel.file for wheel in missing)} in {folder}. Received: {others}. Where there is a "
            f"network, run: {shlex.join(command)}"
        )
    return {wheel: there[wheel.file.lower()] for wheel in original.wheels}


def _make(wheels: dict[Wheel, Path], new: Path, what_to_do: str) -> int:
    """Make the folder of an original; return the bytes that are kept."""
    files: dict[str, tuple[int, str]] = {}
    for wheel, path in wheels.items():
        with _opened(path) as opened:
            received = _sha256(opened)
            if received != wheel.sha256:
                raise FetchError(
                    f"Expected {path.name} with the sha256 {wheel.sha256}. Received: {received}. {what_to_do}."
                )
            files |= _extract(wheel, opened, new / cache.SOURCES)
    (new / cache.LIST_OF_FILES).write_text(json.dumps(files), encoding="utf-8")
    return sum(size for size, _ in files.values())


def _opened(path: Path) -> BinaryIO:
    try:
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


def _put_into_place(new: Path, place: Path, old: Path) -> None:
    if os.path.lexists(place):
        os.rename(place, old)
    os.rename(new, place)


def _of_the_disk(original: Original, error: OSError) -> str:
    """Say in a sentence why the cache could not be written."""
    root, name = cache.root(), original.name
    broken = f" {original.title} in it is damaged: {cache.damage(name)}." if os.path.lexists(cache.folder(name)) else ""
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        # pip writes a wheel twice.
        needed = megabytes(2 * sum(wheel.size for wheel in original.wheels) + (40 << 20))
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
