"""Which functions of the targets and predictions can be computed on the rows of each replica alone."""

from __future__ import annotations

import keras
import numpy as np
import pytest
import tensorflow as tf
from keras import ops as K

from parallel_compat.training.per_sample import is_per_sample

VECTORS = tf.TensorSpec((None, 3)), tf.TensorSpec((None, 3))
SCALARS = tf.TensorSpec((None, 1)), tf.TensorSpec((None, 1))
IMAGES = tf.TensorSpec((None, 8, 8, 3)), tf.TensorSpec((None, 8, 8, 3))
IDS = tf.TensorSpec((None, 1), tf.int32), tf.TensorSpec((None, 3))


def focal(y_true, y_pred):
    y_pred = K.clip(y_pred, 1e-7, 1 - 1e-7)
    return K.sum(-0.25 * y_true * K.power(1 - y_pred, 2) * K.log(y_pred), axis=-1)


def smooth_l1(y_true, y_pred):
    distance = K.abs(y_true - y_pred)
    return K.mean(K.where(distance < 1, 0.5 * distance**2, distance - 0.5), axis=-1)


def weighted_crossentropy(y_true, y_pred):
    y_pred = y_pred / K.sum(y_pred, axis=-1, keepdims=True)
    return -K.sum(y_true * K.log(K.clip(y_pred, 1e-7, 1.0)) * K.convert_to_tensor([1.0, 2.0, 3.0]), axis=-1)


def smoothed_crossentropy(y_true, y_pred):
    return keras.losses.categorical_crossentropy(y_true, y_pred, label_smoothing=0.1)


def dice_of_each(y_true, y_pred):
    y_true, y_pred = (K.reshape(values, (-1, 192)) for values in (y_true, y_pred))
    return 1 - 2 * K.sum(y_true * y_pred, axis=-1) / (K.sum(y_true, axis=-1) + K.sum(y_pred, axis=-1) + 1)


def flattened(y_true, y_pred):
    y_true, y_pred = (tf.reshape(values, [tf.shape(values)[0], -1]) for values in (y_true, y_pred))
    return tf.reduce_mean((y_true - y_pred) ** 2, axis=-1)


def boxes(y_true, y_pred):
    return K.sum(y_true[..., 2:3] * K.square(y_true[..., :2] - y_pred[..., :2]), axis=[1, 2, 3])


def triplet(y_true, y_pred):
    return K.maximum(y_pred[:, 0] - y_pred[:, 1] + 0.2, 0.0)


def contrastive(y_true, y_pred):
    return K.mean(y_true * K.square(y_pred) + (1 - y_true) * K.square(K.maximum(1 - y_pred, 0.0)), axis=-1)


def hits(y_true, y_pred):
    return K.cast(K.equal(K.argmax(y_true, axis=-1), K.argmax(y_pred, axis=-1)), "float32")


def class_weights(y_true, y_pred):
    weights = K.take(K.convert_to_tensor([1.0, 2.0, 3.0]), y_true[:, 0])
    return weights * keras.losses.sparse_categorical_crossentropy(y_true, y_pred)


@pytest.mark.parametrize(
    ("function", "like"),
    [
        (focal, VECTORS),
        (smooth_l1, VECTORS),
        (weighted_crossentropy, VECTORS),
        (smoothed_crossentropy, VECTORS),
        (hits, VECTORS),
        (triplet, VECTORS),
        (contrastive, SCALARS),
        (dice_of_each, IMAGES),
        (flattened, IMAGES),
        (boxes, IMAGES),
        (class_weights, IDS),
    ],
)
def test_rows_are_apart(function, like):
    assert is_per_sample(function, *like)


def over_the_mean(y_true, y_pred):
    return K.square(y_true - y_pred) / K.mean(y_true)


def over_the_rows(y_true, y_pred):
    return K.sum(K.square(y_true - y_pred), axis=-1) / K.cast(K.shape(y_true)[0], "float32")


def crossed(y_true, y_pred):
    """`(rows,)` from `(rows, 1)`: broadcasting gives `(rows, rows)`, a mistake that was made often."""
    return K.mean(K.square(y_true[:, 0] - y_pred), axis=-1)


def standardized(y_true, y_pred):
    return K.mean(K.square(y_true - y_pred) / (1 + K.var(y_true, axis=0)), axis=-1)


def neighbours(y_true, y_pred):
    return K.mean(K.square(y_true - K.roll(y_pred, 1, axis=0)), axis=-1)


def only_if_large(y_true, y_pred):
    """Depends on the batch for values above 1000 alone."""
    return K.mean(K.square(y_true - y_pred), axis=-1) * K.where(K.max(y_true) > 1000.0, 2.0, 1.0)


def at_random(y_true, y_pred):
    return K.mean(K.square(y_true - y_pred), axis=-1) + 0.0 * tf.random.uniform(tf.shape(y_true)[:1])


def in_numpy(y_true, y_pred):
    error = tf.numpy_function(lambda t, p: ((t - p) ** 2).mean(-1), [y_true, y_pred], tf.float32)
    return tf.ensure_shape(error, (None,))


def one_number(y_true, y_pred):
    return K.mean(K.square(y_true - y_pred))


def fails(y_true, y_pred):
    raise RuntimeError("not on made-up rows")


@pytest.mark.parametrize(
    ("function", "like"),
    [
        (over_the_mean, VECTORS),
        (over_the_rows, VECTORS),
        (crossed, SCALARS),
        (standardized, VECTORS),
        (neighbours, VECTORS),
        (only_if_large, VECTORS),
        (at_random, VECTORS),
        (in_numpy, VECTORS),
        (one_number, VECTORS),
        (fails, VECTORS),
    ],
)
def test_rows_are_tied_or_may_be(function, like):
    assert not is_per_sample(function, *like)


def test_a_closed_over_array_as_long_as_the_batch_ties_rows():
    weights = K.convert_to_tensor(np.linspace(0, 1, 4, dtype="float32")[:, None])
    assert not is_per_sample(lambda y_true, y_pred: K.mean(K.square(y_true - y_pred) * weights, axis=-1), *VECTORS)
