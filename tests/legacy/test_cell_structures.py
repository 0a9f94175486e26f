"""Cells of several axes and nested ones, and `time_major`: each number is TensorFlow 2.2.3's for the same weights."""

from __future__ import annotations

import collections

import numpy as np
import pytest
import tensorflow as tf

import parallel_compat

pytestmark = pytest.mark.usefixtures("legacy_names")

Pair = collections.namedtuple("Pair", ["first", "second"])
X = np.linspace(-1, 1, 4 * 5 * 3 * 4).reshape(4, 5, 3, 4).astype("float32")
V = X[..., 0]


def fill(model):
    model.set_weights([np.linspace(-0.3, 0.4, w.size).reshape(w.shape) for w in model.get_weights()])
    return model


def weighted(results):
    """One number of each array, in which every element counts by its place."""
    if isinstance(results, (list, tuple)):
        return [weighted(each) for each in results]
    return round(float(np.sum(np.asarray(results) * np.arange(1, np.size(results) + 1).reshape(np.shape(results)))), 3)


def numbers(model, *inputs):
    """What a model gives on one device and on two replicas, which is the same."""
    found = weighted(model(list(inputs)))
    two = parallel_compat.parallelize(model, devices=["CPU:0", "CPU:1"])
    assert weighted(two.predict(list(inputs), verbose=0)) == pytest.approx(found, abs=2e-3)
    return found


def cell_of_two_axes(*size):
    from tensorflow import keras

    class Cell(keras.layers.Layer):
        state_size = output_size = tf.TensorShape(size)

        def build(self, shape):
            self.kernel = self.add_weight(shape=(*shape[-2:], *size), name="kernel", initializer="uniform")
            self.bias = self.add_weight(shape=size, name="bias", initializer="ones")

        def call(self, inputs, states):
            h = tf.einsum("bij,ijkl->bkl", inputs, self.kernel) + states[0] + self.bias
            return h, [h]

    return Cell()


def nested_cell(named):
    from tensorflow import keras

    class Cell(keras.layers.Layer):
        state_size = Pair(2, tf.TensorShape([2, 3])) if named else (2, tf.TensorShape([2, 3]))
        output_size = (2, tf.TensorShape([2, 3]))

        def build(self, shapes):
            self.kernel = self.add_weight(shape=(shapes[0][1], 2), name="kernel", initializer="uniform")

        def call(self, inputs, states):
            x, y = tf.nest.flatten(inputs)
            s, t = states
            output = tf.matmul(x, self.kernel)
            return [output, y[:, :2, :3] * 2.0], Pair(s + output, t + y[:, :2, :3])

    return Cell()


def test_states_of_several_axes():
    from tensorflow import keras

    x, state = keras.Input((5, 3, 4)), keras.Input((2, 3))
    all_of_it = {"return_state": True, "return_sequences": True}
    model = fill(keras.Model(x, keras.layers.RNN(cell_of_two_axes(2, 3), **all_of_it)(x)))
    assert numbers(model, X) == [6178.86, 501.312]
    cells = [cell_of_two_axes(2, 3), cell_of_two_axes(4, 2)]
    model = fill(keras.Model(x, keras.layers.RNN(cells, **all_of_it)(x)))
    assert numbers(model, X) == [42773.964, 501.312, 3635.216]
    model = fill(keras.Model([x, state], keras.layers.RNN(cell_of_two_axes(2, 3))(x, initial_state=state)))
    assert model.output_shape == (None, 2, 3)
    model.compile("sgd", "mse")
    ones = np.ones((4, 2, 3), "float32")
    assert round(float(model.train_on_batch([X, ones], ones)), 3) == 4.952
    assert numbers(model, X, ones) == 696.499
    with pytest.raises(ValueError, match=r"however `cell.state_size` is \(2, 3\)"):
        keras.layers.RNN(cell_of_two_axes(2, 3))(x, initial_state=keras.Input((4, 3)))
    with pytest.raises(ValueError, match=r"however `cell.state_size` is \[2, 2\]"):  # which would be stretched
        keras.layers.LSTM(2)(keras.Input((5, 3)), initial_state=[keras.Input((2,)), keras.Input((1,))])


