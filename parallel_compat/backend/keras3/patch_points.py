"""Private places of Keras where legacy names take effect: which they are, not what is done there. Keras 3.15.1."""

from __future__ import annotations

import contextlib
import functools
import inspect
import sys
import types
from concurrent.futures import ThreadPoolExecutor
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import keras

from parallel_compat.backend.keras3.data_adapters import BatchAdapter, DatasetAdapter
from parallel_compat.backend.keras3.in_memory import plain_logs
from parallel_compat.backend.keras3.made_variables import scope_of_variables

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    # The owner, its attribute, and a function from what stands there to what shall stand there.
    Point = tuple[Any, str, Callable[[Any], Any]]

# Dtypes that TensorFlow has another name for.
_DTYPES_OF_TENSORFLOW = {"half": "float16", "float": "float32", "double": "float64"}


# What callbacks have before their `__init__` is called: `Callback.model` is a property over `_model`.
FIELDS_OF_CALLBACKS = ("_model", "params", "validation_data")


def of_logs(logs_of: Callable[[Any, dict[str, Any]], Any]) -> Iterator[Point]:
    """Yield where the logs that callbacks get are made (`python_utils.pythonify_logs`, in `callback_list` alone).

    Args:
        logs_of: called with the logs, and with what Keras made of them; returns what callbacks get.

    Keras 3.12 makes the results of `train_on_batch` with the same function, and takes them for a plain dict.
    """
    from keras.src.callbacks import callback_list

    def wrap(original: Any) -> Any:
        def pythonify_logs(logs: Any) -> Any:
            return logs_of(logs, plain_logs(logs or {}))

        return types.SimpleNamespace(**{**vars(original), "pythonify_logs": pythonify_logs})

    yield callback_list, "python_utils", wrap


def of_printed_lines(
    spelled: Callable[[str], str],
    shown: Callable[[list[Any]], list[Any]],
    averaged: Callable[[Any, list[Any], int], list[Any] | None],
) -> Iterator[tuple[Any, str, Callable[[Any], Any]]]:
    """Yield where lines are printed (`io_utils.print_msg`), and a bar gets what it shows (`Progbar.update`).

    Args:
        spelled: returns a line as it is to be printed.
        shown: returns what a bar shows of pairs of a name and a number.
        averaged: called with a bar, such pairs and the steps since its last update; returns them averaged, or None
            where the bar is to average them.
    """
    from keras.src.utils import io_utils

    def printing(original: Any) -> Any:
        def print_msg(message: Any, line_break: bool = True) -> None:
            original(spelled(str(message)), line_break)

        return print_msg

    def showing(original: Any) -> Any:
        def update(self: Any, current: Any, values: Any = None, finalize: Any = None) -> None:
            means = averaged(self, list(values or ()), current - self._seen_so_far)
            if means is None:
                original(self, current, values and shown(list(values)), finalize)
                return
            stateful = self.stateful_metrics
            self.stateful_metrics = {name for name, _ in means}  # which are shown as they are
            try:
                original(self, current, means, finalize)
            finally:
                self.stateful_metrics = stateful

        return update

    yield io_utils, "print_msg", printing
    yield keras.utils.Progbar, "update", showing


def of_monitors(where_unknown: Callable[[Any], None]) -> Iterator[Point]:
    """Yield where a callback finds out whether more is better (`MonitorCallback._set_monitor_op`).

    Args:
        where_unknown: called with the callback where Keras cannot tell.
    """
    from keras.src.callbacks.monitor_callback import MonitorCallback

    def wrap(original: Any) -> Any:
        def _set_monitor_op(self: Any) -> None:
            try:
                original(self)
            except ValueError:
                where_unknown(self)

        return _set_monitor_op

    yield MonitorCallback, "_set_monitor_op", wrap


def metric_of_function() -> Any:
    """Return the class of metrics made of a function (`keras.src.metrics.reduction_metrics.MeanMetricWrapper`)."""
    from keras.src.metrics.reduction_metrics import MeanMetricWrapper

    return MeanMetricWrapper


def metrics_of_output() -> Any:
    """Return the class that holds the metrics of an output (`keras.src.trainers.compile_utils.MetricsList`)."""
    from keras.src.trainers.compile_utils import MetricsList

    return MetricsList


CALLS = "_inbound_nodes"  # where a layer lists its calls (`Operation._inbound_nodes`, read in Keras 3.15)


def kept_layers() -> list[Any]:
    """Return the classes of layers that Keras 3 keeps for old files alone (`keras.src.legacy.layers`)."""
    from keras.src.legacy import layers as old

    return [kind for kind in vars(old).values() if isinstance(kind, type) and kind.__module__ == old.__name__]


def functional_class() -> Any:
    """Return the class of models made of symbolic tensors (`keras.src.models.functional.Functional`)."""
    from keras.src.models.functional import Functional

    return Functional


def history_class() -> Any:
    """Return the class of what a symbolic tensor knows of the call that made it (`tensor._keras_history`)."""
    from keras.src.ops.node import KerasHistory

    return KerasHistory


def convolution_classes() -> list[Any]:
    """List the classes that build the convolutions (`BaseConv` and its like), which Keras does not show."""
    from keras import layers

    found: list[Any] = []
    for kind in (layers.Conv2D, layers.Conv2DTranspose, layers.SeparableConv2D, layers.DepthwiseConv2D):
        found.append(next(each for each in kind.__mro__ if "build" in vars(each)))
    return found


