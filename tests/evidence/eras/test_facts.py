"""The originals give the answers of the real old stacks, recorded in `tests/data/eras`.

All answers are minutes of graphs: by default a sample of each era is asked. `count.py` counts all.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from .ask import DATA, ERAS, OF_TOWERS, SCRIPTS, answered, asked, differences

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

SAMPLED = {"arithmetic": 20, "whole_library": 40}  # one fact of so many by default: one process a script and era


def check(script: str, era: str, folder: Path, replicas: int = 0, only: Sequence[str] | None = None) -> None:
    """Fail with the answers that differ from the recorded ones."""
    received = asked(script, era, folder, replicas, only)
    expected = set(answered(script, era, replicas) if only is None else only)
    # Parallel models are asked only what towers compute alike.
    assert received if replicas else expected <= set(received)
    wrong = differences(script, era, received, replicas)
    if wrong:
        pytest.fail("\n".join([f"{len(wrong)} of {len(received)} answers differ", *wrong.values()]), pytrace=False)


@pytest.mark.one_in(2)
@pytest.mark.parametrize("script", SAMPLED)
@pytest.mark.parametrize("era", ERAS)
def test_a_sample(era: str, script: str, tmp_path: Path) -> None:
    first = 5 * ERAS.index(era)  # other facts in each era
    names = list(answered(script, era))
    check(script, era, tmp_path, only=names[first :: SAMPLED[script]])


@pytest.mark.slow
@pytest.mark.parametrize("script", SCRIPTS)
@pytest.mark.parametrize("era", ERAS)
def test_all_facts(era: str, script: str, tmp_path: Path) -> None:
    if not answered(script, era):
        pytest.skip(f"no real stack of {era} was asked {script}.py")
    check(script, era, tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize(("era", "script"), [(era, script) for era, scripts in OF_TOWERS.items() for script in scripts])
def test_two_replicas(era: str, script: str, tmp_path: Path) -> None:
    check(script, era, tmp_path, replicas=2)


def test_a_wrong_answer_is_found() -> None:
    right = json.loads((DATA / "calls.keras-2.2.4.json").read_text())
    assert not differences("calls", "keras-2.2.4", right)
    name = next(name for name in answered("calls", "keras-2.2.4") if isinstance(right[name], list))
    assert list(differences("calls", "keras-2.2.4", {**right, name: ["another"]})) == [name]


def test_an_answer_within_the_tolerance_is_right() -> None:
    name, right = next(
        (name, answer)
        for name, answer in json.loads((DATA / "phases.keras-2.2.4.json").read_text()).items()
        if isinstance(answer[0], float)
    )
    for factor, wrong in ((1 + 1e-6, False), (1 + 1e-3, True)):
        received = {name: [right[0] * factor + (1e-3 if wrong else 0), *right[1:]]}
        assert bool(differences("phases", "keras-2.2.4", received)) is wrong
