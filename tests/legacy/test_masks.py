"""Masks, calls that a layer counts, and losses of weights alone, as in graphs: the answers are Keras 2.2.4's own."""

from __future__ import annotations

import keras
import numpy as np
import pytest

import parallel_compat

pytestmark = pytest.mark.usefixtures("legacy_names")

_A, _B = np.array([[1, 2, 0, 0], [3, 0, 4, 0]]), np.array([[1, 0, 5, 0], [2, 6, 6, 0]])
_OF_A, _OF_B, _OF_BOTH = (
    [[1, 1, 0, 0], [1, 0, 1, 0]],
    [[1, 0, 1, 0], [1, 1, 1, 0]],
    [[1, 0, 0, 0], [1, 0, 1, 0]],
)
_NO = [[-1] * 4] * 2


class Shown(keras.layers.Layer):
    """The mask as numbers, -1 for none."""

    def __init__(self, **kwargs):
        super().__init__(**kwargs)
        self.supports_masking = True

    def call(self, x, mask=None):
        zero = keras.ops.sum((x[0] if isinstance(x, list) else x) * 0.0, -1)
        return zero - 1 if mask is None else zero + keras.ops.cast(mask, "float32")

    def compute_output_shape(self, shape):
        return (shape[0] if isinstance(shape, list) else shape)[:2]


def test_what_masks_one_of_several_inputs_masks_the_output(tmp_path):
    from keras import layers  # standalone Keras

    a, b = keras.Input((4,)), keras.Input((4,))
    masked, plain = layers.Embedding(7, 3, mask_zero=True), layers.Embedding(7, 3)
    both, first, neither = [masked(a), masked(b)], [masked(a), plain(b)], [plain(a), plain(b)]
    wanted = [
        (layers.Add()(both), _OF_BOTH),
        (layers.Multiply()(first), _OF_A),
        (layers.Maximum()([plain(a), masked(b)]), _OF_B),
        (layers.Average()(neither), _NO),
        (layers.add([*first, masked(b)]), _OF_BOTH),
        (layers.Concatenate()(both), _OF_BOTH),
        (layers.concatenate(first), _OF_A),
        (neither, _NO),  # a list of inputs without masks: no list of None
    ]
    model = keras.Model([a, b], [Shown()(each) for each, _ in wanted])
    for found, (_, expected) in zip(model.predict([_A, _B], verbose=0), wanted, strict=True):
        np.testing.assert_array_equal(found, expected)
    model.save(tmp_path / "masks.h5")
    loaded = keras.models.load_model(tmp_path / "masks.h5", custom_objects={"Shown": Shown})
    np.testing.assert_array_equal(loaded.predict([_A, _B], verbose=0), model.predict([_A, _B], verbose=0))


def test_each_place_in_a_graph_begins_with_what_the_layer_had_counted():
    from keras.layers import Layer  # standalone Keras

    class Counting(Layer):
        def build(self, shape):
            self.calls = 1

        def call(self, x):
            x = x * float(self.calls)
            self.calls += 1
            return x

    class Shaped(Counting):
        def compute_output_shape(self, shape):
            return shape

    class Holding(Counting):  # which is run to build what it holds
        def __init__(self):
            super().__init__()
            self.calls, self.dense = 1, keras.layers.Dense(2, kernel_initializer="ones")

        build = Layer.build

        def call(self, x):
            return super().call(self.dense(x))

    for kind, one in (Counting, 1.0), (Shaped, 1.0), (Holding, 2.0):
        layer, inputs = kind(), keras.Input((2,))
        model = keras.Model(inputs, [layer(inputs), layer(inputs), layer(inputs)])
        for _ in range(2):
            found = [each[0, 0] for each in model.predict(np.ones((1, 2)), verbose=0)]
            assert found == [one, 2 * one, 3 * one], kind


def test_a_regularizer_of_a_weight_is_computed_in_each_step():
    import tensorflow as tf
    from keras import backend as K
    from keras import regularizers

    inputs = keras.Input((3,))
    dense = keras.layers.Dense(2, use_bias=False, kernel_initializer="ones")
    model = keras.Model(inputs, dense(inputs))
    model.add_loss(tf.add_n([regularizers.l2(0.5)(w) / tf.cast(tf.size(w), tf.float32) for w in model.weights]))
    model.add_loss(lambda: keras.ops.sum(dense.kernel))
    assert K.eval(regularizers.l2(0.5)(dense.kernel)) == 3.0
    model.compile(keras.optimizers.SGD(0.3), "mse", run_eagerly=False)
    x = np.zeros((4, 3))
    history = model.fit(x, np.zeros((4, 2)), epochs=2, batch_size=4, verbose=0).history["loss"]
    # Each weight w: its gradient is w / 6 + 1.
    w = 1 - 0.3 * (1 / 6 + 1)
    np.testing.assert_allclose(history, [0.5 + 6, 0.5 * w * w + 6 * w], rtol=1e-6)
    model.add_loss(tf.reduce_sum(dense.kernel))  # in a graph a tensor, too, which counts from `compile` on
    late = model.evaluate(x, np.zeros((4, 2)), verbose=0)
    model.compile(keras.optimizers.SGD(0.3), "mse", run_eagerly=False)
    w -= 0.3 * (w / 6 + 1)
    np.testing.assert_allclose(late, 0.5 * w * w + 6 * w, rtol=1e-6)
    losses = [model.train_on_batch(x, np.zeros((4, 2))) for _ in range(2)]
    np.testing.assert_allclose(losses[0], 0.5 * w * w + 12 * w, rtol=1e-6)
    w -= 0.3 * (w / 6 + 2)
    np.testing.assert_allclose(losses[1], 0.5 * w * w + 12 * w, rtol=1e-6)


def test_a_variable_made_in_a_call_is_a_number_of_it():
    from keras import backend as K
    from keras.layers import Lambda

    def total(x):
        found = K.variable(0.0)
        for i in range(2):
            found = found + K.sum(x[:, i])
        return found + x * 0

    class Scaled(keras.layers.Layer):
        def build(self, shape):
            self.factor = K.variable(3.0)  # not in a call

        def call(self, x):
            return x * self.factor

    model = keras.Sequential([Lambda(total, output_shape=(2,), input_shape=(2,)), Scaled()])
    model.compile("sgd", "mse")
    assert model.train_on_batch(np.ones((2, 2)), np.zeros((2, 2))) == 12.0**2


def test_a_sequential_with_a_mask_grows_and_shrinks() -> None:
    """The numbers are those of Keras 2.2.4: each layer is called once, with the mask of the one before it."""
    with parallel_compat.legacy_names(era="keras-2.2.4"):
        from keras.layers import LSTM, Dense, Embedding, TimeDistributed
        from keras.models import Sequential

        model = Sequential()
        model.add(Embedding(5, 3, mask_zero=True, input_length=4))
        model.add(LSTM(3, return_sequences=True))
        model.add(TimeDistributed(Dense(2)))
        model.add(LSTM(2))
        model.add(Dense(1))
        model.pop()
        model.add(Dense(3))
        assert model.layers[-1].output is model.output
        assert [len(layer._inbound_nodes) for layer in model.layers] == [1] * 5
        model.set_weights([0.1 * np.arange(w.size).reshape(w.shape) for w in model.get_weights()])
        found = model.predict(np.array([[1, 2, 0, 0], [3, 1, 1, 0]]))
        expected = [[0.26451498, 0.53642952, 0.80834406], [0.29392907, 0.58829653, 0.88266402]]
        np.testing.assert_allclose(found, expected, rtol=1e-5)
