"""Random scripts compute under `run` what the real stacks of the eras did, recorded or asked again."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

import pytest

from . import api_scripts, count, parallel_scripts
from .comparing import differences, settled
from .count import on_real_stack, outcome, recordings, under_run
from .random_scripts import ERAS, nudged, script
from .recordings import CAUSES, DATA, WIDER_CAUSES, recorded

# Environments of the real stacks, for the slow test: "keras-2.2.4=/envs/old/bin/python tf.keras-2.2=...".
REAL_STACKS = dict(each.split("=") for each in os.environ.get("REAL_STACKS", "").split())
SEEDS = range(1, 101)
OF_CAUSES = {CAUSES, WIDER_CAUSES}


def check(era: str, seeds: list[str], folder: Path) -> None:
    """Fail with what differs from the recordings, script by script."""
    scripts, expected = recordings(era, seeds)
    received = under_run(era, scripts, folder)
    found = []
    for seed in seeds:
        what, where = outcome(expected[seed], received[seed])
        found += [f"{seed}: {what} {each}" for each in where]
    if found:
        pytest.fail("\n".join(found), pytrace=False)


def of_seeds(era: str) -> list[str]:
    return [seed for seed in recorded(era) if seed not in OF_CAUSES]


@pytest.mark.one_in(2)
@pytest.mark.parametrize("era", ERAS)
def test_a_handful(era: str, tmp_path: Path) -> None:
    check(era, of_seeds(era)[:3], tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize("part", ["causes", "scripts"])
@pytest.mark.parametrize("era", ERAS)
def test_recorded_scripts(era: str, part: str, tmp_path: Path) -> None:
    check(era, of_seeds(era)[3:] if part == "scripts" else sorted(OF_CAUSES), tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize("era", ERAS)
def test_against_the_real_stack(era: str, tmp_path: Path) -> None:
    if era not in REAL_STACKS:
        pytest.skip(f"REAL_STACKS names no Python of {era}")
    scripts = {f"{seed:03d}": script(era, seed) for seed in SEEDS}
    expected = on_real_stack(REAL_STACKS[era], scripts, tmp_path / "real")
    answered = {name: each for name, each in expected.items() if "stopped" not in each}
    received = under_run(era, {name: scripts[name] for name in answered}, tmp_path / "run")
    other = {name: what for name in answered if (what := outcome(answered[name], received[name]))[0] != "equal"}
    assert len(other) <= 0.005 * len(answered), other


def test_scripts_end_as_they_are_told(tmp_path: Path) -> None:
    """What a script noted, an error, the end of a process: each script runs in its own."""
    scripts = {
        "notes": "RESULT = {'a': 1}",
        "stops": "RESULT = {'a': 1}\nint('one')",
        "ends": "import os\nos.kill(os.getpid(), 9)",
        "last": "RESULT = {'a': 2}",
    }
    received = under_run(ERAS[0], scripts, tmp_path)
    assert received["notes"] == {"a": 1}
    assert received["last"] == {"a": 2}
    assert received["stops"]["stopped"].startswith("ValueError")
    assert received["ends"] == {"stopped": "the process ended: status 9"}
    assert [outcome(received["notes"], received[name])[0] for name in scripts] == [
        "equal",
        "stopped",
        "stopped",
        "different",
    ]
    assert outcome(received["stops"], received["notes"])[0] == "refused"


def test_a_difference_is_rounding_if_the_real_stack_rounds_as_much(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By double precision, or by other last bits; and what does not repeat itself counts for nothing."""
    first = {"loss": [1.0, 2.0], "file": "at-1.0", "weights": [[0.5]]}
    of_bits = {
        "refuses": 0.0,
        "elsewhere": 0.0,
        "single": 0.0,
        "rounds": 0.001,
        "differs": 0.0005,
        "varies": 0.001,
        "stops": 0.001,
    }

    def real(python: str, scripts: dict[str, str], folder: Path) -> dict[str, object]:
        def more(name: str) -> float:
            return {"nudged": of_bits[name.split()[0]], "again": 0.1 * (name == "varies")}.get(folder.name, 0.0)

        found = {name: {**first, "loss": [1.0, 2.0 + more(name)], "file": f"at-{1.0 + more(name)}"} for name in scripts}
        if "refuses" in found and folder.name == "double":
            found["refuses"].update({key: {"refused": "TypeError"} for key in ("loss", "file")})
        return {name: {**each, "weights": [[0.6]]} if name == "elsewhere" else each for name, each in found.items()}

    other = {**first, "loss": [1.0, 1.9991], "file": "at-0.9"}
    monkeypatch.setattr(count, "on_real_stack", real)
    monkeypatch.setattr(
        count,
        "under_run",
        lambda era, scripts, folder: {each: first if each == "single" else other for each in scripts},
    )
    received = {name: {"stopped": "int"} if name == "stops" else other for name in of_bits}
    given = dict.fromkeys(of_bits, ""), dict.fromkeys(of_bits, first)
    found = count.judged("keras-2.2.4", "", *given, received, tmp_path)
    said = [found[name][0] for name in of_bits]
    assert said == ["different", "different", "rounding", "rounding", "different", "varies", "stopped"]
    assert "received at-1.001" in found["rounds"][1][-1]
    assert settled([1.0], [1.0, 2.0], [[1.0]]) == [1.0, 2.0]
    assert settled([1.0], [1.0, 2.0], [[1.0, 2.1]]) == [1.0]
    assert settled({"a": 1}, {"b": 1}, [{"a": 2}]) == {"b": 1}


def test_nudged_weights_have_another_last_bit() -> None:
    for seed in (15, 1015, 2015, 2315, 3015):
        text = nudged(script("keras-2.2.4", seed), 1)
        assert text != nudged(script("keras-2.2.4", seed), 2)
        assert text.count("randint(-1, 2, w.shape)") == 2 * text.count("def start(")


def test_what_was_noted_is_not_asked_again(tmp_path: Path) -> None:
    asked = []

    def start(runner: str, out: str, *files: str, folder: Path) -> subprocess.CompletedProcess[str]:
        asked.append([Path(file).stem for file in files])
        Path(out).write_text(json.dumps({name: len(asked) for name in asked[-1]}))
        return subprocess.CompletedProcess([], 0)

    assert count.noted(start, {"a": "1"}, tmp_path) == {"a": 1}
    assert count.noted(start, {"a": "1", "b": "1"}, tmp_path) == {"a": 1, "b": 2}
    assert count.noted(start, {"a": "1", "b": "2"}, tmp_path) == {"a": 1, "b": 3}
    assert asked == [["a"], ["b"], ["b"]]


def test_the_recorded_scripts_are_of_those_that_were_equal() -> None:
    """`figures.json` has what became of every seed that was run on the real stacks and here: by era, those that compute
    the same, those that round otherwise (see `count.py`), those that do not, and those that the real stack refuses."""
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
        for seed in SEEDS[::4]:
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
    assert not differences({"a": "<Decay object at 0x7f27>"}, {"a": "<Decay object at 0x8a>"})
    assert differences({"a": "<Decay object at 0x7f27>"}, {"a": "<Power object at 0x7f27>"})
    assert not differences({"a": {"refused": "ValueError"}}, {"a": [1.0]})
    assert differences({"a": [1.0]}, {"a": {"refused": "ValueError"}})
    for era in ERAS:
        assert set(recorded(era)) >= OF_CAUSES
