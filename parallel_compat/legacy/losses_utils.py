"""What Keras 2.3 and `tf.keras` had in `keras.utils.losses_utils`: how the losses of samples become one number."""

from __future__ import annotations

from typing import Any

import keras


class Reduction:
    """How the losses of samples become one number. `AUTO` was tf.keras's alone.

    >>> Reduction.all()
    ('none', 'sum', 'sum_over_batch_size')
    """

    AUTO = "auto"
    NONE = "none"
    SUM = "sum"
    SUM_OVER_BATCH_SIZE = "sum_over_batch_size"

    @classmethod
    def all(cls) -> tuple[str, ...]:
        """Return those that a loss is computed by."""
        return (cls.NONE, cls.SUM, cls.SUM_OVER_BATCH_SIZE)

    @classmethod
    def validate(cls, key: Any) -> None:
        """Raise a ValueError for what is none of them."""
        if key not in (*cls.all(), cls.AUTO):
            raise ValueError(f"Expected `reduction` to be one of {cls.all()}. Received: {key!r}")


def squeeze_or_expand_dimensions(y_pred: Any, y_true: Any = None, sample_weight: Any = None) -> tuple[Any, ...]:
    """Give predictions, targets and weights as many axes each, where a last axis of one entry is all that is amiss.

    >>> import numpy as np
    >>> [len(each.shape) for each in squeeze_or_expand_dimensions(np.ones((4, 1)), np.ones(4), np.ones((4, 1)))]
    [1, 1, 1]

    Args:
        y_pred: the predictions.
        y_true: the targets, or None.
        sample_weight: the weights, or None.

    Returns:
        Predictions and targets, and the weights where they are given.
    """
    y_pred = keras.ops.convert_to_tensor(y_pred)
    if y_true is not None:
        y_true = keras.ops.convert_to_tensor(y_true)
        more = len(y_pred.shape) - len(y_true.shape)
        if more == 1 and y_pred.shape[-1] == 1:
            y_pred = keras.ops.squeeze(y_pred, -1)
        elif more == -1 and y_true.shape[-1] == 1:
            y_true = keras.ops.squeeze(y_true, -1)
    if sample_weight is None:
        return y_pred, y_true
    sample_weight = keras.ops.convert_to_tensor(sample_weight)
    axes, of_weights = len(y_pred.shape), len(sample_weight.shape)
    if axes == 0 and of_weights == 1:
        y_pred = keras.ops.expand_dims(y_pred, -1)
    elif of_weights and of_weights - axes == 1:
        sample_weight = keras.ops.squeeze(sample_weight, -1)
    elif of_weights and axes - of_weights == 1:
        sample_weight = keras.ops.expand_dims(sample_weight, -1)
    return y_pred, y_true, sample_weight


def reduce_weighted_loss(weighted_losses: Any, reduction: str = Reduction.SUM_OVER_BATCH_SIZE) -> Any:
    """Return losses as they are, their sum, or their mean.

    Args:
        weighted_losses: a tensor.
        reduction: one of `Reduction`.
    """
    Reduction.validate(reduction)
    if reduction == Reduction.NONE:
        return weighted_losses
    return keras.ops.sum(weighted_losses) if reduction == Reduction.SUM else keras.ops.mean(weighted_losses)


def compute_weighted_loss(
    losses: Any, sample_weight: Any = None, reduction: str = Reduction.SUM_OVER_BATCH_SIZE, name: str | None = None
) -> Any:
    """Weight losses, and return them, their sum, or their sum divided by their number.

    >>> import numpy as np
    >>> float(compute_weighted_loss(np.array([1.0, 2.0, 3.0, 4.0]), np.array([1.0, 0.0, 1.0, 1.0])))
    2.0

    Args:
        losses: a tensor of the losses of samples.
        sample_weight: a number, or weights of the losses along their first axes.
        reduction: one of `Reduction`.
        name: the name of an operation, passed over.
    """
    losses = keras.ops.convert_to_tensor(losses)
    weights = keras.ops.cast(1.0 if sample_weight is None else sample_weight, losses.dtype)
    losses, _, weights = squeeze_or_expand_dimensions(losses, None, weights)
    for _ in range(len(losses.shape) - len(weights.shape) if len(weights.shape) else 0):
        weights = keras.ops.expand_dims(weights, -1)
    return reduce_weighted_loss(losses * weights, reduction)
