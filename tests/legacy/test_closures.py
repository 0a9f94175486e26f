"""Losses that use symbolic tensors of the model besides their arguments: refused with line, reason and way out."""

from __future__ import annotations

import functools

import keras
import numpy as np
import pytest

from parallel_compat.legacy.closures import symbolic_name

pytestmark = pytest.mark.usefixtures("legacy_names")

X = np.ones((4, 3), "float32")
SENTENCE = r"test_closures\.py:\d+: `(penalised|<lambda>)` uses the symbolic tensor `code` .* Make that tensor"


def model_with(loss_of, *, replicas, metric=False):
    from keras import backend as K
    from keras.utils import multi_gpu_model

    inputs = keras.layers.Input((3,))
    code = keras.layers.Dense(2)(inputs)
    model = keras.models.Model(inputs, keras.layers.Dense(3)(code))
    if replicas > 1:
        model = multi_gpu_model(model, replicas)
    used = loss_of(code, K)
    model.compile("sgd", "mse" if metric else used, metrics=[used] if metric else None)
    return model


def in_a_closure(code, K):
    def penalised(y_true, y_pred):
        return K.mean(K.square(y_true - y_pred), axis=-1) + K.sum(K.square(code), axis=-1)

    return penalised


def in_another_function(code, K):
    def penalty():
        return K.sum(K.square(code))

    def penalised(y_true, y_pred):
        return K.mean(K.square(y_true - y_pred), axis=-1) + penalty()

    return penalised


@pytest.mark.parametrize("loss_of", [in_a_closure, in_another_function])
@pytest.mark.parametrize("replicas", [1, 2])
def test_every_way_of_training_says_so(loss_of, replicas):
    model = model_with(loss_of, replicas=replicas)
    for train in (
        lambda: model.fit(X, X, verbose=0),
        lambda: model.train_on_batch(X, X),
        lambda: model.evaluate(X, X, verbose=0),
        lambda: model.fit_generator(iter([(X, X)]), steps_per_epoch=1, verbose=0),
    ):
        with pytest.raises(TypeError, match=SENTENCE):
            train()


def test_a_metric_too():
    with pytest.raises(TypeError, match=SENTENCE):
        model_with(in_a_closure, replicas=1, metric=True).fit(X, X, verbose=0)


def test_a_loss_that_asks_for_the_shape_alone_trains():
    def loss_of(code, K):
        return lambda y_true, y_pred: K.mean(K.square(y_true - y_pred), axis=-1) * K.int_shape(code)[-1]

    assert model_with(loss_of, replicas=1).fit(X, X, verbose=0).history["loss"]


def test_other_errors_stay_what_they_are():
    def loss_of(code, K):
        def wrong(y_true, y_pred):
            raise ValueError("mine")

        return wrong

    with pytest.raises(ValueError, match="mine"):
        model_with(loss_of, replicas=1).fit(X, X, verbose=0)


def test_where_a_function_keeps_a_tensor():
    code = keras.layers.Input((2,))

    class Loss:
        def __init__(self):
            self.code = code

        def of(self, y_true, y_pred):
            return y_pred - self.code

    def with_argument(y_true, y_pred, code):
        return y_pred - code

    assert symbolic_name(Loss().of) == "code"
    assert symbolic_name(functools.partial(with_argument, code=code)) == "code"
    assert symbolic_name(lambda y_true, y_pred: y_pred) is None
    assert symbolic_name(len) is None


def test_a_lambda_layer_that_uses_a_symbolic_tensor():
    from keras import backend as K

    image = keras.Input((3,))
    x = keras.layers.Dense(3)(image)
    said = r"test_closures\.py:\d+: the function of the Lambda .* tensor `image`.*\[x, image\]"
    with pytest.raises(TypeError, match=said):
        keras.layers.Lambda(lambda t: K.reshape(t, K.shape(image)))(x)
    # This one fails when numbers come.
    model = keras.Model(image, keras.layers.Lambda(lambda t: t * K.mean(image))(x))
    model.compile("sgd", "mse")
    for use in (lambda: model.fit(X, X, verbose=0), lambda: model.predict(X)):
        with pytest.raises(TypeError, match=said):
            use()
    both = keras.layers.Lambda(lambda both: both[0] * K.mean(both[1]))([x, image])
    assert both.shape == (None, 3)
    with pytest.raises(NotImplementedError) as other:
        keras.layers.Lambda(lambda t: t + None)(x)
    assert "symbolic" not in str(other.value)
