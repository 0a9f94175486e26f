"""What a layer would give, asked as tf.keras let one ask: `compute_output_shape`, `compute_output_signature`, masks."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import keras
import tensorflow as tf

from parallel_compat.backend.keras3 import layers
from parallel_compat.legacy.shapes import Shape

if TYPE_CHECKING:
    from collections.abc import Callable


def plain(shapes: Any) -> Any:
    """Return shapes as Keras takes them: tuples, where a `tf.TensorShape` is given.

    >>> plain([tf.TensorShape([None, 3]), (2, 3)])
    [(None, 3), (2, 3)]
    """
    if isinstance(shapes, tf.TensorShape):
        return tuple(shapes.as_list())
    if isinstance(shapes, (list, tuple)) and not isinstance(shapes, Shape):
        kind = type(shapes) if type(shapes) in (list, tuple) else tuple
        return kind(plain(each) for each in shapes)
    return {name: plain(each) for name, each in shapes.items()} if isinstance(shapes, dict) else shapes


def with_methods(shapes: Any) -> Any:
    """Return shapes with the methods of a `tf.TensorShape`: `as_list()` and the others.

    >>> with_methods((None, 3)).as_list()
    [None, 3]
    """
    return _of_each(Shape, shapes)


def tuples(shapes: Any) -> Any:
    """Return shapes out of a file of JSON, which has lists, as the code that is given them knows them.

    >>> tuples([[None, 2], [None, 3]])
    [(None, 2), (None, 3)]
    """
    return _of_each(tuple, shapes)


def _of_each(make: Callable[[Any], Any], shapes: Any) -> Any:
    if isinstance(shapes, (list, tuple)):
        if all(size is None or isinstance(size, int) for size in shapes):
            return make(shapes)
        kind = type(shapes) if type(shapes) in (list, tuple) else tuple
        return kind(_of_each(make, each) for each in shapes)
    return {name: _of_each(make, each) for name, each in shapes.items()} if isinstance(shapes, dict) else shapes


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
    given = with_methods(layer.compute_output_shape(shapes))
    dtype = layer.compute_dtype or tf.nest.flatten(input_signature)[0].dtype

    def spec(shape: Any) -> Any:
        if isinstance(shape, Shape):
            return tf.TensorSpec(shape.as_list(), dtype)
        return type(shape)(spec(each) for each in shape)

    return spec(given)


def input_mask(layer: Any) -> Any:
    """Return the mask of the tensor that a layer was called on, or a list of those of several."""
    return keras.tree.map_structure(layers.get_mask, layer.input)


def output_mask(layer: Any) -> Any:
    """Return the mask of what a layer returned, or a list of those of several."""
    return keras.tree.map_structure(layers.get_mask, layer.output)
