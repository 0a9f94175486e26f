"""The optimizers with their old arguments: `lr`, `decay`.

`decay` has Keras 2's formula, lr / (1 + decay * iterations). Keras 3 takes the argument, warns and ignores it.
"""

from __future__ import annotations

import inspect
from functools import cache
from typing import Any

import keras

from parallel_compat.backend import keras3
from parallel_compat.backend.keras3 import learning_rate
from parallel_compat.legacy.call_arguments import translate

_COMPILED = "_parallel_compat_compiled"


def __getattr__(name: str) -> Any:
    kind = getattr(keras.optimizers, name, None)
    if not isinstance(kind, type) or not issubclass(kind, keras.optimizers.Optimizer):
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return with_old_arguments(kind)


@cache
def with_old_arguments(kind: Any) -> Any:
    """Return a class that takes the old arguments and makes objects of `kind`.

    Returns:
        A subclass: called itself it makes a plain `kind`; a class derived from it takes the old arguments as well.
    """
    of = f"keras.optimizers.{kind.__name__}"

    def __new__(cls: Any, *args: Any, **kwargs: Any) -> Any:
        if cls is not legacy:
            return kind.__new__(cls)
        made = kind.__new__(kind)
        _initialize(kind.__init__, made, of, args, kwargs)
        return made

    def __init__(self: Any, *args: Any, **kwargs: Any) -> None:
        _initialize(kind.__init__, self, of, args, kwargs)

    legacy = type(kind.__name__, (kind,), {"__new__": __new__, "__init__": __init__, "__doc__": kind.__doc__})
    return legacy


def _initialize(init: Any, optimizer: Any, of: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
    """Call an optimizer's `__init__` with today's arguments, and give `decay` its effect.

    Raises:
        ValueError: `decay` together with a schedule.
    """
    args, kwargs = translate(of, args, kwargs)
    decay = kwargs.pop("decay", None)
    parameters = list(inspect.signature(init).parameters)[1:]
    kwargs = {**dict(zip(parameters, args, strict=False)), **kwargs}
    # Keras 3 refuses a momentum that is a whole number, 0 and 1 as well.
    numbers = ("learning_rate", "momentum")
    kwargs = {key: _as_float(value) if key in numbers else value for key, value in kwargs.items()}
    if kwargs.get("epsilon", 0) is None:  # Keras 2: None is `K.epsilon()`
        kwargs["epsilon"] = keras.backend.epsilon()
    init(optimizer, **kwargs)
    if decay:
        if learning_rate.variable_of(optimizer) is None:
            raise ValueError("Expected `decay` or a schedule as the learning rate. Received: both.")
        learning_rate.step_with(optimizer, float(decay))


def for_one_compile(optimizer: Any) -> Any:
    """Return an optimizer that a model can be compiled with: the one that is given, the first time.

    In Keras 2 one `Adam` could be compiled into the discriminator and the whole of a GAN: each model had its own
    moments, the learning rate and the count of steps were common. Keras 3 builds an optimizer for one model.

        d.compile(loss="mse", optimizer=for_one_compile(adam))
        gan.compile(loss="mse", optimizer=for_one_compile(adam))

    Returns:
        `optimizer`, or a copy without moments that shares the learning rate and the count of steps.
    """
    if not isinstance(optimizer, keras.optimizers.Optimizer):
        return optimizer
    if keras3.optimizers.takes_any_variables(optimizer):
        return optimizer.twin()
    if _COMPILED not in vars(optimizer) and not optimizer.built:
        vars(optimizer)[_COMPILED] = True
        return optimizer
    twin = keras3.optimizers.twin_of(optimizer)
    vars(twin)[_COMPILED] = True
    return twin


def _as_float(value: Any) -> Any:
    # Keras 3 refuses `lr=1` and a numpy scalar.
    is_number = isinstance(value, int) or (type(value).__module__ == "numpy" and getattr(value, "ndim", 1) == 0)
    return float(value) if is_number and not isinstance(value, bool) else value
