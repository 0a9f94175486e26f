"""`class_weight` with a data set, the numbers those of TensorFlow 2.2.3 and 1.15.5."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import tensorflow as tf

import parallel_compat

_X = np.stack([np.arange(20) / 20, np.ones(20)], 1).astype("float32")
_Y = (np.arange(20) % 2).astype("float32")[:, None]
_WEIGHTS = np.arange(20, dtype="float32") / 10


@pytest.mark.parametrize("replicas", [1, 2])
@pytest.mark.parametrize(
    ("era", "of_samples", "of_classes"),
    [
        ("tf.keras-2.2", [0.86417484, 0.50230694], [0.72030163, 0.66950881]),
        ("tf.keras-1.15", [0.95123695, 0.29568792], [0.75391243, 0.29833178]),  # left out, without a word
    ],
)
def test_weights_of_classes_with_a_data_set(era: str, of_samples: Any, of_classes: Any, replicas: int) -> None:
    with parallel_compat.legacy_names(era=era):
        from tensorflow.keras import Sequential, layers, optimizers, utils

        model = Sequential([layers.Dense(1, input_shape=(2,), kernel_initializer="ones")])
        model = utils.multi_gpu_model(model, replicas) if replicas > 1 else model
        start = model.get_weights()
        for data, expected in ((_X, _Y, _WEIGHTS), of_samples), ((_X, _Y), of_classes):
            model.set_weights(start)
            model.compile(optimizers.SGD(0.1), "mse")
            batches = tf.data.Dataset.from_tensor_slices(data).batch(8)
            history = model.fit(batches, epochs=2, class_weight={0: 1.0, 1: 3.0}, verbose=0).history
            np.testing.assert_allclose(history["loss"], expected, rtol=1e-5)


def test_classes_without_weights_are_refused_in_tensorflow_2() -> None:
    with parallel_compat.legacy_names(era="tf.keras-2.2"):
        from tensorflow.keras import Sequential, layers

        model = Sequential([layers.Dense(1, input_shape=(2,))])
        model.compile("sgd", "mse")
        with pytest.raises(ValueError, match="a weight for each class"):
            model.fit(tf.data.Dataset.from_tensor_slices((_X, _Y)).batch(8), class_weight={1: 3.0}, verbose=0)
