"""Methods that old code puts in the place of Keras's own on `Model`, as wrappers that log, time or set defaults do."""

from __future__ import annotations

import keras
import numpy as np
import pytest

pytestmark = pytest.mark.usefixtures("legacy_names")
X, Y = np.ones((8, 3), "float32"), np.ones(8, "float32")


@pytest.fixture
def model():
    model = keras.Sequential([keras.layers.Dense(1, input_shape=(3,), kernel_initializer="ones")])
    model.compile("sgd", "mse")
    return model


def batches():
    while True:
        yield X, Y


METHODS = {
    "fit": lambda model: model.fit(X, Y, 4, 2, shuffle=False, validation_split=0.5).history,
    "evaluate": lambda model: model.evaluate(X, Y),
    "predict": lambda model: model.predict(X, 2).tolist(),
    "train_on_batch": lambda model: model.train_on_batch(X, Y),
    "fit_generator": lambda model: model.fit_generator(batches(), 2, 2).history,
    "evaluate_generator": lambda model: model.evaluate_generator(batches(), 2),
    "predict_generator": lambda model: model.predict_generator(batches(), 2).tolist(),
    "compile": lambda model: model.compile("sgd", loss="mae"),
    "save_weights": lambda model: model.save_weights("weights.h5"),
}


@pytest.mark.parametrize("name", sorted(METHODS))
def test_a_wrapper(name, model, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    weights = model.get_weights()
    expected = METHODS[name](model)
    model.set_weights(weights)
    original, calls = getattr(keras.models.Model, name), []

    def wrapper(self, *args, **kw):
        calls.append(name)
        return original(self, *args, **kw)

    inherited = name not in vars(keras.models.Model)
    before = vars(keras.models.Model).get(name)
    setattr(keras.models.Model, name, wrapper)  # by this file: others do not see the old methods
    try:
        assert METHODS[name](model) == expected
    finally:
        if inherited:
            delattr(keras.models.Model, name)
        else:
            setattr(keras.models.Model, name, before)
    assert calls == [name]


def test_fit_generator_calls_no_fit_of_the_users(model):
    """As in Keras 2.2.4, so that a `fit` of a class may call `fit_generator`."""

    class Own(keras.models.Model):
        def fit(self, x, y, size):
            return self.fit_generator(batches(), len(x) // size, 1)

    inputs = keras.Input((3,))
    own = Own(inputs, model(inputs))
    own.compile("sgd", "mse")
    assert len(own.fit(X, Y, 4).history["loss"]) == 1