def classes_with(method: str) -> list[Any]:
    """List the classes of layers that define a method themselves, base classes that Keras does not show among them."""
    from keras import layers

    shown = [kind for kind in vars(layers).values() if isinstance(kind, type)]
    kinds = {each for kind in (*shown, functional_class(), keras.Sequential) for each in kind.__mro__}
    found = [kind for kind in kinds if issubclass(kind, layers.Layer) and method in vars(kind)]
    return sorted(found, key=lambda kind: kind.__qualname__)


def finds_shape_by_calling(layer: Any) -> bool:
    """Say whether a layer has no `compute_output_shape` of its own (`Layer.compute_output_shape._is_default`)."""
    return getattr(type(layer).compute_output_shape, "_is_default", False)


def names_of_dtypes() -> Point:
    """Return where Keras keeps what it calls dtypes that it is told otherwise (`dtypes.PYTHON_DTYPES_MAP`)."""
    from keras.src.backend.common import dtypes

    return dtypes, "PYTHON_DTYPES_MAP", lambda names: {**names, **_DTYPES_OF_TENSORFLOW}


def merge_class() -> Any:
    """Return the class of what `Add`, `Multiply` and the like have in common (`Merge`), which Keras does not show."""
    from keras import layers

    return next(each for each in layers.Add.__mro__ if "compute_mask" in vars(each))


def convolution_class() -> Any:
    """Return the class that `Conv1D`, `Conv2D` and `Conv3D` derive from (`BaseConv`), which Keras does not show."""
    from keras import layers

    return layers.Conv2D.__mro__[1]


def pooling_class() -> Any:
    """Return the class that `MaxPooling2D` and the like derive from (`BasePooling`), which Keras does not show."""
    from keras import layers

    return layers.MaxPooling2D.__mro__[1]


def image_iterator_class() -> Any:
    """Return the class of what `ImageDataGenerator.flow` returns; `keras` itself does not show it any more."""
    from keras.src.legacy.preprocessing.image import Iterator

    return Iterator


def image_preprocessing_class() -> Any:
    """Return the class of layers that change images at random; read in Keras 3.15.1."""
    from keras.src.layers.preprocessing.image_preprocessing.base_image_preprocessing_layer import (
        BaseImagePreprocessingLayer,
    )

    return BaseImagePreprocessingLayer


def merge_functions() -> Iterator[tuple[Any, str]]:
    """Yield where `Maximum` and `Minimum` compute, which read the masks of their inputs (`Merge._merge_function`)."""
    import keras

    for kind in (keras.layers.Maximum, keras.layers.Minimum):
        yield kind, "_merge_function"


def of_dot(wrap: Callable[[Any], Any]) -> Iterator[Point]:
    """Yield where `Dot` multiplies (`Dot._merge_function`)."""
    yield keras.layers.Dot, "_merge_function", wrap


def image_generator_class() -> Any:
    """Return `ImageDataGenerator`; `keras` itself does not show it any more."""
    from keras.src.legacy.preprocessing.image import ImageDataGenerator

    return ImageDataGenerator


def of_single_outputs() -> Iterator[Point]:
    """Yield where `Model(inputs=[x], outputs=[y])` is called on symbolic tensors (`Functional.compute_output_spec`).

    Keras 3 returns a list of one there, and the tensor itself when it computes; Keras 2 always the tensor.
    """

    def wrap(original: Any) -> Any:
        def compute_output_spec(self: Any, *args: Any, **kwargs: Any) -> Any:
            outputs = original(self, *args, **kwargs)
            return outputs[0] if isinstance(outputs, (list, tuple)) and len(outputs) == 1 else outputs

        return compute_output_spec

    yield functional_class(), "compute_output_spec", wrap


def of_scalar_outputs() -> Iterator[Point]:
    """Yield where a loss is computed of predictions without any axis (`CompileLoss.__call__`).

    Keras 3 asks for their number of samples; Keras 2 took the mean of whatever a loss gave. They get one axis.
    """
    from keras.src.trainers.compile_utils import CompileLoss

    def with_axis(tensor: Any) -> Any:
        return keras.ops.reshape(tensor, (1,)) if len(getattr(tensor, "shape", (1,))) == 0 else tensor

    def wrap(original: Any) -> Any:
        def __call__(self: Any, y_true: Any, y_pred: Any, sample_weight: Any = None) -> Any:
            return original(self, y_true, keras.tree.map_structure(with_axis, y_pred), sample_weight)

        return __call__

    yield CompileLoss, "__call__", wrap


def of_layer_names(old_name: Callable[[Any, str | None], str | None]) -> Iterator[Point]:
    """Yield where a layer without a name gets one (`keras.src.ops.operation.Operation.__init__`).

    Args:
        old_name: called with the layer, and with the name of what a Sequential model makes it the input of (None: it
            is no such input); returns its name, or None for Keras 3's choice.
    """
    from keras.src.ops.operation import Operation

    functional = functional_class()
    input_layer = keras.layers.InputLayer

    def wrap(original: Any) -> Any:
        def __init__(self: Any, name: str | None = None) -> None:
            if name is None:
                made_in = _sequential_that_makes() if isinstance(self, (functional, input_layer)) else None
                if made_in is None:
                    name = old_name(self, None)
                elif isinstance(self, input_layer):
                    name = old_name(self, _read_by_input(made_in))
            original(self, name=name)

        return __init__

    yield Operation, "__init__", wrap


