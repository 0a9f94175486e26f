"""Losses and metrics that Keras 3 computes otherwise: the hinges, and `cosine_proximity` as a metric."""

from __future__ import annotations

from typing import Any

import keras

from parallel_compat.legacy import losses_utils

REDUCTION = "sum_over_batch_size"


@keras.saving.register_keras_serializable(package="parallel_compat")  # type: ignore[untyped-decorator]
def hinge(y_true: Any, y_pred: Any) -> Any:
    """Compute mean(max(1 - y_true * y_pred, 0)) of each sample, for the labels as they are.

    >>> import numpy as np
    >>> [float(v) for v in hinge(np.array([[0.0], [1.0]]), np.array([[0.5], [0.5]]))]
    [1.0, 0.5]

    Keras 3's `hinge` takes labels of 0 and 1 for -1 and 1.
    """
    return keras.ops.mean(keras.ops.maximum(1.0 - y_true * y_pred, 0.0), axis=-1)


@keras.saving.register_keras_serializable(package="parallel_compat")  # type: ignore[untyped-decorator]
def squared_hinge(y_true: Any, y_pred: Any) -> Any:
    """Compute mean(max(1 - y_true * y_pred, 0)²) of each sample, for the labels as they are.

    >>> import numpy as np
    >>> [float(v) for v in squared_hinge(np.array([[0.0], [1.0]]), np.array([[0.5], [0.5]]))]
    [1.0, 0.25]
    """
    return keras.ops.mean(keras.ops.square(keras.ops.maximum(1.0 - y_true * y_pred, 0.0)), axis=-1)


@keras.saving.register_keras_serializable(package="parallel_compat")  # type: ignore[untyped-decorator]
def cosine_proximity(y_true: Any, y_pred: Any) -> Any:
    """Compute minus the cosine of the angle between the samples, as a metric as well as as a loss.

    >>> import numpy as np
    >>> round(float(cosine_proximity(np.array([[3.0, 4.0]]), np.array([[6.0, 8.0]]))[0]), 4)
    -1.0

    Keras 3's metric `cosine_similarity` has the other sign; its loss has this one.
    """
    return -keras.ops.sum(keras.ops.normalize(y_true, axis=-1) * keras.ops.normalize(y_pred, axis=-1), axis=-1)


@keras.saving.register_keras_serializable(package="parallel_compat")  # type: ignore[untyped-decorator]
def huber_loss(y_true: Any, y_pred: Any, delta: float = 1.0) -> Any:
    """Compute the Huber loss of each number, as in Keras 2.3: its own mean is over the samples' numbers.

    >>> import numpy as np
    >>> [float(v) for v in huber_loss(np.array([0.0, 0.0]), np.array([1.0, 3.0]))]
    [0.5, 2.5]

    Args:
        y_true: the targets.
        y_pred: the predictions.
        delta: where the loss goes on as a straight line.
    """
    error = keras.ops.absolute(y_pred - y_true)
    quadratic = keras.ops.minimum(error, delta)
    return 0.5 * keras.ops.square(quadratic) + delta * (error - quadratic)


class LossFunctionWrapper(keras.losses.Loss):  # type: ignore[misc]  # Keras carries no types
    """The loss that a function of targets and predictions computes for each sample.

    >>> import numpy as np
    >>> loss = LossFunctionWrapper(keras.losses.mean_absolute_error, name="distance")
    >>> float(loss(np.array([[0.0], [1.0]]), np.array([[1.0], [3.0]])))
    1.5

    Args:
        fn: the function, `fn(y_true, y_pred, **kwargs)`.
        reduction: how the losses of samples become one number.
        name: the name of the loss.
        **kwargs: further arguments of the function.
    """

    def __init__(self, fn: Any, reduction: str = REDUCTION, name: str | None = None, **kwargs: Any) -> None:
        super().__init__(name=name, reduction=REDUCTION if reduction == "auto" else reduction)
        self.fn = fn
        self._fn_kwargs = kwargs

    def call(self, y_true: Any, y_pred: Any) -> Any:
        y_pred, y_true = losses_utils.squeeze_or_expand_dimensions(y_pred, y_true)
        return self.fn(y_true, y_pred, **self._fn_kwargs)

    def get_config(self) -> dict[str, Any]:
        """Return what a class derived from it takes: the function is not part of it."""
        return {**super().get_config(), **self._fn_kwargs}
