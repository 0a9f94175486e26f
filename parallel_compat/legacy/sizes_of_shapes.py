"""Sizes in a symbolic tensor's value: `tf.zeros(tf.shape(x))` has the sizes of `x` that are known.

TensorFlow's graphs, which tf.keras made its models of, infer them through the operations between. A symbolic tensor of
Keras 3 has no value to infer from: the operations that computed it are traced once more, together with the one that
takes it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import keras
import tensorflow as tf

from parallel_compat.backend.keras3.symbolic_values import Values, node_of


def holds_sizes(tensor: Any) -> bool:
    """Return whether a symbolic tensor may hold sizes: a whole number or a list of them that an operation computed."""
    whole = keras.backend.is_int_dtype(tensor.dtype)
    few = tensor.shape is not None and len(tensor.shape) <= 1
    node = node_of(tensor)
    if not whole or not few or node is None:
        return False
    operation = node.operation
    return not isinstance(operation, keras.Layer) or hasattr(operation, "made_of")  # a `TensorFlowOpLayer`


def output_spec(layer: Any, inputs: Sequence[Any]) -> Any:
    """Return symbolic tensors with the shapes and types of what a `TensorFlowOpLayer` gives, in its structure."""
    begins = list({id(each): each for tensor in inputs for each in _begins(tensor)}.values())
    spec: list[Any] = []

    def traced(*values: Any) -> Any:
        outputs = layer.call(Values(zip(begins, values, strict=True)).of(list(inputs)))
        spec.append(keras.tree.map_structure(_symbol, outputs))
        return outputs

    specs = [tf.TensorSpec(each.shape, keras.backend.standardize_dtype(each.dtype)) for each in begins]
    tf.function(traced, autograph=False).get_concrete_function(*specs)
    return spec[0]


def _symbol(output: Any) -> Any:
    if not tf.is_tensor(output):
        return output
    shape = tuple(output.shape.as_list()) if output.shape.rank is not None else None
    return keras.KerasTensor(shape, dtype=output.dtype.name, sparse=isinstance(output, tf.SparseTensor))


def _begins(tensor: Any) -> list[Any]:
    """List the tensors that the operations begin with which compute a tensor's sizes."""
    if not holds_sizes(tensor):
        return [tensor]
    begins: list[Any] = []
    for source in node_of(tensor).input_tensors:
        begins += _begins(source)
    return begins
