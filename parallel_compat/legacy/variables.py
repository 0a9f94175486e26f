"""Variables of TensorFlow that a layer or a model holds: `tf.keras` trained and saved them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import keras
import tensorflow as tf


def held_variable(make: Callable[[], Any], before: str = "") -> Any:
    """Return a variable of Keras like the one that a function makes: Keras 3 sees no others.

    >>> class Scale(keras.layers.Layer):
    ...     def __init__(self):
    ...         super().__init__()
    ...         self.by = held_variable(lambda: tf.Variable(2.0))
    >>> len(Scale().trainable_weights)
    1

    Args:
        make: makes the variable of TensorFlow (`tf.Variable(...)`, `K.variable(...)`) that the layer held.
        before: what its name begins with.
    """
    with tf.init_scope():  # in eager mode, also where the layer is built while another is traced
        made = make()
        value = tf.convert_to_tensor(made)
    return keras.Variable(
        lambda shape, dtype=None: value,
        shape=tuple(value.shape),
        dtype=value.dtype.name,
        trainable=made.trainable,
        autocast=False,
        name=before + made.name.partition(":")[0].rpartition("/")[2],
    )


def kept(layer: Any, name: str, make: Callable[[], Any]) -> Any:
    """Return the variable that a layer keeps by a name, made at the first call.

    >>> layer = keras.layers.Layer()
    >>> kept(layer, "seen", lambda: tf.Variable(0.0)) is kept(layer, "seen", lambda: tf.Variable(0.0))
    True

    Args:
        layer: the layer whose `call` needs it.
        name: by which the layer keeps it.
        make: makes it.
    """
    variables = vars(layer).setdefault("_parallel_compat_kept", {})
    if name not in variables:
        with tf.init_scope():
            variables[name] = make()
    return variables[name]
