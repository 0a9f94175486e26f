"""Schedules of `LearningRateScheduler`, in TensorFlow 2.2."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import tensorflow as tf

import parallel_compat


def test_a_schedule_returns_a_tensor_as_in_tensorflow_2_2s_documentation() -> None:
    """The rates and losses are those of TensorFlow 2.2.3."""
    x, y = np.ones((8, 3), "float32"), np.ones((8, 1), "float32")
    with parallel_compat.legacy_names(era="tf.keras-2.2"):
        from tensorflow.keras import Sequential, callbacks, layers, optimizers

        def of_epoch(epoch: int) -> Any:
            return 0.1 if epoch < 2 else 0.1 * tf.math.exp(0.1 * (2 - epoch))

        def of_rate(epoch: int, lr: float) -> Any:
            return lr if epoch < 2 else lr * tf.math.exp(-0.1)

        for schedule, rates in ((of_epoch, [0.1, 0.1, 0.1, 0.09048375]), (of_rate, [0.1, 0.1, 0.09048375, 0.08187308])):
            model = Sequential([layers.Dense(1, input_shape=(3,), kernel_initializer="zeros")])
            model.compile(optimizers.SGD(0.1), "mse")
            history = model.fit(
                x, y, epochs=4, verbose=0, callbacks=[callbacks.LearningRateScheduler(schedule)]
            ).history
            assert history["lr"] == pytest.approx(rates, rel=1e-6)
            assert history["loss"][:3] == pytest.approx([1.0, 0.04, 0.0016], rel=1e-4)


def test_a_schedule_of_integers_is_refused() -> None:
    with parallel_compat.legacy_names(era="tf.keras-2.2"):
        from tensorflow.keras import Sequential, callbacks, layers

        model = Sequential([layers.Dense(1, input_shape=(3,))])
        model.compile("sgd", "mse")
        scheduler = callbacks.LearningRateScheduler(lambda epoch: tf.constant(1))
        with pytest.raises(ValueError, match="should be a float"):
            model.fit(np.ones((2, 3)), np.ones((2, 1)), verbose=0, callbacks=[scheduler])
