"""Each hostile file meets each function that reads one: a `CheckpointError`, or what the file honestly holds."""

from __future__ import annotations

import contextlib
import json
import os
import random
import warnings
import zipfile
from typing import TYPE_CHECKING, Any

import h5py
import keras
import numpy as np
import pytest

from parallel_compat import CheckpointError, load_template_weights, parallelize
from parallel_compat.legacy import models
from tests.evidence.attacks import hostile_configs, hostile_storage
from tests.evidence.attacks.hostile_files import HOSTILE, REAL, TEMPLATE, changed, with_config
from tests.evidence.attacks.test_hostile_files import INSPECTABLE

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

assert hostile_configs, hostile_storage  # their files are in HOSTILE, too


def mlp() -> keras.Model:
    x = keras.Input((8,), name="x")
    hidden = keras.layers.Dense(16, activation="relu", name="hidden")(x)
    return keras.Model(x, keras.layers.Dense(3, activation="softmax", name="probs")(hidden), name="mlp")


def _json(path: Path) -> None:
    with h5py.File(path) as file:
        text = file.attrs["model_config"]
    models.model_from_json(text.decode() if isinstance(text, bytes) else str(text))


def _open_file(path: Path) -> None:
    with h5py.File(path) as file:
        models.load_model(file)


LOADERS: dict[str, Callable[[Path], Any]] = {
    "load_template_weights": lambda path: load_template_weights(mlp(), path),
    "ParallelModel.load_weights": lambda path: parallelize(mlp(), 2).load_weights(path),
    "load_model": models.load_model,
    "load_weights": lambda path: models.load_weights(mlp(), path),
    "load_weights by name": lambda path: models.load_weights(mlp(), path, by_name=True),
}
# One of them for each file, in turn; the slow ones are all the others.
KINDS = sorted(HOSTILE)
CROSSED = [
    pytest.param(kind, loader, marks=() if number % len(LOADERS) == turn else (pytest.mark.slow,))
    for number, kind in enumerate(KINDS)
    for turn, loader in enumerate(LOADERS)
]


@pytest.mark.one_in(6)
@pytest.mark.parametrize(("kind", "loader"), CROSSED)
def test_each_file_in_each_loader(kind: str, loader: str, tmp_path: Path) -> None:
    source = tmp_path / "hostile.h5"
    HOSTILE[kind](source)
    before = sorted(os.listdir(tmp_path))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        # What is wrong with some is in the config alone, and weights alone were asked for.
        may_load = kind in INSPECTABLE or loader != "load_model"
        with contextlib.suppress(CheckpointError) if may_load else pytest.raises(CheckpointError, match="hostile"):
            LOADERS[loader](source)
    assert sorted(os.listdir(tmp_path)) == before, "something was written, or run"


# --- what only a loader of whole models can fall for ---------------------------------------------------------------


def _secret(path: Path) -> str:
    other = str(path.with_name("secret.h5"))
    with h5py.File(other, "w") as file:
        file["secret"] = np.ones((8, 16), "f4")
    return other


def _virtual(path: Path, group: str, name: str) -> None:
    """Replace an array by one whose bytes are those of another file."""
    layout = h5py.VirtualLayout((8, 16), "f4")
    layout[...] = h5py.VirtualSource(_secret(path), "secret", (8, 16))
    with h5py.File(path, "r+") as file:
        target = file.require_group(group)
        before = [
            str(each, "utf-8") if isinstance(each, bytes) else each for each in target.attrs.get("weight_names", [])
        ]
        target.attrs["weight_names"] = np.asarray([each.encode() for each in [*before, name]])
        target.create_virtual_dataset(name, layout)


def _of_today(path: Path) -> None:
    model = mlp()
    model.compile("adam", "mse")
    model.fit(np.ones((2, 8)), np.ones((2, 3)), verbose=0)
    model.save(path)


def _einsum(path: Path) -> None:
    """Keras 3's own format, with a layer that takes all memory there is."""
    _of_today(path)
    with h5py.File(path, "r+") as file:
        config = json.loads(file.attrs["model_config"])
        hidden = config["config"]["layers"][1]
        hidden["class_name"] = "EinsumDense"
        hidden["config"] = {"name": "hidden", "equation": "ab,bc->ac", "output_shape": [1 << 40], "bias_axes": "c"}
        file.attrs["model_config"] = json.dumps(config)


