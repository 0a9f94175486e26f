"""Recordings that somebody made up: refused by name, or compared like any other; nothing else comes out."""

from __future__ import annotations

import contextlib
import copy
import json
import random
from typing import TYPE_CHECKING, Any

import h5py
import numpy as np
import pytest

from parallel_compat.compare.compare_command import summary
from parallel_compat.compare.comparison import compare
from parallel_compat.compare.page import page
from parallel_compat.compare.recordings import read_recording, recording_of
from parallel_compat.recover.errors import CheckpointError
from parallel_compat.recover.inspecting import inspect_checkpoint
from tests.evidence.attacks.hostile_files import DATA

if TYPE_CHECKING:
    from pathlib import Path

RECORDING = DATA / "recordings" / "keras-2.2.4.h5"
ESCAPE = "\x1b[2J"
# What a value of the description is replaced by: mostly by one of its own type, which the form lets pass.
OF_TYPE: dict[type, list[Any]] = {
    bool: [None, 0],
    int: [0, -1, 1, 3, 10**12, 10**400, True],
    float: [0.0, -1.0, 1e308, float("nan"), float("inf"), 1],
    str: ["", "loss", ESCAPE, "\ud800", "Adam", "model0", "model0/step0/x", "../../x"],
    list: [[], [None], [1], ["a"], [[1, 2]], {}],
    dict: [{}, {"a": 1}, {"name": "x"}, []],
}
ANY = [None, True, 0, 1.5, "x", [], {}, [[]], [None], {"name": None}]


def places(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [path, *(each for key, found in inner for each in places(found, (*path, key)))]


def changed(facts: dict[str, Any], draw: random.Random) -> dict[str, Any]:
    """One or two places of a description are taken out, doubled, swapped or replaced."""
    facts = copy.deepcopy(facts)
    for _ in range(draw.choice((1, 1, 2))):
        found = [path for path in places(facts) if path]
        depth = draw.choice(sorted({len(path) for path in found}))  # those near the root as often as the many below
        path = draw.choice([each for each in found if len(each) == depth])
        at: Any = facts
        for key in path[:-1]:
            at = at[key]
        old, what = at[path[-1]], draw.randrange(5)
        if what == 0:
            at.pop(path[-1])
        elif what == 1 and isinstance(at, list):
            at.insert(path[-1], copy.deepcopy(draw.choice(at)))
        elif what == 2 and isinstance(at, (list, dict)):
            other = draw.choice([*at] if isinstance(at, dict) else range(len(at)))
            at[path[-1]], at[other] = at[other], at[path[-1]]
        else:
            at[path[-1]] = draw.choice(OF_TYPE.get(type(old), ANY) if draw.random() < 0.8 else ANY)
    return facts


def test_changed_descriptions() -> None:
    with h5py.File(RECORDING) as file:
        flat = {name: np.array(file["arrays"][name]) for name in file["arrays"]}
    facts, good = json.loads(flat["json"].tobytes()), recording_of("good.h5", flat)
    believed = 0
    for seed in range(200):
        text = json.dumps(changed(facts, random.Random(seed))).encode()
        try:
            found = recording_of("r.h5", {**flat, "json": np.frombuffer(text, "uint8")})
        except CheckpointError:
            continue
        believed += 1
        for pair in ((found, good), (good, found)):
            try:
                comparison = compare(*pair)
                said = "\n".join([*summary(comparison), page(comparison, "train.py"), json.dumps(comparison.as_dict())])
                said.encode()
                assert "\x1b" not in said
            except CheckpointError:
                continue
            except Exception as error:
                raise AssertionError(f"seed {seed}") from error
    assert believed > 50  # the others are refused: the form is narrow, but not so narrow that nothing was compared


def test_signs_that_a_terminal_obeys_are_not_printed() -> None:
    with h5py.File(RECORDING) as file:
        flat = {name: np.array(file["arrays"][name]) for name in file["arrays"]}
    facts = json.loads(flat["json"].tobytes())
    facts["keras"] = facts["models"][0]["name"] = f"{ESCAPE}\ud800"
    facts["notes"] = [ESCAPE]
    found = recording_of("r.h5", {**flat, "json": np.frombuffer(json.dumps(facts).encode(), "uint8")})
    said = "\n".join(summary(compare(found, found)))
    said.encode()
    assert said.count("\N{REPLACEMENT CHARACTER}[2J") >= 3
    assert "\x1b" not in said


@pytest.mark.parametrize("seed", range(12))
def test_flipped_bits(seed: int, tmp_path: Path) -> None:
    draw, data = random.Random(seed), bytearray(RECORDING.read_bytes())
    for _ in range(draw.randrange(1, 20)):
        # The first blocks hold HDF5's own structures.
        place = draw.randrange(len(data)) if draw.random() < 0.5 else draw.randrange(8192)
        data[place] ^= 1 << draw.randrange(8)
    (tmp_path / "r.h5").write_bytes(data)
    for reads in (read_recording, inspect_checkpoint):
        with contextlib.suppress(CheckpointError):
            reads(tmp_path / "r.h5")
