"""Metrics that attributes of layers and models hold, which were layers in `tf.keras`. Read in Keras 3.15.1.

Keras 3 keeps them in a list of their own (`Layer._metrics`), beside those that `add_metric` made.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import keras

from parallel_compat.backend.keras3.layers import is_of_graph, layers_of, of_attributes
from parallel_compat.backend.keras3.symbolic_losses import means_added_to

if TYPE_CHECKING:
    from collections.abc import Iterator

_ADDED = "_parallel_compat_added_metrics"


def held_metrics(layer: keras.Layer, *, in_tuples: bool = True) -> list[keras.metrics.Metric]:
    """List the metrics that a layer's attributes hold, also in lists and dicts, in the order of the attributes.

    Args:
        layer: the layer or model.
        in_tuples: whether those in a tuple are among them.
    """
    stored = {id(metric) for metric in getattr(layer, "_metrics", ())}
    if not stored:
        return []
    found: dict[int, keras.metrics.Metric] = {}
    for value in of_attributes(layer):
        found.update((id(each), each) for each in _leaves(value, in_tuples) if id(each) in stored)
    return list(found.values())


def layers_with_own_metrics(layer: keras.Layer) -> list[keras.Layer]:
    """List those of a layer and of the layers in it that have metrics of their own: asked after each batch."""
    return [each for each in layer._flatten_layers() if getattr(each, "_metrics", ())]


def note_added(layer: keras.Layer, metric: keras.metrics.Metric) -> None:
    """Take note that a layer added a metric, or a result of one, which is logged therefore."""
    added: list[keras.metrics.Metric] = vars(layer).setdefault(_ADDED, [])
    if all(metric is not each for each in added):
        added.append(metric)


def as_logged(model: keras.Model, metrics: list[keras.metrics.Metric]) -> list[keras.metrics.Metric]:
    """Return `model.metrics` as `tf.keras` had it, which it logged and began anew in each epoch.

    Of those that attributes hold these are what a model itself holds, in no list, also a model within; and what layers
    added. They came layer by layer, but what was added to a model of a graph came last, as a layer of it.

    Args:
        model: the model.
        metrics: those that Keras 3 lists, with all that layers hold.
    """
    held: list[keras.metrics.Metric] = []
    first: list[keras.metrics.Metric] = []
    last: list[keras.metrics.Metric] = []
    for layer in _in_order(model, set()):
        of_layer = held_metrics(layer)
        held += of_layer
        if of_layer and isinstance(layer, keras.Model):
            attributes = set(map(id, of_attributes(layer)))
            first += [metric for metric in of_layer if id(metric) in attributes]
        (last if is_of_graph(layer) else first).extend(vars(layer).get(_ADDED, ()))
        last += means_added_to(layer)
    logged = {id(metric): metric for metric in (*first, *last)}
    others = {id(metric): metric for metric in metrics}
    for metric in (*held, *logged.values()):
        others.pop(id(metric), None)
    return [*others.values(), *logged.values()]


def _in_order(layer: keras.Layer, seen: set[int]) -> Iterator[keras.Layer]:
    """Yield a layer and those in it, each before what it is made of."""
    seen.add(id(layer))
    yield layer
    for inner in layers_of(layer):
        if id(inner) not in seen:
            yield from _in_order(inner, seen)


def _leaves(value: Any, in_tuples: bool) -> Iterator[Any]:
    if isinstance(value, (list, dict)) or (in_tuples and isinstance(value, tuple)):
        for each in value.values() if isinstance(value, dict) else value:
            yield from _leaves(each, in_tuples)
    else:
        yield value
