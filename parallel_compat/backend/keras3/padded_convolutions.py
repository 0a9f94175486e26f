"""Convolutions of three dimensions behind a padding. Read in TensorFlow 2.21 and Keras 3.15.1.

On processors with oneDNN TensorFlow's graph optimizer makes one operation of a `Pad` and the `Conv3D` that takes what
it gives (`FindPadWithConv3D` in `remapper.cc`). It does so too where the convolution pads by itself ("SAME"), which the
one operation does not: `ZeroPadding3D(1)` and `Conv3D(4, 3, padding="same")` gave 3 x 4 x 4 voxels for 5 x 6 x 6, in
`predict` and `evaluate`, and other numbers.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import tensorflow as tf
from keras.src import backend

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


def patch_points() -> Iterator[tuple[Any, str, Callable[[Any], Any]]]:
    """Yield where Keras computes convolutions (`backend.nn.conv`)."""

    def wrap(original: Any) -> Any:
        def conv(inputs: Any, kernel: Any, strides: Any = 1, padding: Any = "valid", *rest: Any, **named: Any) -> Any:
            if padding == "same" and len(inputs.shape) == 5:
                inputs = tf.ensure_shape(inputs, inputs.shape)  # which stands between the two, and costs nothing
            return original(inputs, kernel, strides, padding, *rest, **named)

        return conv

    yield backend.nn, "conv", wrap
