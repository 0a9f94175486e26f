"""`tf.Variable` as old code asks for it: the weights of layers were such, and Keras 3's are not.

`isinstance(layer.kernel, tf.Variable)` chose the weights to decay, to count, to prune: without an answer none.
TensorFlow and Keras ask as well, and have to be told what is; so the name is answered for the user's code alone.
"""

from __future__ import annotations

from typing import Any

import keras
import tensorflow as tf


class _OfUsers(type):
    """The type of `Variable`: it makes TensorFlow's variables, and counts Keras's as its own."""

    def __call__(cls, *given: Any, **keywords: Any) -> Any:
        return tf.Variable(*given, **keywords)

    def __instancecheck__(cls, instance: Any) -> bool:
        return isinstance(instance, (tf.Variable, keras.Variable))

    def __subclasscheck__(cls, kind: type) -> bool:
        return issubclass(kind, (tf.Variable, keras.Variable))

    def __getattr__(cls, name: str) -> Any:
        return getattr(tf.Variable, name)


# Not derived from `tf.Variable`, which asks all that is derived from it: it would say yes to everybody.
class Variable(metaclass=_OfUsers):
    """A variable of TensorFlow or of Keras.

    >>> layer = keras.layers.Dense(1)
    >>> layer.build((None, 2))
    >>> isinstance(layer.kernel, Variable), isinstance(Variable(1.0), tf.Variable)
    (True, True)
    """
