"""Which layers train is settled by `compile`, as Keras's guides say and Keras 2 did.

Keras 3 looks at `trainable` when the first batch is traced. A GAN that compiles its discriminator, freezes it and
builds the combined model would then never train the discriminator.
https://keras.io/guides/transfer_learning/ ("Important notes about `compile()` and `trainable`")
"""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING

from parallel_compat.backend import keras3

if TYPE_CHECKING:
    from collections.abc import Iterator

    import keras


_AT_COMPILE = "_parallel_compat_flags_at_compile"
# The flags that hold at this moment, the innermost model's last.
_holding: list[TrainableFlags] = []


@contextlib.contextmanager
def as_compiled(model: keras.Model) -> Iterator[None]:
    """Let each layer be trainable as it was when `keep_flags` was called, for a while; as it is where it never was."""
    flags = vars(model).get(_AT_COMPILE)
    with flags.restored() if flags is not None else contextlib.nullcontext():
        yield


class TrainableFlags:
    """The `trainable` flags of a model's layers and variables at the moment that this is made.

    Args:
        model: a built Keras model.
    """

    def __init__(self, model: keras.Model) -> None:
        self._model = model
        # Outer layers come before inner ones: setting an outer one's flag sets the inner ones' too.
        self._layers = [(layer, layer.trainable) for layer in keras3.all_layers(model)]
        self._variables = [(variable, variable.trainable) for variable in model.variables]
        self._now: TrainableFlags | None = None
        self._frozen_at_first_step: frozenset[int] | None = None

    @contextlib.contextmanager
    def restored(self) -> Iterator[None]:
        """Set the flags as they were, for a while."""
        now = TrainableFlags(self._model)
        differ = now._flags() != self._flags()
        if differ:
            self._set()
        self._now = now
        _holding.append(self)
        try:
            with keras3.debiasing_calls_of(self._model):
                yield
        finally:
            _holding.remove(self)
            if differ:
                now._set()

    def has(self, layer: keras.Layer) -> bool:
        """Whether a layer is one of the model's."""
        return any(layer is each for each, _ in self._layers)

    def was_frozen_before_first_step(self, layer: keras.Layer) -> bool:
        """Whether a layer was frozen when this was first asked of the model, while its flags are restored."""
        if self._frozen_at_first_step is None:
            assert self._now is not None
            frozen = [each for each, trainable in self._now._layers if not trainable]
            self._frozen_at_first_step = frozenset(map(id, frozen))
        return id(layer) in self._frozen_at_first_step

    def _set(self) -> None:
        for thing, trainable in (*self._layers, *self._variables):
            thing.trainable = trainable

    def _flags(self) -> dict[int, bool]:
        return {id(thing): trainable for thing, trainable in (*self._layers, *self._variables)}
