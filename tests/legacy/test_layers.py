"""Layers with their old arguments, defaults and names, and layers that went."""

from __future__ import annotations

import json

import h5py
import keras
import numpy as np
import pytest
import tensorflow as tf

from parallel_compat.legacy import backend as K
from parallel_compat.legacy import layers, models
from parallel_compat.legacy.activations import hard_sigmoid


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
    assert type(layers.Dense(3, kernel_constraint=old).kernel_constraint).__name__ == today
    assert type(layers.Conv2D(3, 3, 3, b_constraint=old).bias_constraint).__name__ == today


def test_a_dropout_of_everything_dropped_nothing():
    for layer in (layers.Dropout(1.0), layers.Dropout(rate=3), layers.SpatialDropout1D(p=1)):
        np.testing.assert_array_equal(layer(np.ones((2, 3, 4)), training=True), np.ones((2, 3, 4)))
    assert layers.Dropout(0.3).rate == 0.3


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


@pytest.mark.parametrize("shape", [{"batch_input_shape": (2, 4, 5)}, {"input_shape": (4, 5), "batch_size": 2}])
def test_a_batch_size_in_the_first_layer_reaches_the_model(shape):
    model = keras.Sequential([layers.LSTM(3, **shape, stateful=True)])
    assert model.input_shape == (2, 4, 5)
    first, second = (model.predict(np.ones((2, 4, 5)), batch_size=2) for _ in range(2))
    assert first.shape == (2, 3)
    assert np.abs(first - second).max() > 0
    model.reset_states()
    np.testing.assert_allclose(model.predict(np.ones((2, 4, 5)), batch_size=2), first, rtol=1e-6)


@pytest.mark.parametrize(
    ("first", "shape"),
    [
        (lambda: layers.LSTM(3, input_dim=5, input_length=4), (None, 4, 5)),
        (lambda: layers.Conv1D(3, 2, input_dim=5), (None, None, 5)),
        (lambda: layers.Dense(3, input_shape=(4,), batch_size=2), (2, 4)),
        (lambda: layers.Embedding(5, 3, input_length=4), (None, 4)),
        (lambda: layers.Embedding(5, 3), (None, None)),
        (lambda: layers.Embedding(5, 3, input_shape=(6,)), (None, 6)),
        (lambda: layers.Embedding(5, 3, batch_input_shape=(2, 6)), (2, 6)),
    ],
)
def test_a_sequential_is_built_by_its_first_layer(first, shape):
    model = keras.Sequential([first()])
    assert model.built
    assert model.input_shape == shape


def test_gates_are_those_of_keras_2():
    lstm, gru = layers.LSTM(3), layers.GRU(3)
    assert lstm.cell.recurrent_activation is gru.cell.recurrent_activation is hard_sigmoid
    assert gru.cell.reset_after is False
    assert layers.LSTM(3, recurrent_activation="sigmoid").cell.recurrent_activation is keras.activations.sigmoid
    assert float(layers.Activation("hard_sigmoid")(np.ones((1,)))[0]) == pytest.approx(0.7)


def test_the_input_of_an_input_layer_is_its_tensor():
    model = keras.Sequential([layers.Dense(2, input_dim=3)])
    model = keras.Model(model.input, model.output)
    assert keras.layers.InputLayer in map(type, model.layers)
    assert model.layers[0].input is model.inputs[0]
    assert model.layers[0].input_shape == (None, 3)
    assert keras.Model(model.layers[0].input, model.layers[-1].output).output_shape == (None, 2)


def test_layers_are_counted_from_one():
    keras.utils.clear_session()
    inputs = layers.Input((2,))
    model = keras.Model(inputs, layers.Dense(1)(layers.Dense(2)(inputs)))
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

    inputs = layers.Input((3, 4))
    model = keras.Model(inputs, layers.TimeDistributed(Doubled())(inputs))
    assert model.output_shape == (None, 3, 4)
    np.testing.assert_array_equal(model.predict(np.ones((2, 3, 4))), np.full((2, 3, 4), 2.0))


def test_a_call_of_any_arguments_is_built_by_the_first():
    class Frozen(keras.layers.BatchNormalization):
        def call(self, *args, **kwargs):
            return super().call(*args, training=False, **kwargs)

    inputs = layers.Input((4,))
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
            return x + self.bias if self.bias else x

    np.testing.assert_array_equal(Shift()(np.ones((1, 2), "float32")), [[2, 2]])


