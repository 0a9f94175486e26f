"""Whether a function gives each sample of a batch its own value, whatever the other samples are."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import tensorflow as tf

from parallel_compat.training.per_sample_operations import keeps_samples_apart

SAMPLES = 4
UNKNOWN_DIMENSION = 8


def is_per_sample(function: Callable[[Any, Any], Any], y_true: Any, y_pred: Any, known: bool = False) -> bool:
    """Whether the samples of a batch can be computed apart.

    A function that divides by the number of positives in the batch, say, returns a value per sample and still
    depends on the batch; its shape does not tell. Two things must say that it does not: values on made-up samples,
    alone and together, and, for a function that is not Keras's own, every operation that it is made of; what depends
    on the other samples only for some values (a target that stands for "none", a maximum) shows in no made-up sample.
    When in doubt (an error, an unknown operation, only NaN, a random result) the answer is no: on the global batch
    every function is right.

    Args:
        y_true: targets, of which shape `(samples, ...)` and dtype are used.
        y_pred: predictions, of which shape `(samples, ...)` and dtype are used.
        known: whether the function is one of Keras's own, so that values tell enough.
    """
    with tf.init_scope():
        return _is_equal_per_sample(function, y_true, y_pred) and (
            known or keeps_samples_apart(function, y_true, y_pred)
        )


def _is_equal_per_sample(function: Callable[[Any, Any], Any], y_true: Any, y_pred: Any) -> bool:
    generator = np.random.default_rng(0)
    try:
        for logits in (False, True):
            true = _targets(generator, y_true)
            pred = _predictions(generator, y_pred, logits)
            together = np.asarray(function(true, pred))
            if together.ndim == 0 or together.shape[0] != SAMPLES:
                return False
            apart = np.concatenate([np.asarray(function(true[a:b], pred[a:b])) for a, b in ((0, 1), (1, SAMPLES))])
            if np.isnan(together).all() or not np.allclose(together, apart, 1e-4, 1e-6, equal_nan=True):
                return False
    except Exception:  # a user's function may raise anything on made-up samples
        return False
    return True


def _shape(like: Any) -> tuple[int, ...]:
    return (SAMPLES, *(UNKNOWN_DIMENSION if n is None else int(n) for n in like.shape[1:]))


def _targets(generator: np.random.Generator, like: Any) -> Any:
    # 0 and 1 are valid as class ids, as one-hot entries, as labels and as regression targets.
    return tf.cast(generator.integers(0, 2, _shape(like)), like.dtype)


def _predictions(generator: np.random.Generator, like: Any, logits: bool) -> Any:
    shape = _shape(like)
    return tf.cast(generator.normal(0, 2, shape) if logits else generator.uniform(0.05, 0.95, shape), like.dtype)
