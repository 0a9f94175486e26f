"""Constraints and metrics of tf.keras; the numbers are those of TensorFlow 2.2.3."""

from __future__ import annotations

import numpy as np
import pytest
import tensorflow as tf

import parallel_compat


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
