"""`merge`, the function that Keras had until 2.1, by the layer that each of its modes became."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import keras

_OF_MODE: dict[str, Callable[..., Any]] = {
    "sum": keras.layers.add,
    "mul": keras.layers.multiply,
    "ave": keras.layers.average,
    "max": keras.layers.maximum,
}


def _output(layer: keras.Layer) -> Any:
    return layer.outputs[0] if isinstance(layer, keras.Model) else layer.output


def merge(
    inputs: Sequence[Any],
    mode: Any = "sum",
    concat_axis: int = -1,
    dot_axes: Any = -1,
    output_shape: Any = None,
    output_mask: Any = None,
    arguments: dict[str, Any] | None = None,
    name: str | None = None,
) -> Any:
    """Merge tensors.

    >>> merge([keras.Input((3,)), keras.Input((2,))], mode="concat").shape
    (None, 5)

    Args:
        inputs: the tensors, or layers and models that were called once, whose outputs are meant.
        mode: sum, mul, concat, ave, cos, dot, max, or a function of the list of tensors.
        concat_axis: of the mode concat.
        dot_axes: of the modes dot and cos.
        output_shape: of a function, as `keras.layers.Lambda` takes it.
        output_mask: of a function, likewise.
        arguments: of a function: its further arguments.
        name: of the layer.

    Raises:
        ValueError: there is no such mode.
    """
    tensors = [_output(each) if isinstance(each, keras.Layer) else each for each in inputs]
    if callable(mode):
        return keras.layers.Lambda(mode, output_shape, output_mask, arguments, name=name)(tensors)
    if mode in _OF_MODE:
        return _OF_MODE[mode](tensors, name=name)
    if mode == "concat":
        return keras.layers.concatenate(tensors, axis=concat_axis, name=name)
    if mode == "dot":
        return keras.layers.dot(tensors, axes=dot_axes, name=name)
    if mode == "cos":
        a, b = tensors
        product, *squares = (keras.layers.dot(pair, axes=dot_axes) for pair in ((a, b), (a, a), (b, b)))
        norms = keras.ops.sqrt(squares[0] * squares[1])
        return keras.ops.expand_dims(product / keras.ops.maximum(norms, keras.config.epsilon()), 1)
    raise ValueError(
        f"Expected a `mode` of merge: sum, mul, concat, ave, cos, dot, max or a function. Received: {mode}"
    )
