"""Keras has several backends, and this package works with TensorFlow alone."""

from __future__ import annotations

import keras


def refuse_others() -> None:
    """Refuse to go on with Keras on JAX, PyTorch or numpy."""
    if keras.config.backend() != "tensorflow":
        from parallel_compat.missing_keras import other_backend  # what all processes import stays small

        raise ImportError(f"{other_backend(keras.config.backend())}, before Keras is imported.", name="keras")
