"""Variables that are made while something runs, those included that Keras makes later."""

from __future__ import annotations

import contextlib
import types
import weakref
from typing import TYPE_CHECKING, Any

import keras
import tensorflow as tf
from keras.src.backend.common import global_state
from keras.src.backend.common.stateless_scope import in_stateless_scope
from keras.src.backend.common.variables import Variable as KerasVariable

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

_LATER = "uninitialized_variables"  # `keras.src.backend.common.variables.register_uninitialized_variable`, in 3.15
_OF_SEEDS = "seed_generator_state"  # Dropout had none in Keras 2
_sharing: weakref.WeakSet[tf.distribute.Strategy] = weakref.WeakSet()


def share_variables(strategy: tf.distribute.Strategy) -> None:
    """Note that variables which are made on the replicas of a strategy exist once, and are not mirrored."""
    _sharing.add(strategy)


def scope_of_variables() -> contextlib.AbstractContextManager[Any]:
    """Return in what a variable of a step on replicas is to be made by another thread: the strategy's scope."""
    strategy = tf.distribute.get_strategy() if tf.distribute.has_strategy() else None
    return contextlib.nullcontext() if strategy is None or strategy in _sharing else strategy.scope()


def of_thawed_variables() -> Iterator[tuple[Any, str, Callable[[Any], Any]]]:
    """Yield where a variable is said to be trainable (`Variable.trainable`).

    A layer that is frozen when the first batch builds it makes a variable of TensorFlow that tapes never watch
    (`tf.Variable(trainable=False)`): in Keras 3 it does not train after it is thawed either.
    """

    def wrap(original: property) -> property:
        def set(self: Any, value: Any) -> None:
            original.fset(self, value)  # type: ignore[misc]
            made = self._value
            if value and isinstance(made, tf.Variable) and not made.trainable:
                made._trainable = True

        return property(original.fget, set, original.fdel, original.__doc__)

    yield KerasVariable, "trainable", wrap


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


@contextlib.contextmanager
def variables_made() -> Iterator[list[Any]]:
    """Give a list, which at the end holds the variables that were made: TensorFlow's, or Keras's if made later."""
    made: list[Any] = []

    def creator(make: Callable[..., Any], **keywords: Any) -> Any:
        variable = make(**keywords)
        made.append(variable)
        return variable

    before = len(global_state.get_global_attribute(_LATER) or [])
    with tf.variable_creator_scope(creator):
        yield made
    made += (global_state.get_global_attribute(_LATER) or [])[before:]
    made[:] = [each for each in made if _OF_SEEDS not in each.name]


def run_with_first_values(function: Callable[[], None]) -> None:
    """Run a function where the variables that are made here get their values: now, or after a layer's abstract call."""
    if in_stateless_scope():
        later = types.SimpleNamespace(name=_OF_SEEDS, _deferred_initialize=function)  # as if it were a variable
        global_state.get_global_attribute(_LATER, [], set_to_default=True).append(later)
    else:
        function()


def has_value_of_keras_2(variable: Any) -> bool:
    """Say of a variable that has just been made whether it has its value, on one device, and Keras 2 had it, too."""
    is_alone = tf.executing_eagerly() and not in_stateless_scope() and not tf.distribute.has_strategy()
    return is_alone and _OF_SEEDS not in variable.name


def warn_of_lambda(layer: Any) -> Callable[[str], None]:
    """Return what warns of a Lambda layer: its `_warn`, which code of TensorFlow 2.2's time set, or the log."""
    warn: Callable[[str], None] = getattr(layer, "_warn", None) or tf.get_logger().warning
    return warn
