"""The order of a layer's weights as its era had it, for `weights`, `get_weights` and `set_weights`.

Keras 3 goes layer by layer, to the innermost. In Keras 2.2.4 a model's `get_weights` went through its own layers, and
each of them, a nested model too, gave its trainable weights first and the others after them (`keras/engine/network.py`,
`base_layer.py`). `tf.keras` went through a nested model layer by layer, but took the trainable weights of any other
layer and of the layers in it first; the layers in a list of a model were one layer. Files are written in Keras 3's
order all the same, but where a model of Keras 2.2.4 is frozen as a whole.
"""

from __future__ import annotations

import operator
from typing import TYPE_CHECKING, Any

import keras
import numpy as np

from parallel_compat.backend import keras3
from parallel_compat.legacy import listed_weights, own_trainable
from parallel_compat.names.eras import Era

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence


def trainable_weights(layer: keras.Layer) -> list[keras.Variable]:
    """Return what Keras 2.2.4's `layer.trainable_weights` did, of a class that has no other."""
    return _unique(_split_as_layer(layer, Era.KERAS_2_2_4)[0])


def non_trainable_weights(layer: keras.Layer) -> list[keras.Variable]:
    """Return what Keras 2.2.4's `layer.non_trainable_weights` did, of a class that has no other."""
    return _unique(_split_as_layer(layer, Era.KERAS_2_2_4)[1])


def weights(layer: keras.Layer, era: Era) -> list[keras.Variable]:
    """Return `layer.weights` in the order of an era.

    Args:
        layer: a layer or a model.
        era: the era.
    """
    if isinstance(layer, keras.Model) and not era.is_standalone:
        # TensorFlow 1.15 listed those of a layer twice that is in the model and in a list or another model in it.
        twice = era is Era.TF_KERAS_1_15
        groups = keras3.layers_by_attribute(layer, repeated=twice)
        listed = [weight for group, held in groups for weight in _of_group(group, held, era)]
        listed += [weight for own in keras3.own_weights(layer) for weight in own]
        return listed if twice else _unique(listed)
    trainable, others = _split(layer, era)
    return _unique([*trainable, *others])


def _of_group(layers: list[keras.Layer], held: bool, era: Era) -> list[keras.Variable]:
    """Return the weights of a layer, or of those that a list or dict held, which made one layer of them."""
    if not held:
        return [weight for layer in layers for weight in weights(layer, era)]
    parts = [_split(layer, era) for layer in layers]
    return [weight for kind in (0, 1) for part in parts for weight in part[kind]]


def of_get_weights(layer: keras.Layer, era: Era) -> list[keras.Variable]:
    """Return the weights whose values `layer.get_weights()` returned, in its order.

    Args:
        layer: a layer or a model.
        era: the era.
    """
    if era.is_standalone:
        if isinstance(layer, keras.Model):
            return _unique(weight for inner in keras3.layers_of(layer) for weight in weights(inner, era))
        if isinstance(layer, keras.layers.Bidirectional):
            both = (layer.forward_layer, layer.backward_layer)
            return _unique(weight for inner in both for weight in of_get_weights(inner, era))
        if isinstance(layer, keras.layers.Wrapper):
            return of_get_weights(layer.layer, era)
    return weights(layer, era)


def get_weights(layer: keras.Layer, era: Era) -> list[Any]:
    """Return the values of a layer's weights in the order of an era."""
    return [weight.numpy() for weight in of_get_weights(layer, era)]


def count_params(layer: keras.Layer, era: Era) -> int:
    """Return how many numbers a layer's `weights` hold, as an era counted them."""
    return sum(int(np.prod(weight.shape)) for weight in weights(layer, era))


def set_weights(original: Callable[..., None], layer: keras.Layer, era: Era, values: Sequence[Any]) -> None:
    """Set a layer's weights to values in the order of an era.

    Args:
        original: Keras 3's `set_weights`.
        layer: a layer or a model.
        era: the era.
        values: as many arrays as there are weights.
    """
    if era.is_standalone and isinstance(layer, keras.layers.Wrapper):
        inner = getattr(layer, "layer", None)
        if inner is not None and not isinstance(layer, keras.layers.Bidirectional):
            set_weights(original, inner, era, values)  # and nothing else that a wrapper of the user's holds
            return
    given = [np.asarray(value) for value in values]
    of_era = of_get_weights(layer, era)
    if not of_era and era.is_standalone and isinstance(layer, keras.Model) and not layer.built:
        return  # it gave to each layer as many as that had: none so far
    if len(given) == len(of_era):
        by_weight = {id(weight): value for weight, value in zip(of_era, given, strict=True)}
        given = [by_weight[id(weight)] for weight in keras3.all_weights(layer)]
    original(layer, given)


def _split(layer: keras.Layer, era: Era) -> tuple[list[keras.Variable], list[keras.Variable]]:
    """Return the trainable weights of a layer and the others, as its class, its own flags and those inside it say."""
    if listed_weights.lists_its_own(type(layer)):
        return list(layer.trainable_weights), list(layer.non_trainable_weights)
    return _split_as_layer(layer, era)


def _split_as_layer(layer: keras.Layer, era: Era) -> tuple[list[keras.Variable], list[keras.Variable]]:
    trained_here, others_here = keras3.own_weights(layer)
    trainable, others = list(trained_here), list(others_here)
    for inner in keras3.layers_of(layer):
        of_inner = _split(inner, era)
        trainable += of_inner[0]
        others += of_inner[1]
    if own_trainable.own(layer, operator.attrgetter("trainable")):
        return trainable, others
    if era.is_standalone and own_trainable.is_of_directions(layer):
        return trainable, others
    if not era.is_standalone and keras3.layers_of(layer):
        # The weights of what it is made of came as each of them had them.
        return [], [*trained_here, *others_here, *(w for each in keras3.layers_of(layer) for w in weights(each, era))]
    return [], [*trainable, *others]


def _unique(weights: Iterable[keras.Variable]) -> list[keras.Variable]:
    return list({id(weight): weight for weight in weights}.values())
