"""Activity regularizers as Keras 2 counted them: the sum over a batch, which Keras 3 divides by its samples."""

from __future__ import annotations

import sys
from functools import cache
from typing import Any

import keras
import tensorflow as tf

from parallel_compat.run import object_eras

_ATTRIBUTE = "activity_regularizer"
_WHO_COMPUTES = ("keras", "parallel_compat")


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


class OfLayer:
    """`layer.activity_regularizer`: in Keras 2.2.4 the sum over the batch, of whatever layer.

    What a layer of the user's sets under that name counts as what it gives to Keras. Its own code finds what it has
    set, and may call it.
    """

    def __get__(self, layer: Any, kind: Any) -> Any:
        if layer is None:
            return self
        try:
            held = vars(layer)[_ATTRIBUTE]
        except KeyError:
            raise AttributeError(f"'{kind.__name__}' object has no attribute '{_ATTRIBUTE}'") from None
        asks = (sys._getframe(1).f_globals.get("__name__") or "").partition(".")[0]
        return held.regularizer if isinstance(held, SumOverBatch) and asks not in _WHO_COMPUTES else held

    def __set__(self, layer: Any, value: Any) -> None:
        is_of_then = callable(value) and object_eras.era_of_object(layer).is_standalone
        vars(layer)[_ATTRIBUTE] = SumOverBatch(value) if is_of_then and not isinstance(value, SumOverBatch) else value

    def __delete__(self, layer: Any) -> None:
        del vars(layer)[_ATTRIBUTE]


def samples_of(x: Any) -> Any:
    """Return the samples of a layer's output, in its dtype."""
    return keras.ops.cast(keras.ops.shape(x)[0] if len(x.shape) else 1, x.dtype)


@cache
def divides_by_samples() -> bool:
    """Say whether this Keras divides activity regularizers by the samples of the batch: 3.12 does not, 3.15 does."""
    # A scope of its own: it may be asked first while another one collects losses.
    with tf.init_scope(), keras.StatelessScope(collect_losses=True) as scope:
        layer = keras.layers.Identity(name="samples")
        vars(layer)[_ATTRIBUTE] = keras.regularizers.L1(1.0)  # past `OfLayer`
        layer(keras.ops.ones((2, 1)))
        return float(scope.losses[0]) < 1.5
