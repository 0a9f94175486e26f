"""The activity regularizer of a layer in `Bidirectional`; the numbers are those of Keras 2.2.4 and TensorFlow 2.2.3."""

from __future__ import annotations

import numpy as np
import pytest

import parallel_compat


@pytest.mark.parametrize(
    ("era", "merge_mode", "expected"),
    [
        ("keras-2.2.4", "sum", 0.0),
        ("keras-2.2.4", "concat", 0.12),
        ("tf.keras-2.2", "sum", 0.06),
        ("tf.keras-2.2", "concat", 0.06),
    ],
)
def test_keras_2_2_4_regularized_what_both_directions_gave_together(era: str, merge_mode: str, expected: float) -> None:
    with parallel_compat.legacy_names(era=era):
        if era == "keras-2.2.4":
            from keras import layers, models
        else:
            from tensorflow.keras import layers, models
        inner = layers.SimpleRNN(1, activation=None, activity_regularizer="l1", return_sequences=True)
        layer = layers.Bidirectional(inner, merge_mode=merge_mode, input_shape=(3, 1))
        model = models.Sequential([layer])
        # Each step of the one direction is the input, of the other minus the input.
        one, zero = np.ones((1, 1)), np.zeros((1, 1))
        model.set_weights([one, zero, zero[0], -one, zero, zero[0]])
        model.compile("sgd", lambda y_true, y_pred: 0 * y_pred)
        x = np.ones((2, 3, 1))
        y = np.zeros((2, 3, 1 if merge_mode == "sum" else 2))
        assert model.test_on_batch(x, y) == pytest.approx(expected, abs=1e-6)
        assert "activity_regularizer" not in layer.get_config()
