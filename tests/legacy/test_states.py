"""`reset_states` of models, recurrent layers and metrics."""

from __future__ import annotations

import keras
import numpy as np
import pytest

pytestmark = pytest.mark.usefixtures("legacy_names")
X = np.random.default_rng(0).normal(size=(2, 3, 4)).astype("float32")


def stateful(kind):
    inputs = keras.Input(batch_shape=(2, 3, 4))
    nested = keras.Sequential([keras.Input(batch_shape=(2, 3, 4)), kind(5, stateful=True)])
    return keras.Model(inputs, nested(inputs)), nested


@pytest.mark.parametrize("kind", [keras.layers.SimpleRNN, keras.layers.GRU, keras.layers.LSTM])
def test_a_model_forgets_what_it_saw(kind):
    model, nested = stateful(kind)
    first, second = model.predict(X), model.predict(X)
    assert not np.allclose(first, second)
    model.reset_states()
    np.testing.assert_array_equal(model.predict(X), first)
    nested.reset_states()
    np.testing.assert_array_equal(model.predict(X), first)


def test_what_a_layer_learned_from_data_stays():
    words = keras.layers.TextVectorization()
    words.adapt(["a b c"])
    inputs = keras.Input((1,), dtype="string")
    keras.Model(inputs, words(inputs)).reset_states()
    assert words.vocabulary_size() == 5


def test_a_layer_takes_states():
    _, nested = stateful(keras.layers.LSTM)
    layer = nested.layers[-1]
    states = [np.full((2, 5), 0.5, "float32"), np.full((2, 5), -0.5, "float32")]
    layer.reset_states(states)
    for given, state in zip(states, layer.states, strict=True):
        np.testing.assert_array_equal(state.numpy(), given)
    layer.reset_states()
    assert not any(state.numpy().any() for state in layer.states)
    with pytest.raises(ValueError, match=r"Expected states of 'lstm\w*' of shapes .* Received: \[\(2, 4\)\]"):
        layer.reset_states(np.zeros((2, 4)))


def test_a_metric_starts_again():
    metric = keras.metrics.Mean()
    metric.update_state(3.0)
    metric.reset_states()
    assert float(metric.result()) == 0.0


def test_the_layer_of_a_convolution_takes_states():
    """Keras 2.2.4's own test of them; `ConvLSTM2D` has two states of the size of a picture."""
    from keras import backend as K

    pictures = np.random.default_rng(0).normal(size=(2, 3, 4, 4, 1)).astype("float32")
    layer = keras.layers.ConvLSTM2D(2, 3, padding="same")
    inputs = keras.Input(batch_shape=pictures.shape)
    layer.build(inputs.shape)
    states = layer.get_initial_state(inputs)
    given = keras.Model(inputs, layer(inputs, initial_state=states))
    np.testing.assert_allclose(given.predict(pictures), K.eval(layer(K.constant(pictures))), rtol=1e-5)
