"""The names by which a checkpoint of `tf.keras` reached the variables of a model.

Read in Keras 3.15.1 and TensorFlow 2.21.

A layer of Keras 3 leaves out the layers in its lists, and names a kernel `_kernel`.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator
from typing import Any

import keras
import tensorflow as tf

_Trackable: Any = tf.__internal__.tracking.Trackable


class _Container:
    """A list or dict of what is saved."""

    def __init__(self, children: dict[str, Any]) -> None:
        self.children = children


def children(layer: keras.layers.Layer) -> dict[str, Any]:
    """Return what is saved with a layer, as `tf.keras` of TensorFlow 2.2 named it.

    >>> sorted(children(keras.Sequential([keras.Input((3,)), keras.layers.Dense(2)])))
    ['layer-0', 'layer_with_weights-0']
    """
    found: dict[str, Any] = {}
    if isinstance(layer, keras.Model) and getattr(layer, "inputs", None) is not None:
        with_weights = [part for part in layer.layers if part.weights]
        found.update((f"layer_with_weights-{number}", part) for number, part in enumerate(with_weights))
        found.update((f"layer-{number}", part) for number, part in enumerate(layer.layers))
    parts = layer._layers
    inner = {id(weight) for part in parts for weight in part.weights}
    own = [weight for weight in layer.weights if id(weight) not in inner and weight._value is not None]
    found.update((weight.name.rpartition("/")[2], weight) for weight in own)
    private = _names_of_keras()
    for name, value in vars(layer).items():
        # What TensorFlow and this package note; Keras has a variable `_kernel` by its property `kernel`.
        of_others = name in private or name.startswith(("_self_", "_parallel_compat_"))
        # A stateful layer's states were no part of a checkpoint: a model for another batch size takes its weights.
        of_others = of_others or (name == "states" and isinstance(layer, keras.layers.RNN))
        if not of_others and not (name.startswith("_") and isinstance(value, keras.Variable)):
            _add(found, name, value)
    return found


def variables(layer: keras.layers.Layer) -> Iterator[tuple[tuple[str, ...], Any]]:
    """Yield each variable of a layer, with the way to it that a checkpoint names it by: the shortest one."""
    seen: set[int] = set()
    waiting: list[tuple[tuple[str, ...], Any]] = [((), layer)]
    for way, one in waiting:
        held = getattr(one, "_value", one) if isinstance(one, keras.Variable) else one
        if id(held) in seen:
            continue
        seen.add(id(held))
        if isinstance(one, (keras.Variable, tf.Variable)):
            yield way, one
        elif isinstance(one, (keras.layers.Layer, _Container)):
            parts = one.children if isinstance(one, _Container) else children(one)
            waiting += [((*way, name), part) for name, part in parts.items()]


def _add(found: dict[str, Any], name: str, value: Any) -> None:
    if isinstance(value, _Trackable) and not isinstance(value, (list, tuple, dict)):
        if not (isinstance(value, keras.Variable) and value._value is None):
            found[name] = value
    elif isinstance(value, (list, tuple, dict)):
        parts: dict[str, Any] = {}
        for key, part in value.items() if isinstance(value, dict) else enumerate(value):
            _add(parts, str(key), part)
        if parts:
            found[name] = _Container(parts)


@functools.cache
def _names_of_keras() -> frozenset[str]:
    """Return the names that Keras gives what it keeps in any layer or model."""
    # Named, for a script's next model is numbered by those without a name.
    sequential = keras.Sequential([keras.Input((1,), name="any_input")], name="any_sequential")
    made = (keras.layers.Layer(name="any_layer"), keras.Model(name="any_model"), sequential)
    names = {name for each in made for name in vars(each)}
    return frozenset(names | {"train_function", "test_function", "predict_function"})
