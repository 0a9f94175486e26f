"""Which files are looked at: as git sees them, and without git as a reader would.

In a git work tree, tracked files and new ones that are not ignored. Elsewhere everything but hidden folders,
caches, installed packages and virtual environments.
"""

from __future__ import annotations

import fnmatch
import os
import subprocess
from collections.abc import Iterator, Sequence
from pathlib import Path

SUFFIXES = (".py", ".pyw", ".ipynb")
_LEFT_ALONE = frozenset(("__pycache__", "node_modules", "site-packages", "build", "dist", "__pypackages__"))


def files(paths: Sequence[str], exclude: Sequence[str] = ()) -> Iterator[str]:
    """Yield the sources below the paths, spelled as given, each once and in order.

    Args:
        paths: files and folders. A file is taken whatever its name is.
        exclude: patterns of paths or names (`tests/*`, `*_pb2.py`, `vendor`) to leave out.
    """
    seen = set()
    for path in paths:
        if not os.path.exists(path):
            raise FileNotFoundError(path)
        for found in [path] if os.path.isfile(path) else _below(path):
            real = os.path.realpath(found)
            if real not in seen and not _excluded(found, path, exclude):
                seen.add(real)
                yield found


def _below(folder: str) -> Iterator[str]:
    listed = _git(folder)
    names = _walk(folder) if listed is None else (name for name in listed if not _in_environment(folder, name))
    for name in sorted(names):
        if name.endswith(SUFFIXES):
            path = os.path.join(folder, name)
            if os.path.isfile(path) and not os.path.islink(path):
                yield path


def _git(folder: str) -> list[str] | None:
    """Return the files that git tracks or would track, or None where git has nothing to say."""
    try:
        inside = _run_git(folder, "rev-parse", "--is-inside-work-tree")
        if inside.returncode or inside.stdout.strip() != b"true":
            return None
        listed = _run_git(folder, "ls-files", "-z", "--cached", "--others", "--exclude-standard")
        listed.check_returncode()
        ignored = _run_git(folder, "ls-files", "-z", "--cached", "--ignored", "--exclude-standard")
    except (OSError, subprocess.SubprocessError):
        return None
    left_alone = set(ignored.stdout.split(b"\0")) if not ignored.returncode else set()
    names = []
    for name in dict.fromkeys(listed.stdout.split(b"\0")):
        if not name or name in left_alone:
            continue
        text = os.fsdecode(name)
        inner = os.path.join(folder, text)
        if os.path.isdir(inner) and not os.path.islink(inner):  # a repository within
            names += [os.path.join(text, found) for found in _git(inner) or _walk(inner)]
        else:
            names.append(text)
    if not names and _run_git(folder, "check-ignore", "-q", ".").returncode == 0:
        return list(_walk(folder))  # passed by name
    return names


def _run_git(folder: str, *arguments: str) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(["git", "-C", folder, *arguments], capture_output=True, check=False, timeout=600)


def _walk(folder: str) -> Iterator[str]:
    for root, folders, names in os.walk(folder):
        folders[:] = sorted(name for name in folders if not _left_alone(os.path.join(root, name)))
        for name in sorted(names):
            if not name.startswith("."):
                yield os.path.relpath(os.path.join(root, name), folder)


def _left_alone(folder: str) -> bool:
    name = os.path.basename(folder)
    return (
        name.startswith(".")
        or name in _LEFT_ALONE
        or name.endswith(".egg-info")
        or os.path.exists(os.path.join(folder, "pyvenv.cfg"))
        or os.path.exists(os.path.join(folder, "conda-meta"))
    )


def _in_environment(folder: str, name: str) -> bool:
    """Return whether a file that git lists lies in a virtual environment that somebody forgot to ignore."""
    parts = Path(name).parts[:-1]
    return any(os.path.exists(os.path.join(folder, *parts[: depth + 1], "pyvenv.cfg")) for depth in range(len(parts)))


def _excluded(path: str, given: str, patterns: Sequence[str]) -> bool:
    if not patterns:
        return False
    posix = Path(path).as_posix()
    relative = Path(os.path.relpath(path, given)).as_posix() if os.path.isdir(given) else Path(path).name
    for pattern in patterns:
        pattern = pattern.rstrip("/").removeprefix("./")
        parts = Path(relative).parts
        prefixes = ["/".join(parts[: depth + 1]) for depth in range(len(parts))]
        candidates = [posix, *parts, *prefixes]
        if any(fnmatch.fnmatchcase(candidate, pattern) for candidate in candidates):
            return True
    return False
