"""Whether `call` of a user's layer is handed `training`, by its parameter, in each era: as the real stacks had it."""

from __future__ import annotations

import keras
import numpy as np
import pytest
import tensorflow as tf

import parallel_compat

PROGRAM = """
import numpy as np
import keras
from keras import backend as K
from keras.layers import Dense, Dropout, Input, Layer
from keras.models import Model, Sequential

class Doubling(Layer):  # in training
    def compute_output_shape(self, shape):
        return shape

class FalseByDefault(Doubling):
    def call(self, x, training=False):
        return K.in_train_phase(x * 2.0, x, training=training)

class TrueByDefault(Doubling):
    def call(self, x, training=True):
        return K.in_train_phase(x * 2.0, x, training=training)

class NoneByDefault(Doubling):
    def call(self, x, training=None):
        return K.in_train_phase(lambda: x * 2.0, lambda: x, training=training)

class Without(Doubling):
    def call(self, x):
        return K.in_train_phase(x * 2.0, x)

class Keywords(Doubling):  # whenever it is handed one
    def call(self, x, **keywords):
        return x * (1.0 + len(keywords))

class Switching(Doubling):
    def call(self, x):
        return K.switch(K.learning_phase(), x * 2.0, x)

class IfNone(Doubling):
    def call(self, x, training=None):
        return x * 2.0 if training is None else x

class IfTraining(Doubling):
    def call(self, x, training=None):
        return x * 2.0 if training else x

class ByHand(Doubling):  # another layer's `call`
    def __init__(self, **keywords):
        super(ByHand, self).__init__(**keywords)
        self.drop = Dropout(0.9999)

    def call(self, x, training=None):
        return K.in_train_phase(x, x) + self.drop.call(x, training=training)

class Own(Model):
    def __init__(self, layer):
        super(Own, self).__init__()
        self.layer = layer

    def call(self, x):
        return self.layer(x)

def functional(layer):
    inputs = Input((4,))
    return Model(inputs, Dense(4, trainable=False, kernel_initializer="identity")(layer(inputs)))

def doubled(kind, make):
    model = make(kind())
    model.compile("sgd", "mse")
    x, y = np.ones((3, 4)), np.zeros((3, 4))
    return [float(model.train_on_batch(x, y)), float(model.test_on_batch(x, y))]
"""
TRAINS, NEVER, ALWAYS = [4.0, 1.0], [1.0, 1.0], [4.0, 4.0]
EXPECTED = {
    "keras-2.2.4": {
        "FalseByDefault": NEVER,
        "TrueByDefault": ALWAYS,
        "Keywords": NEVER,
        "IfNone": ALWAYS,
        "IfTraining": NEVER,
    },
    "tf.keras-2.2": {
        "FalseByDefault": TRAINS,
        "TrueByDefault": TRAINS,
        "Keywords": ALWAYS,
        "IfNone": NEVER,
        "IfTraining": TRAINS,
    },
    "tf.keras-1.15": {
        "Switching": TRAINS,
        "FalseByDefault": NEVER,
        "TrueByDefault": ALWAYS,
        "IfNone": ALWAYS,
        "IfTraining": NEVER,
    },
}


@pytest.mark.one_in(2)
@pytest.mark.parametrize("make", ["functional", "Own", "Sequential"])
@pytest.mark.parametrize("era", EXPECTED)
def test_layers_of_the_users_train_as_then(era, make):
    with parallel_compat.legacy_names(era=era):
        user = {"__name__": "user"}
        exec(PROGRAM, user)
        made = user[make] if make != "Sequential" else lambda layer: user["Sequential"]([layer])
        expected = {"NoneByDefault": TRAINS, "Without": TRAINS, **EXPECTED[era]}
        if (era, make) == ("tf.keras-1.15", "Sequential"):  # one that is built by data was told, and told its layers
            expected.update(FalseByDefault=TRAINS, TrueByDefault=TRAINS, IfNone=NEVER, IfTraining=TRAINS)
        assert {kind: user["doubled"](user[kind], made) for kind in expected} == expected


