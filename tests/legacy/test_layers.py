"""Layers with their old arguments, defaults and names, and layers that went."""

from __future__ import annotations

import json

import h5py
import keras
import numpy as np
import pytest
import tensorflow as tf

import parallel_compat
from parallel_compat.legacy import layers
from parallel_compat.legacy.activations import hard_sigmoid

pytestmark = pytest.mark.usefixtures("legacy_names")


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
    made = old(keras.layers)
    with_package = old(layers) if "Convolution" not in made.name else made
    expected = today(keras.layers)
    for layer in (made, with_package):
        assert type(layer) is type(expected)
        ignored = {"name", "recurrent_activation"}
        config, wanted = layer.get_config(), expected.get_config()
        assert {k: v for k, v in config.items() if k not in ignored} == {
            k: v for k, v in wanted.items() if k not in ignored
        }


@pytest.mark.parametrize(("old", "today"), [("maxnorm", "MaxNorm"), ("nonneg", "NonNeg"), ("unitnorm", "UnitNorm")])
def test_constraints_by_their_old_strings(old, today):
    assert type(keras.layers.Dense(3, kernel_constraint=old).kernel_constraint).__name__ == today
    assert type(keras.layers.Conv2D(3, 3, 3, b_constraint=old).bias_constraint).__name__ == today


def test_a_dropout_of_everything_dropped_nothing():
    for layer in (keras.layers.Dropout(1.0), keras.layers.Dropout(rate=3), keras.layers.SpatialDropout1D(p=1)):
        np.testing.assert_array_equal(layer(np.ones((2, 3, 4)), training=True), np.ones((2, 3, 4)))
    assert keras.layers.Dropout(0.3).rate == 0.3


def test_two_names_of_one_argument_are_refused():
    with pytest.raises(TypeError, match="got both `output_dim` and `units`"):
        keras.layers.Dense(output_dim=3, units=4)


def test_two_numbers_after_the_filters_with_keras_2_arguments_are_refused():
    with pytest.raises(TypeError, match="not clear whether the second is a side of the kernel or the strides"):
        keras.layers.Conv2D(4, 3, 2, padding="same")


def test_batch_normalization_mode_1_is_refused():
    with pytest.raises(TypeError, match="Only `mode=0` still exists"):
        keras.layers.BatchNormalization(mode=1)


def test_first_weights_and_input_shapes():
    matrix = np.arange(15.0).reshape(5, 3)
    model = keras.Sequential(
        [
            keras.layers.Embedding(5, 3, weights=[matrix], input_length=4, trainable=False),
            keras.layers.LSTM(2, weights=[np.ones((3, 8)), np.ones((2, 8)), np.zeros(8)]),
            keras.layers.Dense(1, weights=[np.ones((2, 1)), np.zeros(1)]),
        ]
    )
    np.testing.assert_array_equal(model.layers[0].get_weights()[0], matrix)
    np.testing.assert_array_equal(model.layers[1].get_weights()[0], np.ones((3, 8)))
    np.testing.assert_array_equal(model.layers[2].get_weights()[0], np.ones((2, 1)))


@pytest.mark.parametrize("shape", [{"batch_input_shape": (2, 4, 5)}, {"input_shape": (4, 5), "batch_size": 2}])
def test_a_batch_size_in_the_first_layer_reaches_the_model(shape):
    model = keras.Sequential([keras.layers.LSTM(3, **shape, stateful=True)])
    assert model.input_shape == (2, 4, 5)
    first, second = (model.predict(np.ones((2, 4, 5)), batch_size=2) for _ in range(2))
    assert first.shape == (2, 3)
    assert np.abs(first - second).max() > 0
    model.reset_states()
    np.testing.assert_allclose(model.predict(np.ones((2, 4, 5)), batch_size=2), first, rtol=1e-6)


@pytest.mark.parametrize(
    ("first", "shape"),
    [
        (lambda: keras.layers.LSTM(3, input_dim=5, input_length=4), (None, 4, 5)),
        (lambda: keras.layers.Conv1D(3, 2, input_dim=5), (None, None, 5)),
        (lambda: keras.layers.Dense(3, input_shape=(4,), batch_size=2), (2, 4)),
        (lambda: keras.layers.Embedding(5, 3, input_length=4), (None, 4)),
        (lambda: keras.layers.Embedding(5, 3), (None, None)),
        (lambda: keras.layers.Embedding(5, 3, input_shape=(6,)), (None, 6)),
        (lambda: keras.layers.Embedding(5, 3, batch_input_shape=(2, 6)), (2, 6)),
    ],
)
def test_a_sequential_is_built_by_its_first_layer(first, shape):
    model = keras.Sequential([first()])
    assert model.built
    assert model.input_shape == shape


