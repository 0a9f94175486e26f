"""What layers were called with in the step that runs, for a loss that asks its prediction. Read in Keras 3.15.1."""

from __future__ import annotations

import functools
import weakref
from collections.abc import Callable
from typing import Any

import keras
import tensorflow as tf

from parallel_compat.backend.keras3.layers import get_mask
from parallel_compat.backend.patches import CORE


class Call:
    """One call of a layer on tensors of a step, kept as long as what it returned.

    Attributes:
        layer: the layer.
        input_tensors: what it was called with.
        input_masks: their masks.
    """

    def __init__(self, layer: keras.Layer, inputs: Any) -> None:
        self.layer = layer
        self.input_tensors = keras.tree.flatten(inputs)
        self.input_masks = [get_mask(each) for each in self.input_tensors]
        self._graph = _graph()

    def is_of_this_step(self) -> bool:
        """Return whether its tensors can be used here: in their graph or in one inside it, or without a graph."""
        graph = _graph()
        while graph is not None and graph is not self._graph:
            graph = getattr(graph, "outer_graph", None)
        return graph is self._graph


def _graph() -> Any:
    return None if tf.executing_eagerly() else tf.compat.v1.get_default_graph()


# The last call of a layer, while its result lives: a step's tensors must not outlive the step.
_last: weakref.WeakKeyDictionary[keras.Layer, weakref.ref[Call]] = weakref.WeakKeyDictionary()


def remember_calls() -> None:
    """Let results of layers say which call made them."""
    CORE.wrap(keras.Layer, "__call__", _remembering, why="losses ask predictions for their layer and its inputs")


def _remembering(before: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(before)
    def call(self: keras.Layer, *args: Any, **kwargs: Any) -> Any:
        if isinstance(self, keras.Model):  # what it returns is what its last layer returned
            return before(self, *args, **kwargs)
        made = Call(self, args[0] if args else next(iter(kwargs.values()), None))
        outputs = before(self, *args, **kwargs)
        for output in keras.tree.flatten(outputs):
            if keras.ops.is_tensor(output) and not isinstance(output, keras.KerasTensor):
                output._parallel_compat_call = made
                _last[self] = weakref.ref(made)
        return outputs

    return call


def call_of(tensor: Any) -> Call | None:
    """Return the call of a layer that returned a tensor of a step, if there is one."""
    found: Call | None = getattr(tensor, "_parallel_compat_call", None)
    return found


def last_call(layer: keras.Layer) -> Call | None:
    """Return the last call of a layer in the step that runs, if there is one."""
    found = _last[layer]() if layer in _last else None
    return found if found is not None and found.is_of_this_step() else None


def symbolic_history(tensor: keras.KerasTensor) -> tuple[Any, int, int] | None:
    """Return the operation that made a symbolic tensor, the index of its call, the tensor's (`_keras_history`)."""
    history = getattr(tensor, "_keras_history", None)
    return None if history is None or history.operation is None else tuple(history)


def number_of_calls(layer: keras.Layer) -> int:
    """Return how often a layer was called on symbolic tensors."""
    return len(layer._inbound_nodes)
