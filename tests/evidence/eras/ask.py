"""Asks this package what the real stacks of an era were asked: a script of questions, run by `parallel-compat run`."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from collections.abc import Sequence

DATA = Path(__file__).parents[1] / "data" / "eras"


def recorded(script: str, era: str) -> dict[str, Any]:
    """Return what the real stack of an era answered."""
    answers: dict[str, Any] = json.loads((DATA / f"{script}.{era}.json").read_text())
    return answers


def asked(
    script: str,
    era: str,
    folder: Path,
    replicas: int = 0,
    only: Sequence[str] | None = None,
    options: Sequence[str] = (),
) -> dict[str, Any]:
    """Return what `parallel-compat run` answers to the same questions.

    Args:
        script: the name of a script in `tests/data/eras`, without ".py".
        era: the era.
        folder: where to work.
        replicas: how many replicas each compiled model has; 0 for models that are not parallel.
        only: the names of the questions to ask, for a script that takes a list of them; None asks all.
        options: more options of `parallel-compat run`.
    """
    out = folder / f"{script}.{era}.{replicas}.json"
    root = "keras" if era.startswith("keras") else "tf.keras"
    command = [sys.executable, "-m", "parallel_compat", "run", "--quiet", *(["--replicas", "4"] if replicas else [])]
    command += options
    command += [] if era == "keras-2.2.4" else ["--era", era]
    command += [str(DATA / f"{script}.py"), root, str(out), *([str(replicas)] if replicas or only else [])]
    if only is not None:
        names = folder / "names.json"
        names.write_text(json.dumps(list(only)))
        command.append(str(names))
    environment = {**os.environ, "ERA": era}
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, timeout=900)
    assert done.returncode == 0, done.stderr[-3000:]
    answers: dict[str, Any] = json.loads(out.read_text())
    return answers


def compare(
    script: str,
    era: str,
    folder: Path,
    replicas: int = 0,
    tolerance: float = 2e-5,
    only: Sequence[str] | None = None,
) -> None:
    """Fail where an answer is not the recorded one."""
    expected, received = recorded(script, era), asked(script, era, folder, replicas, only)
    wrong = []
    for name, answer in received.items():
        if str(expected[name]).startswith("raises "):
            continue  # the era itself refuses
        if not _same(expected[name], answer, tolerance):
            wrong.append(f"{name}\n    {era}: {expected[name]}\n    received: {answer}")
    assert len(received) >= (len(only) if only is not None else len(expected) if not replicas else 1)
    if wrong:
        pytest.fail("\n".join([f"{len(wrong)} of {len(received)} answers differ", *wrong]), pytrace=False)


def _same(a: Any, b: Any, tolerance: float) -> bool:
    if isinstance(a, dict) and isinstance(b, dict):
        return list(a) == list(b) and all(_same(a[key], b[key], tolerance) for key in a)
    if isinstance(a, list) and isinstance(b, list):
        return len(a) == len(b) and all(_same(x, y, tolerance) for x, y in zip(a, b, strict=True))
    if isinstance(a, float) and isinstance(b, (int, float)):
        return a == b or (a != a and b != b) or abs(a - b) <= tolerance * max(1.0, abs(a), abs(b))
    return bool(a == b)