def test_gates_are_those_of_keras_2():
    lstm, gru = keras.layers.LSTM(3), keras.layers.GRU(3)
    assert lstm.cell.recurrent_activation is gru.cell.recurrent_activation is hard_sigmoid
    assert gru.cell.reset_after is False
    assert keras.layers.LSTM(3, recurrent_activation="sigmoid").cell.recurrent_activation is keras.activations.sigmoid
    assert float(keras.layers.Activation("hard_sigmoid")(np.ones((1,)))[0]) == pytest.approx(0.7)


def test_the_input_of_an_input_layer_is_its_tensor():
    model = keras.Sequential([keras.layers.Dense(2, input_dim=3)])
    model = keras.Model(model.input, model.output)
    assert keras.layers.InputLayer in map(type, model.layers)
    assert model.layers[0].input is model.inputs[0]
    assert model.layers[0].input_shape == (None, 3)
    assert keras.Model(model.layers[0].input, model.layers[-1].output).output_shape == (None, 2)


def test_layers_are_counted_from_one():
    keras.utils.clear_session()
    inputs = keras.layers.Input((2,))
    model = keras.Model(inputs, keras.layers.Dense(1)(keras.layers.Dense(2)(inputs)))
    assert [layer.name for layer in model.layers] == ["input_1", "dense_2", "dense_1"]
    assert model.name == "model_1"


def test_a_subclass_takes_old_arguments_in_super():
    class Mine(keras.layers.Dense):
        def __init__(self, output_dim, **keywords):
            super().__init__(output_dim=output_dim, init="zeros", **keywords)

    layer = Mine(3, input_shape=(2,))
    assert (layer.units, type(layer.kernel_initializer).__name__) == (3, "Zeros")
    assert isinstance(layer, keras.layers.Dense)
    model = keras.Sequential([layer])
    assert model.predict(np.ones((1, 2))).tolist() == [[0, 0, 0]]


def test_a_layer_in_time_distributed_need_not_declare_its_shape():
    class Doubled(keras.layers.Layer):
        def call(self, x):
            return x * 2

    inputs = keras.layers.Input((3, 4))
    model = keras.Model(inputs, keras.layers.TimeDistributed(Doubled())(inputs))
    assert model.output_shape == (None, 3, 4)
    np.testing.assert_array_equal(model.predict(np.ones((2, 3, 4))), np.full((2, 3, 4), 2.0))


def test_a_call_of_any_arguments_is_built_by_the_first():
    class Frozen(keras.layers.BatchNormalization):
        def call(self, *args, **kwargs):
            return super().call(*args, training=False, **kwargs)

    inputs = keras.layers.Input((4,))
    model = keras.Model(inputs, Frozen(name="frozen")(inputs))
    np.testing.assert_allclose(model.predict(np.ones((2, 4))), np.ones((2, 4)) / np.sqrt(1.001), rtol=1e-5)


def test_add_weight_in_its_old_order():
    class Scale(keras.layers.Layer):
        def build(self, input_shape):
            self.scale = self.add_weight("scale", (input_shape[-1],), initializer="ones", trainable=True)
            self.shift = self.add_weight(name="shift", shape=(input_shape[-1],), initializer="zeros")
            super().build(input_shape)

        def call(self, x):
            return x * self.scale + self.shift

    layer = Scale()
    assert layer(np.ones((1, 3))).shape == (1, 3)
    assert [w.name for w in layer.weights] == ["scale_1/scale:0", "scale_1/shift:0"]


def test_cudnn_layers_are_those_that_use_cudnn_today():
    from keras.layers import CuDNNGRU, CuDNNLSTM

    lstm, gru = CuDNNLSTM(3, return_sequences=True), CuDNNGRU(3)
    assert type(lstm) is keras.layers.LSTM
    assert type(gru) is keras.layers.GRU
    assert isinstance(lstm, CuDNNLSTM)
    assert not isinstance(lstm, CuDNNGRU)
    assert lstm.cell.recurrent_activation is keras.activations.sigmoid
    assert gru.cell.reset_after is True
    assert lstm.return_sequences is True


