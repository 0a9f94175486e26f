"""Tensors that a layer's `build` computes of its weights: computed anew when they are used. Read in Keras 3.15.1.

`self.kernel_i = self.kernel[:, :units]` was an operation of the graph, which gave the part of the weights of the day:
the recurrent cells of Keras 2 were written so, and everybody's that were copied from them. Here `build` runs on
numbers, also where a layer within another one is built while that one is traced: how a number was computed of
weights is noted on it (`numbers_of_variables`), where a tensor of that trace would end with it.
"""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any

import keras
import tensorflow as tf

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


def patch_points(is_in_graph: Callable[[Any], bool]) -> Iterator[tuple[Any, str, Callable[[Any], Any]]]:
    """Yield where a layer's `build` is run: (owner, attribute, a function from what stands there to what shall).

    Args:
        is_in_graph: says of a layer whether it is the user's, and `build` was run in a graph.
    """

    def wrap(original: Any) -> Any:
        make = original.__func__

        @functools.wraps(make)
        def __new__(cls: Any, *args: Any, **kwargs: Any) -> Any:
            layer = make(cls, *args, **kwargs)
            if _builds_itself(cls):
                vars(layer)["build"] = _on_numbers(layer, layer.build, is_in_graph)
            return layer

        return staticmethod(__new__)

    yield keras.layers.Layer, "__new__", wrap


@functools.cache
def _builds_itself(kind: type) -> bool:
    owner = next(each for each in kind.__mro__ if "build" in vars(each))
    return not owner.__module__.startswith("keras.")


def _on_numbers(layer: Any, build: Callable[..., Any], is_in_graph: Callable[[Any], bool]) -> Callable[..., Any]:
    @functools.wraps(build)
    def build_on_numbers(*args: Any, **kwargs: Any) -> Any:
        if not is_in_graph(layer):
            return build(*args, **kwargs)
        with tf.init_scope():
            return build(*args, **kwargs)

    return build_on_numbers
