"""`keras.preprocessing` with its old arguments."""

from __future__ import annotations

import json
from typing import Any

import keras
import numpy as np
import tensorflow as tf

from parallel_compat.backend import keras3

DataFrameIterator = keras3.DataFrameIterator  # what `flow_from_dataframe` returns


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


class TimeseriesGenerator(tf.keras.preprocessing.sequence.TimeseriesGenerator):  # type: ignore[misc]
    """Keras's generator with a `get_config` (and by it `to_json`), which asks its base for one that is not there."""

    def get_config(self) -> dict[str, Any]:
        """Return the arguments, the data as JSON."""
        names = ("length", "sampling_rate", "stride", "start_index", "end_index", "shuffle", "reverse", "batch_size")
        config = {name: _as_json(name, getattr(self, name)) for name in ("data", "targets")}
        return config | {name: getattr(self, name) for name in names}


def _as_json(name: str, data: Any) -> str:
    try:
        return json.dumps(data.tolist() if isinstance(data, np.ndarray) else data)
    except TypeError as error:
        raise TypeError(f"Expected {name} of numbers or texts. Received, which is not JSON: {data}") from error