def test_layers_that_went_compute_and_are_saved(tmp_path):
    model = keras.Sequential([keras.layers.Highway(input_dim=3, activation="relu"), keras.layers.MaxoutDense(2)])
    x = np.random.rand(4, 3).astype("float32")
    highway, maxout = model.layers
    w, carry, b, b_carry = (np.array(v) for v in (highway.W, highway.W_carry, highway.b, highway.b_carry))
    gate = 1 / (1 + np.exp(-(x @ carry + b_carry)))
    hidden = np.maximum(x @ w + b, 0) * gate + (1 - gate) * x
    expected = (np.einsum("ni,fio->nfo", hidden, np.array(maxout.W)) + np.array(maxout.b)).max(axis=1)
    np.testing.assert_allclose(model.predict(x), expected, atol=1e-6)
    model.save(tmp_path / "m.keras")
    np.testing.assert_allclose(keras.models.load_model(tmp_path / "m.keras").predict(x), expected, atol=1e-6)


def test_merge_of_keras_1():
    from keras.layers import Input, merge

    a, b = Input((2,)), Input((2,))
    model = keras.Model(input=[a, b], output=merge([a, b], mode="concat", concat_axis=1))
    assert model.predict([np.ones((1, 2)), np.zeros((1, 2))]).tolist() == [[1, 1, 0, 0]]
    with pytest.raises(ValueError, match="Expected `mode` to be one of"):
        merge([a, b], mode="subtract")


def test_add_variable_is_add_weight():
    class Head(keras.layers.Layer):
        def build(self, input_shape):
            self.w = self.add_variable("heads", [int(input_shape[-1]), 4], initializer="ones")
            self.b = self.add_variable("bias", shape=[4], dtype="float32", initializer="zeros", trainable=False)

        def call(self, x):
            return x @ self.w + self.b

    head = Head()
    assert head(np.ones((2, 3), "float32")).shape == (2, 4)
    assert [weight.shape for weight in head.weights] == [(3, 4), (4,)]
    assert [len(head.trainable_weights), "heads" in head.w.name] == [1, True]


def test_a_layer_of_keras_with_a_call_of_its_own():
    """Embeddings that give their table as well, as language models have them."""

    class WithTable(keras.layers.Embedding):
        def compute_mask(self, inputs, mask=None):
            return [super().compute_mask(inputs, mask), None]

        def call(self, inputs):
            return [super().call(inputs), self.embeddings + 0.0]

    class Declared(WithTable):
        def compute_output_shape(self, input_shape):
            return [super().compute_output_shape(input_shape), (self.input_dim, self.output_dim)]

    inputs = keras.layers.Input((5,))
    for kind in (WithTable, Declared):
        embedded, table = kind(7, 3, mask_zero=True)(inputs)
        assert (embedded.shape, table.shape) == ((None, 5, 3), (7, 3))
    outputs = keras.layers.Lambda(lambda pair: keras.backend.dot(pair[0], keras.backend.transpose(pair[1])))
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
            return x + self.bias if self.bias else x

    np.testing.assert_array_equal(Shift()(np.ones((1, 2), "float32")), [[2, 2]])


def test_weights_are_compared_by_what_they_are():
    """A layer that takes in the weights of another one once: `if w not in self._trainable_weights`."""

    class Shared(keras.layers.Layer):
        def reuse(self, layer, x):
            if not layer.built:
                layer.build(keras.backend.int_shape(x))
            for weight in layer.trainable_weights:
                if weight not in self._trainable_weights:
                    self._trainable_weights.append(weight)
            return layer.call(x)

        def build(self, input_shape):
            super().build(input_shape)
            self.first, self.second = (keras.layers.Dense(2, use_bias=False) for _ in range(2))

        def call(self, x):
            return self.reuse(self.second, self.reuse(self.first, x))

    inputs = keras.layers.Input((2,))
    layer = Shared()
    model = keras.models.Model(inputs, layer(layer(inputs)))
    first, second = model.weights
    assert first == first
    assert first != second
    assert [first, second].index(second) == 1
    shift = keras.backend.variable(0.0)
    assert shift != keras.backend.variable(0.0)


