"""What a layer made of each of its calls on symbolic tensors: `layer.get_output_at(i)`, `layer.inbound_nodes`."""

from __future__ import annotations

from typing import Any, NamedTuple

import keras

from parallel_compat.backend.keras3 import layers


def get_output_at(layer: Any, node_index: int) -> Any:
    """Return the symbolic output of one of the layer's calls, a list if there are several."""
    return _alone(_node(layer, node_index).output_tensors)


def get_input_at(layer: Any, node_index: int) -> Any:
    """Return the symbolic input of one of the layer's calls, a list if there are several."""
    return _alone(inputs(_node(layer, node_index)))


def get_output_shape_at(layer: Any, node_index: int) -> Any:
    """Return the shape of what one of the layer's calls returned, a list if there are several."""
    return _alone([tuple(tensor.shape) for tensor in _node(layer, node_index).output_tensors])


def get_input_shape_at(layer: Any, node_index: int) -> Any:
    """Return the shape of what the layer was called on, a list if there are several."""
    return _alone([tuple(tensor.shape) for tensor in inputs(_node(layer, node_index))])


def has_mask_among_inputs(layer: Any) -> bool:
    """Say whether a layer was called once, with a mask, which Keras 3 lists with the tensors."""
    nodes = layers.calls_of(layer)
    return len(nodes) == 1 and bool(nodes[0].input_tensors) and len(inputs(nodes[0])) < len(nodes[0].input_tensors)


def inputs(node: Any) -> list[Any]:
    """Return the tensors that a layer was called on; the input of an input layer is its output."""
    return input_tensors(node) or list(node.output_tensors)


def input_tensors(node: Any) -> list[Any]:
    """Return the tensors that a layer was called on, which Keras 3 lists with their masks."""
    if isinstance(node, Definition):
        return node.input_tensors
    masks = {id(mask) for mask in keras.tree.flatten(node.arguments.kwargs.get("mask")) if mask is not None}
    return [tensor for tensor in node.input_tensors if id(tensor) not in masks]


class Definition(NamedTuple):
    """What a model was made of, which Keras 2 listed as the first of its calls.

    Attributes:
        operation: the model.
        input_tensors: its inputs.
        output_tensors: its outputs.
        parent_nodes: none.
    """

    operation: Any
    input_tensors: list[Any]
    output_tensors: list[Any]
    parent_nodes: tuple[Any, ...] = ()

    @property
    def inbound_layers(self) -> list[Any]:
        """The layers that made the inputs: none."""
        return []

    @property
    def node_indices(self) -> list[int]:
        """In which of their calls those made the inputs."""
        return []

    @property
    def tensor_indices(self) -> list[int]:
        """As which outputs those made the inputs."""
        return []


@keras.saving.register_keras_serializable(package="parallel_compat")
class InputLayer(keras.layers.Layer):  # type: ignore[misc]  # Keras carries no types
    """An input that has become a layer: it returns what it is called on."""

    def call(self, inputs: Any) -> Any:
        """Return the inputs."""
        return inputs

    def compute_output_shape(self, input_shape: Any) -> Any:
        """Return the shape of the inputs."""
        return input_shape


def inbound_nodes(layer: Any) -> list[Any]:
    """Return the layer's calls, of a functional or sequential model after its definition."""
    calls = layers.calls_of(layer)
    if not _has_definition(layer):
        return calls
    inputs, outputs = (layer.inputs, layer.outputs) if isinstance(layer, keras.Model) else (layer.input, layer.output)
    return [Definition(layer, keras.tree.flatten(inputs), keras.tree.flatten(outputs)), *calls]


def _has_definition(layer: Any) -> bool:
    """Say whether a layer is a model of which the layers are known before it is called, or an input that is called."""
    return isinstance(layer, InputLayer) or (isinstance(layer, keras.Model) and bool(layers.nodes_of(layer)))


def place_of(tensor: Any) -> tuple[Any, int, int]:
    """Return what made a symbolic tensor: the layer, in which of its calls, and as which of its outputs."""
    layer = layers.operation_of(tensor)
    node, index = layers.place_of(tensor)
    return layer, node + _has_definition(layer), index


def outbound_nodes(layer: Any) -> list[Any]:
    """Return the calls of other layers on what this one returned."""
    return layers.calls_on(layer)


def inbound_layers(node: Any) -> list[Any]:
    """Return the layers that made the inputs of a call."""
    return [parent.operation for parent in node.parent_nodes]


def node_indices(node: Any) -> list[int]:
    """Return in which of its calls each layer made an input of a call."""
    return [call for _, call, _ in map(place_of, input_tensors(node))]


def tensor_indices(node: Any) -> list[int]:
    """Return as which output of its layer each input of a call was made."""
    return [index for _, _, index in map(place_of, input_tensors(node))]


def get_config(node: Any) -> dict[str, Any]:
    """Return the layers of a call by their names, and which calls and outputs of those before it took (Keras 2.2.4)."""
    return {
        "outbound_layer": node.operation.name,
        "inbound_layers": [layer.name for layer in inbound_layers(node)],
        "node_indices": node_indices(node),
        "tensor_indices": tensor_indices(node),
    }


def input_masks(node: Any) -> list[Any]:
    """Return the masks of what a layer was called on, None for a tensor without."""
    given = [mask for mask in keras.tree.flatten(node.arguments.kwargs.get("mask")) if mask is not None]
    tensors = inputs(node)
    return given if len(given) == len(tensors) else [layers.get_mask(tensor) for tensor in tensors]


def output_masks(node: Any) -> list[Any]:
    """Return the masks of what a layer returned, None for a tensor without."""
    return [layers.get_mask(tensor) for tensor in node.output_tensors]


def input_shapes(node: Any) -> list[tuple[int | None, ...]]:
    """Return the shapes of what a layer was called on."""
    return [tuple(tensor.shape) for tensor in inputs(node)]


def output_shapes(node: Any) -> list[tuple[int | None, ...]]:
    """Return the shapes of what a layer returned."""
    return [tuple(tensor.shape) for tensor in node.output_tensors]


def _node(layer: Any, index: int) -> Any:
    nodes = inbound_nodes(layer)
    if not nodes:
        raise RuntimeError(f"Expected a layer that has been called on symbolic tensors. Received: '{layer.name}'")
    if not -len(nodes) <= index < len(nodes):
        raise ValueError(f"Expected a node of '{layer.name}', which has {len(nodes)}. Received: node_index={index}")
    return nodes[index]


def _alone(values: list[Any]) -> Any:
    return values[0] if len(values) == 1 else list(values)


def input_layers(model: Any) -> list[Any]:
    """Return the layers that made a model's inputs (`model._input_layers`)."""
    return [layers.operation_of(tensor) for tensor in model.inputs]


def output_layers(model: Any) -> list[Any]:
    """Return the layers that made a model's outputs (`model._output_layers`)."""
    return [layers.operation_of(tensor) for tensor in model.outputs]


def layers_by_depth(model: Any) -> dict[int, list[Any]]:
    """Return the layers of a model by the longest way from them to an output (`model._layers_by_depth`)."""
    depths = layers.depths_of_operations(model)
    found: dict[int, list[Any]] = {}
    for layer in model.layers:
        if id(layer) in depths:
            found.setdefault(depths[id(layer)], []).append(layer)
    return found
