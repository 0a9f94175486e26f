"""Losses that are symbolic tensors of a functional model, as Keras 2's `model.add_loss(loss)`. Read in Keras 3.15.1.

Keras 3 adds losses while a layer is called. So the model is called as a larger one, of which the losses are outputs,
and adds them then. Its own graph, from which its config and its files are written, stays what it is.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import keras

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
    structure = getattr(model, "_outputs_struct", model.outputs)
    added = [*vars(model).get(_LOSSES, ()), *losses]
    outputs = list(model.outputs)
    with_losses = keras.Model(
        getattr(model, "_inputs_struct", model.inputs), [*outputs, *added], name=f"{model.name}_with_losses"
    )

    def call(inputs: Any, training: Any = None, mask: Any = None, **keywords: Any) -> Any:
        results = with_losses.call(inputs, training=training, mask=mask, **keywords)
        keras.layers.Layer.add_loss(model, results[len(outputs) :])
        results = keras.tree.pack_sequence_as(structure, results[: len(outputs)])
        return results[0] if isinstance(results, (list, tuple)) and len(results) == 1 else results

    vars(model)[_LOSSES] = added  # past `__setattr__`, which would track layers
    vars(model)["call"] = call