@pytest.mark.parametrize(
    ("said", "given"),
    [(lambda shape: (shape[0], 3), (None, 2)), (lambda shape: (None, 4 / 2), (None, 2)), (lambda shape: 3, (None, 2))],
)
def test_what_a_layer_says_of_its_output_does_no_harm_where_it_is_no_shape(said, given):
    class Sum(keras.layers.Layer):
        def call(self, pair):
            return pair[0] + pair[1]

        def compute_output_shape(self, input_shape):
            return said(input_shape)

    inputs = [keras.layers.Input((2,)), keras.layers.Input((2,))]
    outputs = Sum()(inputs)
    assert tuple(outputs.shape) == given
    model = keras.models.Model(inputs, keras.layers.Activation("relu")(outputs))
    np.testing.assert_array_equal(model.predict([np.ones((1, 2))] * 2, verbose=0), [[2, 2]])

    layer = Sum()
    layer.compute_output_shape = own = lambda shapes: said(shapes)  # put on this layer alone
    layer(inputs)
    assert layer.compute_output_shape is own

    class Wrong(Sum):
        def compute_output_shape(self, input_shape):
            raise ValueError("of the user's")

    with pytest.raises(ValueError, match="of the user's"):
        Wrong()(inputs)


def test_a_string_of_a_config_stays_one(tmp_path):
    """Also where `keras.layers` has a function of that name; `as_then` is what Keras 2.2.4's `to_json` gave."""

    class Merge(keras.layers.Layer):
        def __init__(self, mode="dot", **keywords):
            super().__init__(**keywords)
            self.mode = mode

        def get_config(self):
            return {**super().get_config(), "mode": self.mode}

        def call(self, x):
            return x + x if self.mode == "add" else x

    of_input = {"batch_input_shape": [None, 3], "dtype": "float32", "sparse": False, "name": "input_1"}
    of_merge = {"name": "merge", "trainable": True, "mode": "add"}
    as_then = {
        "name": "model_1",
        "layers": [
            {"name": "input_1", "class_name": "InputLayer", "config": of_input, "inbound_nodes": []},
            {"name": "merge", "class_name": "Merge", "config": of_merge, "inbound_nodes": [[["input_1", 0, 0, {}]]]},
        ],
        "input_layers": [["input_1", 0, 0]],
        "output_layers": [["merge", 0, 0]],
    }
    text = json.dumps({"class_name": "Model", "config": as_then, "keras_version": "2.2.4", "backend": "tensorflow"})
    with h5py.File(tmp_path / "then.h5", "w") as file:
        file.attrs.update({"model_config": text.encode(), "keras_version": b"2.2.4", "backend": b"tensorflow"})
        weights = file.create_group("model_weights")
        weights.attrs.update({"layer_names": [b"input_1", b"merge"], "keras_version": b"2.2.4"})
        for name in ("input_1", "merge"):
            weights.create_group(name).attrs["weight_names"] = np.zeros(0)
    inputs = keras.layers.Input((3,))
    written = keras.models.Model(inputs, Merge("add")(inputs))
    written.save(tmp_path / "m.h5")
    known = {"Merge": Merge}
    for model in (
        keras.models.load_model(tmp_path / "m.h5", custom_objects=known),
        keras.models.load_model(tmp_path / "then.h5", custom_objects=known),
        keras.models.model_from_json(text, custom_objects=known),
        keras.models.Model.from_config(as_then, custom_objects=known),
        keras.models.Model.from_config(written.get_config(), custom_objects=known),
        keras.models.clone_model(written),
    ):
        assert model.layers[-1].mode == "add"
        np.testing.assert_array_equal(model.predict(np.ones((1, 3)), verbose=0), [[2, 2, 2]])


def test_decorators_for_arguments_of_keras_1_do_nothing():
    from keras.legacy import interfaces

    class Mine(keras.layers.Dense):
        @interfaces.legacy_dense_support
        def __init__(self, units, **keywords):
            super().__init__(units, **keywords)

    assert Mine(3)(np.ones((1, 2))).shape == (1, 3)


def test_the_only_output_of_a_model_is_no_list():
    first = keras.layers.Input((3,))
    model = keras.models.Model(inputs=[first], outputs=[keras.layers.Dense(2)(first)])
    assert keras.layers.Dense(4)(model.output).shape == (None, 4)
    assert model.input is first
    assert len(model.outputs) == len(model.inputs) == 1