def _sequential_that_makes() -> types.FrameType | None:
    """Return where a Sequential model makes what is being made: its input, or the functional model inside it
    (`add` and `build` in `keras.src.models.sequential`)."""
    frame: types.FrameType | None = sys._getframe(2)
    while frame is not None and frame.f_code.co_name in ("__init__", "wrapper"):
        frame = frame.f_back
    if frame is None or frame.f_code.co_name not in ("add", "build"):
        return None
    return frame if frame.f_globals.get("__name__") == "keras.src.models.sequential" else None


def _read_by_input(frame: types.FrameType) -> str:
    """Return the name of the first layer where its shape is known, else that of the Sequential model."""
    if frame.f_code.co_name == "add":
        first = frame.f_locals["layer"]
    else:
        model = frame.f_locals["self"]
        first = model._layers[0] if hasattr(model._layers[0], "input_shape") else model
    name: str = first.name
    return name


def of_cross_entropies(compute: Callable[..., Any]) -> Iterator[Point]:
    """Yield the cross-entropies that all others are made of (`keras.src.backend.tensorflow.nn`).

    Args:
        compute: called with a function's name, the function and its arguments.
    """
    from keras.src.backend.tensorflow import nn

    def wrap(original: Any) -> Any:
        def function(*given: Any, **keywords: Any) -> Any:
            return compute(original.__name__, original, *given, **keywords)

        return function

    for name in ("categorical_crossentropy", "sparse_categorical_crossentropy", "binary_crossentropy"):
        yield nn, name, wrap


def of_smoothed_labels(smoothed: Callable[[Any, Any, float], Any]) -> Iterator[Point]:
    """Yield `categorical_crossentropy`, which smooths labels, in each module of Keras that has it.

    Args:
        smoothed: called with the labels, the output and `label_smoothing`; returns the labels, or None for Keras's own.
    """
    from keras.src.losses import losses

    name = "categorical_crossentropy"
    known = [each for key, each in sys.modules.items() if key.startswith("keras.")]
    modules = [each for each in known if vars(each).get(name) is vars(losses)[name]]

    def wrap(original: Any) -> Any:
        @functools.wraps(original)
        def categorical_crossentropy(
            y_true: Any, y_pred: Any, from_logits: bool = False, label_smoothing: float = 0.0, axis: int = -1
        ) -> Any:
            labels = smoothed(y_true, y_pred, label_smoothing) if label_smoothing else None
            if labels is not None:
                y_true, label_smoothing = labels, 0.0
            return original(y_true, y_pred, from_logits, label_smoothing, axis)

        return categorical_crossentropy

    for module in modules:
        yield module, name, wrap


def of_symbolic_cross_entropies(logits_of: Callable[[Any, str], Any]) -> Iterator[Point]:
    """Yield where cross-entropies meet symbolic tensors (`keras.src.ops.nn`).

    Args:
        logits_of: called with a symbolic output and the name of the operation; returns the symbolic logits to compute
            with, or None.
    """
    from keras.src.ops import nn

    def wrap(original: Any) -> Any:
        def symbolic_call(self: Any, target: Any, output: Any) -> Any:
            known = self.from_logits or not isinstance(output, keras.KerasTensor)
            logits = None if known else logits_of(output, type(self).__name__)
            if logits is None:
                return original(self, target, output)
            axis = {"axis": self.axis} if hasattr(self, "axis") else {}
            return original(type(self)(from_logits=True, **axis), target, logits)

        return symbolic_call

    for kind in (nn.BinaryCrossentropy, nn.CategoricalCrossentropy, nn.SparseCategoricalCrossentropy):
        yield kind, "symbolic_call", wrap


def of_names_of_functions(old_function: Callable[[str, str], Any]) -> Iterator[Point]:
    """Yield where a name becomes an activation, a loss, ... (`keras.src.activations.get`, and so on).

    Keras 3 looks among its own names alone, Keras 2 in `get_custom_objects()` first.

    Args:
        old_function: called with the module's last name ("losses") and the name that is asked for; returns what
            Keras 2 had under it, or None.
    """
    import keras
    from keras.src import activations, constraints, losses, metrics, regularizers

    def wrapping(kind: str) -> Callable[[Any], Any]:
        def wrap(original: Any) -> Any:
            def get(identifier: Any) -> Any:
                if isinstance(identifier, str):
                    custom = keras.saving.get_registered_object(identifier)
                    identifier = custom or old_function(kind, identifier) or identifier
                return original(identifier)

            return get

        return wrap

    for module in (activations, constraints, losses, metrics, regularizers):
        kind = module.__name__.rpartition(".")[2]
        for owner in (module, getattr(keras, kind)):  # Keras's own code, the user's
            yield owner, "get", wrapping(kind)


def loss_tracker(model: Any) -> Any:
    """Return the metric that averages the loss of a compiled model, or None (`Trainer._loss_tracker`)."""
    return model._loss_tracker


def output_loss_trackers(model: Any) -> list[Any]:
    """Return the metrics that average the losses of the outputs of a compiled model (`_compile_loss.metrics`)."""
    return list(model._compile_loss.metrics) if model._compile_loss is not None else []


def of_function_of_training(wrap: Callable[[Any], Any]) -> Point:
    """Return where the function of a training step is made (`TensorFlowTrainer.make_train_function`)."""
    from keras.src.backend.tensorflow.trainer import TensorFlowTrainer

    return TensorFlowTrainer, "make_train_function", wrap


