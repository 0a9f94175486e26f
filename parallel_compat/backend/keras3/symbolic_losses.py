"""Losses that are symbolic tensors of a functional model, as Keras 2's `model.add_loss(loss)`. Read in Keras 3.15.1.

Keras 3 adds losses while a layer is called. So each pass of the model computes these from its own tensors, and adds
them then. The model's graph, from which its config and its files are written, stays what it is.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import keras

from parallel_compat.backend.keras3.symbolic_values import Values, input_tensors_of, record_passes

if TYPE_CHECKING:
    from collections.abc import Sequence

_LOSSES = "_parallel_compat_symbolic_losses"


def add_symbolic_losses(model: keras.Model, losses: Sequence[Any]) -> None:
    """Let a functional or sequential model add these losses whenever it is called.

    Args:
        model: a model with symbolic inputs and outputs.
        losses: symbolic tensors computed from the model's inputs.

    Raises:
        ValueError: a loss is computed from something else than the model's inputs.
    """
    own = {id(tensor) for tensor in model.inputs}
    foreign = [tensor.name for tensor in input_tensors_of(losses) if id(tensor) not in own]
    if foreign:
        raise ValueError(f"Expected losses computed from the inputs of '{model.name}'. Received: one of {foreign}")
    added = vars(model).get(_LOSSES)
    if added is not None:
        added.extend(losses)
        return
    vars(model)[_LOSSES] = added = list(losses)  # past `__setattr__`, which would track layers

    def add(values: Values) -> None:
        keras.layers.Layer.add_loss(model, values.of(added))

    record_passes(model, add)


def symbolic_losses_of(model: keras.Model) -> list[Any]:
    """Return the losses that `add_symbolic_losses` added."""
    return list(vars(model).get(_LOSSES) or ())
