"""Which weights a layer trains: those that layers lead to each of which says that it is trainable.

Keras 3 keeps a flag with each weight, which whoever was set last has written. In the eras the flags were those of
layers alone: a `tf.keras` model that was frozen trained nothing, whatever was thawed inside afterwards
(`base.trainable = False; base.layers[-1].trainable = True`), and a layer that was frozen let a copy of it train, which
has the same weights.
"""

from __future__ import annotations

import operator
from typing import TYPE_CHECKING

from parallel_compat.backend import keras3
from parallel_compat.legacy import listed_weights, own_trainable, weight_order
from parallel_compat.names.eras import Era

if TYPE_CHECKING:
    from collections.abc import Iterator

    import keras

_flag = operator.attrgetter("trainable")  # of a name, which a class that answers each attribute does not take


def trainable_weights(layer: keras.Layer, era: Era) -> list[keras.Variable]:
    """Return the weights that a layer trains, in Keras 3's order.

    Args:
        layer: a layer or a model.
        era: whose flags count.
    """
    reached = _reached_weights(layer, era)
    return [weight for weight in keras3.all_weights(layer) if id(weight) in reached]


def non_trainable_weights(layer: keras.Layer, era: Era) -> list[keras.Variable]:
    """Return the other weights of a layer; where metrics are held, those of these among them, in tf.keras's order."""
    if weight_order.have_metrics(layer, era):
        return weight_order.by_kind(layer, era)[1]
    reached = _reached_weights(layer, era)
    return [weight for weight in keras3.all_weights(layer) if id(weight) not in reached]


def settle(model: keras.Layer, era: Era) -> None:
    """Let the flags of a model's weights, which Keras 3 trains by, say what those of its layers do.

    Args:
        model: a model that is about to be compiled.
        era: whose flags count.
    """
    reached = _reached_weights(model, era)
    for layer in keras3.all_layers(model):
        if listed_weights.lists_its_own(type(layer)):
            continue
        for weight in keras3.own_weights(layer)[0]:
            if weight.trainable is not (id(weight) in reached):
                weight.trainable = id(weight) in reached


def leads_to(layer: keras.Layer, inner: keras.Layer) -> bool:
    """Say whether trainable layers alone lead from a layer to one inside; of one that is not inside, True.

    Args:
        layer: a layer or a model of tf.keras.
        inner: the layer.
    """
    if any(each is inner for each in _reached(layer, Era.TF_KERAS_2_2)):
        return True
    return all(each is not inner for each in keras3.all_layers(layer))


def _reached(layer: keras.Layer, era: Era) -> Iterator[keras.Layer]:
    """Yield a layer and the layers inside that trainable ones lead to."""
    of_then = era.is_standalone
    if own_trainable.own(layer, _flag) if of_then else _flag(layer):
        yield layer
    elif not (of_then and own_trainable.is_of_directions(layer)):
        return
    for inner in keras3.layers_of(layer):
        yield from _reached(inner, era)


def _reached_weights(layer: keras.Layer, era: Era) -> set[int]:
    found = set()
    for each in _reached(layer, era):
        if listed_weights.lists_its_own(type(each)):
            found |= {id(weight) for weight in keras3.all_weights(each) if weight.trainable}
        else:
            found |= {id(weight) for weight in keras3.own_weights(each)[0]}
    return found
