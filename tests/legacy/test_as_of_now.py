"""Functions of Lambda layers and losses read names as they were bound when the graph was built."""

# ruff: noqa: B023  (functions that bind late are what is tested)
from __future__ import annotations

import keras
import numpy as np
import pytest

pytestmark = pytest.mark.usefixtures("legacy_names")

scale = 2.0
settings = {"plus": 1.0}
counted = 0


def scaled(x):
    return x * scale + settings["plus"]


def by_way_of(x):
    return scaled(x) + 0


def counting(x):
    global counted
    counted += 1
    return x


def test_a_lambda_layer_in_a_graph_reads_what_it_read_when_it_was_called(tmp_path, monkeypatch):
    import tensorflow as tf
    from keras.layers import Input, Lambda  # standalone Keras: a graph

    inputs = Input((3,))
    outputs = [Lambda(lambda x: x[:, i : i + 1])(inputs) for i in range(3)]
    outputs += [Lambda(scaled)(inputs), Lambda(by_way_of)(inputs), Lambda(counting)(inputs)]
    shared = Lambda(lambda x: x * scale)
    outputs.append(shared(inputs))
    monkeypatch.setitem(globals(), "scale", 7.0)
    monkeypatch.setitem(settings, "plus", 100.0)
    outputs.append(shared(inputs))
    anchors = np.full(3, 4.0, "float32")
    anchors = Lambda(lambda x: tf.Variable(anchors))(inputs)  # what Mask R-CNN does
    outputs.append(Lambda(lambda both: both[0] + both[1])([inputs, anchors]))
    model = keras.Model(inputs, outputs)
    x = np.array([[1.0, 2.0, 3.0]])
    wanted = [[[1.0]], [[2.0]], [[3.0]], 2 * x + 1, 2 * x + 1, x, 2 * x, 7 * x, x + 4]
    for found, expected in zip(model.predict(x, verbose=0), wanted, strict=True):
        np.testing.assert_array_equal(found, expected)
    assert counted > 0  # a function that binds a name of the module still does

    # By its name the function of today is found.
    again = keras.Model.from_config(keras.Model(inputs, outputs[3]).get_config())
    np.testing.assert_array_equal(again.predict(x, verbose=0), 7 * x + 100)


def test_losses_of_a_graph_read_what_they_read_when_the_model_was_compiled():
    from keras.layers import Dense, Input

    inputs = Input((1,))
    model = keras.Model(inputs, [Dense(1, kernel_initializer="ones", name=name)(inputs) for name in "ab"])
    late = []
    for i in range(2):
        late.append(lambda y, p: (p - y) * (i + 1))
    model.compile("sgd", late)
    i = 5
    assert model.evaluate(np.ones((2, 1)), [np.zeros((2, 1))] * 2, verbose=0) == [4.0, 2.0, 2.0]


def test_a_list_of_numbers_is_the_shape_of_a_lambda_layers_output():
    from keras.layers import Lambda

    assert Lambda(lambda x: x[:, :2], output_shape=[2])(keras.Input((3,))).shape == (None, 2)


@pytest.mark.parametrize("devices", [1, 2])
def test_variables_that_a_call_or_a_loss_makes_count_its_steps(devices):
    """Recorded with Keras 2.2.4, on one device and on two towers."""
    import tensorflow as tf
    from keras import backend as K
    from keras.layers import Dense, Input, Layer
    from keras.models import Model
    from keras.utils import multi_gpu_model

    class Warming(Layer):
        def call(self, x):
            seen = tf.Variable(0.0)
            seen = tf.assign_add(seen, 1.0)
            return tf.cond(tf.less(seen, 3.0), lambda: x * 10.0, lambda: x)

        def compute_output_shape(self, input_shape):
            return [input_shape]

    def loss(y_true, y_pred):
        seen = tf.Variable(0.0)
        seen = tf.assign_add(seen, 1.0)
        return K.mean(K.square(y_true - y_pred), -1) + 100.0 * seen

    inputs, warming = Input((2,)), Warming()
    first = Dense(1, kernel_initializer="ones")(warming(inputs))
    second = Dense(1, kernel_initializer="ones")(warming(first))
    model = Model(inputs, [first, second])
    if devices == 2:
        model = multi_gpu_model(model, 2)
    x, y = np.arange(12.0).reshape(6, 2) / 10, [np.ones((6, 1))] * 2

    def compiled():
        model.compile(keras.optimizers.SGD(1e-6), loss)

    compiled()
    np.testing.assert_allclose(model.train_on_batch(x, y), [16894.332, 246.6667, 16647.666], rtol=1e-6)
    np.testing.assert_allclose(model.train_on_batch(x, y), [15472.3652, 341.3811, 15130.9844], rtol=1e-6)
    np.testing.assert_allclose(model.test_on_batch(x, y), [600.8232, 300.4406, 300.3826], rtol=1e-6)
    np.testing.assert_allclose(model.train_on_batch(x, y), [800.8234, 400.4407, 400.3827], rtol=1e-6)
    np.testing.assert_allclose(model.predict(x[:1], verbose=0)[1], [[0.086]], atol=1e-4)
    compiled()
    np.testing.assert_allclose(model.train_on_batch(x, y), [200.8234, 100.4407, 100.3827], rtol=1e-5)
