"""`y_pred._keras_history` and `layer._inbound_nodes[0].input_masks`, which losses of Keras 2 read."""

from __future__ import annotations

from typing import Any, NamedTuple

from parallel_compat.backend.keras3 import layer_calls
from parallel_compat.backend.keras3.layers import get_mask, symbolic_history

layer_calls.remember_calls()


class KerasHistory(NamedTuple):
    """Which call of which layer returned a tensor.

    Attributes:
        layer: the layer.
        node_index: the index of the call in the layer's `_inbound_nodes`.
        tensor_index: the index of the tensor among the results of that call.
    """

    layer: Any
    node_index: int
    tensor_index: int


def keras_history(tensor: Any) -> KerasHistory:
    """Return which layer made a symbolic tensor, or a prediction in a loss.

    >>> import keras
    >>> y = keras.layers.Dense(2, name="scores")(keras.Input((3,)))
    >>> keras_history(y).layer.name
    'scores'

    Args:
        tensor: a symbolic tensor, or what a layer returned in the step that runs.

    Raises:
        ValueError: no layer returned the tensor.
    """
    if (symbolic := symbolic_history(tensor)) is not None:
        return KerasHistory(*symbolic)
    call = layer_calls.call_of(tensor)
    if call is None:
        raise ValueError(
            f"Expected a tensor that a layer returned in this step. Received: {tensor}. Ask the output of the "
            "model's last layer for it, on one device, without `run_eagerly`, before anything is computed from it."
        )
    return KerasHistory(call.layer, 0, 0)


def input_tensors(node: Any) -> list[Any]:
    """Return what a layer was called with: tensors of the step that runs, or symbolic ones outside of a step.

    Args:
        node: a call of a layer, `layer._inbound_nodes[0]`.

    Raises:
        ValueError: the layer was called several times, so that the step does not tell which call is meant.
    """
    call = _call(node)
    return list(node.input_tensors if call is None else call.input_tensors)


def input_masks(node: Any) -> list[Any]:
    """Return the masks of what a layer was called with, None for a tensor that has none.

    Args:
        node: a call of a layer, `layer._inbound_nodes[0]`.

    Raises:
        ValueError: the layer was called several times, so that the step does not tell which call is meant.
    """
    call = _call(node)
    return [get_mask(each) for each in node.input_tensors] if call is None else list(call.input_masks)


def _call(node: Any) -> layer_calls.Call | None:
    call = layer_calls.last_call(node.operation)
    calls = layer_calls.number_of_calls(node.operation)
    if call is not None and calls > 1:
        raise ValueError(
            f"Expected a layer that is called once in its model. Received: '{node.operation.name}', which is called "
            f"{calls} times. Make one layer for each call."
        )
    return call
