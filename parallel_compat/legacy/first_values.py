"""Variables get their first values once more: `sess.run(tf.global_variables_initializer())`, `kernel.initializer`.

In a graph that began a training anew. Variables are initialised when they are made, so an operation that initialises
them has an effect where their values have changed since.
"""

from __future__ import annotations

import functools
import weakref
from typing import TYPE_CHECKING, Any, NamedTuple

import keras
import numpy as np
import tensorflow as tf

from parallel_compat.backend.keras3 import graphs_of_programs, made_variables
from parallel_compat.legacy.data_tensors import Initializer
from parallel_compat.legacy.numbers import initial_weights
from parallel_compat.legacy.session_in_use import current
from parallel_compat.run import callers

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

_FIRST = "_parallel_compat_first_value"


class _First(NamedTuple):
    """How a variable got its first value.

    Attributes:
        make: makes the value once more, a random one from other numbers.
        total: the sum of the value.
        session: the session in use when it was made, or None.
    """

    make: Callable[[], Any]
    total: float
    session: Any


_known: weakref.WeakValueDictionary[int, Any] = weakref.WeakValueDictionary()


def remembering(original: Any) -> Any:
    """Return what wraps the constructor of Keras's variables, to note those of code that computed in graphs.

    Args:
        original: the constructor.
    """

    @functools.wraps(original)
    def __init__(self: Any, initializer: Any, *given: Any, **keywords: Any) -> None:
        original(self, initializer, *given, **keywords)
        if not made_variables.has_value_of_keras_2(self) or not callers.era_of_caller().has_graphs:
            return
        made = keras.initializers.get(initializer) if isinstance(initializer, str) else initializer
        if callable(made):
            make = functools.partial(made, tuple(self.shape), dtype=self.dtype)
        else:
            make = functools.partial(np.array, np.array(made))
        setattr(self, _FIRST, _First(make, _total(self), getattr(current, "session", None)))
        _known[id(self)] = self

    return __init__


def _total(variable: Any) -> float:
    return float(keras.ops.sum(keras.ops.cast(variable, "float32")))


class VariablesInitializer(Initializer):
    """The operation that gives variables their first values.

    Args:
        variables: the variables; all that the session has if None.
    """

    def __init__(self, variables: Sequence[Any] | None = None) -> None:
        self._variables = variables

    def run(self, feed_dict: Any = None, session: Any = None) -> None:
        """Give those that were said their first values, of all those whose values have changed since.

        Args:
            feed_dict: not used.
            session: the session; the one in use if None. All variables are those that were made while it was in use.
        """
        used = getattr(current, "session", None) if session is None else session
        with initial_weights.drawing_nothing():
            if self._variables is not None:
                for variable in self._variables:
                    variable.assign(getattr(variable, _FIRST).make())
                return
            for variable in list(_known.values()):
                first: _First = getattr(variable, _FIRST)
                of_session = first.session is used or (first.session is None and getattr(used, "is_keras_own", True))
                if of_session and _total(variable) != first.total:
                    variable.assign(first.make())


def global_variables_initializer(*_arguments: Any, **_keywords: Any) -> Any:
    """Return what gives all variables their first values, or what makes those of the graph that the code is in."""
    in_graph = graphs_of_programs.is_in_one()
    return tf.compat.v1.global_variables_initializer() if in_graph else VariablesInitializer()


def variables_initializer(var_list: Sequence[Any], name: str = "init") -> Any:
    """Return what gives variables their first values (`tf.variables_initializer`).

    Args:
        var_list: variables, or weights of layers.
        name: not used.
    """
    if graphs_of_programs.is_in_one():
        return tf.compat.v1.variables_initializer(var_list, name)
    return VariablesInitializer(list(var_list))


def initializer_of(variable: Any) -> VariablesInitializer:
    """Return what gives a variable of Keras its first value (`layer.kernel.initializer`).

    Args:
        variable: the variable.

    Raises:
        AttributeError: for one that was not made by code of Keras 2.2.4 or TensorFlow 1.15.
    """
    if not hasattr(variable, _FIRST):
        raise AttributeError(
            f"`{variable.path}.initializer`: expected a variable that code of Keras 2.2.4 or TensorFlow 1.15 made. "
            "Give it a value: `variable.assign(layer.kernel_initializer(variable.shape))`."
        )
    return VariablesInitializer([variable])
