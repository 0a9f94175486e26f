"""`np.random` is drawn from for a model's weights as Keras 2.2.4 did."""

from __future__ import annotations

import functools

import keras
import numpy as np
import pytest

import parallel_compat
from parallel_compat.names.eras import Era


@pytest.fixture
def of_keras_2_2_4():
    parallel_compat.install(era=Era.KERAS_2_2_4)
    yield
    parallel_compat.uninstall()


# What Keras 2.2.4 drew next, after `np.random.seed(7)` and a model of one such layer.
NEXT = {
    "Dense": (lambda: keras.layers.Dense(3), (5,), 189636),
    "LSTM, orthogonal": (lambda: keras.layers.LSTM(2), (4, 3), 110271),
    "Embedding": (lambda: keras.layers.Embedding(4, 2), (3,), 189636),
    "seeded": (
        lambda: keras.layers.Dense(3, kernel_initializer=keras.initializers.glorot_normal(seed=3)),
        (5,),
        585903,
    ),
    "two": (
        lambda: keras.layers.Dense(3, kernel_initializer="truncated_normal", bias_initializer="random_uniform"),
        (5,),
        573977,
    ),
    "SeparableConv2D": (lambda: keras.layers.SeparableConv2D(2, 2), (4, 4, 1), 573977),
}


@pytest.mark.usefixtures("of_keras_2_2_4")
def test_weights_draw_from_numpy_as_in_keras_2_2_4():
    drawn = {}
    for name, (layer, shape, _) in NEXT.items():
        np.random.seed(7)
        keras.models.Sequential([keras.layers.InputLayer(shape), layer()])
        drawn[name] = np.random.randint(1000000)
    assert drawn == {name: number for name, (_, _, number) in NEXT.items()}


# What Keras 2.2.4 drew next, after `np.random.seed(7)`, a model of such a layer, a prediction and a step: the function
# of a Lambda layer was called once for its tensor, and once for its shape.
AFTER_OPERATIONS = {"random_uniform": 573977, "random_binomial": 573977, "truncated_normal": 573977, "seeded": 585903}
AFTER_OWN_LAYER = 189636


@pytest.mark.usefixtures("of_keras_2_2_4")
def test_operations_draw_when_they_are_made():
    from keras import backend as K

    class Noisy(keras.layers.Layer):
        def call(self, x):
            return x + K.random_normal(K.shape(x))

    functions = {
        "random_uniform": lambda t: t * K.random_uniform(K.shape(t)),
        "random_binomial": lambda t: t * K.random_binomial(K.shape(t), 0.5),
        "truncated_normal": lambda t: t * K.truncated_normal(K.shape(t)),
        "seeded": lambda t: t + K.random_normal(K.shape(t), seed=3),
    }
    made = {name: functools.partial(keras.layers.Lambda, function) for name, function in functions.items()}
    drawn = {}
    for name, make in {**made, "own layer": Noisy}.items():
        np.random.seed(7)
        x = keras.layers.Input((4,))
        model = keras.models.Model(x, make()(x))
        model.compile("sgd", "mse")
        model.predict(np.ones((2, 4)), verbose=0)
        model.train_on_batch(np.ones((2, 4)), np.ones((2, 4)))
        drawn[name] = np.random.randint(1000000)
    assert drawn == {**AFTER_OPERATIONS, "own layer": AFTER_OWN_LAYER}


@pytest.mark.usefixtures("of_keras_2_2_4")
def test_a_lambda_with_an_output_shape_draws_when_it_is_made():
    from keras import backend as K

    np.random.seed(7)
    x = keras.layers.Input((4,))
    noisy = keras.layers.Lambda(lambda t: t + K.random_normal(K.shape(t)), output_shape=(4,))
    model = keras.models.Model(x, noisy(x))
    model.compile("sgd", "mse")
    model.predict(np.ones((2, 4)))
    assert np.random.randint(1000000) == 189636


@pytest.mark.usefixtures("of_keras_2_2_4")
def test_a_model_made_of_a_configuration_draws_once(tmp_path):
    """What Keras 2.2.4 drew next: three seeds were drawn, for two kernels and a mask."""
    layers = [keras.layers.Dense(3, input_dim=2), keras.layers.Dropout(0.5), keras.layers.Dense(2)]
    model = keras.models.Sequential(layers)
    model.compile("sgd", "mse")
    model.save(str(tmp_path / "model.h5"))
    for make in (
        lambda: keras.models.Sequential.from_config(model.get_config()),
        lambda: keras.models.model_from_json(model.to_json()),
        lambda: keras.models.load_model(str(tmp_path / "model.h5")),
        lambda: keras.models.clone_model(model),
    ):
        np.random.seed(7)
        made = make()
        made.compile("sgd", "mse")
        made.train_on_batch(np.ones((2, 2)), np.ones((2, 2)))
        assert np.random.randint(1000000) == 839891


@pytest.mark.usefixtures("of_keras_2_2_4")
def test_initializers_that_take_a_shape_alone():
    """As in copies of one-shot Siamese networks; the sums are those of Keras 2.2.4."""
    from keras import backend as K
    from keras.layers import Conv2D, Dense, Flatten, Input

    def initialize(shape, name=None):
        return K.variable(np.random.normal(0.5, 1e-2, size=shape), name=name)

    np.random.seed(3)
    x = Input((8, 8, 1))
    y = Flatten()(Conv2D(2, 3, kernel_initializer=initialize, bias_initializer=initialize)(x))
    model = keras.models.Model(x, Dense(3, kernel_initializer=lambda shape: K.ones(shape))(y))
    sums = [float(weight.sum()) for weight in model.get_weights()]
    np.testing.assert_allclose(sums, [8.9831, 0.99881, 216.0, 0.0], atol=1e-5)
