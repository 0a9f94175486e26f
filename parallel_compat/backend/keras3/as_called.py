"""Attributes of layers as they were when a layer was called. Read in Keras 3.15.1.

A layer of a graph of TensorFlow 1 was computed once, when it was called: `layer.activation = linear` or
`normalization.momentum = 0.9` afterwards were in what was called next, and in nothing that was there. Keras 3 calls the
layers of a functional model again whenever a step is traced, which would then have what the layer has by that time.
Here each node is computed with the attributes of the time when it was made; a model that is called is one node, which
was computed anew with all its layers.
"""

from __future__ import annotations

import contextlib
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any

import keras
from keras.src.backend.common import global_state
from keras.src.ops.function import Function
from keras.src.ops.node import Node

from parallel_compat.context_variables import set_within

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

_CHANGES = "_parallel_compat_changes"  # on a layer: (when, name, what the attribute was), the first one first
_MADE = "_parallel_compat_made"  # on a node: when
_time = 0  # how many attributes of layers that had been called were set until now
_as_of: ContextVar[int | None] = ContextVar("as_of", default=None)


def note_change(layer: keras.Layer, name: str) -> None:
    """Note that an attribute of a layer is about to be set, if the layer has been called and the value can be kept.

    Args:
        layer: a layer whose calls were computed once.
        name: the attribute.
    """
    global _time
    held = vars(layer)
    if name.startswith("_") or name not in held or not held.get("_inbound_nodes") or not _is_plain(held[name]):
        return
    if global_state.get_global_attribute("current_call_ctx") is not None:  # `call` keeps what it computes
        return
    _time += 1
    held.setdefault(_CHANGES, []).append((_time, name, held[name]))


def points() -> Iterator[tuple[Any, str, Callable[[Any], Any]]]:
    """Yield where nodes are made (`Node.__init__`) and computed (`Function._get_operation_for_node`)."""

    def wrap_init(original: Any) -> Any:
        def __init__(self: Any, *given: Any, **keywords: Any) -> None:
            original(self, *given, **keywords)
            if _time:
                vars(self)[_MADE] = _time

        return __init__

    def wrap_operation(original: Any) -> Any:
        def _get_operation_for_node(self: Any, node: Any) -> Any:
            operation = original(self, node)
            if not _time or not isinstance(operation, keras.layers.Layer) or not any(_changed(operation)):
                return operation
            return _AsCalled(operation, vars(node).get(_MADE, 0))

        return _get_operation_for_node

    yield Node, "__init__", wrap_init
    yield Function, "_get_operation_for_node", wrap_operation


def call_as_of_now(model: keras.Model) -> None:
    """Let all layers of a model be called with the attributes that they have now.

    Args:
        model: a parallel model, which is called as its template was when it was made.
    """
    if not _time:
        return
    inner, made = vars(model).get("call", model.call), _time

    def call(inputs: Any, *given: Any, **keywords: Any) -> Any:
        with _in_time(made):
            return inner(inputs, *given, **keywords)

    vars(model)["call"] = call  # past `__setattr__`, which would track layers


class _AsCalled:
    """A layer that is called with the attributes of a time.

    Args:
        layer: the layer.
        made: when its node was made.
    """

    def __init__(self, layer: keras.Layer, made: int) -> None:
        self._of_layer = layer
        self._made = made

    def __getattr__(self, name: str) -> Any:
        return getattr(self._of_layer, name)

    def __call__(self, *given: Any, **keywords: Any) -> Any:
        outermost = _as_of.get()
        made = self._made if outermost is None else outermost
        with _in_time(made), contextlib.ExitStack() as changed:
            for layer in _changed(self._of_layer):
                changed.enter_context(_attributes(layer, made))
            return self._of_layer(*given, **keywords)


def _changed(layer: keras.Layer) -> Iterator[keras.Layer]:
    return (each for each in layer._flatten_layers() if _CHANGES in vars(each))


def _in_time(made: int) -> contextlib.AbstractContextManager[None]:
    return set_within(_as_of, made)


@contextlib.contextmanager
def _attributes(layer: keras.Layer, made: int) -> Iterator[None]:
    held = vars(layer)
    then: dict[str, Any] = {}
    for when, name, value in held[_CHANGES]:
        if when > made:
            then.setdefault(name, value)
    now = {name: held[name] for name in then}
    held.update(then)
    try:
        yield
    finally:
        held.update(now)


def _is_plain(value: Any) -> bool:
    if isinstance(value, (keras.Variable, keras.KerasTensor, keras.layers.Layer)):
        return False
    return value is None or isinstance(value, (bool, int, float, str, tuple)) or callable(value)
