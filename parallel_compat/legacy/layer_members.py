"""Attributes that layers, models and metrics, which were layers in tf.keras, had in Keras 2."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import keras
import numpy as np

from parallel_compat.backend import keras3
from parallel_compat.backend.keras3.layers import is_of_graph

if TYPE_CHECKING:
    from collections.abc import Sequence

_TRAINABLE = "_parallel_compat_trainable"
# The order in which tf.keras listed the counts of a metric; Keras 3 makes true and false positives first.
_COUNTS = ("true_positives", "true_negatives", "false_positives", "false_negatives")


def stateful(layer: keras.Layer) -> bool:
    """Return whether a layer keeps states from batch to batch; a model does if one of its layers does."""
    return any(getattr(each, "stateful", False) for each in keras3.all_layers(layer) if each is not layer)


def submodules(layer: keras.Layer) -> tuple[keras.Layer, ...]:
    """Return the layers inside a layer or model, those inside of these included (`tf.Module.submodules`)."""
    return tuple(each for each in keras3.all_layers(layer) if each is not layer)


def noise_shape(layer: keras.layers.Dropout, inputs: Any) -> Any:
    """Return the shape of a dropout layer's mask for inputs (`_get_noise_shape`), None for their own."""
    if layer.noise_shape is None:
        return None
    sizes = keras.ops.shape(inputs)
    return tuple(sizes[axis] if size is None else size for axis, size in enumerate(layer.noise_shape))


def state_updates(model: keras.Model) -> list[Any]:
    """Return the updates of states, which are made in the calls of the layers: none are left to be made."""
    return []


def itself(model: Any) -> Any:
    """Return a Sequential model: `model.model`, which was another one before Keras 2.2."""
    return model


def is_graph_network(model: keras.Model) -> bool:
    """Return whether a model is made of inputs and outputs, not by a class of its own (`_is_graph_network`)."""
    return is_of_graph(model) and model.built


def metric_weights(metric: keras.metrics.Metric) -> list[Any]:
    """Return the variables of a metric, in the order of tf.keras.

    >>> metric = keras.metrics.AUC()
    >>> [variable.name for variable in metric_weights(metric)][:2]
    ['true_positives', 'true_negatives']
    """
    own = [getattr(metric, name, None) for name in _COUNTS]
    counts = [each for each in own if isinstance(each, keras.Variable)]
    return [*counts, *(each for each in metric.variables if all(each is not count for count in counts))]


def metric_nothing(metric: keras.metrics.Metric) -> list[Any]:
    """Return what a metric has none of: weights that are trained, updates, losses."""
    return []


def metric_is(metric: keras.metrics.Metric) -> bool:
    """Return that a metric is built."""
    return True


def metric_trainable(metric: keras.metrics.Metric) -> bool:
    """Return whether a metric is trainable, as every layer is at first; it has nothing that is trained."""
    return bool(vars(metric).get(_TRAINABLE, True))


def set_metric_trainable(metric: keras.metrics.Metric, value: bool) -> None:
    """Note what is assigned to `trainable`, as a loop over `model.layers` does."""
    vars(metric)[_TRAINABLE] = value


def count_params_of_metric(metric: keras.metrics.Metric) -> int:
    """Return how many numbers a metric counts with.

    >>> count_params_of_metric(keras.metrics.Mean())
    2
    """
    return sum(math.prod(variable.shape) for variable in metric_weights(metric))


def get_weights_of_metric(metric: keras.metrics.Metric) -> list[Any]:
    """Return what a metric has counted, as numpy arrays; numbers are numpy numbers.

    >>> metric = keras.metrics.Mean()
    >>> metric.update_state([1.0, 3.0])
    >>> [float(value) for value in get_weights_of_metric(metric)]
    [4.0, 2.0]
    """
    return [np.asarray(variable)[()] for variable in metric_weights(metric)]


def set_weights_of_metric(metric: keras.metrics.Metric, weights: Sequence[Any]) -> None:
    """Let a metric go on from what `get_weights` returned.

    Args:
        metric: the metric.
        weights: arrays, one for each of its variables.

    Raises:
        ValueError: they are not as many, or not of the shapes.
    """
    variables = metric_weights(metric)
    shapes, given = [tuple(each.shape) for each in variables], [np.shape(each) for each in weights]
    if shapes != given:
        raise ValueError(f"Expected weights of the shapes {shapes} for the metric {metric.name!r}. Received: {given}")
    for variable, value in zip(variables, weights, strict=True):
        variable.assign(value)
