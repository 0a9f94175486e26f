"""Numbers that a script adds to a layer outside of its calls: `layer.add_loss(1)`, `layer.add_update(0, inputs=x)`.

In a graph of Keras 2 a loss was anything that could be added up. Here a number is part of the loss whenever the layer
is called, once for each pass of its model, and so is what a function without arguments gives then, as tf.keras had it
(`model.add_loss(lambda: ...)`): also one that computes a tensor of weights anew. What is added after `compile` counts
from the next one on. An update that is a number changes nothing; it is listed as it was.
"""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any

import keras

from parallel_compat.backend import keras3
from parallel_compat.backend.keras3 import call_context

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

_LOSSES = "_parallel_compat_numbers_as_losses"
_UPDATES = "_parallel_compat_numbers_as_updates"
_AT_COMPILE = "_parallel_compat_numbers_at_compile"  # on a model: how many losses each layer in it had


def keep_losses(layer: Any, numbers: Sequence[float | Callable[[], Any]], inputs: Any = None) -> None:
    """Add numbers to the losses of a layer.

    Args:
        layer: the layer.
        numbers: the losses; functions are called in each pass.
        inputs: what a graph took them to depend on.
    """
    kept = vars(layer).get(_LOSSES)
    if kept is None:
        kept = vars(layer)[_LOSSES] = []
        _add_in_calls(layer, kept)
    kept.extend((number, inputs) for number in numbers)


def keep_updates(layer: Any, numbers: Sequence[float], inputs: Any = None) -> None:
    """List numbers among the updates of a layer.

    Args:
        layer: the layer.
        numbers: the updates.
        inputs: what a graph took them to depend on.
    """
    vars(layer).setdefault(_UPDATES, []).extend((number, inputs) for number in numbers)


def losses(layer: Any) -> list[Any]:
    """Return the pairs (number, inputs) that were added to a layer and the layers in it as losses."""
    kept = [pair for each in keras3.all_layers(layer) for pair in vars(each).get(_LOSSES, ())]
    return [(_number(each), inputs) for each, inputs in kept]


def updates(layer: Any) -> list[Any]:
    """Return the pairs (number, inputs) that were added to a layer and the layers in it as updates."""
    return [pair for each in keras3.all_layers(layer) for pair in vars(each).get(_UPDATES, ())]


def are_for(inputs: Any, given: Any) -> bool:
    """Say whether what was added for some inputs is asked for by `get_losses_for(given)`."""
    if inputs is None or given is None:
        return inputs is given
    return any(x is y for x in keras.tree.flatten(inputs) for y in keras.tree.flatten(given))


def settle_losses(model: keras.Model, settled: bool) -> None:
    """Let a model train with the losses that its layers have now, until the next `compile`.

    Those that a layer adds which is not built yet are part of it.

    Args:
        model: a model that is compiled.
        settled: False for all that there are when it trains.
    """
    built = [each for each in keras3.all_layers(model) if each.built] if settled else []
    vars(model)[_AT_COMPILE] = {id(each): len(vars(each).get(_LOSSES, ())) for each in built}


def _number(kept: Any) -> Any:
    return kept() if callable(kept) else kept


def _add_in_calls(layer: Any, kept: list[tuple[Any, Any]]) -> None:
    inner = layer.call
    last: Any = None

    @functools.wraps(inner)
    def call(*given: Any, **keywords: Any) -> Any:
        nonlocal last
        outputs = inner(*given, **keywords)
        if last is None or call_context.outermost() is not last:
            last = call_context.outermost()
            called = call_context.outermost_layer()
            settled = {} if called is None else vars(called).get(_AT_COMPILE, {})
            for number, _ in kept[: settled.get(id(layer))]:
                keras.layers.Layer.add_loss(layer, keras.ops.convert_to_tensor(_number(number), keras.config.floatx()))
        return outputs

    vars(layer)["call"] = call  # past `__setattr__`
