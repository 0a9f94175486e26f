"""Each hostile file ends in one `CheckpointError`: soon, within bounded memory, with nothing run and
nothing left."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
import zipfile
from typing import TYPE_CHECKING

import h5py
import numpy as np
import pytest

from parallel_compat import CheckpointError, inspect_checkpoint
from parallel_compat.recover.recovering import recover
from tests.evidence.attacks import hostile_configs, hostile_storage
from tests.evidence.attacks.hostile_files import HOSTILE

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

# What a config alone cannot betray is found when Keras builds the model, in memory-free shapes: only for
# `.keras`.
SEEN_BY_KERAS = {
    "shape_lie_more_inputs",
    "shape_lie_between_layers",
    "input_as_wide_as_memory",
}
assert hostile_configs, hostile_storage  # their files are in HOSTILE, too
# These hold their weights as they should; it is the config that cannot be written, so that `inspect`
# tells of it.
INSPECTABLE = SEEN_BY_KERAS | {
    "lambda_inside_the_template", "lambda_that_looks_like_a_slice", "layer_that_loads_a_saved_model",
    "layer_of_torch",
    "initializer_from_a_module", "activation_that_is_a_lambda", "argument_with_a_class_inside",
    "argument_name_of_a_megabyte", "hundred_thousand_arguments",
    "layer_name_that_keras_keeps_for_itself", *(kind for kind in HOSTILE if kind.startswith("input_shape_")),
}  # fmt: skip


@pytest.mark.one_in(4)
@pytest.mark.parametrize("kind", sorted(HOSTILE))
def test_it_ends_in_one_error(kind: str, tmp_path: Path) -> None:
    source, out = tmp_path / "hostile.h5", tmp_path / ("out.keras" if kind in SEEN_BY_KERAS else "out.h5")
    HOSTILE[kind](source)
    before = sorted(os.listdir(tmp_path))
    if out.suffix == ".keras":
        import keras  # its import is not part of the time

        del keras
    start = time.monotonic()
    with pytest.raises(CheckpointError) as caught:
        recover(source, out)
    seconds = time.monotonic() - start
    assert seconds < 5, f"{kind} took {seconds:.1f} s"
    assert str(source) in str(caught.value)
    assert len(str(caught.value)) < 5000
    start = time.monotonic()
    if kind in INSPECTABLE:
        inspect_checkpoint(source)
    else:
        with pytest.raises(CheckpointError):
            inspect_checkpoint(source)
    assert time.monotonic() - start < 60, f"{kind} took too long to inspect"
    assert sorted(os.listdir(tmp_path)) == before, "something was written"


@pytest.mark.parametrize("kind", ["lambda_inside_the_template", "lambda_that_looks_like_a_slice"])
def test_a_lambda_is_told_of_and_not_run(kind: str, tmp_path: Path) -> None:
    source = tmp_path / "hostile.h5"
    HOSTILE[kind](source)
    found = inspect_checkpoint(source)
    assert found.lambdas == ("double",)
    recover(source, tmp_path / "kept.h5", keep_lambda=True)
    recover(source, tmp_path / "weights.h5", weights_only=True)
    assert not (tmp_path / "pwned").exists()


MEASURE = """
import json, resource, sys
from parallel_compat.recover.inspecting import inspect_checkpoint
from parallel_compat.recover.errors import CheckpointError
def own():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss << 10
before = own()
try:
    inspect_checkpoint(sys.argv[1])
    refused = False
except CheckpointError:
    refused = True
print(json.dumps([refused, own() - before, resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss << 10]))
"""


@pytest.mark.parametrize(
    "kind",
    [
        "gzip_bomb",
        "fill_value_bomb",
        "json_of_ten_million_lists",
        "attribute_of_300_mb",
        "name_list_of_300_mb",
    ],
)
def test_memory_stays_within_the_budget(kind: str, tmp_path: Path) -> None:
    source = tmp_path / "hostile.h5"
    HOSTILE[kind](source)
    # In a small process of its own: a child's peak counts from the size of the parent it was forked from.
    run = subprocess.run(
        [sys.executable, "-c", MEASURE, str(source)], capture_output=True, text=True, timeout=300, check=True
    )
    refused, grown, child = json.loads(run.stdout)
    assert refused
    assert grown < 64 << 20
    assert child < 320 << 20


def test_a_parallel_model_does_not_make_room_for_what_a_file_says_it_holds(tmp_path: Path) -> None:
    """In Keras 3's own format, too, where Keras itself reads: it took 12 GB for this file of a few kB."""
    import keras

    from parallel_compat import parallelize

    x = keras.Input((8,))
    model = keras.Model(x, keras.layers.Dense(16, name="hidden")(x))
    path = tmp_path / "hostile.weights.h5"
    model.save_weights(path)
    with h5py.File(path, "r+") as file:
        variables = file["layers/dense/vars"]
        del variables["0"]
        variables.create_dataset("0", (8, 100_000_000), "f4", chunks=(1, 1 << 20), compression="gzip")
    parallel = parallelize(model, gpus=2)
    before = parallel.get_weights()
    with pytest.raises(CheckpointError, match=r"hostile\.weights\.h5"):
        parallel.load_weights(path)
    for ours, theirs in zip(parallel.get_weights(), before, strict=True):
        np.testing.assert_array_equal(ours, theirs)


def _zip_bomb(path: Path) -> None:
    with zipfile.ZipFile(path, "a", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("assets/zeros", bytes(200 << 20))


def _without_weights(path: Path) -> None:
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("config.json", "{}")


def _truncated(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:2000])


def _lying_weights(path: Path) -> None:
    with zipfile.ZipFile(path) as archive:
        parts = {name: archive.read(name) for name in archive.namelist()}
    inner = path.with_suffix(".h5")
    inner.write_bytes(parts["model.weights.h5"])
    with h5py.File(inner, "r+") as file:
        variables = file["layers/dense/vars"]
        del variables["0"]
        variables.create_dataset("0", (8, 100_000_000), "f4", chunks=(1, 1 << 20), compression="gzip")
    with zipfile.ZipFile(path, "w") as archive:
        for name, content in {**parts, "model.weights.h5": inner.read_bytes()}.items():
            archive.writestr(name, content)


def _weights_of_another(path: Path) -> None:
    import keras

    keras.Sequential([keras.Input((3,)), keras.layers.Dense(2)]).save(path)


@pytest.mark.parametrize("attack", [_zip_bomb, _without_weights, _truncated, _lying_weights, _weights_of_another])
def test_a_parallel_model_takes_no_hostile_archive(attack: Callable[[Path], None], tmp_path: Path) -> None:
    import keras

    from parallel_compat import parallelize

    x = keras.Input((8,))
    model = keras.Model(x, keras.layers.Dense(16, name="hidden")(x))
    parallel = parallelize(model, gpus=2)
    path = tmp_path / "hostile.keras"
    model.save(path)
    parallel.load_weights(path)
    attack(path)
    before = parallel.get_weights()
    start = time.monotonic()
    with pytest.raises(CheckpointError, match=r"hostile\.keras"):
        parallel.load_weights(path)
    assert time.monotonic() - start < 60
    for ours, theirs in zip(parallel.get_weights(), before, strict=True):
        np.testing.assert_array_equal(ours, theirs)
