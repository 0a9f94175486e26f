"""Random scripts compute under `run` what the real stacks of the eras did, recorded or asked again."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import pytest

from differential import api_scripts, parallel_scripts
from differential.comparing import differences
from differential.random_scripts import ERAS, script
from differential.recordings import CAUSES, DATA, WIDER_CAUSES, digest, recorded, text_of

if TYPE_CHECKING:
    from pathlib import Path

# Environments of the real stacks, for the slow test: "keras-2.2.4=/envs/old/bin/python tf.keras-2.2=...".
REAL_STACKS = dict(each.split("=") for each in os.environ.get("REAL_STACKS", "").split())
SEEDS = range(1, 101)
OF_CAUSES = {CAUSES, WIDER_CAUSES}


def under_run(era: str, scripts: dict[str, str], folder: Path) -> dict[str, Any]:
    """Return what scripts note under `run`, all in one process."""
    start = [sys.executable, "-m", "parallel_compat", "run", "--quiet", "--replicas", "4", "--era", era]
    return _noted(start, scripts, folder)


def _noted(start: list[str], scripts: dict[str, str], folder: Path) -> dict[str, Any]:
    files = []
    for name, text in scripts.items():
        files.append(folder / f"{name}.py")
        files[-1].write_text(text)
    out = folder / "noted.json"
    done = subprocess.run(
        [*start, str(DATA / "run_scripts.py"), str(out), *map(str, files)], capture_output=True, text=True, cwd=folder
    )
    assert done.returncode == 0, done.stderr[-3000:]
    noted: dict[str, Any] = json.loads(out.read_text())
    return noted


def fail_where_they_differ(expected: dict[str, Any], received: dict[str, Any]) -> None:
    """Fail with what differs, script by script."""
    found = []
    for name, noted in expected.items():
        if "stopped" in received[name]:
            found.append(f"{name} stopped: {received[name]['stopped']}")
        else:
            found += [f"{name}{each}" for each in differences(noted, received[name])]
    if found:
        pytest.fail("\n".join(found), pytrace=False)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("era", "part"),
    [
        ("keras-2.2.4", "causes"),
        *(pytest.param(era, "causes", marks=pytest.mark.slow) for era in ERAS if era != "keras-2.2.4"),
        *(pytest.param(era, part, marks=pytest.mark.slow) for part in ("wider causes", "scripts") for era in ERAS),
    ],
)
def test_recorded_scripts(era: str, part: str, tmp_path: Path) -> None:
    part_of = {CAUSES: "causes", WIDER_CAUSES: "wider causes"}
    recordings = {seed: each for seed, each in recorded(era).items() if part_of.get(seed, "scripts") == part}
    scripts = {seed: text_of(era, seed) for seed in recordings}
    changed = [seed for seed, text in scripts.items() if digest(text) != recordings[seed]["digest"]]
    assert not changed, f"the generator writes other scripts now: record {changed} anew (see recordings.py)"
    received = under_run(era, scripts, tmp_path)
    fail_where_they_differ({seed: each["noted"] for seed, each in recordings.items()}, received)


@pytest.mark.slow
@pytest.mark.parametrize("era", ERAS)
def test_against_the_real_stack(era: str, tmp_path: Path) -> None:
    if era not in REAL_STACKS:
        pytest.skip(f"REAL_STACKS names no Python of {era}")
    scripts = {f"{seed:03d}": script(era, seed) for seed in SEEDS}
    real, ours = tmp_path / "real", tmp_path / "ours"
    real.mkdir()
    ours.mkdir()
    expected = _noted([REAL_STACKS[era]], scripts, real)
    answered = {name: noted for name, noted in expected.items() if "stopped" not in noted}
    received = under_run(era, {name: scripts[name] for name in answered}, ours)
    equal = [name for name in answered if not differences(answered[name], received[name])]
    assert len(equal) >= 0.97 * len(answered), sorted(set(answered) - set(equal))


def test_the_recorded_scripts_are_of_those_that_were_equal() -> None:
    """`figures.json` has what became of every seed that was run on the real stacks and here: by era, those that compute
    the same, those that do so in float64 alone, those that do not, and those that the real stack refuses."""
    figures = json.loads((DATA / "figures.json").read_text())
    assert list(figures) == list(ERAS)
    for era, seeds in figures.items():
        assert set(map(int, set(recorded(era)) - OF_CAUSES)) <= set(seeds["equal"])
        assert list(seeds) == ["equal", "rounded", "different", "refused"]
        tried = [seed for each in seeds.values() for seed in each]
        assert len(set(tried)) == len(tried)


def test_a_seed_makes_one_script() -> None:
    assert script("keras-2.2.4", 7) == script("keras-2.2.4", 7) != script("keras-2.2.4", 8)
    for era in ERAS:
        for seed in SEEDS:
            compile(script(era, seed), f"{era} {seed}", "exec")
            for first in (api_scripts.FIRST, api_scripts.ONE_ANSWER, parallel_scripts.FIRST):
                compile(script(era, first + seed), f"{era} {first + seed}", "exec")


def test_seeds_of_one_answer_ask_for_nothing_that_a_thread_or_an_initializer_decides() -> None:
    for era in ERAS:
        texts = [script(era, api_scripts.ONE_ANSWER + seed) for seed in SEEDS]
        assert all("said(w) +" in text and "validation_data=batches()" not in text for text in texts)
        assert any("validation_data=steady()" in text for text in texts)
        assert all("validation_data=steady()" not in script(era, api_scripts.WIDER + seed) for seed in SEEDS)


def test_what_differs_is_found() -> None:
    array = {"shape": [2, 4], "sums": [8.0, 1.0], "ends": [1.0, 1.0, 1.0]}
    assert not differences({"a": [1.0, 2.0], "w": array}, {"a": [1.0, 2.00001], "w": array})
    assert differences({"a": [1.0, 2.0]}, {"a": [1.0, 2.0001]})
    assert differences({"w": array}, {"w": {**array, "ends": [1.0, 1.001, 1.0]}})
    assert differences({"w": array}, {"w": {**array, "sums": [8.0, 1.001]}})
    assert differences({"loss": 1.0}, {"loss": float("nan")})
    assert differences({"a": 1.0}, {})
    assert not differences({"a": {"refused": "ValueError"}}, {"a": [1.0]})
    assert differences({"a": [1.0]}, {"a": {"refused": "ValueError"}})
    for era in ERAS:
        assert set(recorded(era)) >= OF_CAUSES
