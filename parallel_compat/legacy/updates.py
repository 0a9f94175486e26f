"""Updates of variables, which Keras 2 collected while a layer was called and ran with each training step."""

from __future__ import annotations

from typing import Any

import keras
import tensorflow as tf

from parallel_compat.backend.keras3 import call_context
from parallel_compat.legacy import kept_numbers


def add_update(layer: Any, updates: Any = None, inputs: Any = None) -> None:
    """Run updates with each training step of a layer whose `call` is running (`Layer.add_update`).

    Args:
        layer: the layer; a frozen one is left alone.
        updates: pairs (variable, new value), or functions; one or a list. What `K.update` returned in a call has been
            assigned.
        inputs: not used: what an update depends on is what it was computed from.
    """
    numbers = [each for each in keras.tree.flatten(updates) if isinstance(each, (int, float))]
    if numbers and call_context.training() is None:
        kept_numbers.keep_updates(layer, numbers, inputs)
        return
    if updates is None or call_context.training() is False or not layer.trainable:
        return
    for each in updates if isinstance(updates, list) else [updates]:
        if isinstance(each, tuple) and len(each) == 2:
            variable, value = each
            variable.assign(tf.cast(value, variable.dtype))
        elif callable(each) and not hasattr(each, "shape"):
            each()
