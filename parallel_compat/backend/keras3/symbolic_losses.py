"""Losses and metrics that are symbolic tensors of a functional model (`model.add_loss(loss)`). Read in Keras 3.15.1.

Keras 3 adds losses while a layer is called. So each pass of the model computes these from its own tensors, and adds
them then. The model's graph, from which its config and its files are written, stays what it is; its config holds a
second graph besides, with these tensors among its outputs.
"""

from __future__ import annotations

import inspect
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any

import keras
import tensorflow as tf
from keras.src.models import functional
from keras.src.ops.function import Function, map_graph

from parallel_compat.backend.keras3 import call_context
from parallel_compat.backend.keras3.symbolic_values import Values, input_tensors_of, layers_before, record_passes
from parallel_compat.context_variables import set_within

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

# The models whose added losses are computed.
_adding: ContextVar[tuple[keras.Model, ...]] = ContextVar("adding", default=())
_LOSSES, _METRICS = "_parallel_compat_symbolic_losses", "_parallel_compat_symbolic_metrics"
_IN_CONFIG = "parallel_compat_added"  # beside a model's first layer, where Keras 3 reads on when it does not know a key
_OF_CALLS = "_parallel_compat_losses_of_calls"
_AT_COMPILE = "_parallel_compat_symbolic_losses_at_compile"
_HELD = "_parallel_compat_layers_of_what_was_added"
_TO_ITSELF = "_parallel_compat_layer_of_no_model"


def add_symbolic_losses(model: keras.Model, losses: Sequence[Any]) -> None:
    """Let a functional or sequential model add these losses whenever it is called.

    Args:
        model: a model with symbolic inputs and outputs.
        losses: symbolic tensors computed from the model's inputs.

    Raises:
        ValueError: a loss is computed from something else than the model's inputs.
    """
    own = {id(tensor) for tensor in model.inputs}
    foreign = [tensor.name for tensor in input_tensors_of(losses) if id(tensor) not in own]
    if foreign:
        raise ValueError(f"Expected losses computed from the inputs of '{model.name}'. Received: one of {foreign}")
    added = vars(model).get(_LOSSES)
    if added is not None:
        added.extend(losses)
        return
    vars(model)[_LOSSES] = added = list(losses)  # past `__setattr__`, which would track layers

    def add(values: Values) -> None:
        if any(model is each for each in _adding.get()):  # called by one of its own losses
            return
        with set_within(_adding, (*_adding.get(), model)):
            keras.layers.Layer.add_loss(model, values.of(_in_force(model)))

    record_passes(model, add)


def symbolic_losses_of(model: keras.Model) -> list[Any]:
    """Return the losses that `add_symbolic_losses` added."""
    return list(vars(model).get(_LOSSES) or ())


def settle_losses(model: keras.Model, settled: bool = True) -> None:
    """Let a model train with the losses that were added so far, to it and the models in it, until the next `compile`.

    Args:
        model: a model that is compiled.
        settled: False for all that there are when it trains.
    """
    counts = {id(each): len(symbolic_losses_of(each)) for each in model._flatten_layers()} if settled else None
    vars(model)[_AT_COMPILE] = counts


def _in_force(model: keras.Model) -> list[Any]:
    """Return the losses of a model that count in the model that is called."""
    called = call_context.outermost_layer()
    counts = None if called is None else vars(called).get(_AT_COMPILE)
    return symbolic_losses_of(model)[: None if counts is None else counts.get(id(model))]


def keep_to_itself(layer: keras.Layer) -> keras.Layer:
    """Let a layer, which computes a loss in the place of others, be never one of a model's, and return it."""
    vars(layer)[_TO_ITSELF] = True
    return layer


def hold_layers_of(model: keras.Model, tensors: Sequence[Any]) -> None:
    """Let a functional model have the layers that a loss or metric is computed by, which train and are saved with it.

    Args:
        model: the model.
        tensors: symbolic tensors that are computed from its inputs.

    Raises:
        TypeError: a Sequential model, which would call them in turn, and one of them has weights that it has not.
    """
    own = {id(each) for each in model.layers}
    # In the order of `tf.keras`, which mapped them in the same way (`_map_subgraph_network`).
    operations = map_graph(list(model.inputs), list(tensors))[2]
    layers = [each for each in operations if isinstance(each, keras.Layer) and _TO_ITSELF not in vars(each)]
    others = [each for each in layers if id(each) not in own]
    others = [each for each in others if all(inner is not model for inner in each._flatten_layers())]  # no circles
    if not isinstance(model, functional.Functional):
        weights = {id(weight) for weight in model.weights}
        foreign = [each.name for each in others if any(id(weight) not in weights for weight in each.trainable_weights)]
        if foreign:
            raise TypeError(f"Expected a functional model, to hold {foreign}. Received: '{model.name}', a Sequential")
        return
    vars(model)[_HELD] = [*vars(model).get(_HELD, ()), *others]
    model._layers.extend(others)


def layers_of_losses(model: keras.Model) -> list[keras.Layer]:
    """Return the layers that the losses which `add_symbolic_losses` added are computed by."""
    found = [layer for loss in symbolic_losses_of(model) for layer in layers_before(loss)]
    return list({id(layer): layer for layer in found}.values())


