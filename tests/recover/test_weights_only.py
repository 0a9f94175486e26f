"""Files of weights: recovered to weights, or to models where the architecture is given."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from parallel_compat import CheckpointError
from parallel_compat.recover.recovering import recover
from recover.old_files import OLD, assert_predicts

ORACLE = Path(__file__).parent.parent / "data" / "oracle" / "h5"
FLAT = [path for path in sorted(ORACLE.glob("*.parallel_weights.h5")) if "siamese" not in path.name]


@pytest.mark.one_in(3)
@pytest.mark.parametrize("source", FLAT, ids=lambda path: path.name)
def test_weights_of_a_parallel_model_become_the_templates(source: Path, tmp_path: Path) -> None:
    case = source.name.split(".")[0]
    model = recover(ORACLE / f"{case}.template.h5", None).model
    expected = model.get_weights()
    model.set_weights([np.zeros(value.shape) for value in expected])
    recover(source, tmp_path / "out.h5")
    model.load_weights(tmp_path / "out.h5")
    for ours, theirs in zip(model.get_weights(), expected, strict=True):
        np.testing.assert_array_equal(ours, theirs)


def test_layers_with_slashes_in_their_names_are_told_apart(tmp_path: Path) -> None:
    model = recover(OLD / "keras224_slashes.template.h5", None).model
    model.set_weights([np.zeros(value.shape) for value in model.get_weights()])
    recover(OLD / "keras224_slashes.parallel_weights.h5", tmp_path / "out.h5")
    model.load_weights(tmp_path / "out.h5")
    assert_predicts(model, OLD / "keras224_slashes.template.h5")


def test_it_is_said_that_gates_may_need_a_change(tmp_path: Path) -> None:
    found = recover(OLD / "keras224_lstm.parallel_weights.h5", tmp_path / "out.h5")
    assert any("hard_sigmoid" in note for note in found.notes)


@pytest.mark.one_in(2)
@pytest.mark.parametrize("suffix", [".h5", ".keras", ".weights.h5"])
@pytest.mark.parametrize("case", ["shared", "frozen", "lstm"])
def test_with_the_architecture_they_become_a_model(case: str, suffix: str, tmp_path: Path) -> None:
    import keras

    source = OLD / f"keras224_{case}.parallel_weights.h5"
    other = OLD / f"keras224_{case}.template.h5"
    recover(source, tmp_path / f"out{suffix}", architecture=other)
    if suffix == ".weights.h5":
        model = recover(other, None).model
        model.load_weights(tmp_path / "out.weights.h5")
    else:
        model = keras.models.load_model(tmp_path / f"out{suffix}")
    assert_predicts(model, source)


def test_frozen_layers_in_a_parallel_file_of_weights_are_refused_without_it(tmp_path: Path) -> None:
    with pytest.raises(CheckpointError, match="frozen"):
        recover(OLD / "keras224_frozen.parallel_weights.h5", tmp_path / "out.h5")


@pytest.mark.parametrize("suffix", [".keras", ".weights.h5"])
def test_a_model_needs_the_architecture(suffix: str, tmp_path: Path) -> None:
    with pytest.raises(CheckpointError, match="--architecture"):
        recover(ORACLE / "sgd_even.parallel_weights.h5", tmp_path / f"out{suffix}")


def test_weights_only_of_a_whole_model(tmp_path: Path) -> None:
    import h5py

    recover(ORACLE / "siamese_outputs.parallel.h5", tmp_path / "out.h5", weights_only=True)
    with h5py.File(tmp_path / "out.h5") as file:
        assert "model_config" not in file.attrs
    model = recover(ORACLE / "siamese_outputs.template.h5", None).model
    expected = model.get_weights()
    model.set_weights([np.zeros(value.shape) for value in expected])
    model.load_weights(tmp_path / "out.h5")
    for ours, theirs in zip(model.get_weights(), expected, strict=True):
        np.testing.assert_array_equal(ours, theirs)
