"""What the user's code puts into the modules of Keras."""

from __future__ import annotations

from unittest import mock

import keras
import numpy as np
import pytest
from keras import backend as K

pytestmark = pytest.mark.usefixtures("legacy_names")
X = np.ones((4, 2), "float32")


@pytest.fixture(autouse=True)
def as_before():
    known = dict(keras.utils.get_custom_objects())
    yield
    keras.utils.get_custom_objects().clear()
    keras.utils.get_custom_objects().update(known)


def tripled(y_true, y_pred):
    return 3 * K.mean(K.square(y_true - y_pred), axis=-1)


def swish(x):
    return x * K.sigmoid(x)


def test_an_assigned_function_stands_in_for_a_legacy_one_until_it_is_put_back():
    legacy = K.sum
    try:
        K.sum = lambda x: legacy(x) * 2
        assert float(K.eval(K.sum(K.ones((2,))))) == 4
    finally:
        K.sum = legacy
    assert float(K.eval(K.sum(K.ones((2,))))) == 2
    with mock.patch("keras.backend.sum", return_value=K.constant(7.0)):
        assert float(K.eval(K.sum(K.ones((2,))))) == 7
    assert K.sum is legacy


def test_keras_finds_what_was_put_into_its_modules_by_name(tmp_path):
    model = keras.models.Sequential([keras.layers.Dense(2, activation=swish, input_shape=(2,))])
    model.set_weights([np.ones((2, 2)), np.zeros(2)])
    model.compile("sgd", tripled)
    model.save(str(tmp_path / "model.h5"))
    with (
        mock.patch("keras.losses.tripled", tripled, create=True),
        mock.patch("keras.activations.swish", swish, create=True),
    ):
        keras.losses.tripled = tripled
        keras.activations.swish = swish
        loaded = keras.models.load_model(str(tmp_path / "model.h5"))
    # Keras 2.2.4
    assert loaded.evaluate(X, X, verbose=0) == pytest.approx(1.740077018737793, rel=1e-6)


def test_two_objects_of_one_name_are_refused():
    keras.losses.mine = tripled
    try:
        with pytest.raises(ValueError, match=r"keras\.metrics\.mine was expected to be the object"):
            keras.metrics.mine = swish
    finally:
        del keras.losses.mine
    assert "mine" not in keras.utils.get_custom_objects()
