"""What old code computes of variables outside of a step, for an update: `tau * source + (1.0 - tau) * target`.

In a graph it was a tensor, computed anew whenever the update ran. Here it is a number at once; how it was computed is
noted on it, and an update computes it again.
"""

from __future__ import annotations

from typing import Any

import tensorflow as tf

_HOW = "_parallel_compat_computed_by"


def note(result: Any, method: str, x: Any, other: Any) -> None:
    """Note on a number how it was computed.

    Args:
        result: an eager tensor.
        method: the operator, `__mul__`.
        x: what it is of: a variable, or a number on which it is noted.
        other: the other side.
    """
    setattr(result, _HOW, (method, x, other))


def is_noted(x: Any) -> bool:
    """Say whether it is noted on a number how it was computed of variables."""
    return type(x).__name__ == "EagerTensor" and hasattr(x, _HOW)


def as_of_now(x: Any) -> Any:
    """Return what a number would be if it was computed of its variables now; anything else as it is.

    >>> import keras
    >>> weight = keras.Variable(2.0)
    >>> number = weight + 1.0
    >>> note(number, "__add__", weight, 1.0)
    >>> _ = weight.assign(5.0)
    >>> float(number), float(as_of_now(number))
    (3.0, 6.0)

    Args:
        x: anything.
    """
    if not is_noted(x):
        return x
    method, one, other = getattr(x, _HOW)
    return getattr(tf.convert_to_tensor(as_of_now(one)), method)(as_of_now(other))