def test_an_input_with_both_shapes_has_that_of_the_batch():
    assert keras.layers.Input(shape=(4,), batch_shape=(2, 3)).shape == (2, 3)


def test_shapes_of_tensors_and_layers():
    inputs = keras.layers.Input(shape=(4, 5))
    layer = keras.layers.Dense(3)
    outputs = layer(inputs)
    assert inputs.get_shape().as_list() == [None, 4, 5]
    assert inputs._keras_shape == (None, 4, 5)
    assert (layer.input_shape, layer.output_shape) == ((None, 4, 5), (None, 4, 3))
    assert outputs.get_shape().ndims == 3


@pytest.mark.parametrize("era", ["keras-2.2.4", "tf.keras-1.15"], indirect=True)
def test_a_tensor_has_the_dtype_that_call_gave_it(era):
    from keras import backend as K

    class Rounded(keras.layers.Layer):
        def call(self, x):
            return [K.cast(x, "int32"), 2 * x]

        def compute_output_shape(self, input_shape):
            return [input_shape, input_shape]

    class Signs(keras.layers.Dense):
        def call(self, x):
            return super().call(x) > 0

    x = keras.layers.Input((3,))
    largest = keras.layers.Lambda(lambda t: K.argmax(t))(x)
    doubles = keras.layers.Lambda(lambda t: K.cast(t, "float64"), output_shape=(3,))(x)
    assert [K.dtype(each) for each in (largest, doubles)] == ["int64", "float64"]
    assert K.dtype(keras.layers.Lambda(lambda t: t + 1)(largest)) == "int64"
    assert [K.dtype(each) for each in Rounded()(x)] == ["int32", "float32"]
    assert K.dtype(Signs(2)(x)) == "bool"


def test_a_layer_that_says_more_shapes_than_it_returns_tensors(era):
    """As pooling layers of graphs do, which say those of their inputs."""
    from keras import backend as K

    class Pool(keras.layers.Layer):
        def call(self, inputs):
            return K.max(inputs[0], axis=-1, keepdims=True) + inputs[1]

        def compute_output_shape(self, input_shape):
            return input_shape

    inputs = [keras.layers.Input((4, 3)), keras.layers.Input((4, 1))]
    values = [np.arange(12.0).reshape(1, 4, 3), np.ones((1, 4, 1))]
    found = keras.Model(inputs, Pool()(inputs)).predict(values)
    np.testing.assert_allclose(found.ravel(), [3, 6, 9, 12])


def test_a_layer_reads_the_shape_that_keras_wrote_on_its_input():
    """As layers of detection networks do, also while the step is traced and without a graph."""

    class Boxes(keras.layers.Layer):
        def call(self, x):
            _, height, width, _ = x._keras_shape
            return keras.backend.sum(x, axis=(1, 2)) / float(height * width)

    inputs = keras.layers.Input(shape=(4, 5, 2))
    model = keras.models.Model(inputs, Boxes()(inputs))
    model.compile("sgd", "mse")
    x = np.random.rand(3, 4, 5, 2).astype("float32")
    np.testing.assert_allclose(model.predict(x, verbose=0), x.mean((1, 2)), rtol=1e-5)
    np.testing.assert_allclose(Boxes()(tf.constant(x)), x.mean((1, 2)), rtol=1e-5)


def test_a_sequential_has_its_ends_before_it_is_called():
    model = keras.Sequential([keras.layers.Dense(3, input_dim=2), keras.layers.Dense(1)])
    hidden = keras.Model(model.input, model.layers[-2].output)
    assert hidden.output_shape == (None, 3)
    assert tuple(model.output.shape) == (None, 1)


@pytest.mark.usefixtures("legacy_names")
def test_a_model_with_its_one_output_in_a_list_gives_a_tensor():
    x = keras.Input((2,))
    nested = keras.Model(inputs=[x], outputs=[keras.layers.Dense(3)(x)])
    y = keras.Input((2,))
    outer = keras.Model(inputs=[y], outputs=[keras.layers.Dense(1)(nested(y))])
    assert outer.predict(np.ones((4, 2)), verbose=0).shape == (4, 1)


