"""What the real `multi_gpu_model` computed, to 1e-5: weights, loss, metrics, predictions, `train_on_batch`."""

from __future__ import annotations

import keras
import numpy as np
import pytest

from parallel_compat import multi_gpu_model
from tests.evidence import oracle

TOLERANCE = 1e-5
# The old towers each moved BatchNormalization's statistics once a step, in no fixed order.
TOWER_STATISTICS = {"batch_norm_even_split": ("bn",)}
# Keras 3's own mean over batches counts a small last batch as much as a full one, on one device too.
# Keras 2 weighted by rows. What a batch gives is the same, as `train_on_batch` shows.
UNWEIGHTED_BY_KERAS_3 = ("out_a_loss", "out_b_loss", "add_loss", "twin_1_loss", "twin_2_loss")


def trained_weights(model: keras.Model, weights: list[np.ndarray], name: str) -> list[np.ndarray]:
    """The weights that can be held against the old run: all but the moving statistics of towers."""
    skipped = {
        id(v) for layer in TOWER_STATISTICS.get(name, ()) for v in model.get_layer(layer).non_trainable_variables
    }
    return [w for w, v in zip(weights, model.weights, strict=True) if id(v) not in skipped]


def assert_close(actual, expected):
    assert len(actual) == len(expected)
    for a, e in zip(actual, expected, strict=True):
        np.testing.assert_allclose(a, e, rtol=0, atol=TOLERANCE)


@pytest.mark.parametrize("name", oracle.CASES)
def test_the_same_numbers(name):
    case = oracle.load(name)
    template = case.template()
    parallel = multi_gpu_model(template, gpus=case.record["gpus"])
    assert list(parallel.output_names) == case.record["output_names"]
    parallel.compile(**case.compile_arguments())

    predictions = parallel.predict(case.data("x"), batch_size=32, verbose=0)
    assert_close(keras.tree.flatten(predictions), case.series("predict_before"))

    history = parallel.fit(case.data("x"), case.data("y"), **case.fit_arguments()).history
    weights = trained_weights(template, template.get_weights(), name)
    assert_close(weights, trained_weights(template, case.series("w_fit"), name))
    for key, values in case.record["history"].items():
        if key not in UNWEIGHTED_BY_KERAS_3:
            np.testing.assert_allclose(history[key.replace("acc", "accuracy")], values, rtol=0, atol=TOLERANCE)

    if name not in TOWER_STATISTICS:
        prediction = parallel.predict(case.data("x", 1), verbose=0)
        assert_close(keras.tree.flatten(prediction), case.series("predict_one_after_fit"))

    for expected in case.record["train_on_batch"]:
        returned = parallel.train_on_batch(case.data("x", 10), case.data("y", 10))
        np.testing.assert_allclose(np.ravel(returned), expected, rtol=0, atol=TOLERANCE)
    weights = trained_weights(template, template.get_weights(), name)
    assert_close(weights, trained_weights(template, case.series("w_train_on_batch"), name))


def test_every_recorded_case_is_here():
    assert len(oracle.CASES) == 12
