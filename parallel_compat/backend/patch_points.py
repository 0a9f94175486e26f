"""Private places of Keras where legacy names take effect. Read in Keras 3.15.1.

Each is (owner, attribute, a function from what stands there to what shall stand there); the caller sets and undoes.
"""

from __future__ import annotations

import types
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


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


def of_frozen_batch_normalization(applies: Callable[[], bool]) -> Iterator[tuple[Any, str, Callable[[Any], Any]]]:
    """Yield where a frozen `BatchNormalization` is called (`_moments` of that class).

    Keras 2 went on normalising a training batch with its own statistics and left the moving ones alone; Keras 3
    normalises with the moving ones.

    Args:
        applies: whether layers shall do as in Keras 2.
    """
    import keras

    def wrap(original: Any) -> Any:
        def call(self: Any, inputs: Any, training: bool | None = None, mask: Any = None) -> Any:
            if not training or self.trainable or not applies():
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
