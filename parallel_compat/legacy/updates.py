"""Updates of variables, which Keras 2 collected while a layer was called and ran with each training step."""

from __future__ import annotations

from typing import Any

import keras

from parallel_compat.backend.keras3 import call_context


def add_update(layer: Any, updates: Any = None, inputs: Any = None) -> None:
    """Run updates with each training step of a layer whose `call` is running (`Layer.add_update`).

    Args:
        layer: the layer; a frozen one is not changed.
        updates: pairs (variable, new value), or functions; one or a list. What `K.update` returned in a call that
            trains has been assigned.
        inputs: not used: what an update depends on is what it was computed from.
    """
    if updates is None or call_context.training() is False or not layer.trainable:
        return
    for each in updates if isinstance(updates, list) else [updates]:
        if isinstance(each, tuple) and len(each) == 2:
            variable, value = each
            variable.assign(keras.ops.cast(value, variable.dtype))
        elif callable(each) and not hasattr(each, "shape"):
            each()
