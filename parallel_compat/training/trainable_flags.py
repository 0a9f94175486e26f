"""Which layers train is settled by `compile`, as Keras's guides say and Keras 2 did.

Keras 3 looks at `trainable` when the first batch is traced. A GAN that compiles its discriminator, freezes it and
builds the combined model would then never train the discriminator.
https://keras.io/guides/transfer_learning/ ("Important notes about `compile()` and `trainable`")
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from contextvars import ContextVar

import keras

from parallel_compat.backend import keras3
from parallel_compat.context_variables import set_within

_own: ContextVar[dict[int, bool] | None] = ContextVar("own", default=None)


def own_flag(layer: keras.layers.Layer) -> bool:
    """Return the flag that a layer has outside of `restored`."""
    return bool((_own.get() or {}).get(id(layer), layer.trainable))


class TrainableFlags:
    """The `trainable` flags of a model's layers and variables at the moment that this is made."""

    def __init__(self, model: keras.Model) -> None:
        self._model = model
        # Outer layers come before inner ones: setting an outer one's flag sets the inner ones' too.
        self._layers = [(layer, layer.trainable) for layer in keras3.layers.all_layers(model)]
        self._variables = [(variable, variable.trainable) for variable in model.variables]

    @contextlib.contextmanager
    def restored(self) -> Iterator[None]:
        """Set the flags as they were, for a while."""
        now = TrainableFlags(self._model)
        if now._flags() == self._flags():
            yield
            return
        with set_within(_own, now._flags()):
            self._set()
            try:
                yield
            finally:
                now._set()

    def _set(self) -> None:
        for thing, trainable in (*self._layers, *self._variables):
            thing.trainable = trainable

    def _flags(self) -> dict[int, bool]:
        return {id(thing): trainable for thing, trainable in (*self._layers, *self._variables)}
