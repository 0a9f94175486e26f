"""Asks `parallel-compat run` what the real old stacks were asked, and compares the answers."""

from __future__ import annotations

import functools
import json
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tests import scripts

if TYPE_CHECKING:
    from collections.abc import Sequence

DATA = Path(__file__).parents[2] / "data" / "eras"
ERAS = ("keras-2.2.4", "keras-2.3", "tf.keras-1.15", "tf.keras-2.2")
SCRIPTS = ("arithmetic", "calls", "names_and_order", "phases", "whole_library")
# What is asked of parallel models: the scripts whose answers on towers are those of one device, or recorded.
OF_TOWERS = {
    "keras-2.2.4": ("arithmetic", "calls", "names_and_order", "phases"),
    "keras-2.3": (),
    "tf.keras-1.15": ("calls", "names_and_order"),
    "tf.keras-2.2": ("calls", "names_and_order"),
}
TOLERANCE = 2e-5
# On the same weights the softmax of TensorFlow 1.15 and 2.2 differs from today's by one unit in the last place (6e-8),
# in 9 of 36 probabilities. These losses take the logit of one that is 1.1e-5 below 1: 1.5e-4 for such a unit.
# Seen: 3.4e-5.
SATURATED = re.compile(r"loss/(binary_crossentropy|k_bce) of softmax")
SATURATED_TOLERANCE = 5e-5


@functools.cache
def recorded(script: str, era: str, replicas: int = 0) -> dict[str, Any]:
    """Return the answers of the real stack of an era.

    Args:
        script: the name of a script in `tests/data/eras`, without ".py".
        era: the era.
        replicas: how many towers each compiled model has; 0 for models that are not parallel. What is not recorded
            of towers they answer as one device does.
    """
    answers: dict[str, Any] = {}
    for name in (f"{script}.{era}.json", *([f"{script}.{era}.towers.json"] if replicas else [])):
        if (DATA / name).exists():
            answers.update(json.loads((DATA / name).read_text()))
    return answers


def asked(
    script: str,
    era: str,
    folder: Path,
    replicas: int = 0,
    only: Sequence[str] | None = None,
    simulated: int = 0,
) -> dict[str, Any]:
    """Return the answers under `parallel-compat run`, one process for all of them.

    Args:
        script: the name of a script in `tests/data/eras`, without ".py".
        era: the era.
        folder: where to work.
        replicas: how many towers each compiled model has; 0 for models that are not parallel.
        only: the names of the questions to ask, of `arithmetic` and `whole_library`; None asks all.
        simulated: how many GPUs are simulated, for a script that makes parallel models by itself.
    """
    out = folder / f"{script}.{era}.{replicas}.json"
    root = "keras" if era.startswith("keras") else "tf.keras"
    command = ["--quiet", "--era", era]
    command += ["--replicas", str(replicas or simulated)] if replicas or simulated else []
    command += [str(DATA / f"{script}.py"), root, str(out), str(replicas)]
    if only is not None:
        names = folder / "names.json"
        names.write_text(json.dumps(list(only)))
        command.append(str(names))
    done = scripts.run(*command, folder=folder, seconds=3000, ERA=era)
    if done.returncode != 0:
        raise RuntimeError(f"expected {script}.py to end under {era}. Received: {done.stderr[-3000:]}")
    answers: dict[str, Any] = json.loads(out.read_text())
    return answers


def answered(script: str, era: str, replicas: int = 0) -> list[str]:
    """Return the names of the questions that the era answers: what it refuses is not compared."""
    answers = recorded(script, era, replicas)
    return [name for name, answer in answers.items() if not str(answer).startswith("raises ")]


def differences(script: str, era: str, received: dict[str, Any], replicas: int = 0) -> dict[str, str]:
    """Return, by its name, each question that is answered differently from the real stack."""
    expected = recorded(script, era, replicas)
    found = {}
    for name in answered(script, era, replicas):
        tolerance = SATURATED_TOLERANCE if SATURATED.match(name) else TOLERANCE
        if name in received and not _same(expected[name], received[name], tolerance):
            found[name] = f"{name}\n    {era}: {expected[name]}\n    received: {received[name]}"
    return found


def _same(a: Any, b: Any, tolerance: float) -> bool:
    if isinstance(a, dict) and isinstance(b, dict):
        return list(a) == list(b) and all(_same(a[key], b[key], tolerance) for key in a)
    if isinstance(a, list) and isinstance(b, list):
        return len(a) == len(b) and all(_same(x, y, tolerance) for x, y in zip(a, b, strict=True))
    if isinstance(a, float) and isinstance(b, (int, float)):
        return a == b or (a != a and b != b) or abs(a - b) <= tolerance * max(1.0, abs(a), abs(b))
    return bool(a == b)
