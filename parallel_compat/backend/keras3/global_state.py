"""What Keras keeps for the process or a thread, set for a block or as it was before one. Read in Keras 3.15.1."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

import keras
from keras.src.backend.common import global_state

_COUNTER = "object_name_uids"
_LATER = "uninitialized_variables"  # `keras.src.backend.common.variables.register_uninitialized_variable`, in 3.15


@contextlib.contextmanager
def global_attribute(name: str, value: Any) -> Iterator[None]:
    """Set what Keras keeps for this thread under a name."""
    before = global_state.get_global_attribute(name)
    global_state.set_global_attribute(name, value)
    try:
        yield
    finally:
        global_state.set_global_attribute(name, before)


@contextlib.contextmanager
def uncounted_names() -> Iterator[None]:
    """Let objects that are made here, and thrown away, take no names (`keras.src.utils.naming` counts them)."""
    before = dict(global_state.get_global_attribute(_COUNTER) or {})
    try:
        yield
    finally:
        now = global_state.get_global_attribute(_COUNTER)
        if now is not None:
            now.clear()
            now.update(before)


@contextlib.contextmanager
def variables_without_values() -> Iterator[list[Any]]:
    """Let models have variables of known shapes and without values, never; a list has them afterwards.

    Keras gives the variables of such a scope their values after the next one: gigabytes, for a model that nobody has.
    """
    before = len(global_state.get_global_attribute(_LATER) or [])
    made: list[Any] = []
    with keras.StatelessScope(initialize_variables=False):
        try:
            yield made
        finally:
            later = global_state.get_global_attribute(_LATER) or []
            made += later[before:]
            del later[before:]
