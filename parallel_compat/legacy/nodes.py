"""What a layer made of each of its calls on symbolic tensors: `layer.get_output_at(i)`, `layer.inbound_nodes`."""

from __future__ import annotations

from typing import Any

from parallel_compat.backend.keras3 import layers


def get_output_at(layer: Any, node_index: int) -> Any:
    """Return the symbolic output of one of the layer's calls, a list if there are several."""
    return _alone(_node(layer, node_index).output_tensors)


def get_input_at(layer: Any, node_index: int) -> Any:
    """Return the symbolic input of one of the layer's calls, a list if there are several."""
    node = _node(layer, node_index)
    return _alone(node.input_tensors or node.output_tensors)  # the input of an input layer is its output


def get_output_shape_at(layer: Any, node_index: int) -> Any:
    """Return the shape of what one of the layer's calls returned, a list if there are several."""
    return _alone([tuple(tensor.shape) for tensor in _node(layer, node_index).output_tensors])


def get_input_shape_at(layer: Any, node_index: int) -> Any:
    """Return the shape of what the layer was called on, a list if there are several."""
    node = _node(layer, node_index)
    return _alone([tuple(tensor.shape) for tensor in node.input_tensors or node.output_tensors])


def inbound_nodes(layer: Any) -> list[Any]:
    """Return the layer's calls."""
    return layers.calls_of(layer)


def outbound_nodes(layer: Any) -> list[Any]:
    """Return the calls of other layers on what this one returned."""
    return layers.calls_on(layer)


def inbound_layers(node: Any) -> list[Any]:
    """Return the layers that made the inputs of a call."""
    return [parent.operation for parent in node.parent_nodes]


def _node(layer: Any, index: int) -> Any:
    nodes = layers.calls_of(layer)
    if not nodes:
        raise RuntimeError(f"Expected a layer that has been called on symbolic tensors. Received: '{layer.name}'")
    if not 0 <= index < len(nodes):
        raise ValueError(f"Expected a node of '{layer.name}', which has {len(nodes)}. Received: node_index={index}")
    return nodes[index]


def _alone(values: list[Any]) -> Any:
    return values[0] if len(values) == 1 else list(values)
