"""What `compile` puts into a model: losses, metrics and their configuration. Read in Keras 3.15.1."""

from __future__ import annotations

import contextlib
import functools
import inspect
from collections.abc import Callable, Iterator
from typing import Any, cast

import keras
import tensorflow as tf
from keras.src.losses import loss
from keras.src.trainers import compile_utils

from parallel_compat.backend.keras3 import moved_names
from parallel_compat.backend.keras3.layers import output_spec
from parallel_compat.backend.patches import CORE

MetricsList = compile_utils.MetricsList


def squeeze_or_expand_to_same_rank(first: Any, second: Any) -> tuple[Any, Any]:
    """Bring two tensors to one rank, as Keras does before it multiplies them: a last axis of 1 goes, or comes."""
    ranks = len(first.shape), len(second.shape)
    if ranks[0] == ranks[1] + 1 and first.shape[-1] == 1:
        return (first, second[..., None]) if ranks[1] == 1 else (tf.squeeze(first, -1), second)
    if ranks[1] == ranks[0] + 1 and second.shape[-1] == 1:
        return (first[..., None], second) if ranks[0] == 1 else (first, tf.squeeze(second, -1))
    return first, second


def spread(sample_weight: Any, values: Any) -> Any:
    """Give every value of a sample the weight of the sample, or of the part of it that the weight is for.

    Keras 3 multiplies values of shape `(samples, time)` by weights of shape `(samples,)` as numpy would: an error, or,
    where there are as many samples as steps in time, the weights of other samples. Keras 2 weighted the mean of a
    sample's values.

    Args:
        sample_weight: a tensor; with as many axes as `values`, or more, or none, it is returned as it is.
        values: the values of a loss, or a mask of them.
    """
    missing = len(values.shape) - len(sample_weight.shape)
    if missing <= 0 or len(sample_weight.shape) == 0:
        return sample_weight
    shape = tf.concat([tf.shape(sample_weight), tf.ones(missing, tf.int32)], 0)
    spread_out = tf.broadcast_to(tf.reshape(sample_weight, shape), tf.shape(values))
    spread_out.set_shape(values.shape)
    return spread_out


def let_weights_of_samples_count_for_all_their_values() -> None:
    """Let Keras's own losses and metrics `spread` weights of samples; 3.12 to the nightly of 3.16 are alike."""

    def reducing(before: Any, values: Any, sample_weight: Any = None, *args: Any, **kwargs: Any) -> Any:
        return before(values, _spread(sample_weight, values), *args, **kwargs)

    def masking(before: Any, sample_weight: Any, mask: Any, *args: Any, **kwargs: Any) -> Any:
        return before(_spread(sample_weight, mask), mask, *args, **kwargs)

    CORE.around(loss, "reduce_weighted_values", reducing, why="the weight of a sample is that of all its values")
    CORE.around(loss, "apply_mask", masking, why="the weight of a sample is that of all its steps")


def _spread(sample_weight: Any, values: Any) -> Any:
    if sample_weight is None or values is None:
        return sample_weight
    return spread(keras.ops.convert_to_tensor(sample_weight), keras.ops.convert_to_tensor(values))


def apply_mask(sample_weight: Any, mask: Any, dtype: Any) -> Any:
    """Return sample weights that are 0 where a mask is; None without either."""
    if mask is None:
        return sample_weight
    if sample_weight is None:
        return tf.cast(mask, dtype)
    mask, sample_weight = squeeze_or_expand_to_same_rank(tf.cast(mask, dtype), tf.cast(sample_weight, dtype))
    return sample_weight * mask


# What `Trainer.compile` sets, and `load_model` and `save` read.
COMPILE_ATTRIBUTES = (
    *("optimizer", "loss", "compiled", "steps_per_execution"),
    *("_compile_config", "_compile_loss", "_compile_metrics", "_loss_tracker"),
)


def compile_arguments(model: keras.Model) -> dict[str, Any]:
    """Return the arguments that a compiled model's `compile` was called with, the optimizer as it is now."""
    arguments = dict(model._compile_config.config)
    return {**arguments, "optimizer": model.optimizer}


