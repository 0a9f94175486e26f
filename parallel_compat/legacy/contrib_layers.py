"""Initializers and regularizers of `tf.contrib.layers`, which layers of Keras were given.

Their arguments and formulas are those of TensorFlow 1.15 (`initializers.py`, `regularizers.py`).
"""

from __future__ import annotations

from typing import Any

import keras

# Of a normal distribution cut off at two standard deviations: what Keras divides by, and contrib rounded to 1.3.
_STDDEV_OF_TRUNCATED = 0.87962566103423978
_ROUNDED = 1.3


def variance_scaling_initializer(
    factor: float = 2.0, mode: str = "FAN_IN", uniform: bool = False, seed: int | None = None, dtype: Any = None
) -> keras.initializers.VarianceScaling:
    """Return an initializer whose variance is `factor` over the units that `mode` counts.

    >>> variance_scaling_initializer(1.0, "FAN_AVG", uniform=True).scale
    1.0

    Args:
        factor: of the variance.
        mode: "FAN_IN", "FAN_OUT" or "FAN_AVG".
        uniform: whether the distribution is uniform, else a truncated normal distribution.
        seed: of the random numbers.
        dtype: not used: weights tell theirs.
    """
    scale = factor if uniform else factor * _ROUNDED * _STDDEV_OF_TRUNCATED**2
    distribution = "uniform" if uniform else "truncated_normal"
    return keras.initializers.VarianceScaling(scale, mode.lower(), distribution, seed)


def xavier_initializer(
    uniform: bool = True, seed: int | None = None, dtype: Any = None
) -> keras.initializers.VarianceScaling:
    """Return Glorot's initializer (`tf.contrib.layers.xavier_initializer`).

    >>> xavier_initializer().mode
    'fan_avg'

    Args:
        uniform: whether the distribution is uniform, else a truncated normal distribution.
        seed: of the random numbers.
        dtype: not used.
    """
    return variance_scaling_initializer(1.0, "FAN_AVG", uniform, seed)


def l1_regularizer(scale: float, scope: Any = None) -> Any:
    """Return the regularizer `scale * sum(|w|)`; None for a `scale` of 0.

    Args:
        scale: at least 0.
        scope: not used.
    """
    return keras.regularizers.L1(scale) if scale else None


def l2_regularizer(scale: float, scope: Any = None) -> Any:
    """Return the regularizer `scale * sum(w²) / 2`, half of Keras's; None for a `scale` of 0.

    >>> float(l2_regularizer(0.1).l2)
    0.05

    Args:
        scale: at least 0.
        scope: not used.
    """
    return keras.regularizers.L2(scale / 2) if scale else None
