"""Shapes and masks of a layer's output, by the names of tf.keras: `compute_output_signature`, `output_mask`."""

from __future__ import annotations

from typing import Any

import keras
import tensorflow as tf

from parallel_compat.backend import keras3


def compute_output_signature(layer: Any, input_signature: Any) -> Any:
    """Return a `tf.TensorSpec` of what a layer gives.

    Args:
        layer: the layer.
        input_signature: a `tf.TensorSpec`, or a structure of them.
    """
    for each in tf.nest.flatten(input_signature):
        if not isinstance(each, tf.TensorSpec):
            raise TypeError(f"Expected a `tf.TensorSpec` for each input of '{layer.name}'. Received: {each}")
    shapes = tf.nest.map_structure(lambda spec: tuple(spec.shape.as_list()), input_signature)
    dtype = layer.compute_dtype or tf.nest.flatten(input_signature)[0].dtype

    def spec(shape: Any) -> Any:
        if isinstance(shape, dict):
            return {name: spec(each) for name, each in shape.items()}
        if all(size is None or isinstance(size, int) for size in shape):
            return tf.TensorSpec(shape, dtype)
        return type(shape)(spec(each) for each in shape)

    return spec(layer.compute_output_shape(shapes))


def input_mask(layer: Any) -> Any:
    """Return the mask of the tensor that a layer was called on, or a list of those of several."""
    return keras.tree.map_structure(keras3.layers.get_mask, layer.input)


def output_mask(layer: Any) -> Any:
    """Return the mask of what a layer returned, or a list of those of several."""
    return keras.tree.map_structure(keras3.layers.get_mask, layer.output)