def of_new_function_of_training(change: Callable[[Any], None]) -> Point:
    """Return where the function of a training step is made, to change one that is new.

    Args:
        change: called with the model; it may put another function in the place of its `train_function`.
    """

    def wrap(original: Any) -> Any:
        @functools.wraps(original)
        def make_train_function(self: Any, force: bool = False) -> Any:
            is_new = self.train_function is None or force
            made = original(self, force)
            if not is_new:
                return made
            change(self)
            return self.train_function

        return make_train_function

    return of_function_of_training(wrap)


def of_functions_of_a_step(wrap: Callable[[str], Callable[[Any], Any]]) -> Iterator[Point]:
    """Yield where the functions of a step are made (`TensorFlowTrainer.make_train_function`, `make_test_function`).

    Args:
        wrap: called with the name of the model's attribute that holds the function.
    """
    from keras.src.backend.tensorflow.trainer import TensorFlowTrainer

    yield of_function_of_training(wrap("train_function"))
    yield TensorFlowTrainer, "make_test_function", wrap("test_function")


def of_steps(wrap: Callable[[str], Callable[[Any], Any]]) -> Iterator[Point]:
    """Yield the steps of a model (`TensorFlowTrainer.train_step`, `test_step`, `predict_step`).

    Args:
        wrap: called with "train", "test" or "predict".
    """
    from keras.src.backend.tensorflow.trainer import TensorFlowTrainer

    for kind in ("train", "test", "predict"):
        yield TensorFlowTrainer, f"{kind}_step", wrap(kind)


def variable_class() -> Any:
    """Return the class that gives variables their names (`keras.src.backend.common.variables.Variable`)."""
    from keras.src.backend.common.variables import Variable

    return Variable


def code_that_compares_before_it_sets() -> tuple[types.CodeType, ...]:
    """Return the code that leaves an attribute as it is where it holds the value already, and asks for it to know.

    `KerasAutoTrackable.__setattr__`, and TensorFlow 2.21's `AutoTrackable.__setattr__` after it.
    """
    from keras.src.backend.tensorflow.trackable import KerasAutoTrackable

    holders = (KerasAutoTrackable, *KerasAutoTrackable.__mro__[1:])
    return tuple(
        vars(each)["__setattr__"].__code__ for each in holders if "__setattr__" in vars(each) and each is not object
    )


def of_metric_resets(wrap: Callable[[Any], Any]) -> Iterator[Point]:
    """Yield where the metrics are reset when an epoch or an evaluation begins (`Trainer.reset_metrics`)."""
    from keras.src.trainers.trainer import Trainer

    yield Trainer, "reset_metrics", wrap


def of_results(wrap: Callable[[Any], Any]) -> Iterator[Point]:
    """Yield where the logs of the last batch become those of the epoch (`Trainer._get_metrics_result_or_logs`)."""
    from keras.src.trainers.trainer import Trainer

    yield Trainer, "_get_metrics_result_or_logs", wrap


def of_batch_begins(wrap: Callable[[str], Callable[[Any], Any]]) -> Iterator[Point]:
    """Yield where the hooks for the beginning of a batch are called (`CallbackList.on_train_batch_begin`).

    Args:
        wrap: called with "train", "test" and "predict".
    """
    from keras.src.callbacks.callback_list import CallbackList

    for kind in ("train", "test", "predict"):
        yield CallbackList, f"on_{kind}_batch_begin", wrap(kind)


def of_models_of_callbacks(wrap: Callable[[Any], Any]) -> Iterator[Point]:
    """Yield where callbacks are told their model (`CallbackList.set_model`)."""
    from keras.src.callbacks.callback_list import CallbackList

    yield CallbackList, "set_model", wrap


def put_bar_first(callbacks: Any) -> None:
    """Call the bar that Keras adds to a list of callbacks before all others (`CallbackList._progbar`)."""
    bar = callbacks._progbar
    if bar is not None and callbacks.callbacks[-1] is bar:
        callbacks.callbacks.insert(0, callbacks.callbacks.pop())


def of_newer_hooks(wrap: Callable[[str], Callable[[Any], Any]]) -> Iterator[Point]:
    """Yield where hooks are called that came after Keras 2.2.4 (methods of `CallbackList`).

    The ends of batches are called by methods of their own, which may run in a thread (`_on_train_batch_end`).

    Args:
        wrap: called with the name of the hook.
    """
    from keras.src.callbacks.callback_list import CallbackList

    for kind in ("test", "predict"):
        for end in ("begin", "end"):
            yield CallbackList, f"on_{kind}_{end}", wrap(f"on_{kind}_{end}")
    for kind in ("train", "test", "predict"):
        yield CallbackList, f"on_{kind}_batch_begin", wrap(f"on_{kind}_batch_begin")
        yield CallbackList, f"_on_{kind}_batch_end", wrap(f"on_{kind}_batch_end")


def of_reductions(wrap: Callable[[Any], Any]) -> Iterator[Point]:
    """Yield where losses look at their `reduction` (`standardize_reduction`)."""
    from keras.src.losses import loss

    yield loss, "standardize_reduction", wrap


def of_train_ends(wrap: Callable[[Any], Any]) -> Iterator[Point]:
    """Yield where the hook for the end of a training is called (`CallbackList.on_train_end`)."""
    from keras.src.callbacks.callback_list import CallbackList

    yield CallbackList, "on_train_end", wrap


def of_test_begins(wrap: Callable[[Any], Any]) -> Iterator[Point]:
    """Yield where the hook for the beginning of an evaluation is called (`CallbackList.on_test_begin`)."""
    from keras.src.callbacks.callback_list import CallbackList

    yield CallbackList, "on_test_begin", wrap


