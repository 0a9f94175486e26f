"""Numbers that Keras 3's constructors refuse, and those of the eras took."""

from __future__ import annotations

import keras
import numpy as np
import pytest

import parallel_compat

X = np.array([[-1.5, -0.5, 0.0, 2.0]], "float32")


@pytest.mark.usefixtures("legacy_names")
def test_layers_take_numbers_that_keras_3_refuses(era):
    with parallel_compat.legacy_names(era=era):
        layers = importing(era)
        for layer, argument, value, wanted in (
            (layers.ThresholdedReLU(theta=-1.0), "theta", -1.0, [[0.0, -0.5, 0.0, 2.0]]),
            (layers.ReLU(threshold=-1.0), "threshold", -1.0, [[0.0, -0.5, 0.0, 2.0]]),
            (layers.Dense(0), "units", 0, np.zeros((1, 0))),
            (layers.GaussianNoise(-2.0), "stddev", -2.0, X),
            (layers.AlphaDropout(-1.0), "rate", -1.0, X),
        ):
            model = keras.Sequential([keras.Input((4,)), layer])
            np.testing.assert_array_equal(model.predict(X, verbose=0), wanted)
            again = type(layer).from_config(layer.get_config()).get_config()
            assert again[argument] == layer.get_config()[argument] == value
        for layer in layers.AlphaDropout(1.0), layers.AlphaDropout(1.5), layers.GaussianDropout(1.0):
            np.testing.assert_array_equal(layer(X, training=True), X)
        with pytest.raises(ValueError, match="units"):
            layers.Dense("four")


def importing(era):
    if era == "keras-2.2.4":
        from keras import layers
    else:
        from tensorflow.keras import layers
    return layers


@pytest.mark.usefixtures("legacy_names")
def test_factors_of_regularizers_are_arrays():
    """As keras-adamw reads and changes them."""
    from keras.layers import ActivityRegularization, Dense
    from keras.regularizers import l1, l1_l2, l2

    for regularizer, factors in (
        (l1(0.25), (0.25, 0.0)),
        (l2(np.float32(0.5)), (0.0, 0.5)),
        (l1_l2(0.25, -1.0), (0.25, -1.0)),
    ):
        assert (regularizer.l1.dtype, regularizer.l2.dtype) == ("float32", "float32")
        assert (regularizer.l1, regularizer.l2) == factors
        assert regularizer.get_config() == dict(zip(("l1", "l2"), factors, strict=True))
    assert l2(0.1).get_config()["l2"] == float(np.float32(0.1))
    layer = Dense(1, kernel_initializer="ones", kernel_regularizer=l1(0.25), input_shape=(4,))
    model = keras.Sequential([layer, ActivityRegularization(l1=-1.0)])
    model.compile("sgd", lambda y, p: 0.0 * p)
    assert model.evaluate(np.ones((2, 4)), np.ones((2, 1)), verbose=0) == pytest.approx(1.0 - 2 * 4.0)
    layer.kernel_regularizer.l1 = np.array(0.0, dtype=layer.kernel_regularizer.l1.dtype)
    model.compile("sgd", lambda y, p: 0.0 * p)
    assert model.evaluate(np.ones((2, 4)), np.ones((2, 1)), verbose=0) == pytest.approx(-2 * 4.0)
