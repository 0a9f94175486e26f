"""The learning rate an optimizer steps with: `BaseOptimizer`'s private state, read in Keras 3.15.1."""

from __future__ import annotations

import threading
from functools import partial
from typing import TYPE_CHECKING, Any

from parallel_compat.backend.keras3 import optimizer_steps
from parallel_compat.backend.keras3.numbers_of_variables import as_of_now

if TYPE_CHECKING:
    import keras

_stepping = threading.local()


def step_with(optimizer: keras.optimizers.Optimizer, decay: float) -> None:
    """Let an optimizer step with lr / (1 + decay * iterations), and show lr itself as its `learning_rate`.

    Set on the object, not on its class: what a callback sets (`optimizer.learning_rate = ...`) is lr, and a saved
    model names Keras's own class. `get_config` has `decay`, which Keras itself ignores with a warning.

    Args:
        optimizer: an optimizer whose learning rate is a number.
        decay: the old argument.
    """
    vars(optimizer).update(decay=decay, initial_decay=decay)
    optimizer_steps.number_variable(optimizer, "decay")
    optimizer._get_current_learning_rate = partial(_rate, optimizer)
    optimizer.apply = partial(_apply, optimizer)
    optimizer.get_config = partial(_config, optimizer)


def decay_of(optimizer: keras.optimizers.Optimizer) -> float | None:
    """Return the `decay` that `step_with` gave an optimizer, or None."""
    return vars(optimizer)["decay"] if "_get_current_learning_rate" in vars(optimizer) else None


def variable_of(optimizer: keras.optimizers.Optimizer) -> Any:
    """Return the variable that holds the learning rate, or None where a schedule or a function gives it."""
    import keras

    value = optimizer._learning_rate
    return value if isinstance(value, keras.Variable) else None


def schedule_of(optimizer: keras.optimizers.Optimizer) -> Any:
    """Return the schedule that gives the learning rate, or None."""
    import keras

    value = optimizer._learning_rate
    return value if isinstance(value, keras.optimizers.schedules.LearningRateSchedule) else None


class _OfVariables:
    """A learning rate that was computed of variables, and is computed anew in each step.

    Args:
        number: it, as it was first.
    """

    def __init__(self, number: Any) -> None:
        self.number = number

    def __call__(self) -> Any:
        """Return what it is now."""
        return as_of_now(self.number)


def compute_with(optimizer: keras.optimizers.Optimizer, number: Any) -> None:
    """Let an optimizer step with a learning rate that was computed of variables.

    Args:
        optimizer: the optimizer.
        number: the rate, with a note on it how it was computed.
    """
    if number_of(optimizer) is None:
        inner = optimizer.get_config

        def get_config() -> dict[str, Any]:
            rate = optimizer._learning_rate
            vars(optimizer)["_learning_rate"] = as_of_now(number_of(optimizer))
            try:
                config: dict[str, Any] = inner()
                return config
            finally:
                vars(optimizer)["_learning_rate"] = rate

        optimizer.get_config = get_config
    optimizer.learning_rate = _OfVariables(number)


def number_of(optimizer: keras.optimizers.Optimizer) -> Any:
    """Return the learning rate that was computed of variables, or None for any other."""
    value = optimizer._learning_rate
    return value.number if isinstance(value, _OfVariables) else None


def is_function(optimizer: keras.optimizers.Optimizer) -> bool:
    """Say whether a function without arguments gives the learning rate, no schedule."""
    import keras

    value = optimizer._learning_rate
    return callable(value) and not isinstance(value, (keras.Variable, keras.optimizers.schedules.LearningRateSchedule))


def _rate(optimizer: Any) -> Any:
    import keras

    rate = type(optimizer)._get_current_learning_rate(optimizer)
    if not getattr(_stepping, "now", False):
        return rate
    iterations = keras.ops.cast(optimizer._iterations, "float32")
    return keras.ops.cast(rate, "float32") * (1.0 / (1.0 + optimizer_steps.number(optimizer, "decay") * iterations))


def _apply(optimizer: Any, *arguments: Any, **keywords: Any) -> Any:
    _stepping.now = True
    try:
        return type(optimizer).apply(optimizer, *arguments, **keywords)
    finally:
        _stepping.now = False


def _config(optimizer: Any) -> dict[str, Any]:
    config: dict[str, Any] = type(optimizer).get_config(optimizer)
    config.setdefault("decay", vars(optimizer)["decay"])
    return config
