"""Files of the old stacks, loaded by migrated code: as they were, or refused by name.

What a refusal says is in the table; everything else predicts as recorded, and goes on training as recorded. By default
one file of each kind is tried; all of them are slow ones.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from recover.old_files import OLD, WEIGHTS, WHOLE, assert_predicts, case_of, custom_objects

import parallel_compat
from parallel_compat.legacy import models

if TYPE_CHECKING:
    from pathlib import Path

    import keras


REFUSED = {
    "bilinear": "its bilinear interpolation is that of TensorFlow 1",
    "own_lambda": "the Lambda layer 'double'",
    "twice": "parallel-compat recover",
}
DEFAULT = {
    "keras224_resume_adadelta.parallel",
    "keras224_resume_adamax.parallel",
    "keras224_resume_rmsprop.parallel",
    "keras224_resume_sgd_clipnorm.parallel",
    "tf223_resume_adam.parallel",
    "keras224_lstm.parallel",
    "keras224_cudnn.template",
    "keras224_own_lambda.template",
    "keras224_bilinear.template",
    "keras224_locally_connected.parallel",
    "tf223_bilinear.template",
    "keras224_twice.parallel",
    "keras224_lstm.parallel_weights",
    "tf223_frozen.template_weights",
}


def refusal(path: Path) -> str | None:
    if path.name.startswith("tf2"):
        return None
    return next((text for word, text in REFUSED.items() if word in path.name), None)


def listed(files: list[Path]) -> list[Any]:
    return [
        pytest.param(path, id=path.name, marks=() if path.name.removesuffix(".h5") in DEFAULT else (pytest.mark.slow,))
        for path in files
    ]


def load(path: Path) -> keras.Model:
    return models.load_model(str(path), custom_objects=custom_objects())


@pytest.mark.one_in(3)
@pytest.mark.parametrize("path", listed(WHOLE))
def test_a_whole_model_predicts_and_trains_as_then(path: Path) -> None:
    expected = refusal(path)
    if expected is not None:
        with pytest.raises(ValueError, match=re.escape(expected)) as caught:
            load(path)
        assert path.name in str(caught.value)
        return
    model = load(path)
    assert isinstance(model, parallel_compat.ParallelModel) == (".parallel." in path.name)
    template = parallel_compat.template_of(model)
    if "_resume_" not in path.name:
        assert_predicts(template, path)
        return
    arrays = np.load(OLD / f"{case_of(path)}.npz")
    for _ in range(2):
        model.train_on_batch(arrays["x_0"], arrays["y_0"])
    tolerance = 5e-6 if "rmsprop" in path.name else 1e-6
    for index, weight in enumerate(template.get_weights()):
        np.testing.assert_allclose(weight, arrays[f"w_after_{index}"], rtol=0, atol=tolerance)


@pytest.mark.parametrize("name", ["keras224_gru_wrappers.template", "keras224_resume_sgd_clipnorm.parallel"])
def test_functions_in_wrappers_and_the_norm_of_all_gradients(name: str) -> None:
    test_a_whole_model_predicts_and_trains_as_then(OLD / f"{name}.h5")


@pytest.mark.one_in(2)
@pytest.mark.parametrize("path", listed([path for path in [*WEIGHTS, *WHOLE] if "_resume_" not in path.name]))
def test_the_model_s_method_loads_the_weights_of_any_file(path: Path) -> None:
    whole = next((one for one in WHOLE if case_of(one) == case_of(path) and ".template." in one.name), None)
    if whole is None or refusal(whole) is not None:
        return  # there is no model to load them into
    model = load(whole)
    model.set_weights([np.full(value.shape, 0.5) for value in model.get_weights()])
    models.load_weights(model, str(path))
    assert_predicts(model, path)
