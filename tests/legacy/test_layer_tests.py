"""`layer_test` of `keras.utils.test_utils`, with which old projects tested their own layers."""

from __future__ import annotations

import keras
import numpy as np
import pytest


@keras.saving.register_keras_serializable(package="tests")
class Scale(keras.layers.Layer):
    def __init__(self, factor=2.0, promised=0, **kwargs):
        super().__init__(**kwargs)
        self.factor, self.promised = factor, promised

    def call(self, x, training=None):
        return x * self.factor

    def compute_output_shape(self, input_shape):
        return (*input_shape[:-1], input_shape[-1] + self.promised)

    def get_config(self):
        return {**super().get_config(), "factor": self.factor, "promised": self.promised}


class Forgetful(Scale):
    def get_config(self):
        return keras.layers.Layer.get_config(self)


def test_returns_what_the_layer_computes():
    from parallel_compat.legacy.layer_tests import layer_test

    data = np.ones((3, 4), "float32")
    np.testing.assert_array_equal(layer_test(Scale, {"factor": 3.0}, input_data=data), 3 * data)
    assert layer_test(Scale, input_shape=(2, None, 4)).shape[::2] == (2, 4)


def test_takes_old_layers_and_dtypes():
    from keras import layers

    from parallel_compat.legacy.layer_tests import layer_test

    output = layer_test(
        layers.Embedding,
        kwargs={"output_dim": 4, "input_dim": 10, "input_length": 2},
        input_shape=(3, 2),
        input_dtype="int32",
        expected_output_dtype="float32",
    )
    assert output.shape == (3, 2, 4)
    layer_test(layers.LSTM, kwargs={"units": 2, "stateful": True}, input_shape=(3, 2, 4), fixed_batch_size=True)


@pytest.mark.parametrize(
    ("keywords", "message"),
    [
        ({"kwargs": {"promised": 1}}, "not equal"),
        ({"expected_output": np.zeros((3, 4))}, "Not equal to tolerance"),
        ({"expected_output_dtype": "int32"}, "int32"),
    ],
)
def test_fails_where_the_layer_does(keywords, message):
    from parallel_compat.legacy.layer_tests import layer_test

    with pytest.raises(AssertionError, match=message):
        layer_test(Scale, input_data=np.ones((3, 4), "float32"), **keywords)


def test_needs_data():
    from parallel_compat.legacy.layer_tests import layer_test

    with pytest.raises(ValueError, match="Expected `input_data` or `input_shape`"):
        layer_test(Scale)


def test_keras_test_forgets_layer_names():
    from keras.layers import Dense

    from parallel_compat.legacy.layer_tests import keras_test

    @keras_test
    def names():
        return Dense(1).name

    assert names() == names()
