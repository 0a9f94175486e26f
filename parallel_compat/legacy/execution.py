"""Whether code of TensorFlow 1 computes in graphs, as it did by default, or eagerly, as it may ask for."""

from __future__ import annotations

import functools
import threading
from typing import TYPE_CHECKING, Any

import tensorflow as tf

from parallel_compat.run import object_eras

if TYPE_CHECKING:
    from parallel_compat.names.eras import Era

# Whether the script asked TensorFlow 1 to compute without graphs: `fit` had another loop then.
_eagerly = threading.Event()
# Whether it asked for TensorFlow 2, which 1.15 had within it.
_as_tensorflow_2 = threading.Event()


def enabling(original: Any) -> Any:
    """Note that `tf.enable_eager_execution()`, or a function that does as much, was called."""

    @functools.wraps(original)
    def enable(*given: Any, **keywords: Any) -> Any:
        _eagerly.set()
        if original.__name__ == "enable_v2_behavior":
            _as_tensorflow_2.set()
        object_eras.train_in_graphs(False)
        return original(*given, **keywords)

    return enable


# `tf.compat.v1`'s, which scripts call by that path too, are patched; these may be called before Keras is imported.
enable_eager_execution = enabling(tf.compat.v1.enable_eager_execution)
enable_v2_behavior = enabling(tf.compat.v1.enable_v2_behavior)


def disable_eager_execution() -> None:
    """Compute eagerly all the same (`tf.disable_eager_execution()`, `tf.disable_v2_behavior()`).

    What a script asks of a graph is answered without one.
    """
    _eagerly.clear()
    _as_tensorflow_2.clear()
    object_eras.train_in_graphs(True)


def is_eager() -> bool:
    """Whether code of TensorFlow 1 computes eagerly."""
    return _eagerly.is_set()


def computes_in_graphs(era: Era) -> bool:
    """Whether code of an era computes in graphs, whose layers are called once.

    Args:
        era: the era of the code.
    """
    return object_eras.trained_as(era).has_graphs and not is_eager()


def has_v2_behavior() -> bool:
    """Whether code of TensorFlow 1 asked for TensorFlow 2 (`tf.enable_v2_behavior()`)."""
    return _as_tensorflow_2.is_set()
