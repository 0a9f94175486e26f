"""What a `tf.train.Checkpoint` reaches from a layer, by the names of `tf.keras`. Read in Keras 3.15.1, TensorFlow 2.21.

TensorFlow walks from object to object by `_trackable_children`. A layer of Keras 3 leaves out the layers in its lists,
names a kernel `_kernel`, and gives a variable what was read for it while it has no value yet (`_track_trackable` within
a stateless scope), which fails: a checkpoint that is restored before the first call of a model is lost, in silence.
"""

from __future__ import annotations

import functools
import weakref
from typing import TYPE_CHECKING, Any

import keras
import tensorflow as tf
from keras.src.backend.common.stateless_scope import in_stateless_scope
from keras.src.backend.tensorflow.layer import TFLayer

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

_Trackable: Any = tf.__internal__.tracking.Trackable
# The containers of each layer: one node of a checkpoint is one object.
_containers: weakref.WeakKeyDictionary[Any, dict[tuple[str, ...], _Container]] = weakref.WeakKeyDictionary()
_of_metrics: weakref.WeakKeyDictionary[Any, _Container] = weakref.WeakKeyDictionary()


class _Container(_Trackable):  # type: ignore[misc]  # TensorFlow carries no types
    """A list or dict of what is saved."""

    def __init__(self) -> None:
        self.children: dict[str, Any] = {}

    def _trackable_children(self, save_type: str = "checkpoint", **keywords: Any) -> dict[str, Any]:
        return self.children


class _Children(dict[str, Any]):
    """The children by name; a name that Keras 3 wrote (`_kernel`) finds the one that had it without the line."""

    def get(self, name: str, default: Any = None) -> Any:
        return super().get(name, super().get(name.removeprefix("_"), default))


def _no_metrics(layer: Any) -> list[Any]:
    return []


def patch_points(
    is_old: Callable[[Any], bool], metrics_of: Callable[[Any], list[Any]] = _no_metrics
) -> Iterator[tuple[Any, str, Callable[[Any], Any]]]:
    """Yield where a layer says what is saved with it, and where it gets what was restored before it had weights.

    Args:
        is_old: says whether a layer is of code that expects the names of `tf.keras`.
        metrics_of: returns the metrics on a layer's attributes that are saved with it.
    """

    def saved(original: Any) -> Any:
        def _trackable_children(self: Any, save_type: str = "checkpoint", **keywords: Any) -> Any:
            if save_type != "checkpoint" or not is_old(self):
                return original(self, save_type, **keywords)
            return children(self, metrics_of)

        return _trackable_children

    def handed_out(original: Any) -> Any:
        def _handle_deferred_dependencies(self: Any, name: str, trackable: Any) -> None:
            if not in_stateless_scope():  # there a variable has no value yet: it waits for the end of the build
                original(self, name, trackable)

        return _handle_deferred_dependencies

    def built(original: Any) -> Any:
        def _post_build(self: Any) -> None:
            original(self)
            if not in_stateless_scope():
                _hand_out(self, metrics_of)

        return _post_build

    yield TFLayer, "_trackable_children", saved
    yield TFLayer, "_handle_deferred_dependencies", handed_out
    yield keras.layers.Layer, "_post_build", built


def children(layer: keras.layers.Layer, metrics_of: Callable[[Any], list[Any]] = _no_metrics) -> dict[str, Any]:
    """Return what is saved with a layer, as `tf.keras` of TensorFlow 2.2 named it.

    >>> sorted(children(keras.Sequential([keras.Input((3,)), keras.layers.Dense(2)])))
    ['layer-0', 'layer_with_weights-0']

    Args:
        layer: the layer or model.
        metrics_of: returns the metrics on a layer's attributes that are saved with it.
    """
    found = _Children()
    metrics = {id(metric): _of_metric(metric) for metric in metrics_of(layer)}
    if isinstance(layer, keras.Model) and getattr(layer, "inputs", None) is not None:
        parts = [*layer.layers, *metrics.values()]
        with_weights = [part for part in parts if _has_weights(part, metrics_of)]
        found.update((f"layer_with_weights-{number}", part) for number, part in enumerate(with_weights))
        found.update((f"layer-{number}", part) for number, part in enumerate(parts))
    own = [*layer._trainable_variables, *layer._non_trainable_variables]
    found.update((weight.name.rpartition("/")[2], weight) for weight in own if weight._value is not None)
    private = _names_of_keras()
    containers = _containers.setdefault(layer, {})
    for name, value in vars(layer).items():
        # What TensorFlow and this package note; Keras has a variable `_kernel` by its property `kernel`.
        of_others = name in private or name.startswith(("_self_", "_parallel_compat_"))
        # A stateful layer's states were no part of a checkpoint: a model for another batch size takes its weights.
        of_others = of_others or (name == "states" and isinstance(layer, keras.layers.RNN))
        if not of_others and not (name.startswith("_") and isinstance(value, keras.Variable)):
            _add(found, name, value, (name,), containers, metrics)
    return found