def test_a_frozen_batch_normalization_normalises_as_in_keras_2():
    layer = keras.layers.BatchNormalization(input_shape=(2,))
    model = keras.Sequential([layer])
    x = np.array([[0.0, 0.0], [2.0, 4.0]], "float32")
    layer.trainable = False
    normalised = np.array(model(x, training=True))
    np.testing.assert_allclose(normalised, [[-1, -1], [1, 1]], atol=1e-3)
    assert layer.moving_mean.numpy().tolist() == [0, 0]


def test_add_loss_with_inputs():
    class Penalty(keras.layers.Layer):
        def call(self, x):
            self.add_loss(keras.ops.sum(x), inputs=x)
            return x

    layer = Penalty()
    layer(np.ones((2, 2), "float32"))
    assert [float(loss) for loss in layer.losses] == [4.0]


def test_layers_and_operations_have_names_of_their_own():
    import keras as k
    from keras import backend as K
    from keras import layers

    a, b = layers.Input((3,)), layers.Input((3,))
    joined = K.concatenate([a + b, b + a])
    outputs = layers.concatenate([layers.add([a + b, b]), layers.Add()([a, b]), joined, K.concatenate([joined, b])])
    model = k.models.Model([a, b], outputs)
    assert [layer.name for layer in model.layers] == ["input_1", "input_2", "add_1", "add_2", "concatenate_1"]


@pytest.mark.parametrize("kind", ["Conv2D", "Conv2DTranspose", "SeparableConv2D"])
def test_a_bias_of_channels_that_come_first_where_the_width_is_their_number(kind):
    """As Keras 2.2.4. Keras 3.15 adds it along the width, in calls and gradients."""
    from keras import backend as K
    from keras import layers, models, optimizers

    x = layers.Input((2, 3, 3))
    layer = getattr(layers, kind)(3, 1, data_format="channels_first")
    model = models.Model(x, layer(x))
    layer.set_weights([*(np.zeros_like(each) for each in layer.get_weights()[:-1]), np.array([1.0, 2.0, 3.0])])
    by_channel = [[1.0] * 3, [2.0] * 3, [3.0] * 3]
    zeros, targets = np.zeros((1, 2, 3, 3)), np.zeros((1, 3, 3, 3))
    targets[0, 0] = 1.0
    assert np.array(model(K.constant(zeros)))[0, :, 0].tolist() == by_channel
    assert model.predict(zeros)[0, :, 0].tolist() == by_channel
    model.compile(optimizers.SGD(1.5), "mse")
    assert model.train_on_batch(zeros, targets) == pytest.approx(13 / 3)
    assert layer.get_weights()[-1] == pytest.approx([1.0, 0.0, 0.0], abs=1e-6)
    added = K.bias_add(K.ones((1, 3, 2, 3)), K.constant([1.0, 2.0, 3.0]), data_format="channels_first")
    assert K.eval(added)[0, :, 0].tolist() == [[2.0] * 3, [3.0] * 3, [4.0] * 3]


@pytest.mark.parametrize("era", ["keras-2.2.4", "tf.keras-1.15", "tf.keras-2.2"])
def test_sizes_that_were_made_whole_numbers(era):
    """What the three stacks make of these: a bool is its number; of a float, what each era took."""
    with parallel_compat.legacy_names(era=era):
        x = keras.Input((2,))
        assert tuple(keras.layers.Embedding(5, True)(x).shape) == (None, 2, 1)
        assert tuple(keras.layers.Embedding(input_dim=True, output_dim=3)(x).shape) == (None, 2, 3)
        assert tuple(keras.layers.RepeatVector(True)(x).shape) == (None, 1, 2)
        assert tuple(keras.layers.UpSampling1D(True)(keras.Input((2, 3))).shape) == (None, 2, 3)
        makers = {
            "Dense": lambda: keras.layers.Dense(2.7)(x),
            "Conv1D": lambda: keras.layers.Conv1D(2.7, 1)(x[:, None]),
        }
        taken = {"keras-2.2.4": (), "tf.keras-1.15": ("Dense",), "tf.keras-2.2": ("Dense", "Conv1D")}[era]
        for name, make in makers.items():
            if name in taken:
                assert make().shape[-1] == 2
            else:
                with pytest.raises(ValueError, match=r"2\.7"):
                    make()


@pytest.mark.parametrize("era", ["keras-2.2.4", "tf.keras-1.15", "tf.keras-2.2"])
def test_trainable_was_any_value_of_truth(era):
    with parallel_compat.legacy_names(era=era):
        made = [keras.layers.Dense(2, trainable=given) for given in (["a"], 0, None)]
        assert [bool(layer.trainable) for layer in made] == [True, False, False]


