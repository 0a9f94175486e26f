"""Layers with their old arguments, defaults and names, and layers that went."""

from __future__ import annotations

import keras
import numpy as np
import pytest
import tensorflow as tf

from parallel_compat.legacy import backend as K
from parallel_compat.legacy import layers, models
from parallel_compat.legacy.layers import Embedding


@pytest.mark.parametrize(
    ("old", "today"),
    [
        (
            lambda k: k.Dense(output_dim=3, init="uniform", bias=False),
            lambda k: k.Dense(3, kernel_initializer="uniform", use_bias=False),
        ),
        (
            lambda k: k.Convolution2D(4, 3, 5, border_mode="same", subsample=(2, 1), dim_ordering="tf"),
            lambda k: k.Conv2D(4, (3, 5), padding="same", strides=(2, 1), data_format="channels_last"),
        ),
        (lambda k: k.Conv2D(nb_filter=4, nb_row=3, nb_col=5), lambda k: k.Conv2D(4, (3, 5))),
        (lambda k: k.Conv2D(4, 3, nb_col=5), lambda k: k.Conv2D(4, (3, 5))),
        (lambda k: k.Conv1D(nb_filter=4, filter_length=3), lambda k: k.Conv1D(4, 3)),
        (lambda k: k.Convolution3D(4, 3, 4, 5), lambda k: k.Conv3D(4, (3, 4, 5))),
        (
            lambda k: k.Deconvolution2D(4, 3, 5, output_shape=(None, 9, 9, 4), subsample=(2, 2)),
            lambda k: k.Conv2DTranspose(4, (3, 5), strides=(2, 2)),
        ),
        (lambda k: k.MaxPooling1D(pool_length=3, stride=2), lambda k: k.MaxPooling1D(3, strides=2)),
        (lambda k: k.Dropout(p=0.3), lambda k: k.Dropout(0.3)),
        (lambda k: k.GaussianNoise(sigma=0.3), lambda k: k.GaussianNoise(0.3)),
        (lambda k: k.LeakyReLU(alpha=0.1), lambda k: k.LeakyReLU(negative_slope=0.1)),
        (lambda k: k.BatchNormalization(mode=0, gamma_init="ones"), lambda k: k.BatchNormalization()),
        (lambda k: k.ZeroPadding2D({"top_pad": 1, "left_pad": 2}), lambda k: k.ZeroPadding2D(((1, 0), (2, 0)))),
        (lambda k: k.Dense(np.int64(3)), lambda k: k.Dense(3)),
        (
            lambda k: k.LSTM(output_dim=3, inner_activation="sigmoid", forget_bias_init="one", consume_less="gpu"),
            lambda k: k.LSTM(3),
        ),
    ],
)
def test_old_arguments_make_todays_layer(old, today):
    keras.utils.clear_session()
    layer, expected = old(layers), today(keras.layers)
    assert isinstance(layer, type(expected))
    ignored = {"name", "recurrent_activation"}
    config, wanted = layer.get_config(), expected.get_config()
    assert {k: v for k, v in config.items() if k not in ignored} == {
        k: v for k, v in wanted.items() if k not in ignored
    }


@pytest.mark.parametrize(("old", "today"), [("maxnorm", "MaxNorm"), ("nonneg", "NonNeg"), ("unitnorm", "UnitNorm")])
def test_constraints_by_their_old_strings(old, today):
    assert type(layers.Dense(3, kernel_constraint=old).kernel_constraint).__name__ == today
    assert type(layers.Conv2D(3, 3, 3, b_constraint=old).bias_constraint).__name__ == today


def test_two_names_of_one_argument_are_refused():
    with pytest.raises(TypeError, match="got both `output_dim` and `units`"):
        layers.Dense(output_dim=3, units=4)


def test_two_numbers_after_the_filters_with_keras_2_arguments_are_refused():
    with pytest.raises(TypeError, match="not clear whether the second is a side of the kernel or the strides"):
        layers.Conv2D(4, 3, 2, padding="same")


def test_batch_normalization_mode_1_is_refused():
    with pytest.raises(TypeError, match="Only `mode=0` still exists"):
        layers.BatchNormalization(mode=1)


