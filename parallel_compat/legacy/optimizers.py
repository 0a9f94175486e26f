"""The optimizers with their old arguments: `lr`, `decay`, and TensorFlow 1's three that are the same step today.

`decay` has Keras 2's formula, lr / (1 + decay * iterations). Keras 3 takes the argument, warns and ignores it.
"""

from __future__ import annotations

import inspect
from functools import cache
from typing import Any

import keras

from parallel_compat.backend.keras3 import learning_rate, optimizer_steps
from parallel_compat.legacy.call_arguments import translate
from parallel_compat.names.eras import Era


def __getattr__(name: str) -> Any:
    kind = getattr(keras.optimizers, name, None)
    if not isinstance(kind, type) or not issubclass(kind, keras.optimizers.Optimizer):
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return with_old_arguments(kind)


@cache
def with_old_arguments(kind: Any) -> Any:
    """Return a class that takes the old arguments and makes objects of `kind`.

    Args:
        kind: an optimizer class of Keras.

    Returns:
        A subclass: called itself it makes a plain `kind`; a class derived from it takes the old arguments as well.
    """
    of = f"keras.optimizers.{kind.__name__}"

    def __new__(cls: Any, *given: Any, **keywords: Any) -> Any:
        if cls is not legacy:
            return kind.__new__(cls)
        made = kind.__new__(kind)
        initialize(kind.__init__, made, of, given, keywords)
        return made

    def __init__(self: Any, *given: Any, **keywords: Any) -> None:
        initialize(kind.__init__, self, of, given, keywords)

    legacy = type(kind.__name__, (kind,), {"__new__": __new__, "__init__": __init__, "__doc__": kind.__doc__})
    return legacy


def initialize(
    init: Any,
    optimizer: Any,
    of: str,
    given: tuple[Any, ...],
    keywords: dict[str, Any],
    note: Any = lambda given, became: None,
    era: Era = Era.TODAY,
) -> None:
    """Call an optimizer's `__init__` with today's arguments, and give `decay` its effect.

    Args:
        init: the class's own `__init__`.
        optimizer: the new object.
        of: the class, as the table spells it.
        given: the positional arguments.
        keywords: the keyword arguments, old ones among them.
        note: told of each argument that changes.
        era: whose default learning rates hold, whose meaning of `clipnorm`, and whose steps.

    Raises:
        ValueError: `decay` together with a schedule.
    """
    given, keywords = translate(of, given, keywords, note, era=era)
    decay = keywords.pop("decay", None)
    parameters = list(inspect.signature(init).parameters)[1:]
    keywords = {**dict(zip(parameters, given, strict=False)), **keywords}
    keywords = {key: _as_float(value) if key == "learning_rate" else value for key, value in keywords.items()}
    if era is Era.KERAS_2_2_4 and keywords.get("clipnorm") is not None:
        # `Optimizer.get_gradients` of Keras 2.2.4 took the norm of all gradients together; Keras 3 that of each.
        keywords["global_clipnorm"] = keywords.pop("clipnorm")
        note("clipnorm=", "global_clipnorm=")
    if keywords.get("epsilon", 0) is None:  # Keras 2: None is `K.epsilon()`
        keywords["epsilon"] = keras.backend.epsilon()
    init(optimizer, **keywords)
    if era is Era.KERAS_2_2_4:
        optimizer_steps.step_as_keras_2(optimizer)
        if optimizer_steps.steps_as_keras_2(optimizer):
            note("the step", "that of Keras 2.2.4")
    if decay:
        note("decay=", "lr / (1 + decay * iterations) in every step")
        if learning_rate.variable_of(optimizer) is None:
            raise ValueError("Expected `decay` or a schedule as the learning rate. Received: both.")
        learning_rate.step_with(optimizer, float(decay))


def _as_float(value: Any) -> Any:
    # Keras 3 refuses `lr=1` and a numpy scalar.
    is_number = isinstance(value, int) or (type(value).__module__ == "numpy" and getattr(value, "ndim", 1) == 0)
    return float(value) if is_number and not isinstance(value, bool) else value


def AdamOptimizer(
    learning_rate: Any = 0.001,
    beta1: float = 0.9,
    beta2: float = 0.999,
    epsilon: float = 1e-8,
    use_locking: bool = False,
    name: str = "Adam",
) -> Any:
    """Make the `keras.optimizers.Adam` that steps as `tf.train.AdamOptimizer` did."""
    return keras.optimizers.Adam(_as_float(learning_rate), beta1, beta2, epsilon)


def GradientDescentOptimizer(learning_rate: Any, use_locking: bool = False, name: str = "GradientDescent") -> Any:
    """Make the `keras.optimizers.SGD` that steps as `tf.train.GradientDescentOptimizer` did."""
    return keras.optimizers.SGD(_as_float(learning_rate))


def MomentumOptimizer(
    learning_rate: Any, momentum: float, use_locking: bool = False, name: str = "Momentum", use_nesterov: bool = False
) -> Any:
    """Make the `keras.optimizers.SGD` that steps as `tf.train.MomentumOptimizer` did, at a constant rate."""
    return keras.optimizers.SGD(_as_float(learning_rate), momentum=momentum, nesterov=use_nesterov)
