"""`Optimizer` as old code asks for it: those that it writes for Keras 2 are such, and are none of Keras 3's.

`isinstance(optimizer, tf.keras.optimizers.Optimizer)` is how wrappers (Lookahead, averages of weights) check what they
are given. It is answered for the user's code alone. No class, so that one that derives from it derives from Keras's own
and has the metaclass that it asks for.
"""

from __future__ import annotations

from typing import Any

import keras

from parallel_compat.backend.keras3 import own_optimizers

_TODAY = keras.optimizers.Optimizer
_BASES = ("keras.", "tensorflow.", "parallel_compat.")


def _initialize(self: Any, *given: Any, **keywords: Any) -> None:
    """Initialize the base that the user's class has: `Optimizer.__init__(self, "Mine")`."""
    base: Any = next(each for each in type(self).__mro__ if each.__module__.startswith(_BASES))
    base.__init__(self, *given, **keywords)


class _Optimizer:
    """Keras's class, which counts those that are written for Keras 2 as its own.

    >>> issubclass(keras.optimizers.Adam, Optimizer), isinstance(keras.optimizers.SGD(), Optimizer)
    (True, True)
    """

    def __mro_entries__(self, bases: tuple[Any, ...]) -> tuple[type, ...]:
        return (_TODAY,)

    def __call__(self, *given: Any, **keywords: Any) -> Any:
        return _TODAY(*given, **keywords)

    def __instancecheck__(self, instance: Any) -> bool:
        return isinstance(instance, _TODAY) or own_optimizers.is_old(instance)

    def __subclasscheck__(self, kind: Any) -> bool:
        return kind is self or issubclass(kind, _TODAY) or own_optimizers.is_old_kind(kind)

    def __getattr__(self, name: str) -> Any:
        return getattr(_TODAY, name)

    def __setattr__(self, name: str, value: Any) -> None:
        setattr(_TODAY, name, value)


Optimizer = _Optimizer()
vars(Optimizer)["__init__"] = _initialize
