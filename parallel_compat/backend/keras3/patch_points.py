"""Private places of Keras where legacy names take effect. Read in Keras 3.15.1.

Each is (owner, attribute, a function from what stands there to what shall stand there); the caller sets and undoes.
"""

from __future__ import annotations

import inspect
import types
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


# What callbacks have before their `__init__` is called: `Callback.model` is a property over `_model`.
FIELDS_OF_CALLBACKS = ("_model", "params", "validation_data")


def of_logs(logs_class: Callable[[Any], Any]) -> Iterator[tuple[Any, str, Callable[[Any], Any]]]:
    """Yield where the logs that callbacks get are made (`python_utils.pythonify_logs`, in `callback_list` alone).

    Keras 3.12 makes the results of `train_on_batch` with the same function, and takes them for a plain dict.
    """
    from keras.src.callbacks import callback_list

    def wrap(original: Any) -> Any:
        def pythonify_logs(logs: Any) -> Any:
            return logs_class(original.pythonify_logs(logs))

        return types.SimpleNamespace(**{**vars(original), "pythonify_logs": pythonify_logs})

    yield callback_list, "python_utils", wrap


def of_monitors(where_unknown: Callable[[Any], None]) -> Iterator[tuple[Any, str, Callable[[Any], Any]]]:
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


def functional_class() -> Any:
    """Return the class of models made of symbolic tensors (`keras.src.models.functional.Functional`)."""
    from keras.src.models.functional import Functional

    return Functional


def image_iterator_class() -> Any:
    """Return the class of what `ImageDataGenerator.flow` returns; `keras` itself does not show it any more."""
    from keras.src.legacy.preprocessing.image import Iterator

    return Iterator


def of_single_outputs() -> Iterator[tuple[Any, str, Callable[[Any], Any]]]:
    """Yield where `Model(inputs=[x], outputs=[y])` is called on symbolic tensors (`Functional.compute_output_spec`).

    Keras 3 returns a list of one there, and the tensor itself when it computes; Keras 2 always the tensor.
    """

    def wrap(original: Any) -> Any:
        def compute_output_spec(self: Any, *args: Any, **kwargs: Any) -> Any:
            outputs = original(self, *args, **kwargs)
            return outputs[0] if isinstance(outputs, (list, tuple)) and len(outputs) == 1 else outputs

        return compute_output_spec

    yield functional_class(), "compute_output_spec", wrap


def of_layer_names(old_name: Callable[[Any], str | None]) -> Iterator[tuple[Any, str, Callable[[Any], Any]]]:
    """Yield where a layer without a name gets one (`keras.src.ops.operation.Operation.__init__`).

    Args:
        old_name: called with the layer; returns its name, or None for Keras 3's choice.
    """
    from keras.src.ops.operation import Operation

    def wrap(original: Any) -> Any:
        def __init__(self: Any, name: str | None = None) -> None:
            original(self, name=old_name(self) if name is None else name)

        return __init__

    yield Operation, "__init__", wrap


def of_frozen_batch_normalization(applies: Callable[[Any], bool]) -> Iterator[tuple[Any, str, Callable[[Any], Any]]]:
    """Yield where a frozen `BatchNormalization` is called (`_moments` of that class).

    Keras 2 went on normalising a training batch with its own statistics and left the moving ones alone; Keras 3
    normalises with the moving ones.

    Args:
        applies: called with the layer; says whether it shall do as in Keras 2.
    """
    import keras

    def wrap(original: Any) -> Any:
        def call(self: Any, inputs: Any, training: bool | None = None, mask: Any = None) -> Any:
            if not training or self.trainable or not applies(self):
                return original(self, inputs, training=training, mask=mask)
            dtype = keras.backend.result_type(inputs.dtype, "float32")
            x = keras.ops.cast(inputs, dtype)
            mean, variance = self._moments(x, mask)
            offset = keras.ops.cast(self.beta, dtype) if self.center else None
            scale = keras.ops.cast(self.gamma, dtype) if self.scale else None
            outputs = keras.ops.batch_normalization(
                x, mean, variance, self.axis, offset=offset, scale=scale, epsilon=self.epsilon
            )
            return keras.ops.cast(outputs, self.compute_dtype)

        return call

    yield keras.layers.BatchNormalization, "call", wrap


def of_names_of_functions() -> Iterator[tuple[Any, str, Callable[[Any], Any]]]:
    """Yield where a name becomes an activation, a loss, ... (`keras.src.activations.get`, and so on).

    Keras 3 looks among its own names alone, Keras 2 in `get_custom_objects()` first.
    """
    import keras
    from keras.src import activations, constraints, losses, metrics, regularizers

    def wrap(original: Any) -> Any:
        def get(identifier: Any) -> Any:
            custom = keras.saving.get_registered_object(identifier) if isinstance(identifier, str) else None
            return original(identifier if custom is None else custom)

        return get

    for module in (activations, constraints, losses, metrics, regularizers):
        for owner in (module, getattr(keras, module.__name__.rpartition(".")[2])):  # Keras's own code, the user's
            yield owner, "get", wrap


