"""What `RandomCrop` of TensorFlow 2.2 did outside of training; Keras 3 returns the images as they are."""

from __future__ import annotations

from typing import Any

import tensorflow as tf


def without_training(images: Any, height: int, width: int) -> tf.Tensor:
    """Return images that are resized to the size of the crop by their shorter side, and cut at their centre.

    >>> without_training(tf.reshape(tf.range(8.0), [1, 2, 4, 1]), 2, 2)[0, :, :, 0].numpy().tolist()
    [[1.0, 2.0], [5.0, 6.0]]

    Args:
        images: of the shape `(samples, height, width, channels)`.
        height: that of the crop.
        width: that of the crop.

    Raises:
        tf.errors.InvalidArgumentError: the crop is larger than the resized images.
    """
    images = tf.convert_to_tensor(images)
    rows, columns = tf.unstack(tf.shape(images)[1:3])
    is_tall = rows > columns
    size = tf.where(
        is_tall,
        tf.stack([tf.cast(width * rows / columns, tf.int32), width]),
        tf.stack([height, tf.cast(height * columns / rows, tf.int32)]),
    )
    begin = tf.cast((size - [height, width]) / 2, tf.int32)
    cut = tf.slice(tf.image.resize(images, size), [0, *tf.unstack(begin), 0], [-1, height, width, -1])
    cut.set_shape([images.shape[0], height, width, images.shape[3]])
    return cut