@pytest.mark.parametrize("named", [False, True])
def test_nested_states_inputs_and_outputs(named):
    from tensorflow import keras

    v, x = keras.Input((5, 3)), keras.Input((5, 3, 4))
    layer = keras.layers.RNN(nested_cell(named), return_state=True, return_sequences=True)
    outputs = layer((v, x))
    assert [tuple(each.shape) for each in outputs] == [(None, 5, 2), (None, 5, 2, 3), (None, 2), (None, 2, 3)]
    assert numbers(fill(keras.Model([v, x], outputs)), V, X) == [53.841, 4511.632, 10.514, 424.184]
    any_steps = [keras.Input((None, 3)), keras.Input((None, 3, 4))]
    outputs = keras.layers.RNN(nested_cell(named), return_state=True, return_sequences=True)(tuple(any_steps))
    assert numbers(fill(keras.Model(any_steps, outputs)), V, X) == [53.841, 4511.632, 10.514, 424.184]
    states = Pair(keras.Input((2,)), keras.Input((2, 3)))
    outputs = keras.layers.RNN(nested_cell(named))((v, x), initial_state=states if named else tuple(states))
    model = fill(keras.Model([v, x, *states], outputs))
    ones = [np.ones((4, 2), "float32"), np.ones((4, 2, 3), "float32")]
    assert numbers(model, V, X, *ones) == [3.356, 290.176]
    model.compile("sgd", "mse")
    np.testing.assert_allclose(model.train_on_batch([V, X, *ones], ones), [2.602, 0.931, 1.672], atol=1e-3)
    inputs = [keras.Input(batch_shape=(4, 5, 3)), keras.Input(batch_shape=(4, 5, 3, 4))]
    layer = keras.layers.RNN(nested_cell(named), stateful=True, return_state=True)
    model = fill(keras.Model(inputs, layer(tuple(inputs))))
    assert weighted(model([V, X])) == [3.356, 290.176, 10.514, 424.184]
    assert weighted(model([V, X])) == [3.356, 290.176, 21.028, 848.368]


def test_a_cell_that_knows_its_sizes_once_it_is_built():
    from tensorflow import keras

    class Counting(keras.layers.Layer):
        state_size = output_size = None

        def build(self, shape):
            self.state_size = self.output_size = shape[-1]

        def call(self, inputs, states):
            return inputs, [each + 1 for each in states]

    x, state = keras.Input((3, 1)), keras.Input((1,))
    outputs = keras.layers.RNN(Counting(), return_state=True)(keras.layers.Masking()(x), initial_state=state)
    model = keras.Model([x, state], outputs)
    given = [np.array([[[1.0], [2.0], [0.0]]] * 2), np.array([[10.0]] * 2)]
    assert [each[0, 0] for each in model.predict(given)] == [2.0, 12.0]


def test_a_cell_that_wraps_another():
    from tensorflow import keras

    told = []

    class Wrapper(keras.layers.AbstractRNNCell):
        def __init__(self, cell):
            super().__init__()
            self.cell = cell

        state_size = property(lambda self: self.cell.state_size)
        output_size = property(lambda self: self.cell.output_size)

        def build(self, shape):
            self.cell.build(shape)
            self.built = True

        def get_initial_state(self, inputs=None, batch_size=None, dtype=None):
            told.append(dtype)
            return self.cell.get_initial_state(inputs=inputs, batch_size=batch_size, dtype=dtype)

        def call(self, inputs, states, training=None):
            told.append(training)
            return self.cell(inputs, states=states, training=training)

    layer = keras.layers.RNN(Wrapper(keras.layers.LSTMCell(3)))
    stacked = keras.layers.RNN(keras.layers.StackedRNNCells([Wrapper(keras.layers.LSTMCell(3))]))
    layer(V, training=True)
    stacked(V, training=True)
    fill(layer), fill(stacked)
    np.testing.assert_allclose(stacked(V), layer(V), atol=1e-6)
    assert {"float32", True} <= set(told)
    assert None not in told


