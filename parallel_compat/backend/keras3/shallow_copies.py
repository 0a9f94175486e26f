"""Shallow copies of layers and models: `copy.copy`. Read in Keras 3.15.1."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import keras

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

# What `Layer.__new__` puts around methods: functions that belong to the one layer.
_BOUND = ("build", "quantize")
_NODES = ("_inbound_nodes", "_outbound_nodes")


def of_copies(is_shallow: Callable[[Any], bool]) -> Iterator[tuple[Any, str, Any]]:
    """Yield where a layer or model is copied by `copy.copy` (`Layer.__copy__`, which Keras does not define).

    Keras 3 copies both by way of a file (`KerasSaveable.__reduce__`), weights included. A shallow copy has the weights
    of the original.

    Args:
        is_shallow: whether the copy of a layer is one that shares.
    """

    def __copy__(self: Any) -> Any:
        if is_shallow(self):
            return shallow_copy(self)
        return copied_by_file(self)

    yield keras.layers.Layer, "__copy__", __copy__


def copied_by_file(thing: Any) -> Any:
    """Return what Keras 3 makes of a layer, model or optimizer that is copied (`KerasSaveable.__reduce__`)."""
    function, arguments = thing.__reduce__()
    return function(*arguments)


def shallow_copy(layer: Any) -> Any:
    """Return another object with the weights, layers and nodes of a layer or model.

    Args:
        layer: a layer or model.
    """
    kind: Any = type(layer)
    copied = kind.__new__(kind)
    state = vars(copied)
    state.update({name: value for name, value in vars(layer).items() if name not in _BOUND})
    state.update({name: list(state[name]) for name in _NODES if name in state})
    # A tracker of its own: what is set on one of the two is not the other's.
    tracker = state.pop("_tracker")
    copied._initialize_tracker()
    for name, (_, kept) in tracker.config.items():
        copied._tracker.config[name][1].extend(kept)
        copied._tracker.stored_ids[name] |= tracker.stored_ids[name]
    for name, value in list(state.items()):  # what TensorFlow notes of attributes
        if name.startswith("_self_") and getattr(value, "tracker", None) is tracker:
            state[name] = type(value)(value, tracker=copied._tracker)
    if tracker.locked:
        copied._tracker.lock(tracker._lock_violation_msg)
    return copied