@contextlib.contextmanager
def compiled_as(model: keras.Model, other: keras.Model, arguments: dict[str, Any]) -> Iterator[None]:
    """Let `model` carry the optimizer, loss and metrics of `other` for a while, as if compiled with `arguments`."""
    before = {name: getattr(model, name) for name in COMPILE_ATTRIBUTES if hasattr(model, name)}
    carried = {name: getattr(other, name, None) for name in COMPILE_ATTRIBUTES}
    carried["_compile_config"] = type(other._compile_config)(**arguments)
    vars(model).update(carried)  # by `setattr`, Keras would take them for parts of the model
    try:
        yield
    finally:
        # A model that was never compiled has no `optimizer` at all: Keras's HDF5 writer looks for the attribute.
        for name in carried:
            del vars(model)[name]
        vars(model).update(before)


def compiled_parts(model: keras.Model) -> tuple[Any, ...]:
    """Return the objects that a `compile` made, which tell it from another one."""
    return model._compile_loss, model._compile_metrics, model._loss_tracker


def is_keras_metric(metric: keras.metrics.Metric) -> bool:
    """Whether a metric's class is one of Keras's own."""
    return type(metric).__module__.startswith("keras.")


def function_of(computed: keras.losses.Loss | keras.metrics.Metric) -> Callable[..., Any] | None:
    """Return the function that a loss (`LossFunctionWrapper.fn`) or metric (`MeanMetricWrapper._fn`) wraps, or None."""
    function: Callable[..., Any] | None = getattr(computed, "fn", None) or getattr(computed, "_fn", None)
    return function


def is_keras_function(computed: keras.losses.Loss | keras.metrics.Metric) -> bool:
    """Whether a loss or metric wraps a function of Keras's own."""
    return str(getattr(function_of(computed), "__module__", "")).startswith("keras.")


def is_keras_loss(loss: keras.losses.Loss) -> bool:
    """Whether a loss, and the function it wraps, are Keras's own."""
    return type(loss).__module__.startswith("keras.") and is_keras_function(loss)


def metric_values(metric: keras.metrics.Metric) -> Callable[[Any, Any], Any] | None:
    """Return what a `MeanMetricWrapper` averages, as a function of `(y_true, y_pred)`; None for other metrics."""
    if not isinstance(metric, keras.metrics.MeanMetricWrapper):
        return None

    def values(y_true: Any, y_pred: Any) -> Any:
        convert = keras.ops.convert_to_tensor
        true, pred = convert(y_true, metric.dtype), convert(y_pred, metric.dtype)
        return metric._fn(true, pred, **metric._fn_kwargs)

    return values


@contextlib.contextmanager
def _batches_count_equally(means: list[Any]) -> Iterator[None]:
    """Let the logged losses of outputs be means over batches, as they are in a graph that takes batches of any size.

    Keras weights a batch by its size where its graph knows that. The graph of a first batch often does and that of
    a smaller last one does not, whose weight would then be 1.
    """
    for mean in means:
        vars(mean)["update_state"] = functools.partial(_update_unweighted, mean)
    try:
        yield
    finally:
        for mean in means:
            del vars(mean)["update_state"]


def _update_unweighted(mean: keras.metrics.Mean, values: Any, sample_weight: Any = None) -> None:
    type(mean).update_state(mean, values)


