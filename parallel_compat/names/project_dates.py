"""When a project was written: by its last commit, its files, and the year of its copyright."""

from __future__ import annotations

import datetime
import functools
import os
import re
import shutil
import subprocess
from collections.abc import Iterable
from typing import NamedTuple

from parallel_compat.names.project_files import read_text

# Keras's first release: what is older is no date of a script.
_FIRST = datetime.date(2015, 3, 27)
_COMMITS = 1000
_COPYRIGHT = re.compile(r"(?i)(?:copyright|\(c\)|©)[^\n]{0,40}?\b(20[12]\d)\b")


class Dated(NamedTuple):
    """A date, and what it is of, for the report."""

    date: datetime.date
    text: str


def last_change(root: str, sources: Iterable[str]) -> Dated | None:
    """Return when the project was changed last.

    Args:
        sources: its sources, for a project without git: archives keep the dates of their files.
    """
    if os.path.exists(os.path.join(root, ".git")):
        commits = _commits(root)
        return Dated(commits[0], f"its last commit is of {commits[0]}") if commits else None
    dates = []
    for source in sources:
        try:
            dates.append(datetime.date.fromtimestamp(os.stat(source).st_mtime))
        except (OSError, ValueError, OverflowError):
            return None
    latest = max(dates, default=_FIRST)
    return Dated(latest, f"its files were last changed on {latest}") if latest > _FIRST else None


def begun(root: str, licenses: Iterable[str]) -> Dated | None:
    """Return when the project was begun: with its first commit, or in the year of its copyright, if that is earlier."""
    dates = []
    commits = _commits(root) if os.path.exists(os.path.join(root, ".git")) else []
    # A clone without its history begins at its last commit.
    if commits and len(commits) < _COMMITS and not os.path.exists(os.path.join(root, ".git", "shallow")):
        dates.append(Dated(min(commits), f"its first commit is of {min(commits)}"))
    for file in licenses:
        years = [int(year) for year in _COPYRIGHT.findall(read_text(file))]
        if years:
            dates.append(Dated(datetime.date(min(years), 1, 1), f"{os.path.basename(file)} is of {min(years)}"))
    return min(dates, default=None)


@functools.cache
def _commits(root: str) -> list[datetime.date]:
    """Return the dates of the newest commits, the last one first; none without git."""
    git = shutil.which("git")
    if git is None:
        return []
    environment = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    # A clone that lacks objects must not fetch them now.
    environment.update(GIT_ALLOW_PROTOCOL="none", GIT_NO_LAZY_FETCH="1", GIT_OPTIONAL_LOCKS="0")
    command = [git, "-C", root, "rev-list", "--timestamp", f"--max-count={_COMMITS}", "HEAD"]
    try:
        ran = subprocess.run(command, capture_output=True, env=environment, timeout=2, check=False)
        stamps = [int(line.split()[0]) for line in ran.stdout.splitlines()]
        return [datetime.datetime.fromtimestamp(stamp, datetime.timezone.utc).date() for stamp in stamps]
    except (OSError, ValueError, OverflowError, IndexError, subprocess.TimeoutExpired):
        return []
