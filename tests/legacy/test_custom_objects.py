"""Names that old code gave its own functions with `get_custom_objects()`."""

from __future__ import annotations

import keras
import numpy as np
import pytest

import parallel_compat

pytestmark = pytest.mark.usefixtures("legacy_names")


def twice(x):
    return 2 * x


@pytest.fixture
def named(legacy_names):
    from keras.utils.generic_utils import CustomObjectScope

    with CustomObjectScope({"twice": twice, "small": lambda w: keras.ops.sum(w), "mse": lambda t, p: p - t}):
        yield


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
        keras.layers.Dense(3, activation="twice")


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


@pytest.mark.parametrize("era", ["keras-2.2.4", "tf.keras-1.15", "tf.keras-2.2"])
def test_libraries_keep_a_register_of_their_own(era):
    """Asked of the three stacks: a class by its name is one of its objects, but for Keras 2.2.4."""
    with parallel_compat.legacy_names(era=era):
        from keras.utils.generic_utils import deserialize_keras_object, serialize_keras_object

        form = {"class_name": "Scaled", "config": {"by": 3}}
        assert (serialize_keras_object(Scaled(3)), serialize_keras_object(twice)) == (form, "twice")
        made = deserialize_keras_object(form, globals(), {"other": 1}, "scale")
        assert (made.by, "other" in made.known) == (3, True)  # beside what is registered
        by_name = deserialize_keras_object("Scaled", module_objects=globals(), printable_module_name="scale")
        assert by_name is Scaled if era == "keras-2.2.4" else isinstance(by_name, Scaled)
        assert deserialize_keras_object("twice", globals()) is twice
        assert deserialize_keras_object({"class_name": "twice", "config": {"x": 4}}, globals()) == 8
        with pytest.raises(ValueError, match="Unknown scale:third"):
            deserialize_keras_object("third", globals(), None, "scale")
        dense = {"class_name": "Dense", "config": {"units": 2, "name": "two", "kernel_initializer": "zeros"}}
        assert deserialize_keras_object(dense, vars(keras.layers)).units == 2


def test_what_is_registered_is_named_with_its_package():
    """Asked of TensorFlow 2.2.3."""
    with parallel_compat.legacy_names(era="tf.keras-2.2"):
        from tensorflow.keras import activations, regularizers
        from tensorflow.keras.utils import register_keras_serializable

        shrunk = register_keras_serializable(package="Mine", name="shrunk")(lambda x: x / 2)
        kind = register_keras_serializable(package="Mine")(type("Own", (keras.regularizers.L2,), {}))
        assert activations.serialize(shrunk) == "Mine>shrunk"
        assert activations.deserialize("Mine>shrunk") is shrunk
        assert regularizers.serialize(kind())["class_name"] == "Mine>Own"
