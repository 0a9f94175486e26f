"""Activity regularizers as Keras 2 counted them: the sum over a batch, which Keras 3 divides by its rows."""

from __future__ import annotations

from typing import Any

import keras


@keras.saving.register_keras_serializable(package="parallel_compat")
class SumOverBatch(keras.regularizers.Regularizer):  # type: ignore[misc]
    """What a layer's `activity_regularizer` returns, times the rows by which Keras 3 divides it.

    >>> import numpy as np
    >>> float(SumOverBatch(keras.regularizers.L1(1.0))(np.ones((2, 3), "float32")))
    12.0

    Args:
        regularizer: a regularizer, or a function of a layer's output, `(rows, ...)`.
    """

    def __init__(self, regularizer: Any) -> None:
        self.regularizer = keras.regularizers.get(regularizer)

    def __call__(self, x: Any) -> Any:
        return self.regularizer(x) * rows_of(x)

    def counting_rows(self, x: Any) -> Any:
        """Return the square of the rows: divided by them it shows that the whole is a sum."""
        return rows_of(x) * rows_of(x)

    def get_config(self) -> dict[str, Any]:
        return {"regularizer": keras.saving.serialize_keras_object(self.regularizer)}

    @classmethod
    def from_config(cls, config: dict[str, Any]) -> SumOverBatch:
        return cls(keras.saving.deserialize_keras_object(config["regularizer"]))


def rows_of(x: Any) -> Any:
    """Return the rows of a layer's output, in its dtype."""
    return keras.ops.cast(keras.ops.shape(x)[0] if len(x.shape) else 1, x.dtype)