class Compiled:
    """The losses and metrics that `compile` put into a model (`_compile_loss`, `_compile_metrics`, `_loss_tracker`)."""

    def __init__(self, model: keras.Model) -> None:
        self._loss = model._compile_loss
        self._metrics = model._compile_metrics
        self._loss_tracker = model._loss_tracker

    @property
    def built(self) -> bool:
        return all(part is None or part.built for part in (self._loss, self._metrics))

    def build(self, y: Any, y_pred: Any, sample_weight: Any, symbolic: bool = False) -> None:
        """Build the losses and metrics, whose kind can depend on the shapes of the targets.

        Args:
            y_pred: predictions, in the structure of the model's output. In a graph it is done on shapes and
                dtypes alone (`output_spec`) and stand-ins for predictions will do; eagerly on the
                values, because a function written for eager execution need not run without them.
            symbolic: whether it is done on shapes and dtypes alone in any case.
        """
        todo: list[Any] = []
        if self._loss is not None and not self._loss.built:
            one = not keras.tree.is_nested(y) and not keras.tree.is_nested(y_pred)
            # Of one output the loss itself need not be computed: it may be the user's, with side effects.
            todo.append((lambda y, y_pred, _: self._loss.build(y, y_pred)) if one else self._loss)
        if self._metrics is not None and not self._metrics.built:
            todo.append(self._metrics.update_state)
        for build in todo:
            if tf.executing_eagerly() and not symbolic:
                with keras.StatelessScope():
                    build(y, y_pred, sample_weight)
            else:
                with tf.init_scope():
                    specs = keras.tree.map_structure(_spec, (y, y_pred, sample_weight))
                    output_spec(build, *specs)

    def loss(self, y: Any, y_pred: Any, sample_weight: Any) -> Any:
        """Compute the weighted sum of the losses; None without a loss."""
        if self._loss is None:
            return None
        with contextlib.nullcontext() if tf.executing_eagerly() else _batches_count_equally(self._loss.metrics):
            return self._loss(y, y_pred, sample_weight)

    def update_metrics(self, y: Any, y_pred: Any, sample_weight: Any) -> None:
        """Update the metrics of all outputs."""
        if self._metrics is not None:
            self._metrics.update_state(y, y_pred, sample_weight)

    def track_loss(self, loss: Any, samples: Any) -> None:
        """Update the mean loss with that of a batch of so many samples."""
        self._loss_tracker.update_state(loss, sample_weight=samples)

    def replace_losses(self, place: Callable[[Any], Any]) -> list[Any]:
        """Replace each loss by `place(loss)` (`CompileLoss._flat_losses`), and return the new ones."""
        if self._loss is None:
            return []
        self._loss._flat_losses = [e._replace(loss=place(e.loss)) for e in self._loss._flat_losses]
        return [entry.loss for entry in self._loss._flat_losses]

    def replace_metrics(self, place: Callable[[Any], Any]) -> list[Any]:
        """Put `place(metrics)` where each output's metrics were (`CompileMetrics._flat_metrics` and
        `_flat_weighted_metrics`), and return the new ones."""
        if self._metrics is None:
            return []
        replaced = []
        for name in ("_flat_metrics", "_flat_weighted_metrics"):
            lists = [metrics and place(metrics) for metrics in getattr(self._metrics, name)]
            vars(self._metrics)[name] = lists  # by `setattr`, Keras would track them
            replaced += [metrics for metrics in lists if metrics]
        return replaced


def _spec(tensor: Any) -> Any:
    if tensor is None:
        return None
    return keras.KerasTensor(tensor.shape, keras.backend.standardize_dtype(tensor.dtype))


def bind(method: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> dict[str, Any]:
    """Bind the arguments of a method of `keras.Model`, without `self`, to their names."""
    names, required = _names(getattr(moved_names.Trainer, method))
    if not args and required <= kwargs.keys() <= names.keys():
        return kwargs
    by_name = dict(zip(names, args, strict=False))
    if len(args) <= len(names) and kwargs.keys() <= names.keys() - by_name.keys():
        by_name.update(kwargs)
        if required <= by_name.keys():
            return by_name
    # `Signature.bind` takes longer than a small step; it knows what to say, and what goes where, in all other cases.
    bound = dict(_signature(getattr(moved_names.Trainer, method)).bind(None, *args, **kwargs).arguments)
    del bound["self"]
    further = bound.pop("kwargs", {})
    return {**bound, **further}


def own_method(model: keras.Model, name: str) -> Callable[..., Any]:
    """Return a model's method as Keras has it, or a parallel model: not one that old code put in its place."""
    package = __name__.partition(".")[0]
    of = next(
        kind
        for kind in type(model).__mro__
        if name in vars(kind) and (kind is moved_names.Trainer or kind.__module__.partition(".")[0] == package)
    )
    return cast("Callable[..., Any]", vars(of)[name].__get__(model))


@functools.lru_cache(64)
def _names(function: Any) -> tuple[dict[str, None], frozenset[str]]:
    """Return the names of a method's plain arguments in order, and of those that must be given."""
    parameters = list(_signature(function).parameters.values())[1:]
    plain = [each for each in parameters if each.kind is each.POSITIONAL_OR_KEYWORD]
    required = frozenset(each.name for each in plain if each.default is each.empty)
    return {each.name: None for each in plain}, required


@functools.lru_cache(64)
def _signature(function: Any) -> inspect.Signature:
    return inspect.signature(function)
