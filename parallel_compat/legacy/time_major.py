"""`time_major=True`: recurrent layers of tf.keras that took and gave (time, samples, features).

Keras 3 has samples first, always: the layer's own methods are given what it wants, and what they give is turned back.
`Bidirectional` reverses the second axis of what its backward layer gives, then as now; of such layers it is the
samples that it reversed, in TensorFlow 1.15 and 2.2, and not the steps.

Each function takes what stands in Keras 3's `RNN` and returns what shall stand there while legacy names are on.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import keras

from parallel_compat.legacy import cell_structures

if TYPE_CHECKING:
    from collections.abc import Callable

ARGUMENT = "time_major"


def init(original: Callable[..., None]) -> Callable[..., None]:
    """`RNN(cell, time_major=True)`."""

    def __init__(self: Any, *given: Any, **keywords: Any) -> None:
        is_time_major = keywords.pop(ARGUMENT, False)
        original(self, *given, **keywords)
        self.time_major = bool(is_time_major)

    return __init__


def get_config(original: Callable[..., Any]) -> Callable[..., Any]:
    """`RNN.get_config`: what asks for nothing is left out, for Keras 3 does not know it."""

    def get_config(self: Any) -> Any:
        return {**original(self), **({ARGUMENT: True} if _is_time_major(self) else {})}

    return get_config


def _is_time_major(layer: Any) -> bool:
    return bool(vars(layer).get(ARGUMENT))


def _turned(tensors: Any) -> Any:
    """Return tensors with their first two axes the other way round."""
    return keras.tree.map_structure(lambda each: keras.ops.swapaxes(each, 0, 1), tensors)


def _turned_shape(shapes: Any) -> Any:
    return cell_structures.of_each_shape(lambda shape: (shape[1], shape[0], *shape[2:]), shapes)


def _outputs_turned(layer: Any, results: Any, turn: Callable[[Any], Any]) -> Any:
    """Turn what a layer gives, but for its last states."""
    if not layer.return_sequences:
        return results
    if not layer.return_state:
        return turn(results)
    size = cell_structures.output_size(layer.cell)
    outputs = len(size) if cell_structures.is_nested(size) else 1
    return (*(turn(each) for each in results[:outputs]), *results[outputs:])


def build(original: Callable[..., None]) -> Callable[..., None]:
    """`build`."""

    def build(self: Any, sequences_shape: Any, initial_state_shape: Any = None) -> None:
        shapes = _turned_shape(sequences_shape) if _is_time_major(self) else sequences_shape
        original(self, shapes, initial_state_shape)

    return build


def compute_output_shape(original: Callable[..., Any]) -> Callable[..., Any]:
    """`compute_output_shape`."""

    def compute_output_shape(self: Any, sequences_shape: Any, initial_state_shape: Any = None) -> Any:
        if not _is_time_major(self):
            return original(self, sequences_shape, initial_state_shape)
        found = original(self, _turned_shape(sequences_shape), initial_state_shape)
        return _outputs_turned(self, found, _turned_shape)

    return compute_output_shape


def call(original: Callable[..., Any]) -> Callable[..., Any]:
    """`call`; a mask is turned as well."""

    def call(  # Keras reads the names off the signature
        self: Any,
        sequences: Any,
        initial_state: Any = None,
        mask: Any = None,
        training: bool = False,
        constants: Any = None,
    ) -> Any:
        keywords = {"initial_state": initial_state, "training": training, "constants": constants}
        if not _is_time_major(self):
            return original(self, sequences, mask=mask, **keywords)
        if mask is not None:
            mask = _turned(mask[0] if isinstance(mask, (list, tuple)) else mask)
        return _outputs_turned(self, original(self, _turned(sequences), mask=mask, **keywords), _turned)

    return call


def initial_state(original: Callable[..., Any]) -> Callable[..., Any]:
    """`layer.get_initial_state(x)`, whose second axis are the samples."""

    def get_initial_state(self: Any, inputs: Any = None, **keywords: Any) -> Any:
        if inputs is not None and _is_time_major(self) and len(getattr(inputs, "shape", ())) > 1:
            inputs = _turned(inputs)
        return original(self, inputs, **keywords)

    return get_initial_state
