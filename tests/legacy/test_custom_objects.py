"""Names that old code gave its own functions with `get_custom_objects()`."""

from __future__ import annotations

import numpy as np
import pytest

from parallel_compat.legacy import layers


def twice(x):
    return 2 * x


@pytest.mark.usefixtures("named")
def test_layers_take_the_names():
    from keras.layers import Activation, Dense

    x = np.ones((1, 3), "float32")
    np.testing.assert_array_equal(Activation("twice")(x), 2 * x)
    layer = Dense(
        2, activation="twice", kernel_initializer="ones", kernel_regularizer="small", kernel_constraint="twice"
    )
    np.testing.assert_array_equal(layer(x), [[6.0, 6.0]])
    assert float(layer.losses[0]) == 6.0
    np.testing.assert_array_equal(layer.kernel.constraint(layer.kernel), np.full((3, 2), 2.0))


@pytest.mark.usefixtures("named")
def test_they_come_before_keras_own():
    from keras import activations, losses, metrics

    assert activations.get("twice") is twice
    assert float(losses.get("mse")(1.0, 4.0)) == float(metrics.get("mse")(1.0, 4.0)) == 3.0


def test_a_layer_is_an_activation_by_name():
    from keras.layers import Activation
    from keras.utils import get_custom_objects

    get_custom_objects().update({"doubled": Activation(twice)})
    try:
        np.testing.assert_array_equal(Activation("doubled")(np.ones((1, 3), "float32")), np.full((1, 3), 2.0))
    finally:
        del get_custom_objects()["doubled"]


def test_an_unknown_name_is_refused_as_ever():
    with pytest.raises(ValueError, match="twice"):
        layers.Dense(3, activation="twice")


class Scaled:
    def __init__(self, by=1):
        self.by = by

    def get_config(self):
        return {"by": self.by}

    @classmethod
    def from_config(cls, config, custom_objects=None):
        made = cls(**config)
        made.known = sorted(custom_objects or {})
        return made
