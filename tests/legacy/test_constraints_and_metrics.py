"""Constraints and metrics of tf.keras; the numbers are those of TensorFlow 2.2.3."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest
import tensorflow as tf

import parallel_compat

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.parametrize("name", ["RadialConstraint", "radial_constraint"])
@pytest.mark.parametrize(
    ("size", "expected"),
    [
        (2, [0, 0, 0, 0]),
        (3, [4, 4, 4, 4, 0, 4, 4, 4, 4]),
        (4, [15, 15, 15, 15, 15, 5, 5, 15, 15, 5, 5, 15, 15, 15, 15, 15]),
    ],
)
def test_a_radial_constraint_repeats_the_diagonal(name: str, size: int, expected: list[int]) -> None:
    with parallel_compat.legacy_names(era="tf.keras-2.2"):
        from tensorflow.keras import constraints

        constraint = getattr(constraints, name)()
        kernel = tf.reshape(tf.range(float(size * size)), (size, size, 1, 1))
        assert constraint(kernel).numpy().ravel().tolist() == expected
        with pytest.raises(ValueError, match="must be of rank 4"):
            constraint(tf.ones((3, 3)))


def test_metrics_count_in_floats_and_say_that_they_have_a_state() -> None:
    with parallel_compat.legacy_names(era="tf.keras-2.2"):
        from tensorflow.keras import metrics

        hinge = metrics.CategoricalHinge()
        hinge.update_state([[0, 1, 0]], [[1, 2, 3]])
        assert hinge.stateful
        assert float(hinge.result()) == 2.0
        tensor = metrics.MeanTensor()
        tensor.update_state([1, 5], sample_weight=[[1], [0.2]])
        assert tensor.result().numpy().tolist() == [1.0, 5.0]
        for name in ("acc", "accuracy"):
            assert np.array(metrics.get(name)(tf.constant([1.0, 2.0]), tf.constant([1.0, 3.0]))).tolist() == [1.0, 0.0]


OWN_METRIC = """
import tensorflow as tf
from tensorflow import keras
from tensorflow.python.keras.metrics import MeanMetricWrapper

class Distance(MeanMetricWrapper):
    def __init__(self, name="distance", dtype=None):
        super(Distance, self).__init__(lambda y, p: tf.reduce_mean(tf.abs(y - p), axis=-1), name, dtype=dtype)

model = keras.Sequential([keras.layers.Dense(1, input_shape=(3,))])
model.compile("sgd", "mse", metrics=[Distance()])
model.train_on_batch(x, y)
model.save(path)
again = keras.models.load_model(path, custom_objects={"Distance": Distance})
"""


def test_a_metric_that_wraps_a_function_of_its_own_is_made_again_of_its_config(tmp_path: Path) -> None:
    x, y = np.random.RandomState(0).rand(8, 3), np.random.RandomState(1).rand(8, 1)
    names = {"__name__": "user", "x": x, "y": y, "path": str(tmp_path / "m.h5")}
    with parallel_compat.legacy_names(era="tf.keras-2.2"):
        exec(OWN_METRIC, names)
        model, again = names["model"], names["again"]
        assert sorted(names["Distance"]().get_config()) == ["dtype", "name"]
        np.testing.assert_allclose(again.evaluate(x, y, verbose=0), model.evaluate(x, y, verbose=0), rtol=1e-6)
