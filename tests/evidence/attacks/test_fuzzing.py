"""Damaged and invented files: only `CheckpointError` comes out, soon, whatever the bytes are."""

from __future__ import annotations

import contextlib
import json
import time
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from parallel_compat.recover.config_json import model_entry
from parallel_compat.recover.config_walk import translate
from parallel_compat.recover.errors import CheckpointError
from parallel_compat.recover.inspecting import inspect_checkpoint
from parallel_compat.recover.layer_tree import tree_of_config
from parallel_compat.recover.parallel_wrapper import unwrap
from parallel_compat.recover.recovering import recover
from parallel_compat.recover.rules.training import compiled
from tests.evidence.attacks.hostile_files import DATA, REAL

if TYPE_CHECKING:
    from pathlib import Path

SAMPLES = [REAL, DATA / "oracle" / "h5" / "tf22_lstm.parallel.h5", DATA / "old" / "keras224_shared.parallel.h5"]
FILES = settings(
    max_examples=40,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)


def answered(source: Path, out: Path) -> None:
    start = time.monotonic()
    try:
        inspect_checkpoint(source)
        recover(source, out, force=True)
    except CheckpointError:
        pass
    assert time.monotonic() - start < 60


@FILES
@given(
    sample=st.sampled_from(SAMPLES),
    where=st.floats(0, 1),
    flips=st.lists(st.tuples(st.floats(0, 1), st.integers(0, 7)), max_size=20),
)
def test_bit_flips(sample: Path, where: float, flips: list[tuple[float, int]], tmp_path: Path) -> None:
    data = bytearray(sample.read_bytes())
    data[int(where * (len(data) - 1))] ^= 0xFF
    for place, bit in flips:
        data[int(place * (len(data) - 1))] ^= 1 << bit
    (tmp_path / "flipped.h5").write_bytes(data)
    answered(tmp_path / "flipped.h5", tmp_path / "out.h5")


@pytest.mark.slow
@FILES
@given(sample=st.sampled_from(SAMPLES), length=st.floats(0, 1))
def test_truncation(sample: Path, length: float, tmp_path: Path) -> None:
    data = sample.read_bytes()
    (tmp_path / "cut.h5").write_bytes(data[: int(length * (len(data) - 1))])
    with pytest.raises(CheckpointError):
        recover(tmp_path / "cut.h5", tmp_path / "out.h5")
    assert not (tmp_path / "out.h5").exists()


@pytest.mark.slow
@FILES
@given(st.binary(max_size=4096))
def test_arbitrary_bytes_after_the_signature(tmp_path: Path, data: bytes) -> None:
    (tmp_path / "noise.h5").write_bytes(b"\x89HDF\r\n\x1a\n" + data)
    with pytest.raises(CheckpointError):
        inspect_checkpoint(tmp_path / "noise.h5")


JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**70), 2**70) | st.floats() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4),
    max_leaves=12,
)


def _places(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [path, *(place for key, one in inner for place in _places(one, (*path, key)))]


def _config_of(sample: Path) -> Any:
    import h5py

    with h5py.File(sample) as file:
        text = file.attrs["model_config"]
    return json.loads(text)


CONFIGS = [_config_of(sample) for sample in SAMPLES]
PLACES = [[place for place in _places(config) if place] for config in CONFIGS]


@settings(max_examples=400, deadline=None)
@given(which=st.sampled_from(range(len(SAMPLES))), where=st.integers(0, 10**6), value=JSON, drop=st.booleans())
def test_a_real_config_with_one_value_replaced(which: int, where: int, value: Any, drop: bool) -> None:
    """Any value in a real config becomes any other, or goes: the config is understood, or refused."""
    config = json.loads(json.dumps(CONFIGS[which]))
    path = PLACES[which][where % len(PLACES[which])]
    owner = config
    for key in path[:-1]:
        owner = owner[key]
    if drop:
        del owner[path[-1]]
    else:
        owner[path[-1]] = value
    try:
        entry, _ = unwrap(model_entry(json.dumps(config)))
        tree_of_config(entry)
        translate(entry, "2.2.4").check()
    except CheckpointError:
        pass


NUMBERS = st.sampled_from(
    [-1, 0, 2, 10**9, 2**40, 1.5, 1e308, float("nan"), None, True, "x", "same", [], [1, 1], [10**9] * 2, {}]
)


def built_or_refused(which: int, where: int, value: Any, folder: Path) -> None:
    """Keras builds what a config with one other value says, or it is refused."""
    import h5py

    source = folder / "odd.h5"
    source.write_bytes(SAMPLES[which].read_bytes())
    config = json.loads(json.dumps(CONFIGS[which]))
    path = PLACES[which][where % len(PLACES[which])]
    owner = config
    for key in path[:-1]:
        owner = owner[key]
    owner[path[-1]] = value
    with h5py.File(source, "r+") as file:
        file.attrs["model_config"] = json.dumps(config).encode()
    start = time.monotonic()
    with contextlib.suppress(CheckpointError):
        recover(source, None)
    assert time.monotonic() - start < 60


ODD = given(which=st.sampled_from(range(len(SAMPLES))), where=st.integers(0, 10**6), value=NUMBERS)


@pytest.mark.slow
@FILES
@ODD
def test_keras_builds_a_config_with_one_odd_value_or_it_is_refused(
    which: int, where: int, value: Any, tmp_path: Path
) -> None:
    """The slow one after it does the same with a thousand values."""
    import keras  # its import is not part of the time

    del keras
    built_or_refused(which, where, value, tmp_path)


@pytest.mark.slow
@settings(FILES, max_examples=1000)
@ODD
def test_keras_builds_a_thousand_configs(which: int, where: int, value: Any, tmp_path: Path) -> None:
    built_or_refused(which, where, value, tmp_path)


@settings(max_examples=300, deadline=None)
@given(JSON)
def test_an_invented_training_config(value: Any) -> None:
    for config in (
        value,
        {"optimizer_config": value},
        {
            "optimizer_config": {"class_name": "SGD", "config": {"lr": 0.1}},
            "loss": value,
            "metrics": value,
            "loss_weights": value,
        },
    ):
        with contextlib.suppress(CheckpointError):
            compiled(config, [], tf_keras=False)
