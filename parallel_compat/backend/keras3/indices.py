"""Indices of symbolic tensors that are numbers of numpy, as `np.argmax` returns them. Read in Keras 3.15.1."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import keras
import numpy as np

from parallel_compat.backend.patches import CORE


def take_numbers_of_numpy() -> None:
    """Let `model.output[:, np.argmax(scores)]` be what `model.output[:, 3]` is. Keras 3 takes ints alone."""
    CORE.around(keras.KerasTensor, "__getitem__", _taking, why="indices of symbolic tensors may be numbers of numpy")


def _taking(before: Callable[[Any, Any], Any], self: Any, key: Any) -> Any:
    return before(self, tuple(map(_plain, key)) if isinstance(key, tuple) else _plain(key))


def _plain(key: Any) -> Any:
    is_number = isinstance(key, (np.ndarray, np.generic)) and key.ndim == 0 and key.dtype.kind in "iu"
    return key.item() if is_number else key