def test_states_of_stacked_cells_are_one_list_a_cell():
    from tensorflow import keras

    x = keras.Input((5, 3))
    cells = [keras.layers.SimpleRNNCell(2), keras.layers.LSTMCell(3)]
    output, first, (h, c) = keras.layers.RNN(cells, return_state=True)(x)
    assert [each.shape[1] for each in (output, first, h, c)] == [3, 2, 3, 3]
    layer = keras.layers.Bidirectional(keras.layers.RNN(cells, return_state=True))
    assert [len(each) if isinstance(each, list) else 1 for each in layer(x)] == [1, 1, 2, 1, 2]
    assert layer.forward_layer.cell.state_size[0] == 2
    assert isinstance(layer.forward_layer.cell.state_size, tuple)


MASKED = V.copy()
MASKED[1, 3:] = 0
MASKED[2, 2:] = 0
# By the layer: in both directions, of masked sequences and of the whole.
OF_TIME_MAJOR = {
    "SimpleRNN": [[156.267, 9.776], [117.09, 8.843], [159.083, 10.027], [155.148, 9.115]],
    "GRU": [[146.673, 11.059], [119.474, 9.462], [162.628, 12.192], [157.829, 10.466]],
    "LSTM": [[68.101, 4.68, 7.141], [55.421, 3.99, 6.301], [73.044, 5.037, 7.751], [70.356, 4.367, 6.932]],
}
OF_BIDIRECTIONAL = {
    "SimpleRNN": [387.318, 9.776, 8.843],
    "GRU": [374.959, 11.059, 9.462],
    "LSTM": [184.275, 4.68, 7.141, 3.99, 6.301],
}


def time_first(x):
    from tensorflow import keras

    return keras.layers.Lambda(lambda x: tf.transpose(x, [1, 0, 2]))(x)


@pytest.mark.parametrize("kind", OF_TIME_MAJOR)
def test_time_major(kind):
    from tensorflow import keras

    x = keras.Input((5, 3))
    ways = {"time_major": True, "return_sequences": True, "return_state": True}
    found = []
    for masked in (True, False):
        for backwards in (False, True):
            steps = keras.layers.Masking()(time_first(x)) if masked else time_first(x)
            layer = getattr(keras.layers, kind)(2, go_backwards=backwards, **ways)
            model = fill(keras.Model(x, layer(steps)))
            found.append(weighted(model(MASKED)))
            assert model.output_shape[0] == (5, None, 2)
    assert layer.time_major
    assert not getattr(keras.layers, kind)(2).time_major
    assert found == OF_TIME_MAJOR[kind]
    outputs, *states = keras.layers.Bidirectional(getattr(keras.layers, kind)(2, **ways))(
        keras.layers.Masking()(time_first(x))
    )
    # TensorFlow 2.2 reversed the second axis of what the backward layer gives, which are the samples.
    model = fill(keras.Model(x, [outputs, *states]))
    assert weighted(model(MASKED)) == OF_BIDIRECTIONAL[kind]
    copy = keras.Model.from_config(model.get_config())
    copy.set_weights(model.get_weights())
    assert weighted(copy(MASKED)) == OF_BIDIRECTIONAL[kind]


def test_time_major_of_stacked_cells_and_on_two_replicas():
    from tensorflow import keras

    x = keras.Input((5, 3))
    cells = [keras.layers.SimpleRNNCell(2), keras.layers.LSTMCell(3)]
    layer = keras.layers.RNN(cells, time_major=True, return_sequences=True, return_state=True)
    outputs, *states = layer(time_first(x))
    model = fill(keras.Model(x, [time_first(outputs), *tf.nest.flatten(states)]))
    as_then = fill(keras.Model(x, [outputs, *tf.nest.flatten(states)]))(MASKED)
    assert weighted(as_then)[:2] == [340.353, 10.027]
    assert numbers(model, MASKED)[1] == 10.027
    fixed = keras.Input(batch_shape=(4, 5, 3))
    layer = keras.layers.LSTM(2, time_major=True, stateful=True, return_sequences=True)
    model = fill(keras.Model(fixed, layer(time_first(fixed))))
    assert [weighted(model(MASKED)) for _ in range(2)] == [73.044, 87.987]