def of_test_ends(wrap: Callable[[Any], Any]) -> Iterator[Point]:
    """Yield where the hook for the end of an evaluation is called (`CallbackList.on_test_end`)."""
    from keras.src.callbacks.callback_list import CallbackList

    yield CallbackList, "on_test_end", wrap


def of_batch_ends(wrap: Callable[[str], Callable[[Any], Any]]) -> Iterator[Point]:
    """Yield where callbacks get the logs of a batch (`CallbackList._on_train_batch_end`, `_on_test_batch_end`).

    Args:
        wrap: called with the name of the hook.
    """
    from keras.src.callbacks.callback_list import CallbackList

    yield CallbackList, "_on_train_batch_end", wrap("on_train_batch_end")
    yield CallbackList, "_on_test_batch_end", wrap("on_test_batch_end")


def of_predicted_batches(wrap: Callable[[Any], Any]) -> Iterator[Point]:
    """Yield where callbacks get what was predicted of a batch (`CallbackList._on_predict_batch_end`)."""
    from keras.src.callbacks.callback_list import CallbackList

    yield CallbackList, "_on_predict_batch_end", wrap


def of_ends_of_trained_batches(wrap: Callable[[Any], Any]) -> Iterator[Point]:
    """Yield where `fit` says that a batch was trained on (`CallbackList.on_train_batch_end`)."""
    from keras.src.callbacks.callback_list import CallbackList

    yield CallbackList, "on_train_batch_end", wrap


def of_validations(wrap: Callable[[Any], Any]) -> Iterator[Point]:
    """Yield where `fit` asks whether it validates after an epoch (`Trainer._should_eval`)."""
    from keras.src.trainers.trainer import Trainer

    yield Trainer, "_should_eval", wrap


def of_callback_lists(wrap: Callable[[Any], Any]) -> Iterator[Point]:
    """Yield where the callbacks of a `fit` are put together (`CallbackList.__init__`)."""
    from keras.src.callbacks.callback_list import CallbackList

    yield CallbackList, "__init__", wrap


def of_epoch_ends(wrap: Callable[[Any], Any]) -> Iterator[Point]:
    """Yield where callbacks get the logs of an epoch (`CallbackList.on_epoch_end`)."""
    from keras.src.callbacks.callback_list import CallbackList

    yield CallbackList, "on_epoch_end", wrap


def of_weight_regularization(wrap: Callable[[Any], Any]) -> Iterator[Point]:
    """Yield where the losses of weight regularizers are computed (`Layer._get_regularization_losses`)."""
    yield keras.layers.Layer, "_get_regularization_losses", wrap


def of_undeclared_output_shapes() -> Iterator[Point]:
    """Yield where a layer without a `compute_output_shape` is asked for its output's shape (`Layer`, a default).

    Keras 3's `TimeDistributed` asks the layer in it. Keras 2 took the shape of the input for such a layer; here it is
    what the layer's `call` makes of it.
    """
    import keras
    from keras.src import backend, tree

    def wrap(original: Any) -> Any:
        def compute_output_shape(self: Any, *shapes: Any, **named: Any) -> Any:
            if len(shapes) != 1 or named or not self.built:
                return original(self, *shapes, **named)
            inputs = tree.map_shape_structure(lambda shape: keras.KerasTensor(shape, self.compute_dtype), shapes[0])
            outputs = backend.compute_output_spec(self.call, inputs)
            return tree.map_structure(lambda tensor: tensor.shape, outputs)

        compute_output_shape._is_default = True  # type: ignore[attr-defined]
        return compute_output_shape

    yield keras.layers.Layer, "compute_output_shape", wrap


def of_overridden_calls() -> Iterator[Point]:
    """Yield where a class of Keras says what its `call` gives (`Embedding.compute_output_spec`).

    For a subclass with a `call` of its own it is what that gives, as it was in Keras 2.
    """
    import keras

    said = ("call", "compute_output_shape", "compute_output_spec")
    for kind in vars(keras.layers).values():
        if isinstance(kind, type) and kind is not keras.layers.Layer and all(name in vars(kind) for name in said):
            yield kind, "compute_output_spec", functools.partial(spec_by_calling, kind)


def spec_by_calling(owner: Any, original: Any) -> Any:
    """Return the `compute_output_spec` of a class whose subclasses with a `call` of their own are called.

    Args:
        owner: the class.
        original: what it has.
    """
    import keras

    def compute_output_spec(self: Any, *args: Any, **kwargs: Any) -> Any:
        if type(self).call is not owner.call:
            return keras.Operation.compute_output_spec(self, *args, **kwargs)
        return original(self, *args, **kwargs)

    return compute_output_spec


def of_added_losses(means: Callable[[Any], bool]) -> Iterator[Point]:
    """Yield where the numbers of an added loss are summed (`Trainer._aggregate_additional_loss`).

    Args:
        means: says whether a model trains on the sum of them and shows their mean.
    """

    def wrap(original: Any) -> Any:
        def _aggregate_additional_loss(self: Any, loss: Any) -> Any:
            total = original(self, loss)
            if not len(loss.shape) or not means(self):
                return total
            mean = total / keras.ops.cast(keras.ops.size(loss), total.dtype)
            return total + keras.ops.stop_gradient(mean - total)

        return _aggregate_additional_loss

    yield keras.Model, "_aggregate_additional_loss", wrap