def test_first_weights_and_input_shapes():
    matrix = np.arange(15.0).reshape(5, 3)
    model = keras.Sequential(
        [
            layers.Embedding(5, 3, weights=[matrix], input_length=4, trainable=False),
            layers.LSTM(2, weights=[np.ones((3, 8)), np.ones((2, 8)), np.zeros(8)]),
            layers.Dense(1, weights=[np.ones((2, 1)), np.zeros(1)]),
        ]
    )
    np.testing.assert_array_equal(model.layers[0].get_weights()[0], matrix)
    np.testing.assert_array_equal(model.layers[1].get_weights()[0], np.ones((3, 8)))
    np.testing.assert_array_equal(model.layers[2].get_weights()[0], np.ones((2, 1)))


@pytest.mark.parametrize(
    ("first", "shape"),
    [
        (lambda: layers.LSTM(3, input_dim=5, input_length=4), (None, 4, 5)),
        (lambda: layers.Conv1D(3, 2, input_dim=5), (None, None, 5)),
        (lambda: layers.Embedding(5, 3, input_length=4), (None, 4)),
        (lambda: layers.Embedding(5, 3), (None, None)),
        (lambda: layers.Embedding(5, 3, input_shape=(6,)), (None, 6)),
    ],
)
def test_a_sequential_is_built_by_its_first_layer(first, shape):
    model = keras.Sequential([first()])
    assert model.built
    assert model.input_shape == shape


def test_a_layer_in_time_distributed_need_not_declare_its_shape():
    class Doubled(keras.layers.Layer):
        def call(self, x):
            return x * 2

        def compute_output_shape(self, input_shape):
            return input_shape

    inputs = layers.Input((3, 4))
    model = keras.Model(inputs, layers.TimeDistributed(Doubled())(inputs))
    assert model.output_shape == (None, 3, 4)
    np.testing.assert_array_equal(model.predict(np.ones((2, 3, 4))), np.full((2, 3, 4), 2.0))


def test_cudnn_layers_are_those_that_use_cudnn_today():
    from parallel_compat.legacy.layers import CuDNNGRU, CuDNNLSTM

    lstm, gru = CuDNNLSTM(3, return_sequences=True), CuDNNGRU(3)
    assert type(lstm) is keras.layers.LSTM
    assert type(gru) is keras.layers.GRU
    assert isinstance(lstm, CuDNNLSTM)
    assert not isinstance(lstm, CuDNNGRU)
    assert lstm.cell.recurrent_activation is keras.activations.sigmoid
    assert gru.cell.reset_after is True
    assert lstm.return_sequences is True


def test_layers_that_went_compute_and_are_saved(tmp_path):
    model = keras.Sequential([layers.Highway(input_dim=3, activation="relu"), layers.MaxoutDense(2)])
    x = np.random.rand(4, 3).astype("float32")
    highway, maxout = model.layers
    w, carry, b, b_carry = (np.array(v) for v in (highway.W, highway.W_carry, highway.b, highway.b_carry))
    gate = 1 / (1 + np.exp(-(x @ carry + b_carry)))
    hidden = np.maximum(x @ w + b, 0) * gate + (1 - gate) * x
    expected = (np.einsum("ni,fio->nfo", hidden, np.array(maxout.W)) + np.array(maxout.b)).max(axis=1)
    np.testing.assert_allclose(model.predict(x), expected, atol=1e-6)
    models.save_model(model, tmp_path / "m.keras")
    np.testing.assert_allclose(models.load_model(tmp_path / "m.keras").predict(x), expected, atol=1e-6)


def test_add_variable_is_add_weight():
    class Head(keras.layers.Layer):
        def build(self, input_shape):
            self.w = self.add_weight(name="heads", shape=[int(input_shape[-1]), 4], initializer="ones")
            self.b = self.add_weight(name="bias", shape=[4], dtype="float32", initializer="zeros", trainable=False)

        def call(self, x):
            return x @ self.w + self.b

    head = Head()
    assert head(np.ones((2, 3), "float32")).shape == (2, 4)
    assert [weight.shape for weight in head.weights] == [(3, 4), (4,)]
    assert [len(head.trainable_weights), "heads" in head.w.name] == [1, True]


