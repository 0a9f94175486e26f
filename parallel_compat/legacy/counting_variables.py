"""Variables that a loss or a layer's `call` of a graph makes and assigns: `seen = tf.Variable(0.)` counts the steps.

A graph ran such code once for each place that it was called from, and the variable was there from then on. Here the
code runs whenever a function is traced: the variable is the one that the same place made in another trace.
"""

from __future__ import annotations

import collections
import weakref
from typing import TYPE_CHECKING, Any

import keras
import tensorflow as tf

from parallel_compat.backend.keras3.layers import asks_for_shapes

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import CodeType, FrameType

# Of a layer, or a loss as it was compiled: the variables and values that a line made, in their order within a trace.
_made: weakref.WeakKeyDictionary[Any, dict[Any, list[Any]]] = weakref.WeakKeyDictionary()
# Of a trace: how many of them each line has made.
_counts: weakref.WeakKeyDictionary[Any, collections.Counter[Any]] = weakref.WeakKeyDictionary()


def variable_of_place(frame: FrameType, given: tuple[Any, ...], keywords: dict[str, Any]) -> tf.Variable | None:
    """Return the variable that a line of a loss or of a `call` made when it was traced first; None where it is neither.

    Args:
        frame: that of the user's code that makes it.
        given: what `tf.Variable` was given.
        keywords: by their names.
    """
    if not _assigns(frame.f_code):
        return None
    found: tf.Variable | None = value_of_place(frame, lambda: tf.Variable(*given, **{**keywords, "trainable": False}))
    return found


def value_of_place(frame: FrameType, make: Callable[[], Any]) -> Any:
    """Return what a line of a loss or of a `call` made when it was traced first; None where it is neither.

    Args:
        frame: that of the user's code.
        make: makes it, outside of the trace.
    """
    owner = _owner(frame)
    if owner is None:
        return None
    if asks_for_shapes():  # no step, and on no device
        with tf.init_scope():
            return make()
    graph = tf.compat.v1.get_default_graph()
    while getattr(graph, "outer_graph", None) is not None and hasattr(graph.outer_graph, "outer_graph"):
        graph = graph.outer_graph
    place = (id(owner), frame.f_code, frame.f_lasti)
    count = _counts.setdefault(graph, collections.Counter())
    values = _made.setdefault(owner, {}).setdefault(place, [])
    nth = count[place]
    count[place] += 1
    if nth == len(values):
        with tf.init_scope():
            values.append(make())
    return values[nth]


def _owner(frame: FrameType | None) -> Any:
    """Return the layer, or the loss of a compiled model, whose method is nearest on the stack."""
    while frame is not None:
        if frame.f_code.co_argcount:
            first = frame.f_locals.get(frame.f_code.co_varnames[0])
            if isinstance(first, (keras.layers.Layer, keras.losses.Loss)):
                return first
        frame = frame.f_back
    return None


def _assigns(code: CodeType) -> bool:
    inner = (each for each in code.co_consts if hasattr(each, "co_names"))
    return bool({"assign", "assign_add", "assign_sub"} & set(code.co_names)) or any(map(_assigns, inner))
