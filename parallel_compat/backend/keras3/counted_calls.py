"""What a layer counts in its own `call`, for each of its calls in a graph. Read in Keras 3.15.1.

A graph ran `call` once for each place of a layer in it. Here it runs when the layer is called on symbolic tensors, once
more to build what it holds (`Layer._maybe_build`), and in each pass of the model: `self.level += 1` goes on counting.
Each place begins with the numbers it once began with.
"""

from __future__ import annotations

import dis
import functools
from typing import TYPE_CHECKING, Any

import keras
from keras.src.utils.python_utils import is_default

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


_BEGAN = "_parallel_compat_began_with"


def patch_points(in_a_graph: Callable[[Any], bool]) -> Iterator[tuple[Any, str, Callable[[Any], Any]]]:
    """Yield where a layer's `call` is run: (owner, attribute, a function from what stands there to what shall).

    Args:
        in_a_graph: says whether a layer's `call` was run once for each place in the graph.
    """

    def wrap_build(original: Any) -> Any:
        def _maybe_build(self: Any, call_spec: Any) -> None:
            if self.built or not _counts(self.__class__):
                original(self, call_spec)
                return
            before = _numbers(self)
            original(self, call_spec)
            if is_default(self.build):  # its `call` was run to build what it holds
                vars(self).update(before)

        return _maybe_build

    def wrap_symbolic_call(original: Any) -> Any:
        def symbolic_call(self: Any, *args: Any, **kwargs: Any) -> Any:
            if not _counts(self.__class__) or not in_a_graph(self):
                return original(self, *args, **kwargs)
            before, weights = _numbers(self), _own_weights(self)
            outputs = original(self, *args, **kwargs)
            now = vars(self)
            if _own_weights(self) == weights:
                now[_BEGAN] = {name: n for name, n in before.items() if now.get(name) != n}
            return outputs

        return symbolic_call

    def wrap_call(original: Any) -> Any:
        def __call__(self: Any, *args: Any, **kwargs: Any) -> Any:
            outputs = original(self, *args, **kwargs)
            if _counts(self.__class__):
                began = vars(self).pop(_BEGAN, None)
                if began:
                    begin_last_call_with(self, began)
            return outputs

        return __call__

    yield keras.layers.Layer, "_maybe_build", wrap_build
    yield keras.layers.Layer, "symbolic_call", wrap_symbolic_call
    yield keras.layers.Layer, "__call__", wrap_call


def begin_last_call_with(layer: Any, attributes: dict[str, Any]) -> None:
    """Set attributes of a layer whenever the place in a graph that it was last called at runs.

    Args:
        layer: the layer, which has just been called on symbolic tensors (`Node.arguments`, which a node asks for what
            its layer is called on just before it calls it).
        attributes: by their names.
    """
    arguments = layer._inbound_nodes[-1].arguments
    fill_in = arguments.fill_in

    def fill_in_and_set(values: Any) -> Any:
        vars(layer).update(attributes)
        return fill_in(values)

    arguments.fill_in = fill_in_and_set


@functools.cache
def _counts(kind: Any) -> bool:
    """Say whether a `call` that a class of layers has, not one of Keras's own, sets attributes."""
    calls = [vars(each).get("call") for each in kind.__mro__ if not each.__module__.startswith("keras.")]
    codes = [call.__code__ for call in calls if hasattr(call, "__code__")]
    return any(each.opname == "STORE_ATTR" for code in codes for each in dis.get_instructions(code))


def _numbers(layer: Any) -> dict[str, float]:
    held = vars(layer).items()
    return {name: value for name, value in held if type(value) in (int, float) and not name.startswith("_")}


def _own_weights(layer: Any) -> int:
    return len(layer._trainable_variables) + len(layer._non_trainable_variables)
