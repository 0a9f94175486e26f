"""Tensors that a program keeps of the graph of a step: `self.lr_t = lr * ...` in an optimizer's `get_updates`.

In TensorFlow 1 there was one graph, in which they could be asked for at any time. Read in TensorFlow 2.21.
"""

from __future__ import annotations

from typing import Any

import tensorflow as tf
from tensorflow.python.framework.func_graph import FuncGraph


class _OfStepAloneError(Exception):
    """The tensor depends on the batch of its step, or on what may be done once alone."""


def value_now(tensor: Any) -> Any:
    """Compute a tensor of a step that has been traced anew, from what its variables are now.

    Nothing is assigned by that, also where the step assigned before it computed the tensor.

    Args:
        tensor: any.

    Returns:
        Its value; the tensor itself where it is none of a step, or one that the step alone can compute.
    """
    graph = getattr(tensor, "graph", None) if tf.executing_eagerly() and isinstance(tensor, tf.Tensor) else None
    if not isinstance(graph, FuncGraph):
        return tensor
    captured = {id(internal): external for external, internal in graph.captures}
    try:
        return tf.function(lambda: _again(tensor, captured, {}), autograph=False).get_concrete_function()()
    except _OfStepAloneError:
        return tensor


def _again(tensor: Any, captured: dict[int, Any], done: dict[int, Any]) -> Any:
    """Compute a tensor in the graph that is being traced, without what its operation had to wait for."""
    here, operation = tf.compat.v1.get_default_graph(), tensor.op
    if id(tensor) in captured:
        return here.capture(captured[id(tensor)])
    if operation.type == "Placeholder" or (operation.op_def.is_stateful and operation.type != "ReadVariableOp"):
        raise _OfStepAloneError
    if id(operation) not in done:
        inputs = [_again(each, captured, done) for each in operation.inputs]
        done[id(operation)] = here.create_op(
            operation.type, inputs, [each.dtype for each in operation.outputs], attrs=dict(operation.node_def.attr)
        )
    return done[id(operation)].outputs[tensor.value_index]
