"""Tensors that a layer's `call` keeps on the layer for the next time. Read in Keras 3.15.1.

A graph ran `call` once, so `if self._dropout_mask is None: self._dropout_mask = ...` made the mask of every step. Here
`call` is traced for each function that needs it, and a tensor of another trace cannot be used: the layer begins each
trace with what it had before its first one.
"""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any

import keras
import tensorflow as tf

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

_BEFORE = "_parallel_compat_before_calls"
_ADDED = "_parallel_compat_added_after_calls"
_MISSING = object()


def patch_points(is_in_graph: Callable[[Any], bool]) -> Iterator[tuple[Any, str, Callable[[Any], Any]]]:
    """Yield where a layer is called: (owner, attribute, a function from what stands there to what shall).

    Args:
        is_in_graph: says whether a layer's `call` was run once for each place in the graph.
    """

    def wrap(original: Any) -> Any:
        def __call__(self: Any, *args: Any, **kwargs: Any) -> Any:
            if not _calls_itself(self.__class__) or not is_in_graph(self):
                return original(self, *args, **kwargs)
            own = vars(self)
            kept: dict[str, Any] = own.get(_BEFORE, {})
            if kept:
                alive = _graphs_around()
                for name, before in kept.items():
                    if any(_is_of_a_graph(each) and each.graph not in alive for each in _flat(own.get(name))):
                        if before is _MISSING:
                            own.pop(name, None)
                        else:
                            own[name] = before
            first = dict(own)
            outputs = original(self, *args, **kwargs)
            for name, value in list(own.items()):
                if value is not first.get(name, _MISSING) and any(map(_is_of_a_graph, _flat(value))):
                    own.setdefault(_BEFORE, {}).setdefault(name, first.get(name, _MISSING))
            for name in own.get(_ADDED, ()):
                _add_in_the_place_of_the_last(self, name)
            return outputs

        return __call__

    yield keras.layers.Layer, "__call__", wrap


def add_loss_of_calls(layer: keras.layers.Layer, loss: Any) -> bool:
    """Have a layer add a loss whenever it has been called, if the loss is a tensor that its call kept on it.

    A graph had the tensor of the last call: so each call of a pass takes the place of the one before it.

    Args:
        layer: the layer.
        loss: what is added to it outside of its calls.

    Returns:
        Whether it is such a tensor.
    """
    kept = vars(layer).get(_BEFORE, {})
    name = next((name for name in kept if vars(layer).get(name) is loss), None)
    if name is None:
        return False
    vars(layer).setdefault(_ADDED, {})[name] = None
    return True


def is_of_another_graph(value: Any) -> bool:
    """Whether a tensor belongs to a graph that nothing is added to here: one of a layer's call that has ended."""
    return _is_of_a_graph(value) and value.graph not in _graphs_around()


def _add_in_the_place_of_the_last(layer: keras.layers.Layer, name: str) -> None:
    added = vars(layer)[_ADDED]
    layer._losses[:] = [each for each in layer._losses if each is not added[name]]
    added[name] = vars(layer)[name]
    keras.layers.Layer.add_loss(layer, added[name])


@functools.cache
def _calls_itself(kind: type) -> bool:
    owner = next(each for each in kind.__mro__ if "call" in vars(each))
    return not owner.__module__.startswith(("keras.", "parallel_compat."))


def outermost_trace() -> Any:
    """Return the graph of the outermost function that is traced, in whose graph those of loops in it are."""
    traced = [graph for graph in _graphs_around() if hasattr(graph, "outer_graph")]
    return traced[-1] if traced else tf.compat.v1.get_default_graph()


def _graphs_around() -> list[Any]:
    graphs, graph = [], tf.compat.v1.get_default_graph()
    while graph is not None:
        graphs.append(graph)
        graph = getattr(graph, "outer_graph", None)
    return graphs


def _is_of_a_graph(value: Any) -> bool:
    return isinstance(value, tf.Tensor) and not hasattr(value, "numpy")


def _flat(value: Any) -> list[Any]:
    return list(value) if isinstance(value, (list, tuple)) else [value]
