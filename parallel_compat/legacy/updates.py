"""Updates of variables, which Keras 2 collected while a layer was called and ran with each training step."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING, Any

import keras
import tensorflow as tf

from parallel_compat.backend.keras3 import call_context
from parallel_compat.legacy import kept_numbers
from parallel_compat.legacy.graph import Update, is_stateful
from parallel_compat.legacy.numbers.collected_updates import is_updated
from parallel_compat.run import object_eras

if TYPE_CHECKING:
    from collections.abc import Iterator

_PENDING = "_parallel_compat_pending_updates"


@contextlib.contextmanager
def assigned_after(layer: Any) -> Iterator[None]:
    """Let the pairs of `add_update` be assigned when the layer's call ends: Keras 2 assigned them after the outputs.

    What the call reads of a variable behind `add_update` is the value from before. In a graph of its own, which a
    call is traced in for its shapes, they are assigned at once.
    """
    pending: list[tuple[Any, Any]] = []
    before = vars(layer).get(_PENDING)
    vars(layer)[_PENDING] = (_graph(), pending)
    try:
        with call_context.in_call_of(layer):
            yield
    finally:
        vars(layer)[_PENDING] = before
    for variable, value in pending:
        variable.assign(value)


def _graph() -> Any:
    return None if tf.executing_eagerly() else tf.compat.v1.get_default_graph()


def add_update(layer: Any, updates: Any = None, inputs: Any = None) -> None:
    """Run updates with each training step of a layer whose `call` is running (`Layer.add_update`).

    Those of a layer that says `stateful = True` are run in `evaluate` and `predict` too.

    Args:
        layer: the layer; a frozen one that is not stateful is left alone.
        updates: pairs (variable, new value), which tf.keras did not assign, or functions; one or a list. What
            `K.update` returned in a call that trains has been assigned.
        inputs: not used: what an update depends on is what it was computed from.
    """
    numbers = [each for each in keras.tree.flatten(updates) if isinstance(each, (int, float))]
    if numbers and call_context.training() is None:
        kept_numbers.keep_updates(layer, numbers, inputs)
        return
    stateful = is_stateful(layer) and call_context.is_in_step()
    if updates is None or not (stateful or (call_context.training() is not False and is_updated(layer))):
        return
    for each in updates if isinstance(updates, list) else [updates]:
        if isinstance(each, Update):  # nothing but a stateful layer's has waited
            each.assign(each.value)
        elif isinstance(each, tuple) and len(each) == 2:
            if object_eras.era_of_object(layer).is_tf_keras:
                continue  # which made one tensor of both
            variable, value = each
            graph, pending = vars(layer).get(_PENDING) or (None, None)
            if pending is not None and graph is _graph():
                pending.append((variable, tf.cast(value, variable.dtype)))
            else:
                variable.assign(tf.cast(value, variable.dtype))
        elif callable(each) and not hasattr(each, "shape"):
            each()