def _einsum_of_keras_2(path: Path) -> None:
    def change(config: dict[str, Any]) -> None:
        layers = config["config"]["layers"]
        template = next(layer for layer in layers if layer["name"] == "mlp")["config"]["layers"]
        hidden = next(layer for layer in template if layer["name"] == "hidden")
        hidden["class_name"] = "EinsumDense"
        hidden["config"] = {"name": "hidden", "equation": "ab,bc->ac", "output_shape": [1 << 40], "bias_axes": "c"}

    with_config(path, change)


@pytest.mark.parametrize("version", ["2.2.4", "3.15.1"])
def test_an_optimizer_s_state_that_is_another_file_s(version: str, tmp_path: Path) -> None:
    source = tmp_path / "hostile.h5"
    if version == "2.2.4":
        changed(source).close()
    else:
        _of_today(source)
    models.load_model(source)
    _virtual(source, "optimizer_weights", "secret:0")
    for load in (models.load_model, _open_file):
        with pytest.raises(CheckpointError, match="virtual dataset"):
            load(source)


def test_weights_of_a_model_s_own_that_are_another_file_s(tmp_path: Path) -> None:
    source = tmp_path / "hostile.h5"
    _of_today(source)
    _virtual(source, "model_weights/top_level_model_weights", "secret:0")
    for load in (models.load_model, LOADERS["load_weights"], LOADERS["load_weights by name"]):
        with pytest.raises(CheckpointError, match="virtual dataset"):
            load(source)


@pytest.mark.parametrize("attack", [_einsum, _einsum_of_keras_2])
def test_a_layer_that_takes_all_memory(attack: Callable[[Path], None], tmp_path: Path) -> None:
    source = tmp_path / "hostile.h5"
    attack(source)
    for load in (models.load_model, _json):
        with pytest.raises(CheckpointError, match=r"shapes|memory|inbound_nodes"):
            load(source)


def _archive(path: Path, units: int, members: int) -> None:
    """A file of Keras 3 that says of itself that it is large."""
    mlp().save(path)
    with zipfile.ZipFile(path) as archive:
        parts = {name: archive.read(name) for name in archive.namelist()}
    config = json.loads(parts["config.json"])
    config["config"]["layers"][1]["config"]["units"] = units
    parts["config.json"] = json.dumps(config).encode()
    with zipfile.ZipFile(path, "w") as archive:
        for name, content in [*parts.items(), *((f"assets/{number}", b"") for number in range(members))]:
            archive.writestr(name, content)


@pytest.mark.parametrize(
    ("units", "members", "said"),
    [(10**10, 0, "of memory"), (16, 6_000, "files in the archive"), (0, 0, "nested too deep")],
)
def test_an_archive_that_takes_memory_or_time(units: int, members: int, said: str, tmp_path: Path) -> None:
    source = tmp_path / "hostile.keras"
    _archive(source, units, members)
    if not units:
        with zipfile.ZipFile(source, "w") as archive:
            archive.writestr("config.json", b"[" * 100_000)
            archive.writestr("model.weights.h5", TEMPLATE.read_bytes())
    drawn = random.getstate()
    with pytest.raises(CheckpointError, match=rf"hostile\.keras: .*{said}"):
        models.load_model(source)
    assert random.getstate() == drawn


@pytest.mark.slow
def test_json_of_every_hostile_config_is_refused_or_built(tmp_path: Path) -> None:
    source = tmp_path / "hostile.h5"
    for kind in KINDS:
        HOSTILE[kind](source)
        try:
            with h5py.File(source) as file:
                text = file.attrs.get("model_config")
        except (OSError, RuntimeError, ValueError):  # no HDF5 file at all
            continue
        if not isinstance(text, (str, bytes)) or len(text) > 1 << 22:
            continue
        text = text.decode("utf-8", "replace") if isinstance(text, bytes) else text
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            with contextlib.suppress(CheckpointError):
                models.model_from_json(text)
    assert REAL.exists()
