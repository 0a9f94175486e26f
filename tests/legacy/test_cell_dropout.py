"""Cells of tf.keras that drop inputs and states by masks which they draw once for all steps of a call."""

from __future__ import annotations

from typing import Any

import numpy as np

X = np.ones((32, 3, 4), "float32")


def test_each_call_draws_masks_and_all_of_its_steps_use_them(layer: Any) -> None:
    first, second = np.asarray(layer(X, training=True)), np.asarray(layer(X, training=True))
    assert set(np.unique(first)) == {0, 2, 20, 22}
    np.testing.assert_array_equal(first, np.repeat(first[:, :1], 3, axis=1))
    assert (first != second).any()


def test_nothing_is_dropped_after_training(layer: Any) -> None:
    """With the class that TensorFlow still holds, `predict` kept the mask of the last batch."""
    import tensorflow as tf

    model = tf.keras.Sequential([layer])
    model.compile("sgd", "mse")
    model.fit(X, 0 * X, batch_size=20, epochs=1, verbose=0)  # of 20 samples, and of 12
    scale = model.get_weights()[0]
    assert scale != 1
    for result in (layer(X), model.predict(X), layer(X[:5])):
        np.testing.assert_allclose(result, np.full(np.shape(result), 10 + scale), rtol=1e-6)
