"""Bilinear upsampling of Keras 2.2.4, which took the corners of pixels for their places; today it is their centres."""

from __future__ import annotations

from typing import Any

import tensorflow as tf


def bilinear(images: Any, size: tuple[int, int], data_format: str) -> Any:
    """Enlarge images as `tf.image.resize_bilinear` of TensorFlow 1 did.

    Args:
        images: `(samples, rows, columns, channels)`, or with the channels first.
        size: how many times the rows and the columns.
        data_format: "channels_last" or "channels_first".
    """
    first = data_format == "channels_first"
    images = tf.transpose(images, (0, 2, 3, 1)) if first else images
    sides = [tf.shape(images)[axis] if images.shape[axis] is None else images.shape[axis] for axis in (1, 2)]
    larger = tf.compat.v1.image.resize_bilinear(images, [side * times for side, times in zip(sides, size, strict=True)])
    return tf.transpose(larger, (0, 3, 1, 2)) if first else larger
