"""The cross-entropies of an era: from probabilities, or from which logits.

Keras 3 computes with the logits of whatever softmax or sigmoid made the output. Keras 2.2.4 always worked on
probabilities; tf.keras, and Keras 2.3 by way of it, looked for the operation that belongs to the loss, softmax or
sigmoid, right behind it (`backend.py` of TensorFlow 1.15 and 2.2). Gradients differ where the labels of a row do not
sum to 1, values where the activation is another one or the output is saturated.
"""

from __future__ import annotations

from contextvars import ContextVar
from typing import TYPE_CHECKING, Any

import keras
import tensorflow as tf

from parallel_compat.backend import keras3
from parallel_compat.context_variables import set_within
from parallel_compat.names.eras import Era

if TYPE_CHECKING:
    import contextlib
    from collections.abc import Callable

_era: ContextVar[Era | None] = ContextVar("era of the cross-entropies", default=None)


def of(era: Era) -> contextlib.AbstractContextManager[None]:
    """Let Keras's cross-entropies, called in this thread, be those of an era."""
    return set_within(_era, era)


def current() -> Era | None:
    """Return the era that `of` set in this thread, or None."""
    return _era.get()


def categorical(original: Any, era: Era, target: Any, output: Any, from_logits: bool = False, axis: int = -1) -> Any:
    """Compute the cross-entropy of the labels of each sample; `original` is Keras 3's, which today's era has."""
    if era is Era.TODAY:
        return original(target, output, from_logits=from_logits, axis=axis)
    logits = output if from_logits else _logits(era, output, "Softmax")
    output = tf.convert_to_tensor(output)
    target = tf.cast(target, output.dtype)
    if logits is not None:
        return tf.nn.softmax_cross_entropy_with_logits(target, tf.cast(logits, output.dtype), axis=axis)
    output = _clipped(output / tf.reduce_sum(output, axis, keepdims=True))
    return -tf.reduce_sum(target * tf.math.log(output), axis)


def sparse_categorical(
    original: Any, era: Era, target: Any, output: Any, from_logits: bool = False, axis: int = -1
) -> Any:
    """Compute the cross-entropy of each label."""
    if era is Era.TODAY:
        return original(target, output, from_logits=from_logits, axis=axis)
    logits = output if from_logits else _logits(era, output, "Softmax")
    output = tf.convert_to_tensor(output)
    if logits is None:
        logits = tf.math.log(_clipped(output))
    if axis not in (-1, output.shape.rank - 1):
        logits = tf.experimental.numpy.moveaxis(logits, axis, -1)
    shape = tf.shape(logits)[:-1]
    labels = tf.reshape(tf.cast(target, tf.int64), [-1])
    classes = logits.shape[-1] or tf.shape(logits)[-1]
    values = tf.nn.sparse_softmax_cross_entropy_with_logits(labels, tf.reshape(logits, [-1, classes]))
    return tf.ensure_shape(tf.reshape(values, shape), logits.shape[:-1])


def binary(original: Any, era: Era, target: Any, output: Any, from_logits: bool = False) -> Any:
    """Compute the cross-entropy of each element."""
    if era is Era.TODAY:
        return original(target, output, from_logits=from_logits)
    logits = output if from_logits else _logits(era, output, "Sigmoid")
    output = tf.convert_to_tensor(output)
    target = tf.cast(target, output.dtype)
    if logits is None and era is Era.KERAS_2_2_4:
        clipped = _clipped(output)
        logits = tf.math.log(clipped / (1 - clipped))
    if logits is not None:
        return tf.nn.sigmoid_cross_entropy_with_logits(target, tf.cast(logits, output.dtype))
    epsilon, recorded = keras3.epsilon(), keras3.is_recorded(output)
    output = _clipped(output)
    rest = 1 - output
    if era.has_graphs and recorded:
        rest = tf.nn.relu(rest)  # so that no optimizer of graphs makes (1 + epsilon) - output of it, as there
    return -(target * tf.math.log(output + epsilon) + (1 - target) * tf.math.log(rest + epsilon))


def smoothed_labels(era: Era, target: Any, output: Any, smoothing: float) -> Any:
    """Return smoothed labels as tf.keras had them, or None where they are Keras 3's.

    It divided by the size of the second axis, which is not that of the classes where samples have steps or pixels
    (`categorical_crossentropy` in `losses.py` of TensorFlow 1.15 and 2.2).

    Args:
        era: the era.
        target: the labels of each class, of shape (samples, ..., classes).
        output: the output, whose dtype they get.
        smoothing: the share that all classes get, from 0 to 1.
    """
    if era in (Era.KERAS_2_2_4, Era.TODAY) or len(target.shape) < 3:
        return None
    target = keras.ops.cast(target, output.dtype)
    return target * (1.0 - smoothing) + smoothing / keras.ops.cast(keras.ops.shape(target)[1], output.dtype)


FORMULAS: dict[str, Callable[..., Any]] = {
    "categorical_crossentropy": categorical,
    "sparse_categorical_crossentropy": sparse_categorical,
    "binary_crossentropy": binary,
}


def _logits(era: Era, output: Any, operation: str) -> Any:
    """What the era computed with instead of `output`, or None."""
    if era is Era.KERAS_2_2_4 or keras3.operation_behind(output) != operation:
        return None
    if operation == "Softmax" and len(output.shape) > 2 and keras3.made_by_activation(output):
        return None  # `activations.softmax` of tf.keras was exp(x) / sum(exp(x)) there
    return keras3.logits_behind(output)


def _clipped(output: Any) -> Any:
    return tf.clip_by_value(output, keras3.epsilon(), 1.0 - keras3.epsilon())
