"""Fetch an original: by pip, or from a folder of wheels.

The wheels are checked by their sha256 before anything is taken out of them. What is kept is put together in a temporary
folder beside its place and renamed into it, under a lock: a second process waits and then finds it.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

from parallel_compat.originals import cache
from parallel_compat.originals.catalogue import ORIGINALS, Original, Wheel


class FetchError(RuntimeError):
    """An original could not be fetched; the message says why and what to do."""


def fetch(name: str, *, wheels_from: Path | None = None, quiet: bool = False) -> Path:
    """Fetch an original and what it needs, unless they are there.

    Args:
        name: its name in the catalogue.
        wheels_from: a folder with the wheels; None to let pip download them.
        quiet: whether nothing is printed.

    Returns:
        The folder of the original.

    Raises:
        FetchError: it could not be fetched; nothing half-done is left.
    """
    original = ORIGINALS[name]
    for needed in original.needs:
        fetch(needed, wheels_from=wheels_from, quiet=quiet)
    place = cache.folder(name)
    if cache.is_complete(name):
        return place
    place.parent.mkdir(parents=True, exist_ok=True)
    temporary = Path(tempfile.mkdtemp(prefix=".fetching-", dir=place.parent))
    try:
        wheels = wheels_from or _download(original, temporary / "wheels")
        files: dict[str, tuple[int, str]] = {}
        for wheel in original.wheels:
            files |= _extract(wheel, wheels / wheel.file, temporary / "new" / cache.SOURCES)
        (temporary / "new" / cache.LIST_OF_FILES).write_text(json.dumps(files))
        if place.exists():
            os.rename(place, temporary / "old")
        os.rename(temporary / "new", place)
    finally:
        shutil.rmtree(temporary, ignore_errors=True)
    if not quiet:
        size = sum(size for size, _ in files.values())
        print(f"{original.title} is fetched ({size / 1e6:.1f} MB)", file=sys.stderr)
    return place


def _download(original: Original, folder: Path) -> Path:
    first = original.wheels[0]
    options = []
    if first.python is not None:
        options += ["--implementation", "cp", "--python-version", first.python]
        options += ["--abi", str(first.abi), "--platform", str(first.platform)]
    command = [sys.executable, "-m", "pip", "download", "--no-deps", "--only-binary=:all:", "-d", str(folder), *options]
    requirements = [wheel.requirement for wheel in original.wheels]
    done = subprocess.run([*command, *requirements], capture_output=True, text=True, check=False)
    if done.returncode:
        raise FetchError(done.stdout + done.stderr)
    return folder


def _extract(wheel: Wheel, path: Path, sources: Path) -> dict[str, tuple[int, str]]:
    if hashlib.sha256(path.read_bytes()).hexdigest() != wheel.sha256:
        raise FetchError(f"{path} has another sha256.")
    files = {}
    with zipfile.ZipFile(path) as archive:
        for member in archive.namelist():
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