def with_layers_held(original: property) -> property:
    """Make a functional model's `layers` that end with those that `hold_layers_of` gave it.

    Args:
        original: the `layers`.
    """

    def get(self: Any) -> list[Any]:
        return [*original.__get__(self, type(self)), *vars(self).get(_HELD, ())]

    return property(get, original.fset)


class LossesOfCall(keras.Operation):  # type: ignore[misc]
    """The losses that a layer's `call` adds to it, as an operation on what the layer is called with.

    Args:
        layer: the layer.
    """

    def __init__(self, layer: keras.layers.Layer) -> None:
        super().__init__(name=f"losses_of_{layer.name}")
        self._layer, self._of = layer, layer.call

    def call(self, *given: Any, **keywords: Any) -> list[Any]:
        """Return the losses of a call, which leaves none on the layer."""
        with keras.StatelessScope(collect_losses=True) as scope, call_context.within(self._layer):
            self._of(*given, **keywords)
        return list(scope.losses)


def note_added_loss(layer: keras.layers.Layer) -> None:
    """Let `losses_of_call` know that a layer adds losses in its `call`."""
    vars(layer).setdefault(_OF_CALLS, {})


def losses_of_call(layer: keras.layers.Layer, node: Any) -> list[Any]:
    """Return the losses that one call of a layer on symbolic tensors added, as symbolic tensors.

    Args:
        layer: the layer.
        node: the call, of its `_inbound_nodes`.
    """
    # A layer that has `compute_output_shape` is not called on symbolic tensors by Keras 3.
    call = inspect.unwrap(type(layer).call)
    is_own = not str(getattr(call, "__module__", "")).startswith(("keras.", "parallel_compat."))
    says_so = "add_loss" in getattr(getattr(call, "__code__", None), "co_names", ())
    if _OF_CALLS not in vars(layer) and not (is_own and says_so) and not _holds_regularized_layers(layer):
        return []
    known: dict[int, tuple[Any, list[Any]]] = vars(layer).setdefault(_OF_CALLS, {})
    if id(node) not in known:
        known[id(node)] = node, list(LossesOfCall(layer)(*node.arguments.args, **node.arguments.kwargs))
    return known[id(node)][1]


def _holds_regularized_layers(layer: keras.layers.Layer) -> bool:
    """Say whether a layer calls others that regularize their activity, as wrappers do; models list those themselves."""
    inner = layer._flatten_layers(include_self=False) if not isinstance(layer, keras.Model) else ()
    return any(getattr(each, "activity_regularizer", None) is not None for each in inner)


def add_symbolic_metric(model: keras.Model, name: str, tensor: Any, of_compile: bool = True) -> None:
    """Log a symbolic tensor of a functional model, as its mean over samples.

    Args:
        model: a model with symbolic inputs and outputs.
        name: what it is logged as.
        tensor: computed from the model's inputs; or a function without arguments of weights alone, in no config.
        of_compile: whether another `compile` forgets it; else each batch counts as many times as it has values.
    """
    metrics: dict[str, Any] | None = vars(model).get(_METRICS)
    if metrics is None:
        vars(model)[_METRICS] = metrics = {}
        record_passes(model, lambda values: _update(model, values))
    metrics[name] = (metric_of(model, name), tensor, of_compile)


def metric_of(layer: keras.Layer, name: str) -> keras.metrics.Mean:
    """Return a layer's mean of this name, which is made where there is none."""
    found: keras.metrics.Mean | None = next((each for each in layer._metrics if each.name == name), None)
    if found is None:
        with tf.init_scope():
            found = keras.metrics.Mean(name=name)
        layer._tracker.unlock()
        layer._tracker.add_to_store("metrics", found)
    return found


def symbolic_metrics_of(model: keras.Model) -> list[str]:
    """Return the names of what `add_symbolic_metric` added."""
    return list(vars(model).get(_METRICS) or ())


def added_metrics_of(model: keras.Model) -> dict[str, Any]:
    """Return what `add_symbolic_metric` added that no `compile` forgets, by name."""
    added = (vars(model).get(_METRICS) or {}).items()
    return {name: tensor for name, (_, tensor, of_compile) in added if not of_compile and not callable(tensor)}


def metrics_of_nested(model: keras.Model) -> list[keras.metrics.Metric]:
    """Return the metrics that were added to the models in a model, which tf.keras logged too; Keras 3 does not."""
    nested = [each for each in model._flatten_layers(include_self=False) if isinstance(each, keras.Model)]
    return [metric for each in nested for metric in means_added_to(each)]


def means_added_to(model: keras.Layer) -> list[keras.metrics.Metric]:
    """Return the metrics of what `add_symbolic_metric` added that no `compile` forgets."""
    kept = (vars(model).get(_METRICS) or {}).values()
    return [metric for metric, _, of_compile in kept if not of_compile]


def forget_symbolic_metrics(model: keras.Model) -> None:
    """Log what `add_symbolic_metric` added no more."""
    metrics = vars(model).get(_METRICS) or {}
    for name, (metric, _, of_compile) in list(metrics.items()):
        if of_compile:
            model._metrics[:] = [each for each in model._metrics if each is not metric]
            del metrics[name]


