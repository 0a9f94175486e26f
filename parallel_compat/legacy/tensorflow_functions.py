"""Functions of TensorFlow 1 that give something else under the same name and arguments in TensorFlow 2."""

from __future__ import annotations

from typing import Any

import keras
import tensorflow as tf


def where(condition: Any, x: Any = None, y: Any = None, name: str | None = None) -> Any:
    """Choose from `x` and `y`: whole rows by a vector (`tf.where`, which broadcasts it along the columns today).

    >>> import tensorflow as tf
    >>> where([True, False], [[1, 2], [3, 4]], [[0, 0], [0, 0]]).numpy().tolist()
    [[1, 2], [0, 0]]

    Args:
        condition: bools, in the shape of `x`, or `(samples,)`.
        x: taken where the condition holds; None for the indices of where that is.
        y: taken where it does not.
        name: of the operation.
    """
    if x is None or y is None:
        return tf.where(condition, x, y, name)
    rank, rank_of_condition = _rank(x), _rank(condition)
    if rank_of_condition == 1 and rank is not None and rank > 1:
        condition = tf.reshape(condition, [-1, *[1] * (rank - 1)])
    return tf.where(condition, x, y, name)


def _rank(tensor: Any) -> int | None:
    if isinstance(tensor, keras.KerasTensor):
        return len(tensor.shape)
    rank: int | None = tf.convert_to_tensor(tensor).shape.rank
    return rank


def random_normal_initializer(
    mean: float = 0.0, stddev: float = 1.0, seed: int | None = None, dtype: Any = None
) -> keras.initializers.Initializer:
    """Return an initializer from a normal distribution; today's default deviation is 0.05.

    >>> random_normal_initializer().stddev
    1.0

    Args:
        mean: of the values.
        stddev: their standard deviation.
        seed: of what it draws.
        dtype: not used: weights tell theirs.
    """
    return keras.initializers.RandomNormal(mean, stddev, seed)


def truncated_normal_initializer(
    mean: float = 0.0, stddev: float = 1.0, seed: int | None = None, dtype: Any = None
) -> keras.initializers.Initializer:
    """Return an initializer from a normal distribution that is cut off at two standard deviations.

    Args:
        mean: of the values.
        stddev: that of the whole distribution, 0.05 by default today.
        seed: of what it draws.
        dtype: not used.
    """
    return keras.initializers.TruncatedNormal(mean, stddev, seed)


def random_uniform_initializer(
    minval: float = 0, maxval: float | None = None, seed: int | None = None, dtype: Any = None
) -> keras.initializers.Initializer:
    """Return an initializer from a uniform distribution: from 0 to 1, where it is from -0.05 to 0.05 today.

    Args:
        minval: the lowest value.
        maxval: the highest; 1 by default.
        seed: of what it draws.
        dtype: not used.
    """
    return keras.initializers.RandomUniform(minval, 1.0 if maxval is None else maxval, seed)
