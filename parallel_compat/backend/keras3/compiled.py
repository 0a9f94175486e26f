"""What `compile` puts into a model: losses, metrics and their configuration. Read in Keras 3.15.1."""

from __future__ import annotations

import contextlib
import functools
import inspect
from typing import TYPE_CHECKING, Any, cast

import keras
import tensorflow as tf
from keras.src.losses import loss as loss_module
from keras.src.saving import serialization_lib
from keras.src.trainers import compile_utils

from parallel_compat.backend.keras3.layers import all_layers, untracked

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

# The class whose methods `keras.Model` has, for old code puts methods of its own on `keras.Model`.
_Trainer = next(kind for kind in keras.Model.__mro__ if kind.__name__ == "TensorFlowTrainer")


# Functions of Keras that are public in all but name.
apply_mask = loss_module.apply_mask
squeeze_or_expand_to_same_rank = loss_module.squeeze_or_expand_to_same_rank
MetricsList = compile_utils.MetricsList


@contextlib.contextmanager
def not_compiled(model: keras.Model) -> Iterator[None]:
    """Let a model and those inside it be serialized without the arguments of `compile`, as in Keras 2.

    Keras 3 writes them into every config (`get_compile_config`), and then has to find a loss of the user's own by its
    name when a model is made of the config.
    """
    inside = {id(each): each for each in (model, *all_layers(model)) if isinstance(each, keras.Model)}
    before = [(each, each.compiled) for each in inside.values()]
    try:
        for each, _ in before:
            each.compiled = False
        yield
    finally:
        for each, compiled in before:
            each.compiled = compiled


# What `Trainer.compile` sets, and `load_model` and `save` read.
COMPILE_ATTRIBUTES = (
    "optimizer",
    "loss",
    "compiled",
    "steps_per_execution",
    "_compile_config",
    "_compile_loss",
    "_compile_metrics",
    "_loss_tracker",
    "_jit_compile",
    "_run_eagerly",
)


def compile_arguments(model: keras.Model) -> dict[str, Any]:
    """Return the arguments that a compiled model's `compile` was called with, the optimizer as it is now."""
    arguments = dict(model._compile_config.config)
    return {**arguments, "optimizer": model.optimizer}


def say_compiled_with(model: keras.Model, **arguments: Any) -> None:
    """Let a compiled model say, and be saved as if, it was compiled with these arguments (`_compile_config`)."""
    model._compile_config = serialization_lib.SerializableDict(**{**model._compile_config.config, **arguments})


def replace_compiled_metrics(model: keras.Model, metrics: Any, weighted_metrics: Any) -> None:
    """Give a compiled model other metrics, as if compiled with them (`_compile_metrics`).

    Args:
        model: a compiled model.
        metrics: as `compile` takes them.
        weighted_metrics: as `compile` takes them.
    """
    made = None
    if metrics is not None or weighted_metrics is not None:
        made = compile_utils.CompileMetrics(
            metrics, weighted_metrics, output_names=getattr(model, "output_names", None)
        )
    _set_untracked(
        model, {"_compile_metrics": made, "train_function": None, "test_function": None, "predict_function": None}
    )


def forget_losses_and_metrics(model: keras.Model) -> None:
    """Drop those of a `compile` before: one without any keeps them (`Trainer.compile` of Keras 3.15)."""
    if getattr(model, "_compile_metrics", None) is not None or getattr(model, "_compile_loss", None) is not None:
        _set_untracked(model, {"_compile_metrics": None, "_compile_loss": None, "loss": None})


@contextlib.contextmanager
def compiled_as(model: keras.Model, other: keras.Model, arguments: dict[str, Any]) -> Iterator[None]:
    """Let `model` carry the optimizer, loss and metrics of `other` for a while, as if compiled with `arguments`."""
    before = {name: getattr(model, name) for name in COMPILE_ATTRIBUTES if hasattr(model, name)}
    carried = {name: getattr(other, name, None) for name in COMPILE_ATTRIBUTES}
    carried["_compile_config"] = serialization_lib.SerializableDict(**arguments)
    _set_untracked(model, carried)
    try:
        yield
    finally:
        _set_untracked(model, before)
        # A model that was never compiled has no `optimizer` at all: Keras's HDF5 writer looks for the attribute.
        for name in carried.keys() - before.keys():
            delattr(model, name)


def _set_untracked(model: keras.Model, attributes: dict[str, Any]) -> None:
    with untracked():
        for name, value in attributes.items():
            setattr(model, name, value)