def _added(model: keras.Model) -> tuple[list[Any], dict[str, Any]] | None:
    """Return the losses and metrics that were added to a model, or None where there are none."""
    losses, metrics = symbolic_losses_of(model), added_metrics_of(model)
    return (losses, metrics) if losses or metrics else None


def _add_again(model: keras.Model, losses: Sequence[Any], metrics: dict[str, Any], holds: bool) -> None:
    if holds:
        hold_layers_of(model, [*losses, *metrics.values()])
    if losses:
        add_symbolic_losses(model, losses)
    for name, tensor in metrics.items():
        add_symbolic_metric(model, name, tensor, of_compile=False)


def can_be_configured(model: keras.Model) -> bool:
    """Say whether a model's config holds all that was added to it.

    It cannot where that is computed by weights that are none of the model's, or by code without a config.
    """
    return _added(model) is None or _whole(model) is not None


def _whole(model: keras.Model) -> Function | None:
    """Return the graph of a model and of what was added to it; None where there is nothing, or what has no config."""
    added = _added(model)
    if added is None or not _is_functional(model):
        return None
    # No model, which would track the layers.
    whole = Function(model._inputs_struct, [model._outputs_struct, *added], name=model.name)
    whole.trainable = model.trainable
    own, weights = {id(each) for each in model.operations}, {id(weight) for weight in model.weights}
    for operation in whole.operations:
        if id(operation) in own:
            continue
        is_layer = isinstance(operation, keras.layers.Layer)
        if any(id(weight) not in weights for weight in (operation.weights if is_layer else ())):
            return None
        if not is_layer and not type(operation).__module__.startswith("keras."):
            return None
        try:
            operation.get_config()
        except (NotImplementedError, TypeError, ValueError):
            return None
    return whole


def _is_functional(model: keras.Model) -> bool:
    return isinstance(model, functional.Functional) and functional.functional_like_constructor(type(model))


def config_with_added(original: Callable[[Any], dict[str, Any]]) -> Callable[[Any], dict[str, Any]]:
    """Make a functional model's `get_config` that holds the losses and metrics that were added to the model.

    Args:
        original: the `get_config`.
    """

    def get_config(self: Any) -> dict[str, Any]:
        config = original(self)
        whole = _whole(self) if isinstance(self, keras.Model) else None
        if whole is not None:
            held = original(whole)
            added = {name: held[name] for name in ("layers", "output_layers")}
            config["layers"][0][_IN_CONFIG] = {**added, "holds_layers": _HELD in vars(self)}
        return config

    return get_config


def holds_added(config: dict[str, Any]) -> bool:
    """Say whether a model's config holds losses and metrics that were added."""
    return bool(config["layers"]) and _IN_CONFIG in config["layers"][0]


def from_config_with_added() -> tuple[Any, str, Callable[[Any], Any]]:
    """What to wrap for a functional model made of such a config to have them (`functional_from_config`)."""

    def wrap(original: Any) -> Any:
        def functional_from_config(cls: Any, config: dict[str, Any], custom_objects: Any = None) -> Any:
            if not holds_added(config):
                return original(cls, config, custom_objects=custom_objects)

            def make(inputs: Any, outputs: Any, name: str, trainable: bool) -> Any:
                model = cls(inputs=inputs, outputs=outputs[0], name=name, trainable=trainable)
                _add_again(model, outputs[1], outputs[2], holds)
                return model

            added = dict(config["layers"][0][_IN_CONFIG])
            holds = added.pop("holds_layers", False)
            whole = {**config, **added}
            return original(make, whole, custom_objects=custom_objects)

        return functional_from_config

    return functional, "functional_from_config", wrap


def cloned_with_added(model: keras.Model, clone: Callable[[keras.Model], Any]) -> Any:
    """Return a functional model's clone that has the losses and metrics that were added to the model.

    Args:
        model: the model.
        clone: makes the clone of a functional model.
    """
    added = _added(model)
    if added is None or not _is_functional(model):
        return clone(model)
    whole = functional.Functional(model._inputs_struct, [model._outputs_struct, *added], name=model.name)
    made = clone(whole)
    outputs, losses, metrics = made._outputs_struct
    cloned = type(model)(made._inputs_struct, outputs, name=made.name)
    _add_again(cloned, losses, metrics, _HELD in vars(model))
    return cloned


def _update(model: keras.Model, values: Values) -> None:
    context = tf.distribute.get_replica_context()
    on_replica = context is not None and context.num_replicas_in_sync > 1
    samples = values.known(model.inputs[0])
    if samples is None or isinstance(samples, keras.KerasTensor):
        return
    for metric, tensor, of_compile in vars(model)[_METRICS].values():
        if of_compile and on_replica:  # a parallel model is compiled itself
            continue
        value = tensor() if callable(tensor) else values.of(tensor)
        if of_compile:
            metric.update_state(tf.reduce_mean(value), sample_weight=tf.shape(samples)[0])
        else:
            metric.update_state(value)
