"""The order of a layer's weights as its era had it, for `weights`, `get_weights` and `set_weights`.

Keras 3 goes layer by layer, to the innermost. In Keras 2.2.4 a model's `get_weights` went through its own layers, and
each of them, a nested model too, gave its trainable weights first and the others after them (`keras/engine/network.py`,
`base_layer.py`). `tf.keras` went through a nested model layer by layer, but took the trainable weights of any other
layer and of the layers in it first; the layers in a list of a model were one layer. Files are written in Keras 3's
order all the same, but where a model of Keras 2.2.4 is frozen as a whole.

A metric was a layer in `tf.keras`: what it counts with stands among the weights of the layer or model that holds it on
an attribute, which train or not.
"""

from __future__ import annotations

import operator
from typing import TYPE_CHECKING, Any

import keras
import numpy as np

from parallel_compat.backend import keras3
from parallel_compat.backend.keras3.held_metrics import held_metrics, layers_with_own_metrics
from parallel_compat.backend.keras3.layers import is_of_graph, knows_its_input
from parallel_compat.legacy import listed_weights, own_trainable
from parallel_compat.legacy.layer_members import metric_weights
from parallel_compat.names.eras import Era

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence


def trainable_weights(layer: keras.Layer) -> list[keras.Variable]:
    """Return what Keras 2.2.4's `layer.trainable_weights` did, of a class that has no other."""
    return _unique(_split_as_layer(layer, Era.KERAS_2_2_4)[0])


def non_trainable_weights(layer: keras.Layer) -> list[keras.Variable]:
    """Return what Keras 2.2.4's `layer.non_trainable_weights` did, of a class that has no other."""
    return _unique(_split_as_layer(layer, Era.KERAS_2_2_4)[1])


def metrics_among_layers(layer: keras.Layer, era: Era) -> list[keras.metrics.Metric]:
    """Return the metrics on a layer's attributes that an era listed among the layers in it.

    TensorFlow 1.15 looked at no attribute of a functional or Sequential model, and 2.2 at none of a Sequential that did
    not know its input.

    Args:
        layer: a layer or a model.
        era: the era.
    """
    if not era.is_tf_keras:
        return []
    if is_of_graph(layer):
        sequential = isinstance(layer, keras.Sequential)
        if era is Era.TF_KERAS_1_15 or (sequential and not (layer.built and knows_its_input(layer))):
            return []
    return held_metrics(layer, in_tuples=era is not Era.TF_KERAS_1_15)


def have_metrics(layer: keras.Layer, era: Era) -> bool:
    """Say whether variables of metrics are among the weights that an era listed."""
    return era.is_tf_keras and any(metrics_among_layers(each, era) for each in layers_with_own_metrics(layer))


def layers_with_metrics(layer: keras.Layer, era: Era) -> list[Any]:
    """Return the layers that a layer is directly made of, and the metrics among them, where it holds such."""
    metrics = metrics_among_layers(layer, era)
    if not metrics:
        return keras3.layers_of(layer)
    return [each for group, _ in keras3.layers_by_attribute(layer, metrics=metrics) for each in group]


def weights(layer: Any, era: Era) -> list[keras.Variable]:
    """Return `layer.weights` in the order of an era.

    Args:
        layer: a layer or a model, or a metric.
        era: the era.
    """
    if isinstance(layer, keras.metrics.Metric):
        return metric_weights(layer)
    if isinstance(layer, keras.Model) and not era.is_standalone:
        # TensorFlow 1.15 listed those of a layer twice that is in the model and in a list or another model in it.
        twice = era is Era.TF_KERAS_1_15
        groups = keras3.layers_by_attribute(layer, repeated=twice, metrics=metrics_among_layers(layer, era))
        listed = [weight for group, held in groups for weight in _of_group(group, held, era)]
        listed += [weight for own in keras3.own_weights(layer) for weight in own]
        return listed if twice else _unique(listed)
    trainable, others = _split(layer, era)
    return _unique([*trainable, *others])


def by_kind(layer: Any, era: Era) -> tuple[list[keras.Variable], list[keras.Variable]]:
    """Return a layer's `trainable_weights` and `non_trainable_weights` of tf.keras, the metrics' among the latter.

    In this order they are written to a file.

    Args:
        layer: a layer or a model, or a metric.
        era: one of tf.keras.
    """
    trainable, others = _split(layer, era)
    return _unique(trainable), _unique(others)


def _of_group(layers: list[Any], held: bool, era: Era) -> list[keras.Variable]:
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
    if have_metrics(layer, era):
        _set_with_metrics(layer, of_era, given)
        return
    if not of_era and era.is_standalone and isinstance(layer, keras.Model) and not layer.built:
        return  # it gave to each layer as many as that had: none so far
    if len(given) == len(of_era):
        by_weight = {id(weight): value for weight, value in zip(of_era, given, strict=True)}
        given = [by_weight[id(weight)] for weight in keras3.all_weights(layer)]
    original(layer, given)


def _set_with_metrics(layer: keras.Layer, of_era: list[keras.Variable], given: list[Any]) -> None:
    """Set the weights, and what metrics count with, which Keras 3's `set_weights` leaves alone."""
    shapes, received = [tuple(weight.shape) for weight in of_era], [value.shape for value in given]
    if received != shapes:
        raise ValueError(
            f"Expected {len(shapes)} weights for '{layer.name}', those of its metrics among them, of the shapes "
            f"{shapes}. Received: {len(received)} of the shapes {received}. `get_weights` returns such a list."
        )
    for weight, value in zip(of_era, given, strict=True):
        weight.assign(value)


def _split(layer: Any, era: Era) -> tuple[list[keras.Variable], list[keras.Variable]]:
    """Return the trainable weights of a layer and the others, as its class, its own flags and those inside it say."""
    if isinstance(layer, keras.metrics.Metric):
        return [], metric_weights(layer)
    if listed_weights.lists_its_own(type(layer)):
        return list(layer.trainable_weights), list(layer.non_trainable_weights)
    return _split_as_layer(layer, era)


def _split_as_layer(layer: keras.Layer, era: Era) -> tuple[list[keras.Variable], list[keras.Variable]]:
    trained_here, others_here = keras3.own_weights(layer)
    trainable, others = list(trained_here), list(others_here)
    parts = layers_with_metrics(layer, era)
    for inner in parts:
        of_inner = _split(inner, era)
        trainable += of_inner[0]
        others += of_inner[1]
    if era.is_tf_keras and isinstance(layer, keras.Model):  # a model's own came last
        trainable = [*trainable[len(trained_here) :], *trained_here]
        others = [*others[len(others_here) :], *others_here]
        parts = []
    if own_trainable.own(layer, operator.attrgetter("trainable")):
        return trainable, others
    if era.is_standalone and own_trainable.is_of_directions(layer):
        return trainable, others
    if era.is_tf_keras and parts:
        # The weights of what it is made of came as each of them had them.
        return [], [*trained_here, *others_here, *(w for each in parts for w in weights(each, era))]
    return [], [*trainable, *others]


def _unique(weights: Iterable[keras.Variable]) -> list[keras.Variable]:
    return list({id(weight): weight for weight in weights}.values())
