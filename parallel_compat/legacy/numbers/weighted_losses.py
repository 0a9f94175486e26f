"""A loss as its era weighed it: samples, masks, and what the sum is divided by.

- Keras 2.2.4 took the mean of a sample's losses over all axes that the weights lack, multiplied, and divided by the
  share of weights that are not 0; a mask was divided by its mean first (`weighted_masked_objective`).
- tf.keras and Keras 2.3 multiplied the mask into the weights, and divided by the number of losses, whatever they weigh
  (`compute_weighted_loss`).
- Keras 3 takes weights along the last axes, and divides by the unmasked entries.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import keras
import tensorflow as tf

from parallel_compat.backend import keras3
from parallel_compat.legacy.numbers import cross_entropies
from parallel_compat.names.eras import Era
from parallel_compat.training.losses import not_none

# Losses that compute something of each number and its target before they reduce the last axis.
_OF_EACH_NUMBER = (
    keras.losses.mean_squared_error,
    keras.losses.mean_absolute_error,
    keras.losses.mean_absolute_percentage_error,
    keras.losses.mean_squared_logarithmic_error,
    keras.losses.binary_crossentropy,
    keras.losses.huber,
    keras.losses.hinge,
    keras.losses.squared_hinge,
    keras.losses.kl_divergence,
    keras.losses.log_cosh,
    keras.losses.poisson,
)


class Sums(NamedTuple):
    """What some samples contribute to a loss: scalars that add up over the replicas.

    Attributes:
        loss: the sum of the weighted losses.
        count: how many losses that are.
        nonzero: how many weights are not 0.
        weights: how many weights there are.
        mask: the sum of the mask.
        entries: how many entries it has.
    """

    loss: Any
    count: Any
    nonzero: Any
    weights: Any
    mask: Any
    entries: Any


class WeightedLoss(keras.losses.Loss):  # type: ignore[misc]
    """One loss of a compiled model, weighed as in an era.

    Args:
        loss: the loss that Keras built.
        era: the era of the model.
    """

    def __init__(self, loss: keras.losses.Loss, era: Era) -> None:
        is_unreduced = loss.reduction in (None, "none")
        reduction = "sum_over_batch_size" if is_unreduced else loss.reduction
        super().__init__(name=loss.name, reduction=reduction, dtype=loss.dtype)
        self.loss = loss
        self.era = era

    def call(self, y_true: Any, y_pred: Any) -> Any:
        """Compute the losses before they are weighed."""
        return _values(self.loss, self.era, y_true, y_pred)

    def __call__(self, y_true: Any, y_pred: Any, sample_weight: Any = None) -> Any:
        loss = self.of_sums(*self.sums(y_true, y_pred, sample_weight))
        # Under a strategy of the user's the gradients of its replicas are added up: each loss is its share of the mean,
        # as `keras.losses.Loss` does it.
        replicas = tf.distribute.get_strategy().num_replicas_in_sync
        return loss / replicas if replicas > 1 and self.reduction != "sum" else loss

    def sums(self, y_true: Any, y_pred: Any, sample_weight: Any = None) -> Sums:
        """Compute what samples contribute."""
        convert = keras.ops.convert_to_tensor
        mask = keras3.get_mask(y_pred)
        values = tf.cast(self.call(convert(y_true, self.dtype), convert(y_pred, self.dtype)), self.dtype)
        weights = None if sample_weight is None else tf.cast(sample_weight, self.dtype)
        mask = None if mask is None else tf.cast(mask, self.dtype)
        if self.era is Era.KERAS_2_2_4:
            return self._of_keras_2(values, weights, mask)
        return self._of_tf_keras(values, weights, mask)

    def _of_keras_2(self, values: Any, weights: Any, mask: Any) -> Sums:
        one = tf.ones((), self.dtype)
        masked, entries, nonzero, count = one, one, one, one
        if mask is not None:
            values = values * mask
            masked, entries = tf.reduce_sum(mask), self._size(mask)
        if weights is not None:
            values = tf.reduce_mean(values, axis=list(range(weights.shape.rank, values.shape.rank))) * weights
            nonzero = tf.reduce_sum(tf.cast(weights != 0, self.dtype))
            count = self._size(weights)
        return Sums(tf.reduce_sum(values), self._size(values), nonzero, count, masked, entries)

    def _of_tf_keras(self, values: Any, weights: Any, mask: Any) -> Sums:
        one = tf.ones((), self.dtype)
        if weights is not None and weights.shape.rank == 1 and self.era is Era.TF_KERAS_2_2:
            weights = tf.expand_dims(weights, -1)  # `expand_1d` of its `train_step`
        if mask is not None and weights is not None:
            weights = _to_rank_of(mask, weights) * mask
        elif mask is not None:
            weights = mask
        if weights is not None:
            if self.era is Era.KERAS_2_3 and values.shape.rank == 0:  # one number for the batch
                values = values * tf.ones_like(weights)
            weights = _to_rank_of(values, weights)
            if self.era is Era.KERAS_2_3:  # which went on along the first axes, however many there are
                while weights.shape.rank < values.shape.rank:
                    weights = weights[..., None]
            values = values * weights
        return Sums(tf.reduce_sum(values), self._size(values), one, one, one, one)

    def of_sums(self, loss: Any, count: Any, nonzero: Any, weights: Any, mask: Any, entries: Any) -> Any:
        """Compute the loss from the sums over all samples."""
        if self.reduction == "sum":
            return loss
        if self.era is not Era.KERAS_2_2_4:
            return tf.math.divide_no_nan(loss, count)
        return loss / count / (mask / entries) / (nonzero / weights)

    def _size(self, tensor: Any) -> Any:
        return tf.cast(tf.size(tensor), self.dtype)

    def get_config(self) -> dict[str, Any]:
        config: dict[str, Any] = self.loss.get_config()
        return config


def _values(loss: keras.losses.Loss, era: Era, y_true: Any, y_pred: Any) -> Any:
    with cross_entropies.of(era):
        values = not_none(loss.call(y_true, y_pred), loss.name)
    if era is Era.TF_KERAS_1_15 and keras3.function_of(loss) is keras.losses.cosine_similarity:
        return -values  # there the loss was the cosine itself, which falls as the rows turn away
    return values


def called_by_hand(loss: keras.losses.Loss, era: Era, y_true: Any, y_pred: Any, sample_weight: Any = None) -> Any:
    """Compute a loss that a program calls itself, as `Loss.__call__` of tf.keras and Keras 2.3 did.

    It knew no mask, took weights along the first axes, and computed in the dtype of the predictions.

    >>> mse = keras.losses.MeanSquaredError(reduction="none")
    >>> called_by_hand(mse, Era.TF_KERAS_2_2, [[[1.0], [2.0]]] * 2, [[[0.0], [0.0]]] * 2, [1.0, 3.0]).numpy().tolist()
    [[1.0, 4.0], [3.0, 12.0]]

    Args:
        loss: the loss.
        era: whose results it shall give.
        y_true: the targets.
        y_pred: the predictions.
        sample_weight: weights, or None.

    Returns:
        The weighted losses, or what the loss reduces them to.
    """
    ops = keras.ops
    function = keras3.function_of(loss)
    if function is not None:  # it takes tensors; a `call` of the user's gets what was given
        are_tensors = tf.is_tensor(y_true) and tf.is_tensor(y_pred)
        y_true, y_pred = ops.convert_to_tensor(y_true), ops.convert_to_tensor(y_pred)
        if era is Era.TF_KERAS_2_2 and function in _OF_EACH_NUMBER:
            y_true, y_pred = _of_one_shape(y_true, y_pred, squeezed=are_tensors)
        if "float" not in keras.backend.standardize_dtype(y_pred.dtype):
            y_pred = ops.cast(y_pred, loss.dtype)
    values = ops.convert_to_tensor(_values(loss, era, y_true, y_pred))
    dtype = keras.backend.standardize_dtype(values.dtype)
    if dtype in ("float16", "bfloat16"):  # in which a sum soon has no place
        values = ops.cast(values, "float32")
    if sample_weight is not None:
        values = values * _to_rank_of(values, ops.cast(sample_weight, values.dtype))
    if loss.reduction == "sum":
        values = ops.sum(values)
    elif loss.reduction not in (None, "none"):
        values = ops.mean(values) / tf.distribute.get_strategy().num_replicas_in_sync
    return ops.cast(values, dtype)


def _of_one_shape(y_true: Any, y_pred: Any, *, squeezed: bool) -> tuple[Any, Any]:
    """Return targets and predictions whose ranks differ as `LossFunctionWrapper.call` of TensorFlow 2.2 took them.

    Args:
        y_true: the targets.
        y_pred: the predictions.
        squeezed: whether both were given as tensors, of which it squeezed one; others spread over each other.
    """
    more = len(y_pred.shape) - len(y_true.shape)
    if more == 0:
        return y_true, y_pred
    if not squeezed:
        shape = tf.broadcast_dynamic_shape(tf.shape(y_true), tf.shape(y_pred))
        return tf.broadcast_to(y_true, shape), tf.broadcast_to(y_pred, shape)
    if more == 1 and y_pred.shape[-1] == 1:
        y_pred = tf.squeeze(y_pred, -1)
    elif more == -1 and y_true.shape[-1] == 1:
        y_true = tf.squeeze(y_true, -1)
    return y_true, y_pred


def _to_rank_of(values: Any, weights: Any) -> Any:
    """Squeeze or expand the last axis of weights, as `squeeze_or_expand_dimensions` did."""
    more = len(weights.shape) - len(values.shape)
    if more == 1:
        return keras.ops.squeeze(weights, -1)
    return keras.ops.expand_dims(weights, -1) if more == -1 and len(weights.shape) else weights


def weighed(loss: keras.losses.Loss, era: Era) -> keras.losses.Loss:
    """Return a loss of a compiled model as an era weighed it, or the loss where it does that itself."""
    own_call = type(loss).__call__ is not keras.losses.Loss.__call__
    # Keras 2.3 trained on the mean of what a loss gave (`_prepare_total_loss`).
    stays = loss.reduction in (None, "none") and era is not Era.KERAS_2_3
    return loss if own_call or stays else WeightedLoss(loss, era)


def weighed_as_in(era: Era, model: keras.Model) -> None:
    """Let a model that was compiled weigh its losses, and its weighted metrics, as in an era.

    Args:
        era: the era.
        model: the model; its losses are made at its first batch.
    """

    if era is not Era.TODAY:
        keras3.when_losses_are_built(model, lambda loss: weighed(loss, era))
        keras3.log_the_only_loss(model)
    if era not in (Era.KERAS_2_2_4, Era.TODAY):  # what `batch_logs` makes the era's mean of
        keras3.count_output_losses_by_batch(model)
    if era is Era.KERAS_2_2_4:
        keras3.when_metrics_are_built(model, _weigh_metric, weighted=True)
    if era is Era.TF_KERAS_2_2:
        keras3.when_metrics_are_built(model, _without_mask, weighted=False)


def _without_mask(metric: keras.metrics.Metric) -> None:
    """Let a metric count masked entries, as `MetricsContainer` of TensorFlow 2.2 did."""
    if keras3.metric_values(metric) is None:
        return
    update = metric.update_state

    def update_state(y_true: Any, y_pred: Any, sample_weight: Any = None) -> None:
        update(y_true, unmasked(y_pred), sample_weight)

    metric.update_state = update_state


def unmasked(y_pred: Any) -> Any:
    """Return predictions without their mask."""
    if keras3.get_mask(y_pred) is None:
        return y_pred
    plain = tf.identity(y_pred)
    if keras3.get_logits(y_pred) is not None:
        keras3.set_logits(plain, keras3.get_logits(y_pred), keras3.operation_behind(y_pred))
    return plain


def _weigh_metric(metric: keras.metrics.Metric) -> None:
    """Let a mean be that of Keras 2.2.4's weighted values: divided by how many weights are not 0, not by their sum."""
    of_batch, update = keras3.metric_values(metric), metric.update_state
    if of_batch is None:
        return

    def update_state(y_true: Any, y_pred: Any, sample_weight: Any = None) -> None:
        mask = keras3.get_mask(y_pred)
        if sample_weight is None or mask is not None:
            update(y_true, y_pred, sample_weight)
            return
        values, weights = of_batch(y_true, y_pred), tf.cast(sample_weight, metric.dtype)
        values = tf.reduce_mean(values, axis=list(range(weights.shape.rank, values.shape.rank)))
        metric.total.assign_add(tf.reduce_sum(values * weights))
        metric.count.assign_add(tf.reduce_sum(tf.cast(weights != 0, metric.dtype)))

    metric.update_state = update_state
