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


# What the real stacks predict after a step of no learning rate, again after that, and once the states are reset: the
# first number. A function does not let states go on, and a layer that is not stateful in training alone.
WITHIN = {
    "keras-2.2.4": {
        "listed": [0.27687, 0.3174, 0.1896],
        "bidirectional": [0.27687, 0.27687, 0.27687],
        "own": [0.1896, 0.1896, 0.1896],
        "handed_on": [0.27687, 0.27687, 0.27687],
    },
    "tf.keras-1.15": {
        "listed": [0.27687, 0.3174, 0.1896],
        "bidirectional": [0.27687, 0.27687, 0.27687],
        "own": [0.27687, 0.27687, 0.27687],
        "handed_on": [0.27687, 0.27687, 0.27687],
    },
}


@pytest.mark.parametrize("era", list(WITHIN), indirect=True)
@pytest.mark.parametrize("case", ["listed", "bidirectional", "own", "handed_on"])
def test_states_go_on_where_the_graph_ran_their_updates(era, case):
    from keras import backend, initializers, layers, models, optimizers

    class Own(layers.Layer):
        def __init__(self, lstm):
            super().__init__()
            self.lstm = lstm

        def build(self, input_shape):
            self.lstm.build(input_shape)

        def call(self, x):
            return self.lstm(x)

        def compute_output_shape(self, shape):
            return (shape[0], 2)

    class HandingOn(Own):
        def call(self, x):
            y = self.lstm(x)
            self.add_update(self.lstm.updates, x)
            return y

    lstm = layers.LSTM(
        2,
        stateful=True,
        kernel_initializer=initializers.Constant(0.1),
        recurrent_initializer=initializers.Constant(0.2),
    )
    kinds = {"listed": lambda each: each, "bidirectional": layers.Bidirectional, "own": Own, "handed_on": HandingOn}
    inputs = layers.Input(batch_shape=(4, 5, 3))
    outputs = kinds[case](lstm)(inputs)
    model = models.Model(inputs, outputs)
    model.compile(optimizers.SGD(0.0), "mse")
    x = np.random.RandomState(0).rand(4, 5, 3)
    function = backend.function([inputs], [outputs])
    np.testing.assert_allclose([function([x])[0][0, 0] for _ in range(2)], 0.1896, atol=2e-5)
    model.train_on_batch(x, np.ones(outputs.shape))
    found = [model.predict(x, batch_size=4)[0, 0] for _ in range(2)]
    model.reset_states()
    found.append(model.predict(x, batch_size=4)[0, 0])
    np.testing.assert_allclose(found, WITHIN[era][case], atol=2e-5)
