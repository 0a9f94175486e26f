"""`class_weight` of a data set, which TensorFlow 2.2 multiplied with the weights of samples that the data set has."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import keras
import tensorflow as tf

if TYPE_CHECKING:
    from collections.abc import Mapping


def weighed(data: tf.data.Dataset, class_weight: Mapping[int, float]) -> tf.data.Dataset:
    """Return a data set with weights of samples that are those of their classes, times those that it has.

    >>> import tensorflow as tf
    >>> data = tf.data.Dataset.from_tensors(([[1.0], [2.0]], [1, 0], [0.5, 3.0]))
    >>> next(iter(weighed(data, {0: 1.0, 1: 4.0})))[2].numpy().tolist()
    [2.0, 3.0]

    Args:
        data: batches `(x, y)` or `(x, y, sample_weight)`.
        class_weight: class -> weight, for all classes from 0 on.

    Raises:
        ValueError: for other classes, for targets of several outputs or of more than two axes.
    """
    classes = sorted(class_weight)
    if classes != list(range(len(classes))):
        raise ValueError(
            "Expected `class_weight` with a weight for each class, from 0 on, as in TensorFlow 2.2. Received: weights "
            f"for {classes}. A weight of 1 changes nothing."
        )
    of_classes = tf.constant([float(class_weight[each]) for each in classes], keras.config.floatx())

    def weigh(*batch: Any) -> Any:
        x, y, weights = keras.utils.unpack_x_y_sample_weight(batch)
        if keras.tree.is_nested(y) or len(y.shape) > 2:
            raise ValueError(
                "Expected targets of one output, (samples,) or (samples, classes), for `class_weight`. Received: "
                f"{keras.tree.map_structure(lambda each: tuple(each.shape), y)}"
            )
        found = tf.gather(of_classes, _classes(y))
        if weights is None:
            return x, y, found
        found = tf.cast(found, weights.dtype)
        return x, y, weights * (found[:, None] if len(weights.shape) == 2 else found)

    return data.map(weigh)


def _classes(y: Any) -> Any:
    def of_ids() -> Any:
        return tf.cast(tf.reshape(y, [-1]), tf.int64)

    if len(y.shape) < 2 or y.shape[1] == 1:
        return of_ids()
    return tf.argmax(y, axis=1) if y.shape[1] else tf.cond(tf.shape(y)[1] > 1, lambda: tf.argmax(y, axis=1), of_ids)
