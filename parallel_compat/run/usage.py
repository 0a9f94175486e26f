"""What was used: each legacy name that the user's code asked for, where, how often, and what it became."""

from __future__ import annotations

import json
import os
import threading
from collections import Counter
from typing import TYPE_CHECKING, Any, NamedTuple

from parallel_compat.atomic_file import replacing

if TYPE_CHECKING:
    from collections.abc import Iterable
    from types import FrameType


class Use(NamedTuple):
    """One legacy name at one place.

    Attributes:
        file: the file that used it, as Python names it.
        line: its line, from 1.
        name: the legacy name (`keras.utils.multi_gpu_model`, `lr=`, `Model.fit_generator`).
        became: what it is today.
    """

    file: str
    line: int
    name: str
    became: str


_counts: Counter[Use] = Counter()
_lock = threading.Lock()


def record(name: str, became: str, frame: FrameType) -> None:
    """Count one use of a legacy name by the user's `frame`."""
    use = Use(frame.f_code.co_filename, frame.f_lineno or 0, name, became)
    with _lock:
        _counts[use] += 1


def uses() -> dict[Use, int]:
    """Return what was used so far and how often, ordered by place."""
    with _lock:
        return dict(sorted(_counts.items()))


def forget() -> None:
    """Start counting anew."""
    with _lock:
        _counts.clear()


def add(rows: Iterable[dict[str, Any]]) -> None:
    """Add the rows that a child process wrote."""
    with _lock:
        for row in rows:
            _counts[Use(row["file"], row["line"], row["name"], row["became"])] += row["count"]


def as_rows() -> list[dict[str, Any]]:
    """Return one JSON object per use: file, line, name, became, count."""
    return [
        {"file": use.file, "line": use.line, "name": use.name, "became": use.became, "count": count}
        for use, count in uses().items()
    ]


def write(path: str) -> None:
    """Write the uses as JSON: `{"legacy_names": [...]}`."""
    with replacing(path) as temporary:
        temporary.write_text(json.dumps({"legacy_names": as_rows()}, indent=2) + "\n", "utf-8")


def summary() -> str:
    """Return the report for people: one line per name and place, and what to do next."""
    rows = uses()
    if not rows:
        return ""
    places = [(f"{_short(use.file)}:{use.line}", use.name, count, use.became) for use, count in rows.items()]
    width = min(max(len(place) for place, *_ in places), 60)
    lines = [f"parallel-compat: {len({use.name for use in rows})} legacy names used"]
    for place, name, count, became in places:
        times = f" ({count} times)" if count > 1 else ""
        lines.append(f"  {place:<{width}}  {name} -> {became}{times}")
    files = sorted({_short(use.file) for use in rows if not use.file.startswith("<")})
    if files:
        target = files[0] if len(files) == 1 else _common_folder(files)
        lines.append(f"  To rewrite them: parallel-compat migrate {target}    (shows the changes; --write makes them)")
    return "\n".join(lines)


def _common_folder(files: list[str]) -> str:
    try:
        return os.path.commonpath(files) or "."
    except ValueError:  # some below the current folder and some elsewhere
        return "."


def _short(file: str) -> str:
    if file.startswith("<"):
        return file
    relative = os.path.relpath(file)
    return file if relative.startswith("..") else relative
