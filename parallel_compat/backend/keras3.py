"""What is private to Keras 3: read in 3.15.1, TensorFlow backend. No other module touches a private attribute.

Each function says which attribute it stands on; a new Keras release is checked here.
"""

from __future__ import annotations

import contextlib
import functools
import inspect
import logging
import random
import warnings
from typing import TYPE_CHECKING, Any

import h5py
import keras
import keras.src.backend.tensorflow.nn as tensorflow_nn
import tensorflow as tf
from keras.src.backend.common import global_state, masking
from keras.src.callbacks import monitor_callback
from keras.src.legacy.saving import legacy_h5_format
from keras.src.legacy.saving import serialization as legacy_serialization
from keras.src.losses import loss as loss_module
from keras.src.models import cloning
from keras.src.random import seed_generator
from keras.src.saving import saving_lib, serialization_lib
from keras.src.trainers import compile_utils
from keras.src.trainers.data_adapters import data_adapter_utils
from keras.src.trainers.data_adapters.data_adapter import DataAdapter
from keras.src.utils import tracking
from tensorflow.python.distribute import distribute_lib
from tensorflow.python.framework import ops as tf_ops

from parallel_compat.backend import h5_files

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from pathlib import Path

# What `global_state` calls the generator behind unseeded random numbers; a constant of `seed_generator` since 3.13.
GLOBAL_SEEDS = "global_seed_generator"

# Functions of Keras that are public in all but name.
apply_mask = loss_module.apply_mask
squeeze_or_expand_to_same_rank = loss_module.squeeze_or_expand_to_same_rank
get_mask = masking.get_keras_mask
set_mask = masking.set_keras_mask
MetricsList = compile_utils.MetricsList


def get_logits(output: Any) -> Any:
    """Return what a softmax or sigmoid made `output` of (`_keras_logits`), or None.

    Keras's cross-entropies compute with it, because probabilities that round to 0 or 1 have no gradient.
    """
    return getattr(output, "_keras_logits", None)


def set_logits(output: Any, logits: Any) -> None:
    """Note what a softmax or sigmoid made `output` of."""
    output._keras_logits = logits


def untracked() -> contextlib.AbstractContextManager[Any]:
    """Return a scope in which attributes set on a model are not tracked as its layers or variables."""
    scope: contextlib.AbstractContextManager[Any] = tracking.DotNotTrackScope()
    return scope


def all_layers(model: keras.Model) -> list[keras.Layer]:
    """List a model's layers, nested ones and itself included (`Layer._flatten_layers`)."""
    return list(model._flatten_layers())


def seed_states(model: keras.Model) -> list[keras.Variable]:
    """List the states of the random seeds of all layers (`Layer._seed_generators`)."""
    return [generator.state for layer in all_layers(model) for generator in layer._seed_generators]


def set_added_losses(model: keras.Model, losses: Sequence[Any]) -> None:
    """Let `model.losses` show these losses besides those of weight regularizers (`Layer._losses`)."""
    model._clear_losses()
    model._losses.extend(losses)


def in_stateless_scope() -> bool:
    """Whether this thread runs inside a `keras.StatelessScope`."""
    inside: bool = keras.src.backend.in_stateless_scope()
    return inside


def operation_of(tensor: Any) -> Any:
    """Return the operation that made a symbolic tensor (`KerasTensor._keras_history`)."""
    return tensor._keras_history.operation


def global_seeds() -> keras.random.SeedGenerator:
    """Return the generator that layers without a seed of their own draw from.

    Keras makes it on first use, and draws its seed from Python's `random`; that draw is taken back, so that
    what is built afterwards starts from the same numbers as without a parallel model.
    """
    generator = global_state.get_global_attribute(GLOBAL_SEEDS)
    if generator is None:
        state = random.getstate()
        with tf.init_scope():
            generator = seed_generator.global_seed_generator()
        random.setstate(state)
    return generator


