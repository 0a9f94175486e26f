"""Initial values as Keras 2 computed them, where today's differ."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import keras

if TYPE_CHECKING:
    from collections.abc import Sequence


def tiled_identity(shape: Sequence[int], gain: float = 1.0, dtype: Any = None) -> Any:
    """Return identity matrices side by side or one above the other: `Identity` of Keras 2.2.4 for an oblong shape.

    >>> tiled_identity((1, 3)).numpy().tolist()
    [[1.0, 1.0, 1.0]]

    Args:
        shape: two sizes.
        gain: what the ones are multiplied by.
        dtype: of the result.

    Raises:
        ValueError: the longer side is no multiple of the shorter one.
    """
    rows, columns = shape
    short, long = min(shape), max(shape)
    if long % short:
        raise ValueError(
            f"Expected the longer side to be a multiple of the shorter one. Received: shape={tuple(shape)}"
        )
    ones = gain * keras.ops.eye(short, dtype=dtype or keras.config.floatx())
    return keras.ops.tile(ones, (rows // short, columns // short))
