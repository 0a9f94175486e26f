"""Activity regularizers as Keras 2 counted them: the sum over a batch, which Keras 3 divides by its samples."""

from __future__ import annotations

from functools import cache
from typing import Any

import keras
import tensorflow as tf


@keras.saving.register_keras_serializable(package="parallel_compat")
class SumOverBatch(keras.regularizers.Regularizer):  # type: ignore[misc]
    """What a layer's `activity_regularizer` returns, times the samples if Keras 3 divides by them.

    >>> import numpy as np
    >>> float(SumOverBatch(keras.regularizers.L1(1.0))(np.ones((2, 3), "float32"))) in (12.0, 6.0)
    True

    Args:
        regularizer: a regularizer, or a function of a layer's output, `(samples, ...)`.
    """

    def __init__(self, regularizer: Any) -> None:
        self.regularizer = keras.regularizers.get(regularizer)
        self._divided = divides_by_samples()

    def __call__(self, x: Any) -> Any:
        return self.regularizer(x) * (samples_of(x) if self._divided else 1)

    def counting_samples(self, x: Any) -> Any:
        """Return what the samples are after Keras's division, if it divides: they show that the whole is a sum."""
        return samples_of(x) * (samples_of(x) if self._divided else 1)

    def get_config(self) -> dict[str, Any]:
        return {"regularizer": keras.saving.serialize_keras_object(self.regularizer)}

    @classmethod
    def from_config(cls, config: dict[str, Any]) -> SumOverBatch:
        return cls(keras.saving.deserialize_keras_object(config["regularizer"]))


def samples_of(x: Any) -> Any:
    """Return the samples of a layer's output, in its dtype."""
    return keras.ops.cast(keras.ops.shape(x)[0] if len(x.shape) else 1, x.dtype)


@cache
def divides_by_samples() -> bool:
    """Say whether this Keras divides activity regularizers by the samples of the batch: 3.12 does not, 3.15 does."""
    with tf.init_scope():
        layer = keras.layers.ActivityRegularization(l1=1.0, name="samples")
        layer(keras.ops.ones((2, 1)))
        return float(layer.losses[0]) < 1.5