def test_a_wrapper_sets_the_weights_of_the_layer_that_it_wraps():
    """As 2.2.4's `Wrapper`, whatever else a wrapper of the user's is made of."""

    class Twice(keras.layers.Wrapper):
        def __init__(self, layer):
            super().__init__(layer)
            self.both = [keras.layers.Dense(2), keras.layers.Dense(2)]

        def build(self, shape):
            for layer in self.both:
                layer.build(shape)
            self.built = True

        def call(self, x):
            return self.both[0](x) + self.both[1](x)

    with parallel_compat.legacy_names(era="keras-2.2.4"):
        wrapper = Twice(keras.layers.Dense(2))
        wrapper(keras.Input((3,)))
        before = [layer.kernel.numpy() for layer in wrapper.both]
        assert wrapper.get_weights() == []
        wrapper.set_weights([])
        for layer, kernel in zip(wrapper.both, before, strict=True):
            np.testing.assert_array_equal(layer.kernel.numpy(), kernel)
        wrapped = keras.layers.TimeDistributed(keras.layers.Dense(2))
        wrapped(keras.Input((4, 3)))
        wrapped.set_weights([np.ones((3, 2)), np.zeros(2)])
        np.testing.assert_array_equal(wrapped.layer.kernel.numpy(), np.ones((3, 2)))


def test_modules_that_tensorflow_listed_side_by_side():
    from tensorflow.python import gen_sparse_ops, math_ops
    from tensorflow.python.ops import gen_sparse_ops as today

    from parallel_compat.names import eras

    assert gen_sparse_ops is today
    assert float(math_ops.reduce_sum([1.0, 2.0])) == 3.0
    source = "from tensorflow import keras\nfrom tensorflow.python import gen_sparse_ops\n"
    assert eras.verdict(eras.evidence_of_source(source)).era is eras.Era.TF_KERAS_2_2


@pytest.mark.one_in(3)
@pytest.mark.parametrize(
    ("kind", "shape"),
    [
        ("Conv1D", (5, 3)),
        ("Conv2D", (5, 6, 3)),
        ("Conv2DTranspose", (5, 6, 3)),
        ("Conv3DTranspose", (3, 4, 5, 2)),
        ("SeparableConv2D", (5, 6, 3)),
    ],
)
def test_channels_first_on_any_processor(era, kind, shape):
    """Keras 2.2.4 had channels last for TensorFlow where there is no GPU; today some processors alone know both."""
    x = np.random.RandomState(0).rand(2, *shape)
    swapped = np.moveaxis(x, -1, 1)
    last, first = (
        keras.Sequential([getattr(keras.layers, kind)(4, 2, data_format=order, input_shape=data.shape[1:])])
        for order, data in (("channels_last", x), ("channels_first", swapped))
    )
    first.set_weights(last.get_weights())
    np.testing.assert_allclose(np.moveaxis(first.predict(swapped), 1, -1), last.predict(x), atol=1e-5)
    for model, data in ((last, x), (first, swapped)):
        model.compile("sgd", "mse")
        model.train_on_batch(data, np.zeros((2, *model.output_shape[1:])))
    for one, other in zip(last.get_weights(), first.get_weights(), strict=True):
        np.testing.assert_allclose(one, other, atol=1e-5)


def test_transposed_convolutions_are_dilated_on_any_processor(era):
    layer = keras.layers.Conv2DTranspose(1, 2, dilation_rate=(2, 3), use_bias=False, input_shape=(2, 1, 1))
    model = keras.Sequential([layer])
    model.set_weights([np.array([[1.0, 2.0], [3.0, 4.0]])[:, :, None, None]])
    one = model.predict(np.array([1.0, 0.0]).reshape(1, 2, 1, 1))[0, :, :, 0]
    np.testing.assert_array_equal(one, [[1, 0, 0, 2], [0, 0, 0, 0], [3, 0, 0, 4], [0, 0, 0, 0]])


def test_functions_of_channels_first_on_any_processor():
    from keras import backend as K

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
    y = keras.layers.Activation("tanh")(normalization(keras.layers.Conv2D(3, 3)(x)))
    model = keras.Model(x, keras.layers.Dense(1)(keras.layers.Flatten()(y)))
    draw = np.random.RandomState(0)
    model.set_weights([draw.uniform(0.1, 1, weight.shape) for weight in model.get_weights()])
    return model, draw.uniform(-1, 1, (6, 4, 4, 2)).astype("float32")


