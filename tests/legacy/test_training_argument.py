"""Whether `call` of a user's layer is handed `training`, by its parameter, in each era: as the real stacks had it."""

from __future__ import annotations

import pytest

import parallel_compat

PROGRAM = """
import numpy as np
import keras
from keras import backend as K
from keras.layers import Dense, Input, Layer
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
    "keras-2.2.4": {"FalseByDefault": NEVER, "TrueByDefault": ALWAYS, "Keywords": NEVER},
    "tf.keras-2.2": {"FalseByDefault": TRAINS, "TrueByDefault": TRAINS, "Keywords": ALWAYS},
    "tf.keras-1.15": {"Switching": TRAINS},
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
        assert {kind: user["doubled"](user[kind], made) for kind in expected} == expected