class MeanMetrics:
    """The metrics of a compiled model that can be computed batch by batch (`_loss_tracker`, `_compile_metrics`).

    Args:
        model: a compiled model.
    """

    def __init__(self, model: Any) -> None:
        self._loss = model._loss_tracker
        parts = [getattr(metric, "metrics", [metric]) for metric in model.metrics]
        self._metrics = [metric for part in parts for metric in part]

    @property
    def all_means(self) -> bool:
        """Whether each of them is a mean, and the rows of a batch are known."""
        import keras

        return self._loss is not None and all(isinstance(metric, keras.metrics.Mean) for metric in self._metrics)

    def reset(self) -> None:
        """Forget the batches before."""
        for metric in self._metrics:
            metric.reset_state()

    def rows(self) -> int:
        """Return the rows since `reset`: they are what the loss is weighted by."""
        import keras

        return round(float(keras.ops.convert_to_numpy(self._loss.count)))


def of_batch_logs(
    applies: Callable[[Any], bool],
    begin: Callable[[Any], None],
    add: Callable[[Any, Any, int], Any],
    batch_logs: Any,
    logs_class: Callable[[Any], Any],
) -> Iterator[tuple[Any, str, Callable[[Any], Any]]]:
    """Yield where batches are trained and evaluated, and their logs go to callbacks.

    Args:
        applies: called with the model; says whether batches shall be counted as in Keras 2.
        begin: called with the model when an epoch or an evaluation begins.
        add: called with the model, the logs of one batch and its rows; returns `batch_logs`.
        batch_logs: a dict with the batch's values, `size`, and `means` since the epoch began.
        logs_class: what callbacks get, made of a dict.
    """
    import keras
    from keras.src.backend.tensorflow.trainer import TensorFlowTrainer
    from keras.src.callbacks.callback_list import CallbackList
    from keras.src.trainers.trainer import Trainer

    def making(name: str) -> Callable[[Any], Any]:
        def wrap(original: Any) -> Any:
            def make(self: Any, force: bool = False) -> Any:
                is_new = getattr(self, name) is None or force
                result = original(self, force)
                function = getattr(self, name)
                if is_new and applies(self) and self.steps_per_execution == 1:

                    def of_one_batch(iterator: Any) -> Any:
                        before = MeanMetrics(self)
                        if before.all_means:
                            before.reset()
                        logs = function(iterator)
                        after = MeanMetrics(self)  # the first batch has made the metrics
                        return add(self, logs, after.rows()) if after.all_means else logs

                    setattr(self, name, of_one_batch)
                    return of_one_batch
                return result

            return make

        return wrap

    def wrap_reset(original: Any) -> Any:
        def reset_metrics(self: Any) -> None:
            original(self)
            begin(self)

        return reset_metrics

    def wrap_result(original: Any) -> Any:
        def _get_metrics_result_or_logs(self: Any, logs: Any) -> Any:
            return dict(logs.means) if isinstance(logs, batch_logs) else original(self, logs)

        return _get_metrics_result_or_logs

    def telling(method: str) -> Callable[[Any], Any]:
        def wrap(original: Any) -> Any:
            def tell(self: Any, batch: int, logs: Any = None) -> None:
                if not isinstance(logs, batch_logs):
                    original(self, batch, logs)
                    return
                told, means = logs_class(logs), logs_class(logs.means)
                told.besides = {"batch": batch, "size": logs.size}
                for callback in self.callbacks:
                    is_bar = isinstance(callback, keras.callbacks.ProgbarLogger)
                    getattr(callback, method)(batch, logs=means if is_bar else told)

            return tell

        return wrap

    yield TensorFlowTrainer, "make_train_function", making("train_function")
    yield TensorFlowTrainer, "make_test_function", making("test_function")
    yield Trainer, "reset_metrics", wrap_reset
    yield Trainer, "_get_metrics_result_or_logs", wrap_result
    yield CallbackList, "_on_train_batch_end", telling("on_train_batch_end")
    yield CallbackList, "_on_test_batch_end", telling("on_test_batch_end")


def of_undeclared_output_shapes() -> Iterator[tuple[Any, str, Callable[[Any], Any]]]:
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


def name_first_argument(layer: Any) -> None:
    """Let a layer whose `call` is `call(self, *args, **kwargs)` be built by the shape of its first argument.

    Keras 2 knew the first argument by its place; Keras 3 takes the shape for `build` by the argument's name, and leaves
    out what `*args` holds (`Layer._call_signature`, `get_shapes_dict`).
    """
    parameters = list(layer._call_signature.parameters.values())
    if (
        parameters
        and parameters[0].kind is inspect.Parameter.VAR_POSITIONAL
        and "inputs" not in layer._call_signature.parameters
    ):
        first = inspect.Parameter("inputs", inspect.Parameter.POSITIONAL_OR_KEYWORD)
        layer._call_signature = layer._call_signature.replace(parameters=[first, *parameters])


def plain_results(results: Any) -> Any:
    """Return what `train_on_batch(return_dict=True)` gave, as a dict.

    Keras 3.12 puts that of `of_batch_logs` in an array: its `tree.map_structure(np.array, ...)` takes a dict of another
    class for a leaf.
    """
    return dict(results.item()) if hasattr(results, "item") else results
