"""Variables that Keras is to give no values. Read in Keras 3.15.1."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING

import keras
from keras.src.backend.common import global_state

if TYPE_CHECKING:
    from collections.abc import Iterator

_LATER = "uninitialized_variables"  # `keras.src.backend.common.variables.register_uninitialized_variable`, in 3.15


@contextlib.contextmanager
def variables_without_values() -> Iterator[None]:
    """Let models have variables of known shapes and without values, never.

    Keras gives the variables of such a scope their values after the next one: gigabytes, for a model that nobody has.
    """
    before = len(global_state.get_global_attribute(_LATER) or [])
    with keras.StatelessScope(initialize_variables=False):
        try:
            yield
        finally:
            del (global_state.get_global_attribute(_LATER) or [])[before:]
