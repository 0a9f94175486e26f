"""TensorFlow's device options that have no public setter. Private state, read in TensorFlow 2.21."""

from __future__ import annotations

from typing import Any


def config_of(session: Any) -> Any:
    """Return the `ConfigProto` that a `tf.compat.v1.Session` was made with, or None (`BaseSession._config`)."""
    return session._config


def set_memory_fraction(fraction: float) -> None:
    """Let TensorFlow take this fraction of each GPU's memory, as `per_process_gpu_memory_fraction` said."""
    import tensorflow as tf
    from tensorflow.python.eager import context

    current: Any = context.context()
    if current._context_handle is not None:
        raise RuntimeError("the devices have been initialised")
    config = current._config or tf.compat.v1.ConfigProto()
    config.gpu_options.per_process_gpu_memory_fraction = fraction
    current._config = config