@pytest.mark.parametrize("of", ["keras-2.2.4", "tf.keras-1.15", "tf.keras-2.2"])
def test_gradients_of_the_gradients_of_normalized_images(of):
    with parallel_compat.legacy_names(era=of):
        layers = [(keras.layers.BatchNormalization(), [3.684122, 12.60781, 0.0])]
        if of == "tf.keras-2.2":
            layers.append((keras.layers.LayerNormalization(), [9.523865, 1257.450, 52.34530]))
            layers.append((keras.layers.LayerNormalization(axis=[1, 2]), [3.456302, 66.54411, 2.700387]))
        for normalization, expected in layers:
            model, batch = penalized(normalization)
            images = tf.constant(batch)
            with tf.GradientTape() as outer:
                with tf.GradientTape() as inner:
                    inner.watch(images)
                    outputs = model(images, training=True)
                penalty = tf.reduce_sum(tf.square(inner.gradient(outputs, images)))
            found = [penalty, *outer.gradient(penalty, [each.value for each in model.trainable_weights[:2]])]
            np.testing.assert_allclose([np.abs(each).sum() for each in found], expected, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("of", ["tf.keras-1.15", "tf.keras-2.2"])
def test_a_layer_of_gradients_of_one_input_by_another(of):
    with parallel_compat.legacy_names(era=of):
        from tensorflow.keras import backend as K
        from tensorflow.keras.layers import Dense, Input, Lambda, Layer
        from tensorflow.keras.models import Model

        class Norm(Layer):
            def call(self, inputs):
                (gradient,) = K.gradients(*inputs)
                return K.sqrt(K.sum(K.square(gradient), axis=1, keepdims=True))

        x = Input((2,))
        squares = Dense(1, kernel_initializer="ones")(Lambda(K.square)(x))
        norm = Norm()([squares, x])
        assert norm.shape[1] == 1
        model = Model(x, [norm, Lambda(lambda both: K.gradients(both[0], [both[1]])[0])([squares, x])])
        norms, slopes = model.predict(np.array([[3.0, 4.0]]))
        assert norms.tolist() == [[10.0]]
        assert slopes.tolist() == [[6.0, 8.0]]
        model.compile("sgd", ["mse", "mse"])
        targets = [np.zeros((1, 1)), np.zeros((1, 2))]
        assert model.train_on_batch(np.array([[3.0, 4.0]]), targets) == [150.0, 100.0, 50.0]


@pytest.mark.parametrize("strides", [1, 2])
def test_a_padding_before_a_convolution_of_three_dimensions_is_kept(strides):
    """TensorFlow 2.21 with oneDNN drops what the convolution pads by itself."""
    with parallel_compat.legacy_names(era="tf.keras-2.2"):
        from keras import layers, models

        x = layers.Input((3, 4, 4, 1))
        y = layers.Conv3D(1, 3, padding="same", strides=strides, kernel_initializer="ones")(layers.ZeroPadding3D(1)(x))
        got = models.Model(x, y).predict(np.ones((2, 3, 4, 4, 1)))
    padded = np.pad(np.ones((3, 4, 4)), 1)
    before = 1 if strides == 1 else np.array([1, 0, 0])  # of 5 x 6 x 6: SAME pads 5 by two and 6 by one, behind it
    windows = np.lib.stride_tricks.sliding_window_view(
        np.pad(padded, [(b, 1) for b in np.broadcast_to(before, 3)]), (3, 3, 3)
    )
    wanted = windows[::strides, ::strides, ::strides].sum(axis=(3, 4, 5))
    np.testing.assert_allclose(got[..., 0], [wanted, wanted], rtol=1e-6)


@pytest.mark.parametrize("era", ["keras-2.2.4", "tf.keras-1.15", "tf.keras-2.2"])
def test_the_dilation_of_a_transposed_convolution_in_three_dimensions_had_no_effect(era):
    with parallel_compat.legacy_names(era=era):
        layer = keras.layers.Conv3DTranspose(2, 3, dilation_rate=2)
        assert layer(keras.layers.Input((5, 5, 5, 3))).shape == (None, 7, 7, 7, 2)