def compiled_parts(model: keras.Model) -> tuple[Any, ...]:
    """Return the objects that a `compile` made, which tell it from another one."""
    return model._compile_loss, model._compile_metrics, model._loss_tracker


def loss_of_own_step(
    model: keras.Model, y: Any, y_pred: Any, sample_weight: Any = None, regularization_losses: Any = None
) -> Any:
    """Return the loss for a `train_step` of the user's, and count it (`compiled_loss` of TensorFlow 2.2).

    Args:
        model: a compiled model.
        y: the targets.
        y_pred: the outputs.
        sample_weight: weights of samples, or None.
        regularization_losses: what is added, `model.losses` as a rule.
    """
    loss = model._compile_loss(y, y_pred, sample_weight)
    for each in regularization_losses or ():
        loss = loss + tf.cast(each, loss.dtype)
    model._loss_tracker.update_state(loss, sample_weight=tf.shape(keras.tree.flatten(y_pred)[0])[0])
    return loss


def update_compiled_metrics(model: keras.Model, y: Any, y_pred: Any, sample_weight: Any = None) -> None:
    """Let the metrics of `compile` see a batch (`_compile_metrics`)."""
    if model._compile_metrics is not None:
        model._compile_metrics.update_state(y, y_pred, sample_weight)


def metrics_one_by_one(model: keras.Model, metrics: list[Any], *, losses: bool) -> list[Any]:
    """Return `model.metrics` with the metrics of `compile` one by one, where the model has one output.

    Args:
        model: a compiled model (`_compile_metrics`, `_compile_loss`, `_loss_tracker`).
        metrics: as Keras 3 lists them (`Trainer.metrics`).
        losses: whether the means of losses are among them, once a batch has been seen.
    """
    compiled, loss = model._compile_metrics, model._compile_loss  # None each, where `compile` was given none
    means = [model._loss_tracker, *(loss.metrics if loss is not None else ())]
    of_compile: list[Any] = []
    if compiled is not None:
        given = [*(compiled._user_metrics or ()), *(compiled._user_weighted_metrics or ())]
        several = any(isinstance(each, (list, tuple)) for each in given)
        of_compile = [compiled] if several else compiled.metrics if compiled.built else [] if losses else given
    first = means if losses and loss is not None and loss.built else []
    known = {id(each) for each in (*means, compiled)}
    return [*first, *of_compile, *(each for each in metrics if id(each) not in known)]


def is_keras_metric(metric: keras.metrics.Metric) -> bool:
    """Whether a metric's class is one of Keras's own."""
    return type(metric).__module__.startswith("keras.src.metrics")


def function_of(computed: keras.losses.Loss | keras.metrics.Metric) -> Callable[..., Any] | None:
    """Return the function that a loss (`LossFunctionWrapper.fn`) or metric (`MeanMetricWrapper._fn`) wraps, or None."""
    function: Callable[..., Any] | None = getattr(computed, "fn", None) or getattr(computed, "_fn", None)
    return function


def arguments_of_function(computed: keras.losses.Loss | keras.metrics.Metric) -> dict[str, Any]:
    """Return what the function of a loss or metric is called with besides targets and predictions (`_fn_kwargs`)."""
    return dict(getattr(computed, "_fn_kwargs", None) or {})


def is_keras_function(computed: keras.losses.Loss | keras.metrics.Metric) -> bool:
    """Whether a loss or metric wraps a function of Keras's own."""
    return str(getattr(function_of(computed), "__module__", "")).startswith("keras.src.")


def is_keras_loss(loss: keras.losses.Loss) -> bool:
    """Whether a loss, and the function it wraps, are Keras's own."""
    return type(loss).__module__.startswith("keras.src.") and is_keras_function(loss)


def metric_values(metric: keras.metrics.Metric) -> Callable[[Any, Any], Any] | None:
    """Return what a `MeanMetricWrapper` averages, as a function of `(y_true, y_pred)`; None for other metrics."""
    if not isinstance(metric, keras.metrics.MeanMetricWrapper):
        return None

    def values(y_true: Any, y_pred: Any) -> Any:
        convert = keras.ops.convert_to_tensor
        true, pred = convert(y_true, metric.dtype), convert(y_pred, metric.dtype)
        return metric._fn(true, pred, **metric._fn_kwargs)

    return values


