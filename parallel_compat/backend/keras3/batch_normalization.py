"""Synchronized batch statistics, and other moving statistics than Keras 3's. Read in Keras 3.15.1."""

from __future__ import annotations

import contextlib
import weakref
from typing import TYPE_CHECKING, Any

import keras
import keras.src.backend.tensorflow.nn as tensorflow_nn
import tensorflow as tf

from parallel_compat.backend.keras3.repeated_calls import first_call
from parallel_compat.backend.patches import STEP

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence


@contextlib.contextmanager
def synchronized_moments_of(replicas_with_samples: Sequence[Any]) -> Iterator[None]:
    """Let synchronized batch statistics leave out replicas that have no samples of their own.

    Replaces `_compute_moments_sync` of the TensorFlow backend while the replicas are traced: it sums over all
    replicas, and a replica without samples computes a copy of the first sample, which must not be counted twice.

    Args:
        replicas_with_samples: one bool per replica, whether it has samples.
    """

    def moments(x: Any, axes: Any, keepdims: bool) -> tuple[Any, Any]:
        context = tf.distribute.get_replica_context()
        counts = tf.cast(replicas_with_samples[int(tf.get_static_value(context.replica_id_in_sync_group))], x.dtype)
        local = [tf.reduce_sum(value, axes, keepdims=True) for value in (x, tf.square(x), tf.ones_like(x))]
        total, squares, count = context.all_reduce("SUM", [counts * value for value in local])
        mean = total / count
        variance = tf.maximum(squares / count - tf.square(mean), 0.0)
        return (mean, variance) if keepdims else (tf.squeeze(mean, axes), tf.squeeze(variance, axes))

    with STEP.for_a_while(
        tensorflow_nn, "_compute_moments_sync", lambda _: moments, why="replicas without samples count for nothing"
    ):
        yield


_DEBIASED = "_parallel_compat_debiased"
_OF_CALLS, _IN_TRAINING = "_parallel_compat_debiased_in_calls", "_parallel_compat_debiased_in_training"

_trained: list[keras.Model] = []  # whose steps are being traced or run, the innermost last


class Debiased:
    """A moving average that is not mixed with the value it began with (`zero_debias` of TensorFlow 1).

    The variables are none of the layer's weights: they are not saved, and not listed.

    Args:
        average: the variable; what is kept has its shape, and float64 where it has.
    """

    def __init__(self, average: Any) -> None:
        shape = tuple(average.shape)
        dtype = "float64" if keras.backend.standardize_dtype(average.dtype) == "float64" else "float32"
        self.biased, self.steps = (
            keras.Variable(keras.initializers.Zeros(), each, dtype, trainable=False, name=name)
            for each, name in ((shape, "biased"), ((), "steps"))
        )

    @property
    def variables(self) -> list[keras.Variable]:
        return [self.biased, self.steps]

    def after(self, value: Any, momentum: float) -> Any:
        """Take a value in, and return the average after it."""
        steps, biased, average = self._next(value, momentum)
        self.steps.assign(steps)
        self.biased.assign(biased)
        return average

    def would_be(self, value: Any, momentum: float) -> Any:
        """Return the average that it would be after a value, without taking it in."""
        return self._next(value, momentum)[-1]

    def _next(self, value: Any, momentum: float) -> tuple[Any, Any, Any]:
        steps = self.steps + 1.0
        weight = 1.0 - keras.ops.power(momentum, steps)
        biased = self.biased - (self.biased - value) * (1.0 - momentum)
        return steps, biased, biased / weight


class DebiasedStatistics:
    """The moving mean and variance of a layer, each debiased.

    Args:
        mean: the variable of the mean.
        variance: that of the variance.
    """

    def __init__(self, mean: Any, variance: Any) -> None:
        self.mean, self.variance = Debiased(mean), Debiased(variance)

    @property
    def variables(self) -> list[keras.Variable]:
        """All variables; `compare` puts back what it changes by them."""
        return [*self.mean.variables, *self.variance.variables]


@contextlib.contextmanager
def debiasing_calls_of(model: keras.Model) -> Iterator[None]:
    """Let the layers of a model debias what its own calls of them saw, for a while."""
    layers = [each for each in model._flatten_layers() if _DEBIASED in vars(each)]
    before = [vars(layer).get(_IN_TRAINING) for layer in layers]
    for layer in layers:
        vars(layer)[_IN_TRAINING] = _debiased_in_calls(model, layer)
    _trained.append(model)
    try:
        yield
    finally:
        _trained.pop()
        for layer, each in zip(layers, before, strict=True):
            vars(layer)[_IN_TRAINING] = each


def _debiased_in_calls(model: keras.Model, layer: Any) -> DebiasedStatistics:
    of_calls = vars(layer).setdefault(_OF_CALLS, {})
    calls = frozenset(_calls(model, layer))
    if calls not in of_calls:
        of_calls[calls] = DebiasedStatistics(layer.moving_mean, layer.moving_variance)
    found: DebiasedStatistics = of_calls[calls]
    return found


def _calls(model: keras.Model, layer: keras.layers.Layer) -> Iterator[tuple[Any, ...]]:
    """Yield a model's calls of a layer: each the nodes from the model's graph inwards (`Function._nodes_by_depth`)."""
    graph = getattr(getattr(model, "_functional", None) or model, "_nodes_by_depth", None)
    if graph is None:
        yield (weakref.ref(model),)
        return
    for node in (node for nodes in graph.values() for node in nodes):
        operation = node.operation
        if isinstance(operation, keras.Model) and any(each is layer for each in operation._flatten_layers()):
            yield from ((weakref.ref(first_call(node)), *inner) for inner in _calls(operation, layer))
        elif isinstance(operation, keras.layers.Layer) and any(each is layer for each in operation._flatten_layers()):
            yield (weakref.ref(node),)


def debiased_in(model: keras.Model, layers: Iterable[keras.layers.Layer]) -> list[Debiased | DebiasedStatistics]:
    """List what a training of a model debiases.

    Args:
        model: the model; while another is trained of which it is a part, it is what that debiases.
        layers: its layers.
    """
    found: list[Debiased | DebiasedStatistics] = []
    for layer in layers:
        if _DEBIASED in vars(layer):
            found += [vars(layer)[_DEBIASED], vars(layer).get(_IN_TRAINING) or _debiased_in_calls(model, layer)]
    own = {id(v): v for layer in layers for v in layer.non_trainable_variables}
    return found + [vars(v)[_DEBIASED] for v in own.values() if _DEBIASED in vars(v)]