@contextlib.contextmanager
def global_seeds_from(generator: keras.random.SeedGenerator) -> Iterator[None]:
    """Let this thread draw from `generator`: Keras keeps the global one per thread, and replicas are threads."""
    before = global_state.get_global_attribute(GLOBAL_SEEDS)
    global_state.set_global_attribute(GLOBAL_SEEDS, generator)
    try:
        yield
    finally:
        global_state.set_global_attribute(GLOBAL_SEEDS, before)


def layer_metric_variables(model: keras.Model) -> list[keras.Variable]:
    """List the variables of metrics that layers own and update in `call` (`Layer._metrics`)."""
    layers = [layer for layer in all_layers(model) if not isinstance(layer, keras.Model)]
    return [v for layer in layers for metric in layer._metrics for v in metric.variables]


def weight_regularization(model: keras.Model) -> list[Any]:
    """Compute the losses of weight regularizers (`Layer._get_regularization_losses`)."""
    losses: list[Any] = model._get_regularization_losses()
    return losses


@contextlib.contextmanager
def synchronized_moments_of(replicas_with_rows: Sequence[Any]) -> Iterator[None]:
    """Let synchronized batch statistics leave out replicas that have no rows of their own.

    Replaces `_compute_moments_sync` of the TensorFlow backend while the replicas are traced: it sums over all
    replicas, and a replica without rows computes a copy of the first row, which must not be counted twice.

    Args:
        replicas_with_rows: one bool per replica, whether it has rows.
    """
    original = tensorflow_nn._compute_moments_sync

    def moments(x: Any, axes: Any, keepdims: bool) -> tuple[Any, Any]:
        context = tf.distribute.get_replica_context()
        counts = tf.cast(replicas_with_rows[int(tf.get_static_value(context.replica_id_in_sync_group))], x.dtype)
        local = [tf.reduce_sum(value, axes, keepdims=True) for value in (x, tf.square(x), tf.ones_like(x))]
        total, squares, count = context.all_reduce("SUM", [counts * value for value in local])
        mean = total / count
        variance = tf.maximum(squares / count - tf.square(mean), 0.0)
        return (mean, variance) if keepdims else (tf.squeeze(mean, axes), tf.squeeze(variance, axes))

    tensorflow_nn._compute_moments_sync = moments
    try:
        yield
    finally:
        tensorflow_nn._compute_moments_sync = original


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


def act_on_template(
    model_class: type[keras.Model], to_save: Callable[[Any], contextlib.AbstractContextManager[Any]]
) -> None:
    """Let Keras's functions that save or clone a `model_class` act on its `template`.

    `keras.saving.save_model(model, path)`, pickling and `keras.models.clone_model(model)` do not go through a
    method of the model; they call `saving_lib.save_model`, `saving_lib._save_model_to_fileobj`,
    `legacy_h5_format.save_model_to_hdf5` and `cloning._clone_functional_model`. A model inside another one goes through
    `serialize_keras_object` of both formats and `saving_lib._save_state` and its relatives.

    Args:
        model_class: the class of models, with an attribute `template`, that are not written themselves.
        to_save: returns a context manager that yields the model to write.
    """

    def saving(original: Callable[..., Any]) -> Callable[..., Any]:
        def save(model: keras.Model, *args: Any, **kwargs: Any) -> Any:
            if not isinstance(model, model_class):
                return original(model, *args, **kwargs)
            with to_save(model) as written:
                return original(written, *args, **kwargs)

        return save

    for module, name in (
        (saving_lib, "save_model"),
        (saving_lib, "_save_model_to_fileobj"),
        (legacy_h5_format, "save_model_to_hdf5"),
    ):
        setattr(module, name, saving(getattr(module, name)))

    # A model that contains one: its layer is written as the template is, which plain Keras reads.
    def of_template(original: Callable[..., Any]) -> Callable[..., Any]:
        def call(part: Any, *args: Any, **kwargs: Any) -> Any:
            if isinstance(part, model_class):
                part = part.template
            elif isinstance(part, (list, tuple)):
                part = [item.template if isinstance(item, model_class) else item for item in part]
            return original(part, *args, **kwargs)

        return call

    for name in ("_save_state", "_load_state", "_save_container_state", "_load_container_state"):
        setattr(saving_lib, name, of_template(getattr(saving_lib, name)))

    def serializing(original: Callable[..., Any]) -> Callable[..., Any]:
        def serialize(part: Any) -> Any:
            written = original(part.template if isinstance(part, model_class) else part)
            if isinstance(part, model_class) and "name" in written["config"]:
                written["config"] = {**written["config"], "name": part.name}  # by which other layers refer to it
            return written

        return serialize

    for module in (serialization_lib, legacy_serialization):
        module.serialize_keras_object = serializing(module.serialize_keras_object)

    clone_functional = cloning._clone_functional_model

    def clone(model: keras.Model, clone_function: Any, *args: Any, **kwargs: Any) -> keras.Model:
        if not isinstance(model, model_class):
            return clone_functional(model, clone_function, *args, **kwargs)
        template = model.template
        if isinstance(template, keras.Sequential):
            inputs = args[0] if args else kwargs.get("input_tensors")
            return cloning._clone_sequential_model(template, clone_function, input_tensors=inputs)
        if not getattr(template, "inputs", None):
            return type(template).from_config(template.get_config())
        return clone_functional(template, clone_function, *args, **kwargs)

    cloning._clone_functional_model = clone


