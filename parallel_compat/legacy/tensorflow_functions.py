"""Initializers of TensorFlow 1 that have other defaults under the same name in TensorFlow 2."""

from __future__ import annotations

from typing import Any

import keras


def random_normal_initializer(
    mean: float = 0.0, stddev: float = 1.0, seed: int | None = None, dtype: Any = None
) -> keras.initializers.Initializer:
    """Return an initializer from a normal distribution; today's default deviation is 0.05.

    >>> random_normal_initializer().stddev
    1.0

    Args:
        mean: of the values.
        stddev: their standard deviation.
        seed: of the random numbers.
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
        seed: of the random numbers.
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
        seed: of the random numbers.
        dtype: not used.
    """
    return keras.initializers.RandomUniform(minval, 1.0 if maxval is None else maxval, seed)
