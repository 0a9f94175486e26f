"""Shapes and dimensions as TensorFlow 1 had them: `x.get_shape().as_list()`, `x.shape[1].value`."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

from parallel_compat.run import callers

if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import FrameType


class Dimension(int):
    """A dimension: a number with a `value`."""

    @property
    def value(self) -> int:
        """The number."""
        return int(self)


class UnknownDimension:
    """A dimension that is not known: its `value` is None."""

    value = None

    def __repr__(self) -> str:
        return "Dimension(None)"


def dimension(size: int | None, frame: FrameType | None) -> Any:
    """Return a dimension as the code in `frame` expects it.

    Code of TensorFlow 1 says `shape[0].value`, other code `shape[0] is None`: an unknown dimension is an object where
    the user's code says `value` somewhere, else None.

    Args:
        size: the dimension.
        frame: that asks.
    """
    if size is not None:
        return Dimension(size)
    asks = frame is not None and "value" in frame.f_code.co_names and callers.user_frame(frame) is not None
    return UnknownDimension() if asks else None


class Shape(tuple[Any, ...]):
    """The shape of a symbolic tensor: a tuple of dimensions, with the methods of a `tf.TensorShape`."""

    def __getitem__(self, key: Any) -> Any:
        found = tuple.__getitem__(self, key)
        return Shape(found) if isinstance(key, slice) else dimension(found, sys._getframe(1))

    def __iter__(self) -> Iterator[Any]:
        frame = sys._getframe(1)
        return (dimension(size, frame) for size in tuple.__iter__(self))

    def as_list(self) -> list[int | None]:
        """Return the dimensions, None where one is not known."""
        return list(tuple.__iter__(self))

    def is_fully_defined(self) -> bool:
        """Say whether every dimension is known."""
        return None not in self.as_list()

    def num_elements(self) -> int | None:
        """Return the number of elements, or None where a dimension is not known."""
        count = 1
        for size in self.as_list():
            if size is None:
                return None
            count *= size
        return count

    @property
    def ndims(self) -> int:
        """The number of axes."""
        return len(self)

    rank = ndims

    @property
    def dims(self) -> list[Any]:
        """The dimensions."""
        return [UnknownDimension() if size is None else Dimension(size) for size in self.as_list()]


def get_shape(tensor: Any) -> Shape:
    """Return a symbolic tensor's shape (`tensor.get_shape().as_list()`)."""
    return Shape(tuple.__iter__(tensor.shape))