def let_callbacks_set_their_model() -> None:
    """Give `Callback.model` a setter, as it had in Keras 2, where it was a plain attribute.

    Callbacks of old projects assign it to redirect themselves to the template; Keras 3.15 has a property
    without a setter, over `Callback._model`.
    """

    def set_model(callback: Any, model: Any) -> None:
        callback._model = model

    keras.callbacks.Callback.model = keras.callbacks.Callback.model.setter(set_model)


# The parallel models in whose `fit` we are, the innermost last: the model, its template, the arguments of `fit`.
_in_fit: list[tuple[keras.Model, keras.Model, dict[str, Any]]] = []


@contextlib.contextmanager
def in_fit(model: keras.Model, template: keras.Model, arguments: dict[str, Any]) -> Iterator[None]:
    """Note for callbacks that `model`, which trains `template`, is in `fit` with `arguments`."""
    entry = (model, template, arguments)
    _in_fit.append(entry)
    try:
        yield
    finally:
        _in_fit.remove(entry)


def _fit_of(model: Any) -> tuple[keras.Model | None, dict[str, Any]]:
    """Return the parallel model in `fit` that is or trains `model`, with the arguments of `fit`."""
    for trainer, template, arguments in reversed(_in_fit):
        if model is trainer or model is template:
            return trainer, arguments
    return None, {}


def validates_seldom(model: Any) -> bool:
    """Whether the `fit` of a parallel model, that is or trains `model`, validates, but not after every epoch."""
    _, arguments = _fit_of(model)
    return arguments.get("validation_data") is not None and arguments.get("validation_freq", 1) != 1


def let_callbacks_ask_the_model_that_trains() -> None:
    """Let callbacks that were given the template find the direction of a metric where it is compiled.

    `MonitorCallback._set_monitor_op` looks at the metrics of the callback's model. Callbacks of old projects have the
    template for it, which is not compiled.
    """
    original = monitor_callback.MonitorCallback._set_monitor_op

    def set_monitor_op(callback: Any) -> None:
        model = callback._model
        callback._model = _fit_of(model)[0] or model
        try:
            original(callback)
        finally:
            callback._model = model

    monitor_callback.MonitorCallback._set_monitor_op = set_monitor_op


def save_model(model: keras.Model, path: Path, name: str) -> None:
    """Write a whole model: in Keras's format for a `name` that ends in ".keras", else as HDF5, as Keras 2 did.

    `Model.save` refuses names that do not end in ".h5" or ".hdf5", and warns about these.
    """
    if name.endswith(".keras"):
        saving_lib.save_model(model, path)
    else:
        with h5py.File(path, "w") as file:
            h5_files.write_model(model, file, include_optimizer=True)