def test_a_layer_of_keras_with_a_call_of_its_own():
    """Embeddings that give their table as well, as language models have them."""

    class WithTable(Embedding):
        def compute_mask(self, inputs, mask=None):
            return [super().compute_mask(inputs, mask), None]

        def call(self, inputs):
            return [super().call(inputs), self.embeddings + 0.0]

    class Declared(WithTable):
        def compute_output_shape(self, input_shape):
            return [super().compute_output_shape(input_shape), (self.input_dim, self.output_dim)]

    inputs = layers.Input((5,))
    for kind in (WithTable, Declared):
        embedded, table = kind(7, 3, mask_zero=True)(inputs)
        assert (embedded.shape, table.shape) == ((None, 5, 3), (7, 3))
    outputs = layers.Lambda(lambda pair: K.dot(pair[0], K.transpose(pair[1])))
    model = keras.models.Model(inputs, outputs([embedded, table]))
    (weights,) = model.get_weights()
    found = model.predict(np.array([[1, 2, 3, 0, 0]]), verbose=0)
    np.testing.assert_allclose(found[0], weights[[1, 2, 3, 0, 0]] @ weights.T, rtol=1e-5)


def test_a_weight_is_there():
    class Shift(keras.layers.Layer):
        def build(self, input_shape):
            self.bias = self.add_weight(shape=(2,), initializer="ones", name="bias")
            super().build(input_shape)

        def call(self, x):
            return x + self.bias if self.bias is not None else x

    np.testing.assert_array_equal(Shift()(np.ones((1, 2), "float32")), [[2, 2]])


def test_an_input_with_both_shapes_has_that_of_the_batch():
    assert layers.Input(shape=(4,), batch_shape=(2, 3)).shape == (2, 3)


def test_a_layer_reads_the_shape_that_keras_wrote_on_its_input():
    """As layers of detection networks do, also while the step is traced and without a graph."""

    class Boxes(keras.layers.Layer):
        def call(self, x):
            _, height, width, _ = x.shape
            return K.sum(x, axis=(1, 2)) / float(height * width)

    inputs = layers.Input(shape=(4, 5, 2))
    model = keras.models.Model(inputs, Boxes()(inputs))
    model.compile("sgd", "mse")
    x = np.random.rand(3, 4, 5, 2).astype("float32")
    np.testing.assert_allclose(model.predict(x, verbose=0), x.mean((1, 2)), rtol=1e-5)
    np.testing.assert_allclose(Boxes()(tf.constant(x)), x.mean((1, 2)), rtol=1e-5)


def test_a_sequential_has_its_ends_before_it_is_called():
    model = keras.Sequential([layers.Dense(3, input_dim=2), layers.Dense(1)])
    hidden = keras.Model(model.inputs[0], model.layers[-2].output)
    assert hidden.output_shape == (None, 3)
    assert tuple(model.outputs[0].shape) == (None, 1)


def test_modules_that_tensorflow_listed_side_by_side():
    from tensorflow.python.ops import gen_sparse_ops, math_ops
    from tensorflow.python.ops import gen_sparse_ops as today

    from parallel_compat.names import eras
    from parallel_compat.names.evidence import evidence_of_source

    assert gen_sparse_ops is today
    assert float(math_ops.reduce_sum([1.0, 2.0])) == 3.0
    source = "from tensorflow import keras\nfrom tensorflow.python import gen_sparse_ops\n"
    assert eras.verdict(evidence_of_source(source)).era is eras.Era.TF_KERAS_2_2


def test_functions_of_channels_first_on_any_processor():
    from parallel_compat.legacy import backend as K

    x, kernel = np.random.RandomState(0).rand(2, 3, 5, 6), np.random.RandomState(1).rand(2, 2, 3, 4)
    swapped = np.moveaxis(x, 1, -1)
    for function in (
        lambda data, order: K.conv2d(K.constant(data), K.constant(kernel), data_format=order),
        lambda data, order: K.pool2d(K.constant(data), (2, 2), (1, 1), "same", order, "avg"),
    ):
        first, last = function(x, "channels_first"), function(swapped, "channels_last")
        np.testing.assert_allclose(np.moveaxis(first, 1, -1), last, rtol=1e-5)


def penalized(normalization):
    """A model and a batch of which the penalty of gradients was recorded, on TensorFlow 1.15.5 and 2.2.3."""
    x = keras.Input((4, 4, 2))
    y = layers.Activation("tanh")(normalization(layers.Conv2D(3, 3)(x)))
    model = keras.Model(x, layers.Dense(1)(layers.Flatten()(y)))
    draw = np.random.RandomState(0)
    model.set_weights([draw.uniform(0.1, 1, weight.shape) for weight in model.get_weights()])
    return model, draw.uniform(-1, 1, (6, 4, 4, 2)).astype("float32")
