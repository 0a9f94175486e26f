"""What Keras knows while a layer is called. Private state, read in Keras 3.15.1 (`keras/src/layers/layer.py`)."""

from __future__ import annotations

from typing import Any


def outermost() -> Any:
    """Return what stands for the outermost call in progress, or None outside of every layer's call."""
    from keras.src.backend.common import global_state

    return global_state.get_global_attribute("current_call_ctx")


def training() -> bool | None:
    """Return whether the outermost call in progress trains, or None outside of every layer's call."""
    context = outermost()
    if context is None:
        return None
    return bool(context.get_value("training"))
