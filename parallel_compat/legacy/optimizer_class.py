"""`Optimizer` as old code asks for it: those that it writes for Keras 2 are such, and are none of Keras 3's.

`isinstance(optimizer, tf.keras.optimizers.Optimizer)` is how wrappers (Lookahead, averages of weights) check what they
are given. The class is answered for the user's code alone; one that derives from it derives from Keras's own.
"""

from __future__ import annotations

from typing import Any

import keras

from parallel_compat.backend.keras3 import own_optimizers

_TODAY = keras.optimizers.Optimizer


class _OfUsers(type):
    """The type of `Optimizer`: it makes Keras's, and counts those that are written for Keras 2 as its own."""

    def __new__(cls, name: str, bases: tuple[type, ...], members: dict[str, Any], **keywords: Any) -> Any:
        if not bases:
            return super().__new__(cls, name, bases, members)
        of_today = tuple(_TODAY if type(base) is _OfUsers else base for base in bases)
        kind = next((type(base) for base in of_today if type(base) is not type), type)
        return kind(name, of_today, members, **keywords)

    def __call__(cls, *given: Any, **keywords: Any) -> Any:
        return _TODAY(*given, **keywords)

    def __instancecheck__(cls, instance: Any) -> bool:
        return isinstance(instance, _TODAY) or own_optimizers.is_old(instance)

    def __subclasscheck__(cls, kind: type) -> bool:
        return kind is cls or issubclass(kind, _TODAY) or own_optimizers.is_old_kind(kind)

    def __getattr__(cls, name: str) -> Any:
        return getattr(_TODAY, name)

    def __setattr__(cls, name: str, value: Any) -> None:
        setattr(_TODAY, name, value)


class Optimizer(metaclass=_OfUsers):
    """An optimizer of Keras, or of the user's for Keras 2.

    >>> issubclass(keras.optimizers.Adam, Optimizer), isinstance(keras.optimizers.SGD(), Optimizer)
    (True, True)
    """

    def __init__(self, *given: Any, **keywords: Any) -> None:
        """Initialize the base that the user's class has: `Optimizer.__init__(self, "Mine")`."""
        base: Any = next(each for each in type(self).__mro__ if each.__module__.startswith(_OURS_AND_THEIRS))
        base.__init__(self, *given, **keywords)


_OURS_AND_THEIRS = ("keras.", "tensorflow.", "parallel_compat.")
