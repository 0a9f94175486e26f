"""Schedules of the learning rate that tf.keras 2 had and Keras 3 has not."""

from __future__ import annotations

import functools
import math
from typing import Any

import keras
import tensorflow as tf


class LearningRateSchedule(keras.optimizers.schedules.LearningRateSchedule):  # type: ignore[misc]
    """The base class of custom schedules, which tf.keras called with a float; Keras 3 passes an integer.

    >>> class Halving(LearningRateSchedule):
    ...     def __call__(self, step):
    ...         return 0.5**step
    >>> float(Halving()(tf.constant(2, tf.int64)))
    0.25
    """

    def __init_subclass__(cls, **keywords: Any) -> None:
        super().__init_subclass__(**keywords)
        called = vars(cls).get("__call__")
        if called is None:
            return

        @functools.wraps(called)
        def __call__(self: Any, step: Any) -> Any:
            # What a counter of steps is; a number or a float that the user gives is the user's.
            counted = not isinstance(step, (int, float)) and keras.backend.is_int_dtype(step.dtype)
            return called(self, keras.ops.cast(step, "float32") if counted else step)

        cls.__call__ = __call__


@keras.saving.register_keras_serializable(package="parallel_compat")
class LinearCosineDecay(keras.optimizers.schedules.LearningRateSchedule):  # type: ignore[misc]
    """A rate that falls linearly while it swings as a cosine.

    >>> rate = LinearCosineDecay(0.1, decay_steps=10)
    >>> [round(float(rate(step)), 4) for step in (0, 5, 10)]
    [0.1001, 0.0251, 0.0001]

    Args:
        initial_learning_rate: the rate of the first step, as far as `alpha` and `beta` let it.
        decay_steps: after how many steps it falls no further.
        num_periods: how many cosine waves there are until then.
        alpha: is added to what falls linearly.
        beta: is added to the product.
        name: of the schedule.
    """

    def __init__(
        self,
        initial_learning_rate: Any,
        decay_steps: Any,
        num_periods: float = 0.5,
        alpha: float = 0.0,
        beta: float = 0.001,
        name: str | None = None,
    ) -> None:
        self.initial_learning_rate = initial_learning_rate
        self.decay_steps = decay_steps
        self.num_periods = num_periods
        self.alpha = alpha
        self.beta = beta
        self.name = name

    def __call__(self, step: Any) -> Any:
        rate = tf.convert_to_tensor(self.initial_learning_rate)
        steps = tf.cast(self.decay_steps, rate.dtype)
        step = tf.minimum(tf.cast(step, rate.dtype), steps)
        falling = (steps - step) / steps + self._noise(step)
        cosine = 0.5 * (1.0 + tf.cos(math.pi * 2.0 * tf.cast(self.num_periods, rate.dtype) * step / steps))
        return rate * ((self.alpha + falling) * cosine + self.beta)

    def _noise(self, step: Any) -> Any:
        return tf.zeros((), step.dtype)

    def get_config(self) -> dict[str, Any]:
        return {
            name: getattr(self, name)
            for name in ("initial_learning_rate", "decay_steps", "num_periods", "alpha", "beta", "name")
        }


@keras.saving.register_keras_serializable(package="parallel_compat")
class NoisyLinearCosineDecay(LinearCosineDecay):
    """`LinearCosineDecay` with noise that grows less.

    >>> NoisyLinearCosineDecay(0.1, 10, initial_variance=0.5).get_config()["initial_variance"]
    0.5

    Args:
        initial_learning_rate: the rate of the first step.
        decay_steps: after how many steps it falls no further.
        initial_variance: the noise's variance in the first step.
        variance_decay: it is divided by the number of steps to this power.
        num_periods: how many cosine waves there are.
        alpha: is added to what falls linearly.
        beta: is added to the product.
        name: of the schedule.
    """

    def __init__(
        self,
        initial_learning_rate: Any,
        decay_steps: Any,
        initial_variance: float = 1.0,
        variance_decay: float = 0.55,
        num_periods: float = 0.5,
        alpha: float = 0.0,
        beta: float = 0.001,
        name: str | None = None,
    ) -> None:
        super().__init__(initial_learning_rate, decay_steps, num_periods, alpha, beta, name)
        self.initial_variance = initial_variance
        self.variance_decay = variance_decay

    def _noise(self, step: Any) -> Any:
        variance = self.initial_variance / tf.pow(1.0 + step, tf.cast(self.variance_decay, step.dtype))
        return tf.random.normal(step.shape, stddev=tf.sqrt(variance), dtype=step.dtype)

    def get_config(self) -> dict[str, Any]:
        of_noise = {"initial_variance": self.initial_variance, "variance_decay": self.variance_decay}
        return {**super().get_config(), **of_noise}
