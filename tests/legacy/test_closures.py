"""Losses, metrics and Lambda layers that use symbolic tensors as well as their arguments."""

from __future__ import annotations

import functools

import keras
import numpy as np
import pytest

from parallel_compat.legacy.closures import symbolic_tensors

pytestmark = pytest.mark.usefixtures("legacy_names")
X = np.ones((4, 3), "float32")


def test_a_tensor_of_another_model_is_refused():
    from keras import backend as K

    x, other = keras.layers.Input((3,)), keras.layers.Input((2,))
    code = keras.layers.Dense(3)(other)

    def penalised(y_true, y_pred):
        return K.mean(K.square(y_true - y_pred), axis=-1) + K.sum(K.square(code), axis=-1)

    said = r"test_closures\.py:\d+: `penalised` uses the symbolic tensors `code` .* has no such input"
    for used in ({"loss": penalised}, {"loss": "mse", "metrics": [penalised]}):
        model = keras.models.Model(x, keras.layers.Dense(3)(x))
        model.compile("sgd", **used)
        with pytest.raises(TypeError, match=said):
            model.fit(X, X, verbose=0)


def test_other_errors_stay_what_they_are():
    code = keras.layers.Input((2,))

    def wrong(y_true, y_pred):
        raise ValueError("mine", code)

    model = keras.models.Sequential([keras.layers.Dense(3, input_shape=(3,))])
    model.compile("sgd", wrong)
    with pytest.raises(ValueError, match="mine"):
        model.fit(X, X, verbose=0)


def test_where_a_function_keeps_a_tensor():
    code = keras.layers.Input((2,))
    model = keras.models.Model(code, keras.layers.Dense(2)(code))

    class Loss:
        def __init__(self):
            self.code = code

        def of(self, y_true, y_pred):
            return y_pred - self.code

    def with_argument(y_true, y_pred, code):
        return y_pred - code

    def with_default(y_true, y_pred, kept=code):
        return y_pred - kept

    def nested(y_true, y_pred):
        return [with_default(y_true, y_pred)]

    def found(function):
        return [id(each) for each in symbolic_tensors(function).values()]

    assert found(Loss().of) == found(nested) == [id(code)]
    assert found(functools.partial(with_argument, code=code)) == [id(code)]
    assert found(lambda y_true, y_pred: y_pred - model.output) == [id(model.output)]
    assert found(lambda y_true, y_pred: model.name) == found(lambda y_true, y_pred: y_pred) == found(len) == []


def test_a_lambda_layer_is_called_on_the_tensors_it_uses():
    from keras import backend as K

    image = keras.Input((3,))
    x = keras.layers.Dense(3)(image)
    layer = keras.layers.Lambda(lambda t: t * K.mean(image))
    model = keras.Model(image, [layer(x), layer(image)])
    rows = X * [1, 2, 6]
    first, second = model.predict(rows)
    np.testing.assert_allclose(first, keras.Model(image, x).predict(rows) * 3, rtol=1e-5)
    np.testing.assert_allclose(second, rows * 3, rtol=1e-5)
    with pytest.raises(ValueError, match="None values not supported"):
        keras.layers.Lambda(lambda t: t + None)(x)


