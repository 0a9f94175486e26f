"""The model that callbacks get: the template, where the user set it as `callback_model`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import keras


class CallbackModel(keras.callbacks.Callback):  # type: ignore[misc]  # Keras carries no types
    """Gives the callbacks of a `fit` the model that the user set as `callback_model`, as Keras 2.2.4's `fit` did."""

    def __init__(self, target: keras.Model, callbacks: Sequence[keras.callbacks.Callback]) -> None:
        super().__init__()
        self.target = target
        self.callbacks = callbacks

    def on_train_begin(self, logs: dict[str, Any] | None = None) -> None:
        for callback in (*self.callbacks, self.model.history):
            callback.set_model(self.target)


def of_callbacks(model: keras.Model) -> keras.Model | None:
    """Return what the user set as a parallel model's `callback_model`, or None."""
    return getattr(model, "callback_model", None)


def with_callback_model(model: keras.Model, callbacks: Any) -> Any:
    """Return the callbacks of `fit`, which get the `callback_model`, if there is one."""
    target = of_callbacks(model)
    if target is None or isinstance(callbacks, keras.callbacks.CallbackList):
        return callbacks
    own = keras.tree.flatten(callbacks or [])
    return [CallbackModel(target, own), *own]