def save_weights(model: keras.Model, path: Path, name: str) -> None:
    """Write weights: in today's format for a `name` that ends in ".weights.h5", else in that of Keras 2.

    `Model.save_weights` refuses any other name; `Model.load_weights` reads both.
    """
    if name.endswith(".weights.h5"):
        saving_lib.save_weights_only(model, str(path))
    else:
        with h5py.File(path, "w") as file:
            h5_files.write_weights(model, file)


# Names of losses that Keras accepts in `compile`, and refuses in an HDF5 file.
SHORT_LOSS_NAMES = {
    short: name
    for name, shorts in {
        "mean_squared_error": ("mse", "MSE"),
        "mean_absolute_error": ("mae", "MAE"),
        "mean_absolute_percentage_error": ("mape", "MAPE"),
        "mean_squared_logarithmic_error": ("msle", "MSLE"),
        "kl_divergence": ("kld", "KLD"),
    }.items()
    for short in shorts
}


def restore_optimizers_from_hdf5() -> None:
    """Let `load_model` of an HDF5 file restore the state of the optimizer.

    `legacy_h5_format.load_model_from_hdf5` of Keras 3.15 builds the optimizer with `model._trainable_variables`,
    which holds no variable of a layer, then finds that the saved state does not fit, logs a warning, and returns
    a model whose optimizer has forgotten everything and refuses the model's variables. It also looks for a loss among
    the metrics, where short names like "mse" lead to nothing it accepts.
    """
    original = legacy_h5_format.load_model_from_hdf5

    def load(filepath: Any, custom_objects: Any = None, compile: bool = True, **kwargs: Any) -> keras.Model:
        short_names = {short: getattr(keras.losses, name) for short, name in SHORT_LOSS_NAMES.items()}
        with _without_warning("Error in loading the saved optimizer"):
            model = original(filepath, {**short_names, **(custom_objects or {})}, compile, **kwargs)
        if compile and model.compiled and model.optimizer is not None:
            with contextlib.nullcontext(filepath) if isinstance(filepath, h5py.File) else h5py.File(filepath) as file:
                if "optimizer_weights" in file:
                    _restore_optimizer(model, legacy_h5_format.load_optimizer_weights_from_hdf5_group(file))
        return model

    legacy_h5_format.load_model_from_hdf5 = load


def _restore_optimizer(model: keras.Model, values: list[Any]) -> None:
    optimizer = type(model.optimizer).from_config(model.optimizer.get_config())
    optimizer.build(model.trainable_variables)
    saved, wanted = ([tuple(value.shape) for value in values] for values in (values, optimizer.variables))
    if saved != wanted:
        warnings.warn(
            f"The optimizer's state in the file does not fit the model: expected arrays of shapes {wanted}, found "
            f"{saved}. The optimizer starts anew.",
            stacklevel=4,
        )
    else:
        for variable, value in zip(optimizer.variables, values, strict=True):
            variable.assign(value[()])
    model.optimizer = optimizer


@contextlib.contextmanager
def _without_warning(start: str) -> Iterator[None]:
    """Keep log records of Keras that begin with `start` from being shown."""
    logger = logging.getLogger("absl")

    def keep(record: logging.LogRecord) -> bool:
        return not record.getMessage().startswith(start)

    logger.addFilter(keep)
    try:
        yield
    finally:
        logger.removeFilter(keep)


def is_keras_metric(metric: keras.metrics.Metric) -> bool:
    """Whether a metric's class is one of Keras's own."""
    return type(metric).__module__.startswith("keras.src.metrics")


def function_of(computed: keras.losses.Loss | keras.metrics.Metric) -> Callable[..., Any] | None:
    """Return the function that a loss (`LossFunctionWrapper.fn`) or metric (`MeanMetricWrapper._fn`) wraps, or None."""
    function: Callable[..., Any] | None = getattr(computed, "fn", None) or getattr(computed, "_fn", None)
    return function


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