def of_labels_of_hinges(wrap: Callable[[Any], Any]) -> Iterator[Point]:
    """Yield where labels of 0 and 1 become -1 and 1 (`convert_binary_labels_to_hinge`)."""
    from keras.src.losses import losses

    yield losses, "convert_binary_labels_to_hinge", wrap


def of_ranks_of_losses(wrap: Callable[[Any], Any]) -> Iterator[Point]:
    """Yield where functions of losses and accuracies squeeze what has one axis more (`squeeze_or_expand_to_same_rank`).

    Where a model computes a loss it has been squeezed before (`LossFunctionWrapper.call`).
    """
    from keras.src.losses import losses
    from keras.src.metrics import accuracy_metrics

    for module in (losses, accuracy_metrics):
        yield module, "squeeze_or_expand_to_same_rank", wrap


def of_variables_of_losses() -> Iterator[Point]:
    """Yield where a variable gets its value (`Variable._initialize`, `_direct_assign`).

    A loss that makes a model, as perceptual losses do, made it once, when Keras 2 built the graph. Here it is called
    while the step is traced: its variables are made and loaded outside of the trace, which holds them afterwards.
    """
    import keras
    import tensorflow as tf
    from keras.src import backend

    made = "_parallel_compat_made_by_a_loss"

    def initialize(original: Any) -> Any:
        def make(scope: contextlib.AbstractContextManager[Any], *given: Any) -> None:
            with scope:
                original(*given)

        def _initialize(self: Any, value: Any) -> None:
            if not tf.inside_function() or backend.in_stateless_scope() or tf.is_symbolic_tensor(value):
                original(self, value)
                return
            graph = tf.compat.v1.get_default_graph()
            # Not `tf.init_scope`: there, too, `tf.function` sees to it that its variables are made but once.
            thread = ThreadPoolExecutor(max_workers=1)
            thread.submit(make, scope_of_variables(), self, value).result()
            thread.shutdown()
            setattr(self, made, True)
            graph.add_to_collection(made, self)  # which holds no variable by itself

        return _initialize

    def assign(original: Any) -> Any:
        def _direct_assign(self: Any, value: Any) -> None:
            if made in vars(self) and not tf.is_symbolic_tensor(value):
                with tf.init_scope():
                    original(self, value)
            else:
                original(self, value)

        return _direct_assign

    yield keras.Variable, "_initialize", initialize
    yield keras.Variable, "_direct_assign", assign


def of_initializers() -> Iterator[Point]:
    """Yield where a variable asks its initializer (`Variable._initialize_with_initializer`).

    Keras 2 called it with the shape alone: `def init(shape, name=None)` takes no `dtype`, and may return a variable.
    """
    import keras
    import tensorflow as tf

    def wrap(original: Any) -> Any:
        def _initialize_with_initializer(self: Any, initializer: Any) -> None:
            original(self, initializer if _takes_dtype(initializer) else functools.partial(_of_shape, initializer))

        return _initialize_with_initializer

    def _of_shape(initializer: Any, shape: Any, dtype: Any = None) -> Any:
        return tf.cast(tf.convert_to_tensor(initializer(shape)), dtype)

    yield keras.Variable, "_initialize_with_initializer", wrap


def _takes_dtype(initializer: Any) -> bool:
    try:
        parameters = inspect.signature(initializer).parameters
    except (TypeError, ValueError):  # of a built-in
        return True
    return "dtype" in parameters or any(each.kind is each.VAR_KEYWORD for each in parameters.values())


def of_weights_in_files(order: Callable[[keras.Layer], list[Any] | None]) -> Iterator[Point]:
    """Yield where the order of a layer's weights in an HDF5 file is settled (`legacy_h5_format._legacy_weights`).

    Args:
        order: returns a layer's weights in the order of its file, or None for Keras 3's.
    """
    from keras.src.legacy.saving import legacy_h5_format

    def wrap(original: Any) -> Any:
        def _legacy_weights(layer: Any) -> Any:
            ordered = order(layer)
            if isinstance(layer, keras.metrics.Metric):
                return ordered
            weights = original(layer)
            whole = ordered is not None and {id(each) for each in ordered} >= {id(each) for each in weights}
            return ordered if whole else weights

        return _legacy_weights

    yield legacy_h5_format, "_legacy_weights", wrap


def of_layers_in_files(
    written: Callable[[Any], list[Any] | None],
    read: Callable[[Any, int], contextlib.AbstractContextManager[list[Any] | None]],
) -> Iterator[Point]:
    """Yield where the layers of a model are written to an HDF5 file, and read by their order (`legacy_h5_format`).

    Args:
        written: returns what stands in a file for the layers of a model, or None for `model.layers`.
        read: given a model and how many arrays a file has, yields what takes them, or None likewise.
    """
    from keras.src.legacy.saving import legacy_h5_format

    def stand_in(model: Any, layers: list[Any] | None) -> Any:
        if layers is None:
            return model
        own = {name: getattr(model, name) for name in ("_trainable_variables", "_non_trainable_variables", "weights")}
        return SimpleNamespace(layers=layers, **own)

    def writing(original: Any) -> Any:
        def save_weights_to_hdf5_group(group: Any, model: Any) -> None:
            original(group, stand_in(model, written(model)))

        return save_weights_to_hdf5_group

    def reading(original: Any) -> Any:
        def load_weights_from_hdf5_group(group: Any, model: Any, *given: Any, **keywords: Any) -> None:
            attributes = legacy_h5_format.load_attributes_from_hdf5_group
            arrays = sum(len(attributes(group[name], "weight_names")) for name in attributes(group, "layer_names"))
            with read(model, arrays) as layers:
                original(group, stand_in(model, layers), *given, **keywords)

        return load_weights_from_hdf5_group

    yield legacy_h5_format, "save_weights_to_hdf5_group", writing
    yield legacy_h5_format, "load_weights_from_hdf5_group", reading


