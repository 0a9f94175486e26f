"""Cells of tf.keras that drop inputs and states by masks which they draw once for all steps of a call."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import parallel_compat


@pytest.fixture
def layer() -> Any:
    with parallel_compat.legacy_names(era="tf.keras-2.2"):
        import tensorflow as tf
        from tensorflow.python.keras.layers.recurrent import DropoutRNNCellMixin

        class Cell(DropoutRNNCellMixin, tf.keras.layers.Layer):  # type: ignore[misc]
            """Counts, in each sample, how many inputs and states were kept."""

            state_size = output_size = 4

            def __init__(self) -> None:
                super().__init__()
                self.dropout = self.recurrent_dropout = 0.5

            def build(self, input_shape: Any) -> None:
                self.scale = self.add_weight(name="scale", shape=(), initializer="ones")
                self.built = True

            def call(self, inputs: Any, states: Any, training: Any = None) -> Any:
                inputs = inputs * self.get_dropout_mask_for_cell(inputs, training) * self.scale
                kept = self.get_recurrent_dropout_mask_for_cell(states[0], training)
                return inputs + 10.0 * kept, [inputs]

        class Layers(tf.keras.layers.RNN):  # type: ignore[misc]
            def call(self, inputs: Any, training: Any = None) -> Any:
                self._maybe_reset_cell_dropout_mask(self.cell)
                return super().call(inputs, training=training)

        yield Layers(Cell(), return_sequences=True)


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


def test_cells_derived_from_those_of_keras_have_the_masks() -> None:
    with parallel_compat.legacy_names(era="tf.keras-2.2"):
        import tensorflow as tf

        class Cell(tf.keras.layers.SimpleRNNCell):  # type: ignore[misc]
            def call(self, inputs: Any, states: Any, training: Any = None) -> Any:
                masks = self.get_dropout_mask_for_cell(inputs, training, count=2)
                assert self.get_recurrent_dropout_mask_for_cell(states[0], training) is None
                return inputs * masks[0] + 10.0 * masks[1], states

        layer = tf.keras.layers.RNN([Cell(4, dropout=0.5)])
        assert set(np.unique(layer(X, training=True))) == {0, 2, 20, 22}
        np.testing.assert_array_equal(layer(X), np.full((32, 4), 11))