class Compiled:
    """The losses and metrics that `compile` put into a model (`_compile_loss`, `_compile_metrics`, `_loss_tracker`).

    Args:
        model: a compiled model.
    """

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
            y: targets.
            y_pred: predictions, in the structure of the model's output. In a graph it is done on shapes and
                dtypes alone (`compute_output_spec`) and stand-ins for predictions will do; eagerly on the
                values, because a function written for eager execution need not run without them.
            sample_weight: sample weights or None.
            symbolic: whether it is done on shapes and dtypes alone in any case.
        """
        todo: list[Any] = []
        if self._loss is not None and not self._loss.built:
            one = not keras.tree.is_nested(y) and not keras.tree.is_nested(y_pred)
            # Of one output the loss itself need not be computed: it may be the user's, and do something besides.
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
                    keras.src.backend.compute_output_spec(build, *specs)

    def loss(self, y: Any, y_pred: Any, sample_weight: Any) -> Any:
        """Compute the weighted sum of the losses; None without a loss."""
        return None if self._loss is None else self._loss(y, y_pred, sample_weight)

    def update_metrics(self, y: Any, y_pred: Any, sample_weight: Any) -> None:
        """Update the metrics of all outputs."""
        if self._metrics is not None:
            self._metrics.update_state(y, y_pred, sample_weight)

    def track_loss(self, loss: Any, samples: Any) -> None:
        """Update the mean loss with that of a batch of so many samples."""
        self._loss_tracker.update_state(loss, sample_weight=samples)

    def replace_losses(self, place: Callable[[Any], Any]) -> list[Any]:
        """Put `place(loss)` in the place of each loss (`CompileLoss._flat_losses`), and return the new ones."""
        if self._loss is None:
            return []
        self._loss._flat_losses = [e._replace(loss=place(e.loss)) for e in self._loss._flat_losses]
        return [entry.loss for entry in self._loss._flat_losses]

    def replace_metrics(self, place: Callable[[Any], Any]) -> list[Any]:
        """Put `place(metrics)` in the place of each output's metrics (`CompileMetrics._flat_metrics` and
        `_flat_weighted_metrics`), and return the new ones."""
        if self._metrics is None:
            return []
        replaced = []
        for name in ("_flat_metrics", "_flat_weighted_metrics"):
            lists = [metrics and place(metrics) for metrics in getattr(self._metrics, name)]
            with untracked():
                setattr(self._metrics, name, lists)
            replaced += [metrics for metrics in lists if metrics]
        return replaced


def losses_like(model: keras.Model, y: Any, y_pred: Any, place: Callable[[Any], Any]) -> Callable[..., Any]:
    """Return the losses that a model was compiled with as a function that counts nothing (another `CompileLoss`).

    Args:
        model: a compiled model with a loss.
        y: symbolic targets.
        y_pred: symbolic predictions.
        place: what is put in the place of each loss, `place(loss)`.

    Returns:
        A function of `(y_true, y_pred, sample_weight)`, which returns the weighted sum.
    """
    of = model._compile_loss
    made = compile_utils.CompileLoss(of._user_loss, of._user_loss_weights, output_names=of.output_names)
    with tf.init_scope():
        made.build(y, y_pred)
    made._flat_losses = [entry._replace(loss=place(entry.loss)) for entry in made._flat_losses]

    def loss(y_true: Any, y_pred: Any, sample_weight: Any = None) -> Any:
        with keras.StatelessScope():  # where the means of the outputs' losses are left
            return made(y_true, y_pred, sample_weight)

    return loss


def when_losses_are_built(model: keras.Model, place: Callable[[Any], Any]) -> None:
    """Put `place(loss)` in the place of each loss of a compiled model as soon as Keras has built them."""

    def replace(losses: Any) -> None:
        losses._flat_losses = [entry._replace(loss=place(entry.loss)) for entry in losses._flat_losses]

    _when_built(model._compile_loss, replace)


def log_the_only_loss(model: keras.Model) -> None:
    """Let a compiled model log the loss of an output by its name, also where it is the only one of several outputs.

    Keras keeps means of losses where there are two at least (`CompileLoss.build`).
    """

    def add_mean(losses: Any) -> None:
        if len(losses._flat_losses) == 1 and len(losses._flat_losses[0].path) == 1 and not losses.metrics:
            name = losses._flat_losses[0].name
            outputs = losses.output_names or ()
            if name in outputs and len(outputs) > 1:
                losses._tracker.add_to_store("metrics", keras.metrics.Mean(name=f"{name}_loss"))

    _when_built(model._compile_loss, add_mean)


def count_output_losses_by_batch(model: keras.Model) -> None:
    """Let the mean loss of each output of a compiled model count every batch once, however many samples it has.

    Keras weighs by the samples where the step was traced for a fixed number of them, and by 1 where not. Replaces
    `CompileLoss.build` of the object.
    """
    losses = model._compile_loss
    if losses is None:
        return
    build = losses.build

    def count_once(tracker: keras.metrics.Mean) -> None:
        update = tracker.update_state
        tracker.update_state = lambda values, sample_weight=None: update(values)

    def build_and_count(*given: Any, **named: Any) -> None:
        build(*given, **named)
        for tracker in losses.metrics:
            count_once(tracker)

    losses.build = build_and_count


def when_metrics_are_built(
    model: keras.Model, change: Callable[[keras.metrics.Metric], None], *, weighted: bool
) -> None:
    """Call `change` with each of a compiled model's `metrics` or `weighted_metrics` as soon as Keras has built them."""

    def change_each(metrics: Any) -> None:
        for of_output in metrics._flat_weighted_metrics if weighted else metrics._flat_metrics:
            for metric in of_output.metrics if of_output else ():
                change(metric)

    _when_built(model._compile_metrics, change_each)