def of_schedules(in_floats: Callable[[Any], bool]) -> Iterator[Point]:
    """Yield where an optimizer asks its schedule for the rate of a step (`Optimizer._get_current_learning_rate`).

    Args:
        in_floats: whether an optimizer counts its steps in floats there, as `tf.keras` did; Keras 3 gives an integer.
    """
    import keras

    def wrap(original: Any) -> Any:
        def _get_current_learning_rate(self: Any) -> Any:
            schedule = self._learning_rate
            if isinstance(schedule, keras.optimizers.schedules.LearningRateSchedule) and in_floats(self):
                return schedule(keras.ops.cast(self.iterations, "float32"))
            return original(self)

        return _get_current_learning_rate

    yield keras.optimizers.Optimizer, "_get_current_learning_rate", wrap


def name_first_argument(layer: Any) -> None:
    """Let a layer whose `call` is `call(self, *args, **kwargs)` be built by the shape of its first argument.

    Keras 2 knew the first argument by its place; Keras 3 takes the shape for `build` by the argument's name, and leaves
    out what `*args` holds (`Layer._call_signature`, `get_shapes_dict`). The same of a class derived from one of Keras's
    whose `call` names it otherwise than the `build` that it inherits: `inputs` where `LSTM` has `sequences`.
    """
    parameters = list(layer._call_signature.parameters.values())
    if (
        parameters
        and parameters[0].kind is inspect.Parameter.VAR_POSITIONAL
        and "inputs" not in layer._call_signature.parameters
    ):
        first = inspect.Parameter("inputs", inspect.Parameter.POSITIONAL_OR_KEYWORD)
        layer._call_signature = layer._call_signature.replace(parameters=[first, *parameters])
        return
    kind: Any = type(layer)
    name = _first_of_inherited_build(kind) if parameters else None
    if name is not None and name not in layer._call_signature.parameters:
        first = parameters[0].replace(name=name)
        layer._call_signature = layer._call_signature.replace(parameters=[first, *parameters[1:]])


@functools.cache
def _first_of_inherited_build(kind: Any) -> str | None:
    """Return "sequences" where a class inherits `build(self, sequences_shape, ...)` from Keras, and has a `call`."""
    owner = next((each for each in kind.__mro__ if "build" in vars(each)), object)
    if owner is kind or "call" not in vars(kind) or not owner.__module__.startswith("keras.src."):
        return None
    names = list(inspect.signature(kind.build).parameters)[1:]
    return names[0][: -len("_shape")] if len(names) > 1 and names[0].endswith("_shape") else None


def any_symbolic(inputs: Any) -> bool:
    """Say whether there is a symbolic tensor among a layer's inputs."""
    import keras

    if isinstance(inputs, keras.KerasTensor):
        return True
    return isinstance(inputs, (list, tuple)) and any(any_symbolic(each) for each in inputs)


def plain_results(results: Any) -> Any:
    """Return what `train_on_batch(return_dict=True)` gave, as a dict.

    Keras 3.12 puts `BatchLogs` in an array: its `tree.map_structure(np.array, ...)` takes a dict of another
    class for a leaf.
    """
    return dict(results.item()) if hasattr(results, "item") else results


def of_iterators_of_epochs(is_wanted: Callable[[Any], bool]) -> Iterator[Point]:
    """Yield where `fit` makes the iterators of a data set, to make none at the end of an epoch that nobody reads.

    Keras makes one at the end of each epoch (`EpochIterator._enumerate_iterator`) and another at the beginning of the
    next. Read in Keras 3.15.

    Args:
        is_wanted: takes the data set; whether its epochs are to have one iterator each.
    """
    from keras.src.backend.tensorflow import trainer

    def wrap(original: Callable[[Any], Any]) -> Callable[[Any], Any]:
        def _get_iterator(self: Any) -> Any:
            # A data set of unknown length has no iterator at the beginning of the epochs behind the first one, which
            # ended where it did, and whose steps were not forgotten.
            is_read = self._current_iterator is not None
            at_the_end = is_read and self._num_batches and self._steps_seen >= self._num_batches
            dataset = original(self)
            ends_with_it = self.steps_per_epoch is None or isinstance(self.data_adapter, DatasetAdapter)
            return () if at_the_end and ends_with_it and is_wanted(dataset) else dataset

        return _get_iterator

    yield trainer.TFEpochIterator, "_get_iterator", wrap


def of_ends_of_data() -> Iterator[Point]:
    """Yield where `fit` and `evaluate` find that the data has ended (`TFEpochIterator.catch_stop_iteration`).

    A `DatasetAdapter` is told how many batches the epoch had. Keras counts the step that found none. An epoch of a
    Sequence that may grow begins with the question for its length.
    """
    import tensorflow as tf
    from keras.src.backend.tensorflow import trainer

    def wrap(original: Callable[[Any], Any]) -> Callable[[Any], Any]:
        @contextlib.contextmanager
        def catch_stop_iteration(self: Any) -> Iterator[None]:
            adapter, has_ended = self.data_adapter, False
            if isinstance(adapter, BatchAdapter) and adapter.may_grow:
                self._num_batches = adapter.num_batches
            before = 0 if self._current_iterator is None else self._steps_seen
            with original(self):
                try:
                    yield
                except (StopIteration, tf.errors.OutOfRangeError):
                    has_ended = True
                    raise
            if has_ended and isinstance(adapter, DatasetAdapter):
                adapter.ran_out(self._steps_seen - before - self.steps_per_execution)
                self._num_batches = adapter.num_batches

        return catch_stop_iteration

    yield trainer.TFEpochIterator, "catch_stop_iteration", wrap