def test_weights_are_compared_by_what_they_are():
    """A layer that takes in the weights of another one once: `if w not in self._trainable_weights`."""

    class Shared(keras.layers.Layer):
        def reuse(self, layer, x):
            if not layer.built:
                layer.build(K.int_shape(x))
            for weight in layer.trainable_weights:
                if weight not in self._trainable_weights:
                    self._trainable_weights.append(weight)
            return layer.call(x)

        def build(self, input_shape):
            super().build(input_shape)
            self.first, self.second = (layers.Dense(2, use_bias=False) for _ in range(2))

        def call(self, x):
            return self.reuse(self.second, self.reuse(self.first, x))

    inputs = layers.Input((2,))
    layer = Shared()
    model = keras.models.Model(inputs, layer(layer(inputs)))
    first, second = model.weights
    assert first == first
    assert first != second
    assert [first, second].index(second) == 1
    shift = K.variable(0.0)
    assert shift != K.variable(0.0)


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

    inputs = [layers.Input((2,)), layers.Input((2,))]
    outputs = Sum()(inputs)
    assert tuple(outputs.shape) == given
    model = keras.models.Model(inputs, layers.Activation("relu")(outputs))
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
    inputs = layers.Input((3,))
    written = keras.models.Model(inputs, Merge("add")(inputs))
    written.save(tmp_path / "m.h5")
    known = {"Merge": Merge}
    for model in (
        models.load_model(tmp_path / "m.h5", custom_objects=known),
        models.load_model(tmp_path / "then.h5", custom_objects=known),
        models.model_from_json(text, custom_objects=known),
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
    first = layers.Input((3,))
    model = keras.models.Model(inputs=[first], outputs=[layers.Dense(2)(first)])
    assert layers.Dense(4)(model.output).shape == (None, 4)
    assert model.input is first
    assert len(model.outputs) == len(model.inputs) == 1


def test_an_input_with_both_shapes_has_that_of_the_batch():
    assert layers.Input(shape=(4,), batch_shape=(2, 3)).shape == (2, 3)


def test_shapes_of_tensors_and_layers():
    inputs = layers.Input(shape=(4, 5))
    layer = layers.Dense(3)
    outputs = layer(inputs)
    assert inputs.get_shape().as_list() == [None, 4, 5]
    assert inputs._keras_shape == (None, 4, 5)
    assert (layer.input_shape, layer.output_shape) == ((None, 4, 5), (None, 4, 3))
    assert outputs.get_shape().ndims == 3


def test_a_layer_reads_the_shape_that_keras_wrote_on_its_input():
    """As layers of detection networks do, also while the step is traced and without a graph."""

    class Boxes(keras.layers.Layer):
        def call(self, x):
            _, height, width, _ = x._keras_shape
            return keras.backend.sum(x, axis=(1, 2)) / float(height * width)

    inputs = layers.Input(shape=(4, 5, 2))
    model = keras.models.Model(inputs, Boxes()(inputs))
    model.compile("sgd", "mse")
    x = np.random.rand(3, 4, 5, 2).astype("float32")
    np.testing.assert_allclose(model.predict(x, verbose=0), x.mean((1, 2)), rtol=1e-5)
    np.testing.assert_allclose(Boxes()(tf.constant(x)), x.mean((1, 2)), rtol=1e-5)


def test_a_sequential_has_its_ends_before_it_is_called():
    model = keras.Sequential([layers.Dense(3, input_dim=2), layers.Dense(1)])
    hidden = keras.Model(model.input, model.layers[-2].output)
    assert hidden.output_shape == (None, 3)
    assert tuple(model.output.shape) == (None, 1)


@pytest.mark.usefixtures("legacy_names")
def test_a_model_with_its_one_output_in_a_list_gives_a_tensor():
    x = keras.Input((2,))
    nested = keras.Model(inputs=[x], outputs=[layers.Dense(3)(x)])
    y = keras.Input((2,))
    outer = keras.Model(inputs=[y], outputs=[layers.Dense(1)(nested(y))])
    assert outer.predict(np.ones((4, 2)), verbose=0).shape == (4, 1)


def test_a_frozen_batch_normalization_normalises_as_in_keras_2():
    layer = layers.BatchNormalization(input_shape=(2,))
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
    from keras import layers

    from parallel_compat.legacy import backend as K

    a, b = layers.Input((3,)), layers.Input((3,))
    joined = K.concatenate([a + b, b + a])
    outputs = layers.concatenate([layers.add([a + b, b]), layers.Add()([a, b]), joined, K.concatenate([joined, b])])
    model = k.models.Model([a, b], outputs)
    assert [layer.name for layer in model.layers] == ["input_1", "input_2", "add_1", "add_2", "concatenate_1"]


@pytest.mark.parametrize("kind", ["Conv2D", "Conv2DTranspose", "SeparableConv2D"])
def test_a_bias_of_channels_that_come_first_where_the_width_is_their_number(kind):
    """As Keras 2.2.4. Keras 3.15 adds it along the width, in calls and gradients."""
    from keras import layers, models, optimizers

    from parallel_compat.legacy import backend as K

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


def test_modules_that_tensorflow_listed_side_by_side():
    from tensorflow.python import gen_sparse_ops, math_ops
    from tensorflow.python.ops import gen_sparse_ops as today

    from parallel_compat.names import eras

    assert gen_sparse_ops is today
    assert float(math_ops.reduce_sum([1.0, 2.0])) == 3.0
    source = "from tensorflow import keras\nfrom tensorflow.python import gen_sparse_ops\n"
    assert eras.verdict(eras.evidence_of_source(source)).era is eras.Era.TF_KERAS_2_2


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
