"""Activity regularizers as Keras 2 counted them: the sum over a batch, which Keras 3 divides by its rows."""

from __future__ import annotations

from functools import cache
from typing import Any

import keras


@keras.saving.register_keras_serializable(package="parallel_compat")
class SumOverBatch(keras.regularizers.Regularizer):  # type: ignore[misc]
    """What a layer's `activity_regularizer` returns, times the rows if Keras 3 divides by them.

    >>> import numpy as np
    >>> float(SumOverBatch(keras.regularizers.L1(1.0))(np.ones((2, 3), "float32"))) in (12.0, 6.0)
    True

    Args:
        regularizer: a regularizer, or a function of a layer's output, `(rows, ...)`.
    """

    def __init__(self, regularizer: Any) -> None:
        self.regularizer = keras.regularizers.get(regularizer)
        self._divided = divides_by_rows()  # asked here, where no graph is being made

    def __call__(self, x: Any) -> Any:
        return self.regularizer(x) * (rows_of(x) if self._divided else 1)

    def counting_rows(self, x: Any) -> Any:
        """Return what the rows are after Keras's division, if it divides: they show that the whole is a sum."""
        return rows_of(x) * (rows_of(x) if self._divided else 1)

    def get_config(self) -> dict[str, Any]:
        return {"regularizer": keras.saving.serialize_keras_object(self.regularizer)}

    @classmethod
    def from_config(cls, config: dict[str, Any]) -> SumOverBatch:
        return cls(keras.saving.deserialize_keras_object(config["regularizer"]))


def rows_of(x: Any) -> Any:
    """Return the rows of a layer's output, in its dtype."""
    return keras.ops.cast(keras.ops.shape(x)[0] if len(x.shape) else 1, x.dtype)


@cache
def divides_by_rows() -> bool:
    """Say whether this Keras divides activity regularizers by the rows of the batch: 3.12 does not, 3.15 does."""
    layer = keras.layers.ActivityRegularization(l1=1.0, name="rows")
    layer(keras.ops.ones((2, 1)))
    return float(layer.losses[0]) < 1.5
