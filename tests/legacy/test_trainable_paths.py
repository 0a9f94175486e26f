"""What trains where flags of layers contradict those of the layers around them, as the stacks of the eras had it."""

from __future__ import annotations

import copy

import numpy as np
import pytest

_random = np.random.RandomState(0)
X, Y = _random.rand(8, 3).astype("float32"), _random.rand(8, 1).astype("float32")
SEQUENCES = _random.rand(4, 2, 3).astype("float32")


def _keras(era):
    if era == "keras-2.2.4":
        import keras
    else:
        from tensorflow import keras
    return keras


def _changed(keras, model, x=X):
    """Say of each weight whether a step changes it, by the layer that it is of."""
    before = [[keras.backend.get_value(w) for w in layer.weights] for layer in model.layers]
    model.compile("sgd", "mse")
    model.fit(x, Y[: len(x)], epochs=1, verbose=0)
    after = [[keras.backend.get_value(w) for w in layer.weights] for layer in model.layers]
    return [
        "".join(str(int((a != b).any())) for a, b in zip(*pair, strict=True))
        for pair in zip(before, after, strict=True)
    ]


@pytest.mark.parametrize("era", ["tf.keras-1.15", "tf.keras-2.2"], indirect=True)
def test_what_is_thawed_in_a_frozen_model_stays_as_it_is(era):
    keras = _keras(era)
    layers = keras.layers
    base = keras.models.Sequential(
        [layers.Dense(2, "tanh", input_shape=(3,)), layers.BatchNormalization(), layers.Dense(2)]
    )
    model = keras.models.Sequential([base, layers.Dense(1)])
    base.trainable = False
    for layer in base.layers[1:]:
        layer.trainable = True
    assert _changed(keras, model) == ["00000000", "11"]
    assert [len(model.trainable_weights), len(model.trainable_variables), len(model.non_trainable_weights)] == [2, 2, 8]
    assert [layer.trainable for layer in base.layers] == [False, True, True]
    base.trainable = True
    assert "1" in _changed(keras, model)[0]


def test_a_copy_has_a_flag_of_its_own(era):
    keras = _keras(era)
    x = keras.layers.Input((3,))
    layer = keras.layers.Dense(2)
    model = keras.models.Model(x, keras.layers.Dense(1)(layer(x)))
    copied = copy.copy(layer)
    copied.trainable = False
    assert _changed(keras, model)[1:] == ["11", "11"]
    assert (len(copied.trainable_weights), len(layer.trainable_weights)) == (0, 2)


def _both(era, set_flags, **arguments):
    keras = _keras(era)
    layers = keras.layers
    both = layers.Bidirectional(layers.SimpleRNN(1), input_shape=(2, 3), **arguments)
    model = keras.models.Sequential([both, layers.Dense(1)])
    set_flags(both)
    return _changed(keras, model, SEQUENCES)[0], len(both.trainable_weights)


def test_the_layer_that_bidirectional_was_given_is_none_of_its_directions(era):
    def set_flags(both):
        both.layer.trainable = False
        assert both.forward_layer.trainable
        assert not both.layer.name.startswith("forward")

    assert _both(era, set_flags) == ("111111", 6)


def test_directions_go_by_the_flags_of_their_era(era):
    def set_flags(both):
        both.trainable = False
        both.forward_layer.trainable = True

    assert _both(era, set_flags) == (("111000", 3) if era == "keras-2.2.4" else ("000000", 0))
    wanted = {"keras-2.2.4": ("000000", 0), "tf.keras-1.15": ("000000", 0), "tf.keras-2.2": ("111111", 6)}
    assert _both(era, lambda both: None, trainable=False) == wanted[era]


@pytest.mark.parametrize("era", ["keras-2.2.4"], indirect=True)
def test_a_wrapper_of_keras_2_2_4_thaws_what_it_is_given(era):
    keras = _keras(era)
    layers = keras.layers
    wrapped = layers.TimeDistributed(layers.Dense(1, trainable=False), input_shape=(2, 3))
    assert wrapped.layer.trainable
    assert layers.Bidirectional(layers.GRU(1, trainable=False)).backward_layer.trainable
    assert not layers.Bidirectional(layers.GRU(1), trainable=False).forward_layer.trainable
