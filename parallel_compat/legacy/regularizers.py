"""Regularizers as Keras 2 made them: `l1` and `l2` are functions that make an `L1L2`, with both factors."""

from __future__ import annotations

from typing import Any

import keras


def l1(l: float = 0.01) -> Any:  # noqa: E741  # Keras 2's name
    """Return a regularizer of the sum of the absolute values.

    >>> l1(0.25).get_config()
    {'l1': 0.25, 'l2': 0.0}

    Args:
        l: the factor.
    """
    return keras.regularizers.L1L2(l1=l, l2=0.0)


def l2(l: float = 0.01) -> Any:  # noqa: E741
    """Return a regularizer of the sum of the squares.

    >>> l2(0.25).get_config()
    {'l1': 0.0, 'l2': 0.25}

    Args:
        l: the factor.
    """
    return keras.regularizers.L1L2(l1=0.0, l2=l)


def get(identifier: Any) -> Any:
    """Return the regularizer of a name as Keras 2 had it, a regularizer as it is, or that of a configuration.

    Args:
        identifier: a name, a regularizer, a function, a configuration, or None.
    """
    if isinstance(identifier, str) and identifier in ("l1", "l2"):
        return (l1 if identifier == "l1" else l2)()
    return keras.regularizers.get(identifier)
