"""The learning phase (`K.learning_phase()`): whether layers train or predict."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

import keras

from parallel_compat.backend.keras3 import call_context
from parallel_compat.backend.keras3.call_context import PHASE

_set_phase: int | None = None


def learning_phase() -> Any:
    """Return what was set, else 0 or 1 in a layer's call, else a stand-in for the flag in `K.function`'s inputs."""
    if _set_phase is not None:
        return _set_phase
    training = call_context.training()
    return PHASE if training is None else int(training)


def set_learning_phase(value: int) -> None:
    """Set what `learning_phase` returns, and what `K.function` computes, from here on.

    Args:
        value: 0 or 1.
    """
    global _set_phase
    if value not in (0, 1):
        raise ValueError(f"Expected `value` to be 0 or 1. Received: value={value!r}")
    _set_phase = int(value)


@contextlib.contextmanager
def learning_phase_scope(value: int) -> Iterator[None]:
    """Set the learning phase within a block; after it, it is what it was.

    Args:
        value: 0 or 1.
    """
    global _set_phase
    before = _set_phase
    set_learning_phase(value)
    try:
        yield
    finally:
        _set_phase = before


def fixed_learning_phase() -> int | None:
    """Return what `set_learning_phase` set, or None."""
    return _set_phase


def forget() -> None:
    """Let the learning phase be what each model does (`clear_session`)."""
    global _set_phase
    _set_phase = None


@keras.saving.register_keras_serializable(package="parallel_compat")
class InTrainPhase(keras.layers.Layer):  # type: ignore[misc]  # Keras carries no types
    """The first of two tensors while the model trains, the second otherwise: `K.in_train_phase` in a model's graph."""

    def __init__(self, **keywords: Any) -> None:
        super().__init__(autocast=False, **keywords)
        self.supports_masking = True

    def call(self, inputs: Any, training: bool | None = None) -> Any:
        return inputs[0] if training else inputs[1]

    def compute_output_spec(self, inputs: Any, training: bool | None = None) -> Any:
        return keras.KerasTensor(inputs[1].shape, inputs[1].dtype)

    def compute_mask(self, inputs: Any, previous_mask: Any = None) -> None:
        """There is no mask."""
        return


def choose_symbolically(x: Any, alt: Any, symbolic: keras.KerasTensor) -> Any:
    """Return a tensor of a model's graph that is `x` while the model trains and `alt` otherwise.

    Args:
        symbolic: the one of the two whose dtype the other gets.
    """
    both = [each if isinstance(each, keras.KerasTensor) else _constant(each, symbolic) for each in (x, alt)]
    return InTrainPhase()(both)


def _constant(value: Any, like: Any) -> Any:
    return keras.ops.zeros_like(like) + keras.ops.cast(value, like.dtype)
