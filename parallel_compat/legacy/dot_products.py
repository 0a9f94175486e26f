"""`Dot` and `K.batch_dot` of four and more axes: before Keras 2.3 and TensorFlow 2.0, a product of the last two.

Since then each of the axes in between of one input is multiplied with each of the other: `(2, 3, 4)` with `(2, 3, 4)`
gives `(2, 3, 2, 3)`, where it was `(2, 3, 3)`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import keras
import tensorflow as tf

from parallel_compat.legacy import backend
from parallel_compat.legacy.op_layers import layer_of
from parallel_compat.names.eras import Era
from parallel_compat.run import callers

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence


# The eras of such products.
OF_MATRICES = (Era.KERAS_2_2_4, Era.TF_KERAS_1_15)


def batch_dot(x: Any, y: Any, axes: Any = None) -> Any:
    """Multiply `x` and `y` along one axis of each, sample by sample, as `K.batch_dot` does since Keras 2.3.

    >>> batch_dot(tf.ones((2, 5, 3, 4)), tf.ones((2, 5, 4, 6))).shape.as_list()
    [2, 5, 3, 5, 6]

    Args:
        x: a tensor of 2 or more axes, the first that of the samples; also a symbolic one.
        y: the same.
        axes: the axis of `x` and that of `y` that are summed over, or one for both; the last and the last but one
            if None.
    """
    if isinstance(x, keras.KerasTensor) or isinstance(y, keras.KerasTensor):
        return layer_of(tf.keras.backend.batch_dot, (x, y), {"axes": axes}, "keras.backend.batch_dot")
    return tf.keras.backend.batch_dot(tf.convert_to_tensor(x), tf.convert_to_tensor(y), axes=axes)


def batch_dot_of_era(x: Any, y: Any, axes: Any = None) -> Any:
    """`K.batch_dot` of the era of the code that calls it."""
    of_era = backend.batch_dot if callers.era_of_caller() in OF_MATRICES else batch_dot
    return of_era(x, y, axes)


def merge(original: Callable[..., Any], is_old: Callable[[Any], bool]) -> Callable[..., Any]:
    """`_merge_function` of `Dot`.

    Args:
        original: that of Keras 3.
        is_old: says whether a layer is of one of `OF_MATRICES`.
    """

    def merge_function(self: Any, inputs: Any) -> Any:
        if not is_old(self) or not _are_stacks_of_matrices([each.shape for each in inputs]):
            return original(self, inputs)
        axes = _axes(self, len(inputs[0].shape))
        if self.normalize:
            inputs = [keras.utils.normalize(each, axis=axis) for each, axis in zip(inputs, axes, strict=True)]
        return backend.batch_dot(inputs[0], inputs[1], axes)

    return merge_function


def output_shape(original: Callable[..., Any], is_old: Callable[[Any], bool]) -> Callable[..., Any]:
    """`Dot.compute_output_shape`.

    Args:
        original: that of Keras 3.
        is_old: says whether a layer is of one of `OF_MATRICES`.
    """

    def compute_output_shape(self: Any, input_shape: Any) -> Any:
        if not is_old(self) or not _are_stacks_of_matrices(input_shape):
            return original(self, input_shape)
        last = len(input_shape[0]) - 1
        kept = [
            shape[-2] if axis == last else shape[-1]
            for shape, axis in zip(input_shape, _axes(self, last + 1), strict=True)
        ]
        return (*input_shape[0][:-2], *kept)

    return compute_output_shape


def _are_stacks_of_matrices(shapes: Sequence[Any]) -> bool:
    return len(shapes) == 2 and len(shapes[0]) == len(shapes[1]) > 3


def _axes(layer: keras.layers.Dot, ndim: int) -> tuple[int, int]:
    first, second = (layer.axes, layer.axes) if isinstance(layer.axes, int) else layer.axes
    return first % ndim, second % ndim
