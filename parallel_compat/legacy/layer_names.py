"""The names of layers that were given none: Keras 2 counted from `dense_1`, Keras 3 counts from `dense`.

So `load_weights(by_name=True)` of a file of Keras 2 would give each such layer the weights of the one before it.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable
from typing import Any

_PRIVATE = "private_"  # before the name of a class that begins with `_`
_OLD_KINDS = {"functional": "model", "parallel_model": "model", "input_layer": "input"}


def in_file(layers: Iterable[Any], names: Iterable[str]) -> dict[Any, str]:
    """Return under which names a file of Keras 2 has layers that Keras 3 named otherwise.

    >>> import keras
    >>> model = keras.Sequential([keras.layers.Dense(1, name="dense"), keras.layers.Dense(1, name="dense_1")])
    >>> list(in_file(model.layers, ["dense_1", "dense_2"]).values())
    ['dense_1', 'dense_2']

    Args:
        layers: of a model.
        names: the layers' names in the file.

    Returns:
        Layer -> name in the file, for those whose name is not that in the model.

    Raises:
        ValueError: the names may be Keras's own or given ones, and the two mean different layers of the file.
    """
    stored = set(names)
    numbered: dict[str, dict[Any, int]] = defaultdict(dict)
    for layer in layers:
        kind = _kind(layer)
        match = re.fullmatch(rf"{re.escape(kind)}(?:_(\d+))?", layer.name)
        if match is not None:
            numbered[kind][layer] = int(match[1] or 0)
    found: dict[Any, str] = {}
    for kind, numbers in numbered.items():
        shifted = {layer: f"{_old_kind(kind)}_{number + 1}" for layer, number in numbers.items()}
        if _counted_by_keras(kind, numbers, shifted, stored):
            found |= shifted
    return found


def _counted_by_keras(kind: str, numbers: dict[Any, int], shifted: dict[Any, str], stored: set[str]) -> bool:
    """Return whether the layers of one kind have Keras 3's own names, not names that the script gave."""
    if kind in stored:  # Keras 2 itself named none so
        return False
    if 0 in numbers.values():
        return True
    given, counted = {layer.name for layer in numbers} & stored, set(shifted.values()) & stored
    if not given or not counted:
        return bool(counted)
    if (len(given) == len(numbers)) is (len(counted) == len(numbers)):
        layer = next(iter(numbers))
        raise ValueError(
            f"Expected layers whose names tell which weights of the file they take. Received: {layer.name!r}, which is "
            f"the file's {layer.name!r} if the name was given, and its {shifted[layer]!r} if Keras counted: Keras 2 "
            f"counted from {_old_kind(kind)}_1, Keras 3 from {kind}. Call `keras.utils.clear_session()` before the "
            "model is made, or load without `by_name`."
        )
    return len(counted) == len(numbers)


def _kind(layer: Any) -> str:
    parts = re.sub(r"(.)([A-Z][a-z0-9]+)", r"\1_\2", type(layer).__name__)
    kind = re.sub(r"([a-z])([A-Z])", r"\1_\2", parts).lower()
    return f"{_PRIVATE}{kind[1:]}" if kind.startswith("_") else kind


def _old_kind(kind: str) -> str:
    return _OLD_KINDS.get(kind, kind)
