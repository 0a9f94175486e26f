"""`tf.contrib.image` of TensorFlow 1: images that are turned, moved or seen from elsewhere.

A transform is eight numbers `a0, a1, a2, b0, b1, b2, c0, c1`: a pixel `(x, y)` of the result shows what is at
`((a0 x + a1 y + a2) / k, (b0 x + b1 y + b2) / k)` of the image, with `k = c0 x + c1 y + 1`. What is outside is 0
(`tensorflow/contrib/image/python/ops/image_ops.py`, 1.15).
"""

from __future__ import annotations

from typing import Any

import tensorflow as tf


def transform(
    images: Any, transforms: Any, interpolation: str = "NEAREST", output_shape: Any = None, name: str | None = None
) -> tf.Tensor:
    """Transform images, each by its own transform or all by one (`tf.contrib.image.transform`).

    >>> import tensorflow as tf
    >>> transform(tf.constant([[1.0, 2.0, 3.0]]), [1.0, 0.0, 1.0, 0.0, 1.0, 0.0, 0.0, 0.0]).numpy().tolist()
    [[2.0, 3.0, 0.0]]

    Args:
        images: `(samples, height, width, channels)`, `(height, width, channels)` or `(height, width)`.
        transforms: float, `(8,)` or `(samples, 8)`.
        interpolation: "NEAREST" or "BILINEAR".
        output_shape: height and width of the result; those of the images by default.
        name: not used.

    Returns:
        The images, of the same dtype and rank.

    Raises:
        TypeError: if the images have another rank.
    """
    images = tf.convert_to_tensor(images)
    rank = images.shape.rank
    if rank not in (2, 3, 4):
        raise TypeError(f"Expected images of 2, 3 or 4 axes. Received: {rank}.")
    transforms = tf.convert_to_tensor(transforms, tf.float32)
    batch = images[None, :, :, None] if rank == 2 else images[None] if rank == 3 else images
    result = tf.raw_ops.ImageProjectiveTransformV3(
        images=batch,
        transforms=transforms[None] if transforms.shape.rank == 1 else transforms,
        output_shape=tf.shape(batch)[1:3] if output_shape is None else tf.convert_to_tensor(output_shape, tf.int32),
        fill_value=0.0,
        interpolation=interpolation.upper(),
        fill_mode="CONSTANT",
    )
    if output_shape is None:
        result.set_shape(batch.shape)
    return result[0, :, :, 0] if rank == 2 else result[0] if rank == 3 else result


def rotate(images: Any, angles: Any, interpolation: str = "NEAREST", name: str | None = None) -> tf.Tensor:
    """Turn images counterclockwise about their middle (`tf.contrib.image.rotate`).

    >>> import tensorflow as tf
    >>> rotate(tf.constant([[1, 2], [3, 4]]), 3.14159265 / 2).numpy().tolist()
    [[2, 4], [1, 3]]

    Args:
        images: as in `transform`.
        angles: radians, `()` or `(samples,)`.
        interpolation: "NEAREST" or "BILINEAR".
        name: not used.
    """
    images = tf.convert_to_tensor(images)
    rows = 1 if images.shape.rank == 4 else 0
    height, width = tf.unstack(tf.cast(tf.shape(images)[rows : rows + 2], tf.float32))
    return transform(images, angles_to_projective_transforms(angles, height, width), interpolation)


def translate(images: Any, translations: Any, interpolation: str = "NEAREST", name: str | None = None) -> tf.Tensor:
    """Move images (`tf.contrib.image.translate`).

    >>> import tensorflow as tf
    >>> translate(tf.constant([[1, 2, 3]]), [1.0, 0.0]).numpy().tolist()
    [[0, 1, 2]]

    Args:
        images: as in `transform`.
        translations: pixels to the right and down, `(2,)` or `(samples, 2)`.
        interpolation: "NEAREST" or "BILINEAR".
        name: not used.
    """
    return transform(images, translations_to_projective_transforms(translations), interpolation)


def angles_to_projective_transforms(
    angles: Any, image_height: Any, image_width: Any, name: str | None = None
) -> tf.Tensor:
    """Return the transforms that turn images counterclockwise about their middle.

    Args:
        angles: radians, `()` or `(samples,)`.
        image_height: pixels.
        image_width: pixels.
        name: not used.

    Returns:
        The transforms, float32, `(samples, 8)`.
    """
    angles = tf.reshape(tf.convert_to_tensor(angles, tf.float32), [-1])
    right, down = (tf.cast(size, tf.float32) - 1.0 for size in (image_width, image_height))
    cos, sin, nothing = tf.cos(angles), tf.sin(angles), tf.zeros_like(angles)
    from_left = (right - (cos * right - sin * down)) / 2.0
    from_top = (down - (sin * right + cos * down)) / 2.0
    return tf.stack([cos, -sin, from_left, sin, cos, from_top, nothing, nothing], axis=1)


def translations_to_projective_transforms(translations: Any, name: str | None = None) -> tf.Tensor:
    """Return the transforms that move images.

    Args:
        translations: pixels to the right and down, `(2,)` or `(samples, 2)`.
        name: not used.

    Returns:
        The transforms, float32, `(samples, 8)`.
    """
    right, down = tf.unstack(tf.reshape(tf.convert_to_tensor(translations, tf.float32), [-1, 2]), axis=1)
    one, nothing = tf.ones_like(right), tf.zeros_like(right)
    return tf.stack([one, nothing, -right, nothing, one, -down, nothing, nothing], axis=1)


def compose_transforms(*transforms: Any) -> tf.Tensor:
    """Return the transforms that stand for several, one after another (`tf.contrib.image.compose_transforms`).

    Args:
        *transforms: at least one, each `(8,)` or `(samples, 8)`.

    Returns:
        The transforms, float32, `(samples, 8)`.
    """
    first, *rest = (_matrices(each) for each in transforms)
    for each in rest:
        first = tf.matmul(first, each)
    rows = tf.reshape(first, [-1, 9])
    return (rows / rows[:, 8:])[:, :8]


def _matrices(transforms: Any) -> tf.Tensor:
    rows = tf.reshape(tf.convert_to_tensor(transforms, tf.float32), [-1, 8])
    return tf.reshape(tf.concat([rows, tf.ones_like(rows[:, :1])], axis=1), [-1, 3, 3])
