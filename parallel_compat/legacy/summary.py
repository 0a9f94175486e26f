"""`print_summary` of `keras.utils.layer_utils`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any


def print_summary(
    model: Any,
    line_length: int | None = None,
    positions: Sequence[float] | None = None,
    print_fn: Callable[[str], Any] | None = None,
) -> None:
    """Print `model.summary()`.

    Args:
        model: the model.
        line_length: of the lines.
        positions: where the columns end, as parts of a line.
        print_fn: called instead of `print`.
    """
    model.summary(line_length=line_length, positions=positions, print_fn=print_fn)
