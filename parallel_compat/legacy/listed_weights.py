"""Layers of a class that says itself which weights it has, by a `trainable_weights` of its own.

A layer that held others in Keras 2.2.4, a list of attention heads for example, listed their weights in that property,
and a model had and trained what it listed. Keras 3 asks no property: it takes the weights of the layers that it finds
on attributes, the pattern that the heads were copied from too.
"""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any

import keras

from parallel_compat.backend import keras3
from parallel_compat.names.eras import Era
from parallel_compat.run import object_eras

if TYPE_CHECKING:
    from collections.abc import Callable


def lists_its_own(kind: type) -> bool:
    """Say whether a class of the user's says which weights its layers have.

    Args:
        kind: the class of a layer.
    """
    return any("trainable_weights" in vars(each) for each in kind.__mro__ if not each.__module__.startswith("keras."))


def call(original: Callable[..., Any]) -> Callable[..., Any]:
    """Wrap `Layer.__call__`: with the call that builds it, a layer has the layers whose weights it lists."""

    @functools.wraps(original)
    def __call__(self: Any, *given: Any, **keywords: Any) -> Any:
        was_built = self.built
        result = original(self, *given, **keywords)
        if was_built or isinstance(self, keras.Model) or not lists_its_own(type(self)):
            return result
        if object_eras.era_of_object(self) is not Era.TODAY:
            keras3.give_up(self, _not_listed(self))
        return result

    return __call__


def _not_listed(layer: keras.Layer) -> list[keras.Layer]:
    listed = {id(weight) for weight in (*layer.trainable_weights, *layer.non_trainable_weights)}
    held = [(each, each.trainable_weights or each.weights) for each in keras3.layers_of(layer)]
    return [each for each, weights in held if weights and all(id(weight) not in listed for weight in weights)]