def of_default_seeds(wrap: Callable[[Any], Any]) -> Iterator[Point]:
    """Yield where seeds that nobody gave are drawn (`make_default_seed`, which initializers find in the backend).

    Args:
        wrap: takes the function and returns another.
    """
    from keras.src.backend.tensorflow import random as of_backend
    from keras.src.random import seed_generator

    yield seed_generator, "make_default_seed", wrap
    yield of_backend, "make_default_seed", wrap


def of_convolutions() -> Iterator[Point]:
    """Yield the convolutions of the backend that a CPU has no kernels for, with what makes those of them that it has.

    TensorFlow has kernels for channels first, and for transposed convolutions that are dilated, in some processors
    only; Keras 3.15 transposes for poolings and depthwise convolutions, and has convolutions of three axes compiled.
    """
    import tensorflow as tf
    from keras.src import backend
    from keras.src.backend.tensorflow import nn
    from keras.src.legacy import backend as old_backend

    def is_on_cpu() -> bool:
        return not tf.config.list_physical_devices("GPU")

    def needs_channels_last(data_format: str) -> bool:
        return data_format == "channels_first" and is_on_cpu()

    def dilated(kernel: Any, rate: int | tuple[int, ...]) -> Any:
        """Return a kernel with zeros between its numbers, along all axes but those of the channels."""
        rates = rate if isinstance(rate, (tuple, list)) else [rate] * (len(kernel.shape) - 2)
        for axis, each in enumerate(rates):
            if each > 1:
                kernel = tf.convert_to_tensor(kernel)
                size, rank = kernel.shape[axis], len(kernel.shape)
                apart = tf.expand_dims(kernel, axis + 1)
                apart = tf.pad(apart, [[0, each - 1 if at == axis + 1 else 0] for at in range(rank + 1)])
                shape = [*kernel.shape[:axis], size * each, *kernel.shape[axis + 1 :]]
                kernel = tf.gather(tf.reshape(apart, shape), range((size - 1) * each + 1), axis=axis)
        return kernel

    def with_channels_last(x: Any) -> Any:
        return tf.transpose(x, [0, *range(2, len(x.shape)), 1])

    def wrap(original: Any, ranks: tuple[int, ...]) -> Any:
        signature = inspect.signature(original)

        @functools.wraps(original)
        def convolve(*args: Any, **keywords: Any) -> Any:
            given = signature.bind(*args, **keywords)
            arguments = given.arguments
            if original.__name__ == "conv_transpose" and is_on_cpu():
                arguments["kernel"], arguments["dilation_rate"] = (
                    dilated(arguments["kernel"], arguments.get("dilation_rate", 1)),
                    1,
                )
            inputs = backend.convert_to_tensor(arguments["inputs"])
            data_format = backend.standardize_data_format(arguments.get("data_format"))
            axes = len(inputs.shape)
            if axes not in ranks or not needs_channels_last(data_format):
                return original(*given.args, **given.kwargs)
            arguments["inputs"] = with_channels_last(inputs)
            arguments["data_format"] = "channels_last"
            outputs = original(*given.args, **given.kwargs)
            return tf.transpose(outputs, [0, axes - 1, *range(1, axes - 1)])

        return convolve

    def wrap_of_functions(original: Any) -> Any:
        @functools.wraps(original)
        def preprocess(x: Any, data_format: str, *rest: Any, **keywords: Any) -> Any:
            if not needs_channels_last(data_format):
                return original(x, data_format, *rest, **keywords)
            return with_channels_last(x), {3: "NWC", 4: "NHWC", 5: "NDHWC"}[len(x.shape)]

        return preprocess

    yield nn, "conv", functools.partial(wrap, ranks=(3, 4))
    yield nn, "conv_transpose", functools.partial(wrap, ranks=(3, 4, 5))
    for number in (1, 2, 3):  # of `K.conv2d`, `K.pool2d` and the like, which transpose back
        yield old_backend, f"_preprocess_conv{number}d_input", wrap_of_functions


def of_additions() -> Iterator[Point]:
    """Yield where tensors are added (`keras.ops.add`), which Keras 3.15 takes for the addition of a bias by its length.

    A bias of channels that come first, `(1, channels, 1, 1)`, is added along the last axis if that is as long as there
    are channels: `Conv2D(8, 3, data_format="channels_first")` of pictures 8 wide.
    """
    import tensorflow as tf
    from keras.src import backend
    from keras.src.backend.tensorflow import numpy as tensorflow_numpy

    def wrap(original: Any) -> Any:
        def add(x1: Any, x2: Any) -> Any:
            shape: Any = getattr(x2, "shape", ())
            if len(shape) < 2 or shape[-1] != 1 or not isinstance(x1, tf.Tensor) or isinstance(x2, tf.SparseTensor):
                return original(x1, x2)
            dtype = backend.result_type(x1.dtype, x2.dtype)
            return tf.add(tf.cast(x1, dtype), tf.cast(backend.convert_to_tensor(x2), dtype))

        return add

    yield tensorflow_numpy, "add", wrap