class BatchAdapter(DataAdapter):  # type: ignore[misc]  # Keras carries no types
    """Feeds plain python batches to `fit`, `evaluate` and `predict`, past `tf.data`.

    The trainer of the TensorFlow backend takes any iterable from `get_tf_dataset`, as long as the model has no
    `tf.distribute` strategy of its own, and takes `OutOfRangeError` for the end of the data.

    Args:
        epochs: an iterator over batches, tuples `(x,)`, `(x, y)` or `(x, y, sample_weight)`, with a method `begin` that
            begins an epoch, and the batches of an epoch as its `length`.
        steps_are_given: whether the caller of `fit` says how many steps an epoch has; `length` is then not told.
    """

    def __init__(self, epochs: Any, steps_are_given: bool) -> None:
        self._epochs = epochs
        self._steps_are_given = steps_are_given

    def get_tf_dataset(self) -> Any:
        return self._epochs

    def on_epoch_begin(self) -> None:
        self._epochs.begin()

    @property
    def num_batches(self) -> int | None:
        length: int | None = None if self._steps_are_given else self._epochs.length
        return length

    @property
    def batch_size(self) -> None:
        return None

    @property
    def has_partial_batch(self) -> None:
        return None

    @property
    def partial_batch_size(self) -> None:
        return None


def is_built_under_a_strategy(model: keras.Model) -> bool:
    """Whether a model was made under a `tf.distribute` strategy (`Trainer._distribute_strategy`)."""
    return getattr(model, "_distribute_strategy", None) is not None


is_scipy_sparse = data_adapter_utils.is_scipy_sparse
scipy_sparse_to_tensor = data_adapter_utils.scipy_sparse_to_tf_sparse


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

    def build(self, y: Any, y_pred: Any, sample_weight: Any) -> None:
        """Build the losses and metrics, whose kind can depend on the shapes of the targets.

        Args:
            y: targets.
            y_pred: predictions, in the structure of the model's output. In a graph it is done on shapes and
                dtypes alone (`compute_output_spec`) and stand-ins for predictions will do; eagerly on the
                values, because a function written for eager execution need not run without them.
            sample_weight: sample weights or None.
        """
        todo = [] if self._loss is None or self._loss.built else [self._loss]
        if self._metrics is not None and not self._metrics.built:
            todo.append(self._metrics.update_state)
        for build in todo:
            if tf.executing_eagerly():
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

    def track_loss(self, loss: Any, rows: Any) -> None:
        """Update the mean loss with that of a batch of so many rows."""
        self._loss_tracker.update_state(loss, sample_weight=rows)

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


def optimizer_for(optimizer: keras.optimizers.Optimizer, variables: Sequence[keras.Variable]) -> Any:
    """Return an optimizer that can update `variables`: `optimizer` itself, or a twin if it belongs to others.

    In Keras 2 one optimizer object could be compiled into several models: each model had its own moments, the
    learning rate and the count of iterations were common. Keras 3 builds an optimizer for one set of variables
    (`BaseOptimizer._trainable_variables_indices`) and refuses others. The twin shares `_learning_rate` and
    `_iterations`.

    Args:
        optimizer: the compiled optimizer.
        variables: the variables to update.

    Returns:
        `optimizer`, or a new one of its class and configuration.
    """
    if isinstance(optimizer, keras.optimizers.LossScaleOptimizer):
        inner = optimizer_for(optimizer.inner_optimizer, variables)
        if inner is optimizer.inner_optimizer:
            return optimizer
        with tf.init_scope():
            return keras.optimizers.LossScaleOptimizer(inner, optimizer.initial_scale, optimizer.dynamic_growth_steps)
    if not optimizer.built or all(optimizer._var_key(v) in optimizer._trainable_variables_indices for v in variables):
        return optimizer
    return twin_of(optimizer)