def _has_weights(part: Any, metrics_of: Callable[[Any], list[Any]]) -> bool:
    if isinstance(part, _Container):  # of a metric
        return True
    return bool(part.weights) or any(metrics_of(each) for each in part._flatten_layers())


def _of_metric(metric: keras.metrics.Metric) -> _Container:
    """Return the node of a metric, which is no object that TensorFlow saves in Keras 3 (`Metric._variables`)."""
    node = _of_metrics.setdefault(metric, _Container())
    inner = {name: _of_metric(each) for name, each in vars(metric).items() if isinstance(each, keras.metrics.Metric)}
    node.children = {**{each.name.rpartition("/")[2]: each for each in metric._variables}, **inner}
    return node


def variables(
    layer: keras.layers.Layer, metrics_of: Callable[[Any], list[Any]] = _no_metrics
) -> Iterator[tuple[tuple[str, ...], Any]]:
    """Yield each variable of a layer, with the way to it that a checkpoint names it by: the shortest one.

    Args:
        layer: the layer or model.
        metrics_of: returns the metrics on a layer's attributes that are saved with it.
    """
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
            parts = one.children if isinstance(one, _Container) else children(one, metrics_of)
            waiting += [((*way, name), part) for name, part in parts.items()]


def _add(
    found: dict[str, Any],
    name: str,
    value: Any,
    path: tuple[str, ...],
    containers: dict[tuple[str, ...], _Container],
    metrics: dict[int, _Container],
) -> None:
    if id(value) in metrics:
        found[name] = metrics[id(value)]
    elif isinstance(value, _Trackable) and not isinstance(value, (list, tuple, dict)):
        if not (isinstance(value, keras.Variable) and value._value is None):
            found[name] = value
    elif isinstance(value, (list, tuple, dict)):
        parts: dict[str, Any] = {}
        for key, part in value.items() if isinstance(value, dict) else enumerate(value):
            _add(parts, str(key), part, (*path, str(key)), containers, metrics)
        if parts:
            found[name] = containers.setdefault(path, _Container())
            found[name].children = parts


@functools.cache
def _names_of_keras() -> frozenset[str]:
    """Return the names that Keras gives what it keeps in any layer or model."""
    # Named, for a script's next model is numbered by those without a name.
    sequential = keras.Sequential([keras.Input((1,), name="any_input")], name="any_sequential")
    made = (keras.layers.Layer(name="any_layer"), keras.Model(name="any_model"), sequential)
    names = {name for each in made for name in vars(each)}
    return frozenset(names | {"_functional", "_initial_weights", "train_function", "test_function", "predict_function"})


def _hand_out(layer: keras.layers.Layer, metrics_of: Callable[[Any], list[Any]]) -> None:
    """Give a layer, and the layers in it, what was restored before they had weights."""
    waiting = [layer]
    seen: set[int] = set()
    while waiting:
        one = waiting.pop()
        if id(one) in seen:
            continue
        seen.add(id(one))
        waiting += one._layers
        deferred = getattr(one, "_self_unconditional_deferred_dependencies", None)
        if deferred:
            with tf.init_scope():
                now = children(one, metrics_of)
                for name in list(deferred):
                    child = now.get(name)
                    if child is not None:
                        one._handle_deferred_dependencies(name, child)
