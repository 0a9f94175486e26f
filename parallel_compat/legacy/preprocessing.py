"""`keras.preprocessing` with its old arguments."""

from __future__ import annotations

from typing import Any

import keras

from parallel_compat.backend.keras3 import hidden_classes

DataFrameIterator: Any = hidden_classes.DATA_FRAME_ITERATOR  # what `flow_from_dataframe` returns


def load_img(
    path: Any,
    grayscale: bool | str = False,
    color_mode: str = "rgb",
    target_size: tuple[int, int] | None = None,
    interpolation: str = "nearest",
    **keywords: Any,
) -> Any:
    """Load a picture, with the arguments in Keras 2.2.4's order.

    Args:
        path: the file.
        grayscale: the old way to say `color_mode="grayscale"`; a color mode in this place is one.
        color_mode: "rgb", "rgba" or "grayscale".
        target_size: (height, width), or None for the picture's own.
        interpolation: how it is resized.
        **keywords: those that only today's function has.
    """
    if isinstance(grayscale, str):
        color_mode, grayscale = grayscale, False
    return keras.utils.load_img(
        path,
        color_mode="grayscale" if grayscale else color_mode,
        target_size=target_size,
        interpolation=interpolation,
        **keywords,
    )


def remove_long_seq(maxlen: int, seq: Any, label: Any) -> tuple[list[Any], list[Any]]:
    """Leave out the sequences of `maxlen` and more entries, and their labels (`_remove_long_seq`).

    >>> remove_long_seq(2, [[1], [1, 2]], ["a", "b"])
    ([[1]], ['a'])

    Args:
        maxlen: the length that is too long.
        seq: the sequences.
        label: a label for each.
    """
    kept = [(x, y) for x, y in zip(seq, label, strict=True) if len(x) < maxlen]
    return [x for x, _ in kept], [y for _, y in kept]
