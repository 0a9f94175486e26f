"""Synchronized batch statistics, and other moving statistics than Keras 3's. Read in Keras 3.15.1."""

from __future__ import annotations

import contextlib
import weakref
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any

import keras
import keras.src.backend.tensorflow.nn as tensorflow_nn
import tensorflow as tf

from parallel_compat.backend.keras3.repeated_calls import first_call
from parallel_compat.backend.patches import STEP
from parallel_compat.context_variables import set_within

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence


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


_twice: ContextVar[bool] = ContextVar("twice", default=False)


def of_moments() -> Iterator[tuple[Any, str, Callable[[Any], Any]]]:
    """Yield where the TensorFlow backend computes the mean and the variance of a batch (`_compute_moments`)."""

    def wrap(original: Any) -> Any:
        def _compute_moments(x: Any, axes: Any, keepdims: bool) -> tuple[Any, Any]:
            if not _twice.get():
                moments: tuple[Any, Any] = original(x, axes, keepdims)
                return moments
            mean = tf.reduce_mean(x, axes, keepdims=True)
            variance = tf.reduce_mean(tf.math.squared_difference(x, mean), axes, keepdims=True)
            return (mean, variance) if keepdims else (tf.squeeze(mean, axes), tf.squeeze(variance, axes))

        return _compute_moments

    yield tensorflow_nn, "_compute_moments", wrap


def moments_differentiable_twice() -> contextlib.AbstractContextManager[None]:
    """Let the gradients of a variance have gradients of their own within the block, as for a gradient penalty.

    `tf.nn.moments` takes the mean in the variance for a constant: the gradient is right, and its gradient is not.
    """
    return set_within(_twice, True)


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


def model_in_training() -> keras.Model | None:
    """Return the model of which a step is being traced or run; None outside of steps."""
    return _trained[-1] if _trained else None


def average_over_replicas(layer: keras.layers.BatchNormalization) -> None:
    """Let the moving statistics of a layer that is built under a strategy be the mean of those of the replicas.

    tf.keras of TensorFlow 2.2 made its variables so (`synchronization=ON_READ`); of Keras 3's the first replica's are
    read and saved.
    """
    if tf.distribute.get_strategy().num_replicas_in_sync == 1:
        return
    for each in (layer.moving_mean, layer.moving_variance):
        if isinstance(each._value, tf.Variable):  # not in a stateless scope
            each._value = tf.Variable(
                each._value.read_value(),
                trainable=False,
                name=each._value.name.split(":")[0],
                aggregation=tf.VariableAggregation.MEAN,
                synchronization=tf.VariableSynchronization.ON_READ,
            )


def keep_debiased(layer: keras.layers.BatchNormalization) -> None:
    """Give a built layer what it needs to debias its mean and its variance.

    TensorFlow 1 kept that for each call of the layer on symbolic tensors: a model that is trained after another of
    which the layer is a part begins its average anew, unless both have the call in common. Which of several calls in
    one step wrote last was a race there; here they go on with each other's.
    """
    vars(layer)[_DEBIASED] = DebiasedStatistics(layer.moving_mean, layer.moving_variance)


def debiased_of(layer: keras.layers.Layer) -> DebiasedStatistics | None:
    """Return what debiases a layer's statistics in the model that is being trained; None without `keep_debiased`."""
    of_layer: DebiasedStatistics | None = vars(layer).get(_DEBIASED)
    in_training: DebiasedStatistics | None = vars(layer).get(_IN_TRAINING)
    model = model_in_training()
    if in_training is not None or of_layer is None or model is None:
        return in_training or of_layer
    # The first batch has built the model, and its layers, since the step began.
    its_own = any(each is layer for each in model._flatten_layers())
    return _debiased_in_calls(model, layer) if its_own else of_layer


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


def debiased_of_variable(variable: Any) -> Debiased:
    """Return what debiases the average that a variable is; it is made where the variable is first asked for it."""
    if _DEBIASED not in vars(variable):
        vars(variable)[_DEBIASED] = Debiased(variable)
    found: Debiased = vars(variable)[_DEBIASED]
    return found


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


def call_in_training(
    layer: keras.layers.BatchNormalization,
    inputs: Any,
    moving: Callable[[Any, Any, Any], tuple[Any, Any]] | None,
    twice: bool = False,
) -> Any:
    """Normalise a training batch with its own statistics (`BatchNormalization.call`, `_moments`).

    Args:
        layer: the layer.
        inputs: the batch.
        moving: returns the moving mean and variance for the mean and variance of the batch and the number of values
            that each is of; None to leave them alone.
        twice: whether the gradients have gradients of their own.
    """
    dtype = keras.backend.result_type(inputs.dtype, "float32")
    x = keras.ops.cast(inputs, dtype)
    with moments_differentiable_twice() if twice else contextlib.nullcontext():
        mean, variance = layer._moments(x, None)
    if moving is not None:
        sizes = keras.ops.shape(x)
        samples = 1
        for axis in layer._reduction_axes:
            samples = samples * sizes[axis]
        new_mean, new_variance = moving(mean, variance, keras.ops.cast(samples, dtype))
        layer.moving_mean.assign(new_mean)
        layer.moving_variance.assign(new_variance)
    offset = keras.ops.cast(layer.beta, dtype) if layer.center else None
    scale = keras.ops.cast(layer.gamma, dtype) if layer.scale else None
    outputs = keras.ops.batch_normalization(
        x, mean, variance, layer.axis, offset=offset, scale=scale, epsilon=layer.epsilon
    )
    return keras.ops.cast(outputs, layer.compute_dtype)
