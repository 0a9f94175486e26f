"""Files of six old stacks, of every kind of layer and of parallel model: recovered, they predict as they did.

By default every file is recovered to `.h5`, which changes most; to `.keras` those of Keras 2.2.4's parallel models
and the newest tf.keras. The others to `.keras` are slow ones.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import numpy as np
import pytest

from parallel_compat import CheckpointError, inspect_checkpoint
from parallel_compat.recover.recovering import recover
from recover.old_files import OLD, WHOLE, assert_predicts, custom_objects, in_every_format

if TYPE_CHECKING:
    from pathlib import Path

PREDICTING = [path for path in WHOLE if not re.search("resume|own_lambda|keras224_bilinear|several_axes", path.name)]
RESUMING = [path for path in WHOLE if "_resume_" in path.name]


def always(path: Path, suffix: str) -> bool:
    return (
        suffix == ".h5" or path.name.startswith("tf223") or re.search(r"keras224_.*\.parallel\.", path.name) is not None
    )


@pytest.mark.one_in(6)
@pytest.mark.parametrize(("source", "suffix"), in_every_format(PREDICTING, always, ".h5", ".keras"))
def test_recovered_file_predicts_as_recorded(source: Path, suffix: str, tmp_path: Path) -> None:
    import keras

    objects = custom_objects() if "custom" in source.name else None
    found = recover(source, tmp_path / f"out{suffix}", custom_objects=objects)
    assert bool(found.template.wrappers) == (".parallel." in source.name)
    assert_predicts(keras.models.load_model(tmp_path / f"out{suffix}", custom_objects=objects), source)


@pytest.mark.parametrize(
    ("name", "gpus", "styles"),
    [
        ("keras224_make_parallel", [3], ["make_parallel"]),
        ("keras224_mask_rcnn", [2], ["ParallelModel"]),
        ("keras224_cpu_relocation", [2], ["multi_gpu_model"]),
        ("keras224_twice", [3, 2], ["multi_gpu_model", "multi_gpu_model"]),
    ],
)
def test_parallel_models_of_every_make_are_told(name: str, gpus: list[int], styles: list[str]) -> None:
    found = inspect_checkpoint(OLD / f"{name}.parallel.h5")
    assert [one.gpus for one in found.parallel] == gpus
    assert [one.style for one in found.parallel] == styles


@pytest.mark.one_in(3)
@pytest.mark.parametrize("source", RESUMING, ids=lambda path: path.name)
def test_training_goes_on_from_the_optimizer_state(source: Path, tmp_path: Path) -> None:
    """Two more steps in Keras 3 lead to the weights to which two more steps led then."""
    import keras

    recover(source, tmp_path / "out.keras")
    model = keras.models.load_model(tmp_path / "out.keras")
    arrays = np.load(OLD / f"{source.name.split('.')[0]}.npz")
    for _ in range(2):
        model.train_on_batch(arrays["x_0"], arrays["y_0"])
    # RMSprop's epsilon stands elsewhere in Keras 3's formula, which shows in the sixth digit.
    tolerance = 5e-6 if "rmsprop" in source.name else 1e-6
    for index, weight in enumerate(model.get_weights()):
        np.testing.assert_allclose(weight, arrays[f"w_after_{index}"], rtol=0, atol=tolerance)


def test_h5_says_that_it_cannot_hold_the_optimizer_state(tmp_path: Path) -> None:
    import keras

    found = recover(OLD / "keras224_resume_adam.parallel.h5", tmp_path / "out.h5")
    assert any("optimizer's state is not written" in note for note in found.notes)
    model = keras.models.load_model(tmp_path / "out.h5")
    model.train_on_batch(*recorded_batch("keras224_resume_adam"))  # compiled, and ready to train afresh


def recorded_batch(case: str) -> tuple[np.ndarray, np.ndarray]:
    arrays = np.load(OLD / f"{case}.npz")
    return arrays["x_0"], arrays["y_0"]


def test_a_model_with_its_own_lambda_is_refused_unless_kept(tmp_path: Path) -> None:
    import keras

    source = OLD / "keras224_own_lambda.parallel.h5"
    with pytest.raises(CheckpointError, match=r"double.*--keep-lambda"):
        recover(source, tmp_path / "out.h5")
    recover(source, tmp_path / "out.h5", keep_lambda=True)
    with pytest.raises((ValueError, TypeError)):  # the decision to run it is left to who loads it
        keras.models.load_model(tmp_path / "out.h5")


def test_bilinear_upsampling_of_tensorflow_1_is_refused(tmp_path: Path) -> None:
    with pytest.raises(CheckpointError, match="half-pixel"):
        recover(OLD / "keras224_bilinear.template.h5", tmp_path / "out.keras")


def test_layers_over_several_axes_are_written_where_keras_reads_them(tmp_path: Path) -> None:
    import keras

    source = OLD / "tf223_several_axes.template.h5"
    with pytest.raises(CheckpointError, match=r"over \[1, 2\], which Keras 3 reads only from `.keras`"):
        recover(source, tmp_path / "out.h5")
    recover(source, tmp_path / "out.keras")
    assert_predicts(keras.models.load_model(tmp_path / "out.keras"), source)


def test_custom_objects_are_kept_as_data_or_built_when_given(tmp_path: Path) -> None:
    source = OLD / "keras224_custom.parallel.h5"
    found = recover(source, tmp_path / "out.h5")
    assert any("'Scale'" in note and "custom_objects" in note for note in found.notes)
    assert inspect_checkpoint(source).custom == {"Scale": ["scale"]}
    with pytest.raises(CheckpointError, match="Scale"):
        recover(source, tmp_path / "out.keras")
    assert_predicts(recover(source, None, custom_objects=custom_objects()).model, source)
