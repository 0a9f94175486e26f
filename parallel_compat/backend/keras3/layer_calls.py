"""What layers were called with in the graph that is traced, for losses that ask for it. Read in Keras 3.15.1."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import keras
import tensorflow as tf

from parallel_compat.backend.keras3 import call_context
from parallel_compat.backend.keras3.layers import get_mask, symbolic_history
from parallel_compat.backend.patches import CORE

_CALLS = "_parallel_compat_calls"  # of a graph: its calls live as long as it


class Call:
    """One call of a layer in a graph."""

    def __init__(self, layer: keras.Layer, inputs: Any) -> None:
        self.layer = layer
        self.input_tensors = keras.tree.flatten(inputs)
        self.input_masks = [get_mask(each) for each in self.input_tensors]
        self.output_tensors: list[Any] = []


def remember_calls() -> None:
    """Let graphs know which layer was called with what."""
    CORE.around(keras.Layer, "__call__", _remembering, why="losses ask predictions for their layer and its inputs")


def _remembering(before: Callable[..., Any], self: keras.Layer, *args: Any, **kwargs: Any) -> Any:
    if tf.executing_eagerly():
        return before(self, *args, **kwargs)
    made = Call(self, args[0] if args else next(iter(kwargs.values()), None))
    outputs = before(self, *args, **kwargs)
    made.output_tensors = keras.tree.flatten(outputs)
    calls = _calls_of(tf.compat.v1.get_default_graph())
    calls[self] = made
    if isinstance(self, keras.Model):  # what it returns is what its last layer returned; its inputs are no calls
        for symbol, value in zip(getattr(self, "inputs", None) or [], made.input_tensors, strict=False):
            given = Call(symbol, None)
            given.output_tensors = [value]
            calls[symbolic_history(symbol)[0]] = given  # type: ignore[index]
        return outputs
    for output in made.output_tensors:
        if tf.is_symbolic_tensor(output):
            output._parallel_compat_call = made
    return outputs


def _calls_of(graph: Any) -> dict[Any, Call]:
    if not hasattr(graph, _CALLS):
        setattr(graph, _CALLS, {})
    found: dict[Any, Call] = getattr(graph, _CALLS)
    return found


def call_of(tensor: Any) -> Call | None:
    """Return the call of a layer that returned a tensor of a graph, if there is one."""
    found: Call | None = getattr(tensor, "_parallel_compat_call", None)
    return found


def last_call(layer: Any) -> Call | None:
    """Return the last call of a layer in the graph that is traced, or in one around it, if there is one."""
    return next((_calls_of(each)[layer] for each in call_context.traced_graphs() if layer in _calls_of(each)), None)


def value_in_graph(tensor: keras.KerasTensor) -> Any:
    """Return what a symbolic tensor is in the graph that is traced; None where its layer was not called there."""
    history = symbolic_history(tensor)
    call = None if history is None or number_of_calls(history[0]) != 1 else last_call(history[0])
    return None if history is None or call is None else call.output_tensors[history[2]]


def number_of_calls(layer: Any) -> int:
    """Return how often a layer was called on symbolic tensors."""
    return len(layer._inbound_nodes)
