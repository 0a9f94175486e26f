"""Losses that ask a prediction for the layer that made it, and the layer for what it was called with."""

from __future__ import annotations

import keras
import numpy as np
import pytest

from parallel_compat.legacy.layer_calls import input_masks, input_tensors, keras_history

X = np.array([[1, 2, 0], [3, 1, 2], [2, 0, 0], [1, 1, 1]])
Y = np.zeros((4, 3, 2), "float32")


class Scores(keras.layers.Dense):
    supports_masking = True


def model_of(layer, calls=1):
    x = keras.Input((3,))
    h = keras.layers.Embedding(4, 5, mask_zero=True)(x)
    outputs = [layer(h) for _ in range(calls)]
    return keras.Model(x, outputs[0])


def test_a_loss_reads_the_inputs_of_its_layer():
    layer, seen = Scores(2), []

    def loss(y_true, y_pred):
        found, index = keras_history(y_pred)[:2]
        node = found._inbound_nodes[index]
        (inputs,), (mask,) = input_tensors(node), input_masks(node)
        seen.append(found is layer and mask.shape)
        again = keras.ops.matmul(inputs, found.kernel) + found.bias
        return keras.ops.mean((again - y_pred) ** 2, axis=-1) + keras.ops.cast(mask, "float32")

    model = model_of(layer)
    model.compile("sgd", loss)
    logs = model.fit(X, Y, batch_size=4, epochs=2, verbose=0, validation_data=(X, Y)).history
    assert all(tuple(shape) == (4, 3) for shape in seen)
    # The difference is 0, and the mean of the mask under the mask is 1.
    np.testing.assert_allclose([logs["loss"], logs["val_loss"]], 1, rtol=1e-6)


def test_outside_of_a_step_they_are_symbolic():
    layer = Scores(2)
    model = model_of(layer)
    model.predict(X, verbose=0)
    node = layer._inbound_nodes[0]
    assert keras_history(model.output) == (layer, 0, 0)
    assert input_tensors(node)[0] is model.layers[1].output
    assert isinstance(input_masks(node)[0], keras.KerasTensor)


def test_what_no_layer_returned_and_layers_that_are_called_twice():
    with pytest.raises(ValueError, match="that a layer returned in this step"):
        keras_history(keras.ops.ones(2))
    layer = Scores(2)
    model = model_of(layer, calls=2)
    model.compile("sgd", lambda y, p: p + input_tensors(layer._inbound_nodes[0])[0])
    with pytest.raises(ValueError, match="called once in its model"):
        model.fit(X, Y, verbose=0)
