"""Schedules of Keras 3 in optimizers that are written for tf.keras. Read in TensorFlow 2.21.

A script's class stands on the `OptimizerV2` that TensorFlow still holds (`own_optimizers`), which looks for schedules
of a class of its own, and calls others as if they were functions without arguments.
"""

from __future__ import annotations

from typing import Any

import keras
import tensorflow as tf

Schedule = keras.optimizers.schedules.LearningRateSchedule


def members(old: Any) -> dict[str, Any]:
    """Return the methods of a class derived from one of TensorFlow's that take schedules of Keras 3 as its own.

    Args:
        old: TensorFlow's class.
    """

    def _get_hyper(self: Any, name: str, dtype: Any = None) -> Any:
        value = self._hyper.get(name)
        return value if isinstance(value, Schedule) else old._get_hyper(self, name, dtype)

    def _serialize_hyperparameter(self: Any, name: str) -> Any:
        value = self._hyper.get(name)
        if isinstance(value, Schedule):
            kind, config = type(value).__name__, value.get_config()
            # Today a schedule that was given no name has that of its class.
            return {"class_name": kind, "config": {**config, "name": None} if config.get("name") == kind else config}
        return old._serialize_hyperparameter(self, name)

    def _decayed_lr(self: Any, var_dtype: Any) -> Any:
        schedule = self._hyper.get("learning_rate")
        if not isinstance(schedule, Schedule):
            return old._decayed_lr(self, var_dtype)
        step = tf.cast(self.iterations, var_dtype)
        rate = tf.cast(schedule(step), var_dtype)
        decay = tf.cast(self._initial_decay, var_dtype)
        return rate / (1.0 + decay * step) if self._initial_decay > 0.0 else rate

    def from_config(cls: Any, config: dict[str, Any], custom_objects: Any = None) -> Any:
        name = "lr" if "lr" in config else "learning_rate"
        if isinstance(config.get(name), dict):
            rate = keras.optimizers.schedules.deserialize(config[name], custom_objects=custom_objects)
            config = {**config, name: rate}
        return old.from_config.__func__(cls, config, custom_objects)

    return {
        "_get_hyper": _get_hyper, "_serialize_hyperparameter": _serialize_hyperparameter, "_decayed_lr": _decayed_lr,
        "from_config": classmethod(from_config),
    }  # fmt: skip
