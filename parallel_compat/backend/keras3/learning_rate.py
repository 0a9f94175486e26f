"""The learning rate an optimizer steps with: `BaseOptimizer`'s private state, read in Keras 3.15.1."""

from __future__ import annotations

import threading
from functools import partial
from typing import Any

import keras

_stepping = threading.local()


def step_with(optimizer: keras.optimizers.Optimizer, decay: float) -> None:
    """Let an optimizer step with lr / (1 + decay * iterations), and show lr itself as its `learning_rate`.

    Set on the object, not on its class: what a callback sets (`optimizer.learning_rate = ...`) is lr, and a saved
    model names Keras's own class. `get_config` has `decay`, which Keras itself ignores with a warning.
    """
    vars(optimizer)["decay"] = decay
    optimizer._get_current_learning_rate = partial(_rate, optimizer)
    optimizer.apply = partial(_apply, optimizer)
    optimizer.get_config = partial(_config, optimizer)


def decay_of(optimizer: keras.optimizers.Optimizer) -> float | None:
    """Return the `decay` that `step_with` gave an optimizer, or None."""
    return vars(optimizer)["decay"] if "_get_current_learning_rate" in vars(optimizer) else None


def variable_of(optimizer: keras.optimizers.Optimizer) -> Any:
    """Return the variable that holds the learning rate, or None where a schedule or a function gives it."""
    value = None if schedule_of(optimizer) is not None else optimizer.learning_rate
    return value if isinstance(value, keras.Variable) else None


def schedule_of(optimizer: keras.optimizers.Optimizer) -> Any:
    """Return the schedule that gives the learning rate, or None."""
    schedule = keras.optimizers.schedules.LearningRateSchedule
    return next((value for value in vars(optimizer).values() if isinstance(value, schedule)), None)


def _rate(optimizer: Any) -> Any:
    rate = type(optimizer)._get_current_learning_rate(optimizer)
    if not getattr(_stepping, "now", False):
        return rate
    iterations = keras.ops.cast(optimizer.iterations, "float32")
    return keras.ops.cast(rate, "float32") * (1.0 / (1.0 + optimizer.decay * iterations))


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
