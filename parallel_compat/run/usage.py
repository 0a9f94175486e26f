"""What was used: each legacy name that the user's code asked for, where, how often, and what it became."""

from __future__ import annotations

import json
import os
import threading
from collections import Counter
from typing import TYPE_CHECKING, Any, NamedTuple

from parallel_compat.names.eras import Era, Verdict
from parallel_compat.run import callers, cells, ran_on

if TYPE_CHECKING:
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
_eras_in_children: dict[str, Verdict] = {}
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
        _eras_in_children.clear()


def add(seen: dict[str, list[dict[str, Any]]]) -> None:
    """Add what a child process has seen."""
    with _lock:
        for row in seen["eras"]:
            _eras_in_children[row["file"]] = Verdict(Era(row["era"]), row["why"])
        for row in seen["legacy_names"]:
            _counts[Use(row["file"], row["line"], row["name"], row["became"])] += row["count"]


def as_rows() -> list[dict[str, Any]]:
    """Return one JSON object per use: file, line, name, became, count."""
    return [
        {"file": use.file, "line": use.line, "name": use.name, "became": use.became, "count": count}
        for use, count in uses().items()
    ]


def eras() -> dict[str, Verdict]:
    """Return the files that asked, with the era that each got and why."""
    return {**_eras_in_children, **dict(callers.eras_of_files())}


def seen() -> dict[str, list[dict[str, Any]]]:
    """Return the uses and the eras as rows of JSON."""
    files = [{"file": file, "era": said.era.value, "why": said.reason} for file, said in eras().items()]
    return {"legacy_names": as_rows(), "eras": files}


def write(path: str) -> None:
    """Write the uses, the eras and the devices as JSON: `{"legacy_names": [...], "eras": [...], "devices": ""}`."""
    from parallel_compat.atomic_file import replacing

    with replacing(path) as temporary:
        temporary.write_text(json.dumps({**seen(), "devices": ran_on.devices()}, indent=2) + "\n", "utf-8")


def summary() -> str:
    """Return the report for people: for each file a line per name, with its places, and what to do next."""
    rows = uses()
    if not rows:
        return ""
    names_used = len({use.name for use in rows})
    lines = [f"parallel-compat: {names_used} legacy name{'' if names_used == 1 else 's'} used"]
    by_file: dict[str, dict[tuple[str, str], list[tuple[str, int]]]] = {}
    for use, count in sorted(rows.items(), key=lambda row: _by_cell(row[0].file)):
        places = by_file.setdefault(file_or_notebook(use.file), {}).setdefault((use.name, use.became), [])
        places.append((f"{cells.prompt_of(use.file)}:{use.line}", count))
    for file, names in by_file.items():
        lines.append(f"  {file}")
        width = max(len(_lines(places)) for places in names.values())
        for (name, became), places in names.items():
            total = sum(count for _, count in places)
            times = f" ({total} times)" if total > len(places) else ""
            lines.append(f"    {_lines(places):<{width}}  {name} -> {became}{times}")
    lines += _lines_of_eras()
    devices = ran_on.devices()
    if devices:
        lines.append(f"  Ran on {devices}")
    named = (file_or_notebook(use.file) for use in rows)
    files = sorted({file for file in named if not file.startswith("<")})
    if files:
        target = files[0] if len(files) == 1 else _common_folder(files)
        lines.append(f"  To rewrite them: parallel-compat migrate {target}    (shows the changes; --write makes them)")
    return "\n".join(lines)


_PLACES = 6


def file_or_notebook(file: str) -> str:
    """Name a file for people; a cell by its notebook."""
    return cells.notebook() if cells.prompt_of(file) else callers.short(file)


def _by_cell(file: str) -> int:
    prompt = cells.prompt_of(file)
    return int(prompt[len("In [") : -1]) if prompt else 0


def _lines(places: list[tuple[str, int]]) -> str:
    """Name the lines of one file, the first of many; in a notebook with their cells."""
    some = [place for place, _ in places[:_PLACES]]
    shown = ", ".join(some) if not some[0].startswith(":") else ":" + ",".join(place[1:] for place in some)
    return shown if len(places) <= _PLACES else f"{shown},..."


def _lines_of_eras() -> list[str]:
    groups: dict[Verdict, list[str]] = {}
    for file, said in sorted(eras().items()):
        groups.setdefault(said, []).append(file_or_notebook(file))
    return [
        f"  Results as of {said.era}: {', '.join(dict.fromkeys(files))} ({said.reason})"
        for said, files in groups.items()
    ]


def _common_folder(files: list[str]) -> str:
    try:
        return os.path.commonpath(files) or "."
    except ValueError:  # some below the current folder and some elsewhere
        return "."
