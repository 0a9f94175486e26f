"""Variables that are made while something runs, those included that Keras makes later."""

from __future__ import annotations

import contextlib
import weakref
from typing import TYPE_CHECKING

import keras
import tensorflow as tf
from keras.src.backend.common import global_state

if TYPE_CHECKING:
    from collections.abc import Iterator

_LATER = "uninitialized_variables"  # `keras.src.backend.common.variables.register_uninitialized_variable`, in 3.15
_sharing: weakref.WeakSet[tf.distribute.Strategy] = weakref.WeakSet()


def share_variables(strategy: tf.distribute.Strategy) -> None:
    """Note that variables which are made on the replicas of a strategy exist once, and are not mirrored."""
    _sharing.add(strategy)


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
