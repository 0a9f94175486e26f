"""Metrics in HDF5 files of weights: in `tf.keras` those that attributes hold were among a model's layers.

A file that has none (of today, of TensorFlow 1.15 where that listed none) leaves them as they are.
"""

from __future__ import annotations

from contextlib import contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any

import keras

from parallel_compat.backend.keras3.h5_files import weights_in_file
from parallel_compat.context_variables import set_within
from parallel_compat.legacy import weight_order
from parallel_compat.recover.keras_models import Layers
from parallel_compat.run import object_eras

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from contextlib import AbstractContextManager

    from parallel_compat.names.eras import Era

_left_out: ContextVar[bool] = ContextVar("left_out", default=False)


def weights_of(layer: Any, era: Era) -> list[Any] | None:
    """Return what stands in a file for a layer that holds metrics, or for a metric; None for any other.

    Args:
        layer: a layer or a model, or a metric.
        era: the layer's.
    """
    if isinstance(layer, keras.metrics.Metric):
        return weight_order.weights(layer, era)
    if _left_out.get() or not weight_order.have_metrics(layer, era):
        return None
    trainable, others = weight_order.by_kind(layer, era)
    return [*trainable, *others]


def layers_of(model: Any) -> list[Any] | None:
    """Return what stands in a file for the layers of a model that holds metrics itself; None for any other."""
    if _left_out.get() or not isinstance(model, keras.Model):
        return None
    era = object_eras.era_of_object(model)
    if not weight_order.metrics_among_layers(model, era):
        return None
    return weight_order.layers_with_metrics(model, era)


def left_out() -> AbstractContextManager[None]:
    """Return a context in which files have, and take, the weights of layers alone."""
    return set_within(_left_out, True)


def in_checkpoint(layer: keras.Layer) -> list[Any]:
    """Return the metrics on a layer's attributes that a checkpoint of TensorFlow has."""
    return list(weight_order.metrics_among_layers(layer, object_eras.era_of_object(layer)))


@contextmanager
def of_file(model: Any, arrays: int) -> Iterator[list[Any] | None]:
    """Yield what `layers_of` returns, while metrics are left out if a file has none of them.

    Args:
        model: the model that is to read it.
        arrays: how many arrays it has.
    """
    with set_within(_left_out, _left_out.get() or arrays <= _count_without(model)):
        yield layers_of(model)


@contextmanager
def read_in_order(model: Any, arrays: int) -> Iterator[Any]:
    """Yield what takes the weights of a file in their order: the model, or its layers and metrics.

    Args:
        model: the model.
        arrays: how many arrays the file has.
    """
    with of_file(model, arrays) as layers:
        yield model if layers is None else Layers(layers)


@contextmanager
def read_by_name(model: Any, arrays: Mapping[str, int]) -> Iterator[Any]:
    """Yield what takes the weights of a file by the names of layers: the model, or its layers and metrics.

    Args:
        model: has `layers`.
        arrays: how many arrays each group of the file has, by its name.
    """
    layers = layers_of(model) or model.layers
    holding = [each for each in layers if weights_of(each, object_eras.era_of_object(each)) is not None]
    with_them = any(arrays.get(each.name) == len(weights_in_file(each)) for each in holding)
    with set_within(_left_out, bool(holding) and not with_them):
        layers_now = layers_of(model)
        yield model if layers_now is None else Layers(layers_now)


def _count_without(model: Any) -> int:
    with left_out():
        layers = [each for each in model.layers if not isinstance(each, keras.metrics.Metric)]
        return sum(len(weights_in_file(each)) for each in layers)
