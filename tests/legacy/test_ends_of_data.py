"""What trains on data that ends: the numbers are those of TensorFlow 2.2.3, or 1.15.5 where it says so."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import tensorflow as tf

import parallel_compat


def _rows() -> Any:
    for at in range(20):
        yield [at / 20, 1.0], [float(at % 2)]


def _of_unknown_length() -> Any:
    return tf.data.Dataset.from_generator(_rows, (tf.float32, tf.float32), ((2,), (1,))).batch(8)


@pytest.mark.parametrize("replicas", [1, 2])
def test_the_end_of_a_data_set_is_no_step(replicas: int) -> None:
    with parallel_compat.legacy_names(era="tf.keras-2.2"):
        from tensorflow.keras import Sequential, layers, optimizers, utils

        model = Sequential([layers.Dense(1, input_shape=(2,), kernel_initializer="ones")])
        model = utils.multi_gpu_model(model, replicas) if replicas > 1 else model
        model.compile(optimizers.Adam(0.1, decay=0.1), "mse")
        history = model.fit(_of_unknown_length(), epochs=3, verbose=0).history
    np.testing.assert_allclose(history["loss"], [0.82589447, 0.27265272, 0.28431544], rtol=1e-5)
    assert int(model.optimizer.iterations) == 9


def test_the_end_of_a_data_set_is_no_step_of_an_optimizer_of_the_users() -> None:
    with parallel_compat.legacy_names(era="tf.keras-2.2"):
        from tensorflow.keras import Sequential, layers, optimizers

        class Plain(optimizers.Optimizer):  # type: ignore[misc]
            def _resource_apply_dense(self, grad: Any, var: Any, apply_state: Any = None) -> Any:
                return var.assign_sub(0.1 * grad)

            def get_config(self) -> Any:
                return super().get_config()

        model = Sequential([layers.Dense(4, "tanh", input_shape=(2,)), layers.Dense(1)])
        model.compile(Plain("plain"), "mse")
        model.fit(_of_unknown_length(), epochs=4, verbose=0)
        assert int(model.optimizer.iterations) == 12