def before_compiled_is_built(model: keras.Model, then: Callable[[Any], None]) -> None:
    """Call `then` with the outputs of a compiled model, before its losses and metrics are built for the first time."""
    waiting = [then]

    def wrap(compiled: Any) -> None:
        build = compiled.build

        def call_and_build(y_true: Any, y_pred: Any) -> None:
            if waiting:
                waiting.pop()(y_pred)
            build(y_true, y_pred)

        compiled.build = call_and_build

    for each in (model._compile_loss, model._compile_metrics):
        if each is not None:
            wrap(each)


def compile_for_outputs(
    model: keras.Model, names: list[str], loss: Any, loss_weights: Any, metrics: Any, weighted_metrics: Any
) -> None:
    """Give a compiled model, whose losses and metrics are not built, those of outputs of these names.

    Args:
        model: the model (`CompileLoss._user_loss`, `CompileMetrics._user_metrics` and the like).
        names: the names of its outputs.
        loss: as `compile` takes it.
        loss_weights: likewise.
        metrics: likewise.
        weighted_metrics: likewise.
    """
    with untracked():
        if model._compile_loss is not None:
            model._compile_loss.output_names = names
            model._compile_loss._user_loss, model._compile_loss._user_loss_weights = loss, loss_weights
        if model._compile_metrics is not None:
            model._compile_metrics.output_names = names
            model._compile_metrics._user_metrics = metrics
            model._compile_metrics._user_weighted_metrics = weighted_metrics


def name_outputs(model: keras.Model, names: list[str]) -> None:
    """Let a compiled Sequential know its losses and metrics by the name of its output (`CompileLoss.output_names`).

    Keras 3 has names for those of functional models alone, and `build` fails on a dict of losses without them.

    Args:
        model: the model.
        names: that of its output.
    """
    with untracked():
        for each in (model._compile_loss, model._compile_metrics):
            if each is not None:
                each.output_names = names


def _when_built(compiled: Any, then: Callable[[Any], None]) -> None:
    """Call `then` with losses or metrics after the `build` of the object (`CompileLoss`, `CompileMetrics`)."""
    if compiled is None:
        return
    build = compiled.build

    def build_and_go_on(*given: Any, **named: Any) -> None:
        build(*given, **named)
        then(compiled)

    compiled.build = build_and_go_on


def _spec(tensor: Any) -> Any:
    if tensor is None:
        return None
    return keras.KerasTensor(tensor.shape, keras.backend.standardize_dtype(tensor.dtype))


def bind(method: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> dict[str, Any]:
    """Bind the arguments of a method of `keras.Model`, without `self`, to their names."""
    names, required = _names(getattr(_Trainer, method))
    if not args and required <= kwargs.keys() <= names.keys():
        return kwargs
    by_name = dict(zip(names, args, strict=False))
    if len(args) <= len(names) and kwargs.keys() <= names.keys() - by_name.keys():
        by_name.update(kwargs)
        if required <= by_name.keys():
            return by_name
    # `Signature.bind` takes longer than a small step; it knows what to say, and what goes where, in all other cases.
    bound = dict(_signature(getattr(_Trainer, method)).bind(None, *args, **kwargs).arguments)
    del bound["self"]
    further = bound.pop("kwargs", {})
    return {**bound, **further}


def own_method(model: keras.Model, name: str) -> Callable[..., Any]:
    """Return a model's method as Keras has it, or a parallel model: not one that old code put in its place.

    Args:
        model: the model.
        name: "fit" or a relative of it.
    """
    package = __name__.partition(".")[0]
    of = next(
        kind
        for kind in type(model).__mro__
        if name in vars(kind) and (kind is _Trainer or kind.__module__.partition(".")[0] == package)
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