WITHIN = """
class Told(Own):  # what its `call` is told
    def call(self, x, training=None):
        return self.layer(x)

class Passing(Doubling):
    def __init__(self, layer, value, **keywords):
        super(Passing, self).__init__(**keywords)
        self.layer, self.value = layer, value

    def call(self, x, training=None):
        return self.layer(x, training=self.value) * self.layer(x)

inputs = Input((4,))
one = K.function([inputs, K.learning_phase()], [Passing(Dropout(0.9999), True)(inputs)])
dropped = one([np.ones((3, 4)), 0])[0], one([np.ones((3, 4)), 1])[0]
other = K.function([inputs, K.learning_phase()], [Passing(Dropout(0.9999), False)(inputs)])
kept = other([np.ones((3, 4)), 0])[0], other([np.ones((3, 4)), 1])[0]
untold = functional(Passing(IfTraining(), None))
untold.compile("sgd", "mse")
told = functional(Passing(IfTraining(), True))
told.compile("sgd", "mse")
nested_in_told = doubled(lambda: Passing(IfTraining(), None), Told)
batch = np.ones((3, 4)), np.zeros((3, 4))
losses = [float(model.train_on_batch(*batch)) for model in (untold, told)]
by_hand = functional(ByHand())
by_hand.compile("sgd", "mse")
losses.append(float(by_hand.train_on_batch(*batch)))
losses.append(float(by_hand.test_on_batch(*batch)))
"""


@pytest.mark.parametrize(
    ("era", "in_told", "by_hand"), [("keras-2.2.4", NEVER, 4.0), ("tf.keras-1.15", [4.0, 1.0], 1.0)]
)
def test_what_a_call_is_told_is_for_the_calls_in_it_alone(era, in_told, by_hand):
    with parallel_compat.legacy_names(era=era):
        user = {"__name__": "user"}
        exec(PROGRAM, user)
        exec(WITHIN, user)
    # The first call of the dropout layer was given True (or False), the second one goes by the phase.
    assert [each.any() for each in user["dropped"]] == [False, False]
    assert [each.any() for each in user["kept"]] == [True, False]
    assert user["losses"] == pytest.approx([1.0, 4.0, by_hand, 4.0], abs=1e-3)
    assert user["nested_in_told"] == in_told


@pytest.mark.parametrize(
    ("era", "doubling", "normalized"),
    [
        ("keras-2.2.4", NEVER, [0.9995004, 0.0, 999.99982]),
        ("tf.keras-1.15", TRAINS, [0.9995004, 0.0, 0.0]),
        ("tf.keras-2.2", NEVER, [0.9995004, 3.9960041, 0.9399988]),  # where it is 0 outside of a step
    ],
)
def test_the_learning_phase_is_what_the_model_does(era, doubling, normalized):
    with parallel_compat.legacy_names(era=era):
        user = {"__name__": "user"}
        exec(PROGRAM, user)
        phase, layer = user["K"].learning_phase(), user["NoneByDefault"]
        assert user["doubled"](lambda: lambda x: layer()(x, training=phase), user["functional"]) == doubling
        x = user["Input"]((4,))
        model = user["Model"](x, keras.layers.BatchNormalization(momentum=0.5)(layer()(x), training=phase))
        model.compile("sgd", "mse")
        a, zeros = np.ones((2, 4), "float32"), np.zeros((2, 4))
        got = [model.predict(a).max(), model.train_on_batch(a, zeros), model.evaluate(a, zeros, verbose=0)]
        np.testing.assert_allclose(got, normalized, rtol=1e-5, atol=1e-6)


def test_a_tensor_by_place_says_whether_a_layer_trains():
    with parallel_compat.legacy_names(era="tf.keras-2.2"):
        user = {"__name__": "user"}
        exec(PROGRAM, user)
        x = user["Input"]((4,))
        model, layer = user["Model"](x, user["NoneByDefault"]()(x)), user["NoneByDefault"]()
        for call in (model, layer):
            got = [float(call(tf.ones((1, 4)), tf.constant(trains))[0, 0]) for trains in (True, False)]
            assert got == [2.0, 1.0]