def test_a_layer_of_the_users_reads_tensors_of_its_module():
    """The variational autoencoder of Keras's blog; Keras 2.2.4 with TensorFlow 1.15.5 gave these numbers."""
    from keras import backend as K
    from keras import metrics
    from keras.layers import Dense, Input, Lambda, Layer
    from keras.models import Model

    data = np.random.RandomState(1).rand(40, 8).astype("float32")
    x = Input(batch_shape=(10, 8))
    h = Dense(6, activation="relu", kernel_initializer="ones")(x)
    z_mean, z_log_var = Dense(2, kernel_initializer="ones")(h), Dense(2, kernel_initializer="zeros")(h)
    z = Lambda(lambda args: args[0] + 0.0 * K.exp(args[1]), output_shape=(2,))([z_mean, z_log_var])
    h = Dense(6, activation="relu", kernel_initializer="ones")(z)
    decoded = Dense(8, activation="sigmoid", kernel_initializer="zeros")(h)
    shapes = []

    class Variational(Layer):
        def build(self, input_shape):
            shapes.append(input_shape)
            super().build(input_shape)

        def loss_of(self, x, decoded):
            cross = 8 * metrics.binary_crossentropy(x, decoded)
            return K.mean(cross - 0.5 * K.sum(1 + z_log_var - K.square(z_mean) - K.exp(z_log_var), axis=-1))

        def call(self, inputs):
            self.add_loss(self.loss_of(inputs[0], inputs[1]), inputs=inputs)
            return inputs[0]

        def compute_output_shape(self, input_shape):
            return input_shape[0]

    vae = Model(x, Variational()([x, decoded]))
    vae.compile(optimizer="rmsprop", loss=None)
    found = vae.fit(data, shuffle=False, epochs=2, batch_size=10, validation_data=(data[:20], None), verbose=0).history
    np.testing.assert_allclose(found["loss"], [612.6930236816406, 592.3660736083984], rtol=1e-6)
    np.testing.assert_allclose(found["val_loss"], [546.9215087890625, 532.9035339355469], rtol=1e-6)
    assert [[tuple(each) for each in shape] for shape in shapes] == [[(10, 8), (10, 8)]]


def test_an_attribute_of_the_name_of_a_tensor_is_no_use_of_it():
    from keras.layers import Input, Layer

    assert not symbolic_tensors(lambda y: y.OUTPUT)
    other = Input((2,))

    class Plain(Layer):
        def call(self, x):
            return x * self.other

    layer = Plain()
    layer.other = 2.0
    del other
    assert layer(Input((3,))).shape == (None, 3)


OUTPUT = keras.layers.Input((2,))


class Tagged(keras.layers.Dense):
    """A layer whose loss is of what it was called on, as that of a conditional random field is."""

    supports_masking = True

    def compute_mask(self, inputs, mask=None):
        return None

    def penalty(self, y_true, y_pred):
        call = self._inbound_nodes[0]
        inner, mask = call.input_tensors[0], call.input_masks[0]
        steps = keras.ops.cast(mask, "float32")
        return keras.ops.mean((y_true[..., 0] - keras.ops.sum(inner, axis=-1)) * steps, axis=-1)


def by_history(y_true, y_pred):
    layer, index = y_pred._keras_history[:2]
    assert y_pred._keras_history.layer is layer
    assert layer._inbound_nodes[index].output_masks == [None]
    return layer.penalty(y_true, y_pred)


@pytest.mark.parametrize("kind", ["method", "history"])
def test_a_loss_asks_for_the_call_that_made_the_output(kind):
    """Calls of layers had their tensors and masks, tensors said which call made them: CRF layers go by both."""
    words = np.array([[1, 2, 0], [2, 1, 1]])
    targets = np.arange(6, dtype="float32").reshape(2, 3, 1)
    table = np.array([[9.0, 9.0], [1.0, 2.0], [3.0, 5.0]])
    last = Tagged(1)
    model = keras.models.Sequential([keras.layers.Embedding(3, 2, mask_zero=True, input_length=3), last])
    model.set_weights([table, np.ones((2, 1)), np.zeros(1)])
    loss = last.penalty if kind == "method" else by_history
    model.compile("sgd", loss, metrics=[loss])
    expected = np.mean((targets[..., 0] - table[words].sum(-1)) * (words != 0))
    got = model.evaluate(words, targets, verbose=0)
    assert got == pytest.approx([expected, expected])
    assert [node.input_shapes for node in last._inbound_nodes] == [[(None, 3, 2)]]
    assert [node.output_shapes for node in last._inbound_nodes] == [[(None, 3, 1)]]
    assert model.train_on_batch(words, targets)[0] == pytest.approx(expected)
    assert not np.allclose(model.get_weights()[0], table)
