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
    with pytest.raises(NotImplementedError) as other:
        keras.layers.Lambda(lambda t: t + None)(x)
    assert "symbolic" not in str(other.value)
