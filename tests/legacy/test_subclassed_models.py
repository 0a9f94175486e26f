"""Models that are classes of the user's own: in each era they train as the functional model of the same layers does."""

from __future__ import annotations

import numpy as np
import pytest

import parallel_compat

PROGRAM = """
import numpy as np
import keras
from keras.layers import BatchNormalization, Dense, Dropout, Input
from keras.models import Model
from keras.utils import multi_gpu_model

def parts():
    return [Dense(3, activation="tanh", kernel_initializer="ones"), BatchNormalization(), Dropout(0.0), Dense(2)]

class Own(Model):
    def __init__(self):
        super(Own, self).__init__()
        self.first, self.normal, self.drop, self.last = parts()

    def call(self, x):
        return self.last(self.drop(self.normal(self.first(x))))

def functional():
    inputs = hidden = Input((4,))
    for layer in parts():
        hidden = layer(hidden)
    return Model(inputs, hidden)

def trained(model, x, y):
    model.predict(x)  # builds
    model.set_weights([np.linspace(-1, 1, w.size).reshape(w.shape) ** 2 + 0.1 for w in model.get_weights()])
    model.compile(keras.optimizers.SGD(0.1), "mse", metrics=["mae"])
    found = [model.train_on_batch(x, y), model.test_on_batch(x, y)]
    found.append(list(model.fit(x, y, batch_size=3, epochs=2, shuffle=False, verbose=0).history["loss"]))
    return [*found, model.evaluate(x, y, verbose=0), model.predict(x), *model.get_weights()]

def untrained(x, y, way):
    model = Own()
    model.compile("sgd", "mse")
    return getattr(model, way)(x, y)
"""
X, Y = np.random.RandomState(0).rand(7, 4), np.random.RandomState(1).rand(7, 2)


@pytest.fixture(params=["keras-2.2.4", "tf.keras-1.15", "tf.keras-2.2"])
def user(request):
    with parallel_compat.legacy_names(era=request.param):
        names = {"__name__": "user"}
        exec(PROGRAM, names)
        yield names


def test_they_train_as_a_functional_model(user):
    own, functional = (user["trained"](model, X, Y) for model in (user["Own"](), user["functional"]()))
    for ours, theirs in zip(own, functional, strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("way", ["fit", "train_on_batch", "evaluate", "test_on_batch"])
def test_the_first_batch_builds_them(user, way):
    assert user["untrained"](X, Y, way)
