"""Sizes in a symbolic tensor's value: `tf.zeros(tf.shape(x))` has the sizes of `x` that are known.

TensorFlow's graphs, which tf.keras made its models of, infer them through the operations between. A symbolic tensor of
Keras 3 has no value to infer from: the operations that computed it are traced once more, together with the one that
takes it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import keras
import tensorflow as tf

from parallel_compat.backend.keras3 import layers

if TYPE_CHECKING:
    from collections.abc import Sequence


def holds_sizes(tensor: Any) -> bool:
    """Say whether a symbolic tensor may hold sizes: a whole number, or a list of them, that an operation computed.

    Args:
        tensor: the tensor.
    """
    whole = keras.backend.is_int_dtype(tensor.dtype)
    few = tensor.shape is not None and len(tensor.shape) <= 1
    if not (whole and few and layers.has_history(tensor)):
        return False
    operation = layers.operation_of(tensor)
    return not isinstance(operation, keras.Layer) or hasattr(operation, "made_of")  # a `TensorFlowOpLayer`


def shapes_of_call(layer: Any, inputs: Sequence[Any]) -> list[tf.TensorShape]:
    """Return the shapes of what a `TensorFlowOpLayer` gives, in the order of its outputs.

    Args:
        layer: the layer.
        inputs: symbolic tensors.
    """
    begins = list({id(each): each for tensor in inputs for each in _begins(tensor)}.values())
    shapes: list[tf.TensorShape] = []

    def traced(*values: Any) -> list[Any]:
        known = {id(each): value for each, value in zip(begins, values, strict=True)}
        outputs: list[Any] = keras.tree.flatten(layer.call([_value(each, known) for each in inputs]))
        shapes.extend(each.shape for each in outputs)
        return outputs

    specs = [tf.TensorSpec(each.shape, keras.backend.standardize_dtype(each.dtype)) for each in begins]
    tf.function(traced, autograph=False).get_concrete_function(*specs)
    return shapes


def with_sizes(spec: Any, shapes: Sequence[tf.TensorShape]) -> Any:
    """Return a layer's output specification with the sizes of these shapes where it has none.

    Args:
        spec: symbolic tensors.
        shapes: of each.
    """
    merged = []
    for each, shape in zip(keras.tree.flatten(spec), shapes, strict=True):
        known = tf.TensorShape(each.shape).merge_with(shape)
        if known.rank is None or each.sparse:
            merged.append(each)
        else:
            merged.append(keras.KerasTensor(tuple(known.as_list()), dtype=each.dtype))
    packed: Any = keras.tree.pack_sequence_as(spec, merged)
    return packed


def _begins(tensor: Any) -> list[Any]:
    """List the tensors that the operations begin with which compute a tensor's sizes."""
    if not holds_sizes(tensor):
        return [tensor]
    begins: list[Any] = []
    for source in layers.inputs_behind(tensor):
        begins += _begins(source)
    return begins


def _value(tensor: Any, known: dict[int, Any]) -> Any:
    if id(tensor) not in known:
        sources = {id(each): _value(each, known) for each in layers.inputs_behind(tensor)}
        known[id(tensor)] = layers.computed_again(tensor, sources)
    return known[id(tensor)]
