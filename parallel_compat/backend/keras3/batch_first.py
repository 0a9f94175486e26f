"""A step of training that changes nothing before its batch is there. Read in Keras 3.15.1 on TensorFlow 2.21.

`fit` asks a data set of unknown length (`from_generator`, `filter`) for one batch more than it has, and runs its step
on what it is given. TensorFlow runs what needs no batch meanwhile: Keras 3 counts the step in `optimizer.iterations`
and draws from its seeds, so that each epoch counts one step more than it made, and Adam, `decay` and schedules go wrong
from the second one on. TensorFlow 1 and tf.keras 2.2 counted after the gradients were applied.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import tensorflow as tf

# Operations that change a variable, or may: no others wait, since a control edge costs time wherever there is one.
_CHANGING = frozenset(
    {"AssignVariableOp", "AssignAddVariableOp", "AssignSubVariableOp", "If", "While", "StatefulPartitionedCall"}
)


def after_its_batch(step: Callable[..., Any]) -> Callable[..., Any]:
    """Return a step that changes variables only once the batch is there on which it is called."""

    @functools.wraps(step)
    def waiting(data: Any) -> Any:
        if tf.executing_eagerly():
            return step(data)
        graph = tf.compat.v1.get_default_graph()
        first = len(graph.get_operations())
        result = step(data)
        batch = [each.op for each in tf.nest.flatten(data, expand_composites=True) if isinstance(each, tf.Tensor)]
        for operation in graph.get_operations()[first:]:
            if operation.type in _CHANGING:
                operation._add_control_inputs(batch)
        return result

    return waiting