def twin_of(optimizer: keras.optimizers.Optimizer) -> keras.optimizers.Optimizer:
    """Return an optimizer without moments that shares the learning rate and the count of iterations."""
    with tf.init_scope():
        twin = type(optimizer).from_config(optimizer.get_config())
        for name in ("_learning_rate", "_iterations"):
            common, own = getattr(optimizer, name), getattr(twin, name)
            if isinstance(common, keras.Variable):
                twin._variables[:] = [common if v is own else v for v in twin._variables]
                with untracked():
                    setattr(twin, name, common)
    return twin


@contextlib.contextmanager
def outside_replicas() -> Iterator[None]:
    """Leave the scope of a `tf.distribute` strategy for a while, as if none had been entered.

    What an optimizer does there is what it does on one device. Stands on TensorFlow's `_push_per_thread_mode`,
    `_get_default_replica_mode` and `Graph._variable_creator_stack` (read in 2.21).
    """
    graph = tf_ops.get_default_graph()
    distribute_lib._push_per_thread_mode(distribute_lib._get_default_replica_mode())
    creators, graph._variable_creator_stack = graph._variable_creator_stack, []
    try:
        yield
    finally:
        graph._variable_creator_stack = creators
        distribute_lib._pop_per_thread_mode()


def update_once_for_all_replicas() -> None:
    """Let optimizers be called on each replica of a custom loop, for variables that exist once.

    `strategy.run(step)` calls `optimizer.apply_gradients` on every replica. For mirrored variables Keras adds up
    the gradients and updates every copy; for a variable that all replicas share it fails. Here the replicas' gradients
    are added up and the optimizer is called once, as on one device, so clipping, averaging and accumulation
    see the gradient of the merged batch. Replaces `apply` of the optimizer classes that define one; it acts as before
    outside of replicas and for mirrored variables.
    """
    optimizers = [value for value in vars(keras.optimizers).values() if isinstance(value, type)]
    bases: set[Any] = {base for optimizer in optimizers for base in optimizer.__mro__}
    for base in bases:
        if "apply" in vars(base):
            base.apply = _merging_apply(base.apply)


def _merging_apply(original: Callable[..., None]) -> Callable[..., None]:
    @functools.wraps(original)
    def apply(self: Any, grads: Any, trainable_variables: Any = None) -> None:
        context = tf.distribute.get_replica_context()
        grads = list(grads)
        variables = list(self._trainable_variables if trainable_variables is None else trainable_variables)
        if context is None or context.num_replicas_in_sync == 1 or any(map(_is_mirrored, variables)):
            return original(self, grads, trainable_variables)
        present = [i for i, gradient in enumerate(grads) if gradient is not None]
        summed = context.all_reduce(tf.distribute.ReduceOp.SUM, [grads[i] for i in present]) if present else []

        def once(strategy: tf.distribute.Strategy, *reduced: Any) -> None:
            whole: list[Any] = [None] * len(grads)
            for i, gradient in zip(present, reduced, strict=True):
                whole[i] = strategy.experimental_local_results(gradient)[0]
            with tf.init_scope(), outside_replicas():
                self._distribution_strategy = tf.distribute.get_strategy()
                if not self.built:
                    self.build(variables)
            with outside_replicas():
                original(self, whole, variables)

        context.merge_call(once, args=tuple(summed))
        return None

    return apply


def _is_mirrored(variable: Any) -> bool:
    value = variable.value if isinstance(variable, keras.Variable) else variable
    return isinstance(value, tf.distribute.DistributedValues)


def _spec(tensor: Any) -> Any:
    if tensor is None:
        return None
    return keras.KerasTensor(tensor.shape, keras.backend.standardize_dtype(tensor.dtype))


def bind(method: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> dict[str, Any]:
    """Bind the arguments of a method of `keras.Model`, without `self`, to their names."""
    bound = dict(inspect.signature(getattr(keras.Model, method)).bind(None, *args, **kwargs).arguments)
    del bound["self"]
    further = bound.pop("kwargs", {})
    return {**bound, **further}
