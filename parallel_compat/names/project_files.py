"""The files of a project that say what it was written for: which they are, and how they are read.

Nothing is walked through: the script's folder, its parents up to the project's root, and the folders right below
these. Each has limits, as has each file.
"""

from __future__ import annotations

import codecs
import os
import re
import stat
import tempfile
from itertools import islice
from typing import NamedTuple

# Of one file, of one folder, of the folders below one, and of the parents.
_BYTES, _ENTRIES, _FOLDERS, _PARENTS = 400_000, 5_000, 60, 6
_SOURCES = 60
# How the line begins that `migrate` writes into what it rewrites: that looks newer than the project is.
MIGRATED = "# parallel-compat: migrated"

_REQUIREMENTS = re.compile(
    r"(?i)[\w.-]*require(?:ments?|s)[\w.-]*\.(?:txt|in|pip)|requirements?|[\w.-]*(?:environment|conda)[\w.-]*\.ya?ml"
    r"|conda[\w.-]*\.txt|setup\.(?:py|cfg)|pyproject\.toml|pipfile(?:\.lock)?|poetry\.lock"
)
_FIRST = ("requirements.txt", "environment.yml", "setup.py", "setup.cfg", "pyproject.toml", "pipfile", "pipfile.lock")
_SERVICES = re.compile(
    r"(?i)[\w.-]*dockerfile[\w.-]*|\.travis\.yml|\.gitlab-ci\.yml|appveyor\.yml|tox\.ini|makefile|[\w.-]*\.sh|noxfile\.py"
)
_PROSE = re.compile(r"(?i)(?:readme|install)[\w.-]*(?<!\.html)(?<!\.pdf)")
_LICENSE = re.compile(r"(?i)(?:licen[cs]e|copying|copyright)[\w.-]*")
# A folder with one of these is a project's root.
_MARKS = ("requirements.txt", "environment.yml", "setup.py", "pyproject.toml", "Pipfile", "README.md", "LICENSE")
_NOT_OF_PROJECT = re.compile(
    r"(?i)\.(?!github$).*|node_modules|venv|env|site-packages|__pycache__|build|dist|docs?|data(?:sets?)?"
)


class ProjectFiles(NamedTuple):
    """Files of a project, the nearest to the script first."""

    root: str  # the project's root
    requirements: list[str]  # files that list what it needs
    services: list[str]  # files for Docker and for CI services; requirements of a part of the project
    prose: list[str]  # READMEs
    licenses: list[str]  # files with the year of a copyright
    sources: list[str]  # Python files


def files_of_project(start: str, folder: str) -> ProjectFiles:
    """List the files that say what a project was written for.

    Args:
        start: the script's folder.
        folder: the folder that the command was given in.
    """
    chain = _chain(os.path.abspath(start), os.path.abspath(folder))
    found = ProjectFiles(chain[-1], [], [], [], [], [])
    below: list[str] = []
    for place in chain:
        files, folders = _entries(place)
        files.sort(key=_order)
        for name in files:
            path = os.path.join(place, name)
            for pattern, kind in (
                (_REQUIREMENTS, found.requirements),
                (_SERVICES, found.services),
                (_PROSE, found.prose),
                (_LICENSE, found.licenses),
            ):
                if pattern.fullmatch(name):
                    kind.append(path)
                    break
            if name.endswith(".py"):
                found.sources.append(path)
        below += [
            os.path.join(place, name) for name in sorted(folders)[:_FOLDERS] if not _NOT_OF_PROJECT.fullmatch(name)
        ]
        below += [os.path.join(place, ".github", "workflows")] * (".github" in folders)
    for place in below:
        if place not in chain:
            files, _ = _entries(place)
            of_service = place.endswith("workflows")
            for name in sorted(files):
                if _REQUIREMENTS.fullmatch(name) or _SERVICES.fullmatch(name) or (of_service and name.endswith("yml")):
                    found.services.append(os.path.join(place, name))
                elif name.endswith(".py"):
                    found.sources.append(os.path.join(place, name))
    return found._replace(sources=found.sources[:_SOURCES])


def _order(name: str) -> tuple[int, str]:
    lower = name.lower()
    return (_FIRST.index(lower) if lower in _FIRST else len(_FIRST), lower)


def _chain(start: str, folder: str) -> list[str]:
    """Return a folder and its parents up to the project's root: that of git, the one given, or one with a mark."""
    ends = (os.path.expanduser("~"), tempfile.gettempdir(), os.path.abspath(os.sep))
    chain = [start]
    while len(chain) <= _PARENTS and chain[-1] not in ends and (parent := os.path.dirname(chain[-1])) not in ends:
        chain.append(parent)
    for is_root in (_has_git, folder.__eq__, _has_mark):
        for count, place in enumerate(chain, 1):
            if is_root(place):
                return chain[:count]
    return chain[:1]


def _has_git(folder: str) -> bool:
    return os.path.exists(os.path.join(folder, ".git"))


def _has_mark(folder: str) -> bool:
    return any(os.path.isfile(os.path.join(folder, mark)) for mark in _MARKS)


def _entries(folder: str) -> tuple[list[str], list[str]]:
    """Return the names of a folder's files and of its folders."""
    files: list[str] = []
    folders: list[str] = []
    try:
        with os.scandir(folder) as entries:
            for entry in islice(entries, _ENTRIES):
                (folders if entry.is_dir(follow_symlinks=False) else files).append(entry.name)
    except OSError:  # it is not there, or not readable
        pass
    return files, folders


def read_text(path: str, most: int = _BYTES) -> str:
    """Return the text of a file, "" if there is none: it is binary, no plain file, or not readable."""
    try:
        if not stat.S_ISREG(os.stat(path).st_mode):
            return ""
        with open(path, "rb") as file:
            data = file.read(most)
    except (OSError, ValueError):
        return ""
    # Windows' shells write requirements in UTF-16.
    if data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return data.decode("utf-16", "replace")
    return "" if b"\0" in data[:4096] else data.decode("utf-8-sig", "replace")
