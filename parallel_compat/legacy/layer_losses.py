"""The losses of layers as Keras 2 listed them: symbolic tensors, known before anything is computed.

Keras 3 computes a layer's losses while the layer is called, and knows none of them before.
"""

from __future__ import annotations

from typing import Any

import keras
import tensorflow as tf

from parallel_compat.backend import keras3
from parallel_compat.backend.keras3.layers import calls_of, calls_on
from parallel_compat.backend.keras3.symbolic_values import depends_on, values_in_use
from parallel_compat.legacy import kept_numbers
from parallel_compat.legacy.numbers.activity_regularizers import SumOverBatch, samples_of
from parallel_compat.parallel_model import MergedOutput
from parallel_compat.run import callers, object_eras


def are_symbolic(layer: Any) -> bool:
    """Say whether a layer's losses are those of symbolic tensors: it was called on some, and nothing is computed here.

    Args:
        layer: the layer or model.
    """
    if not tf.executing_eagerly() or values_in_use() is not None or keras3.training_of_call() is not None:
        return False
    return any(calls_of(each) for each in keras3.all_layers(layer))


def were_computed(layer: Any) -> bool:
    """Say whether a layer has losses of a call on numbers, which TensorFlow 2 showed from then on.

    Args:
        layer: the layer or model.
    """
    return any(keras3.added_losses(each) for each in keras3.all_layers(layer))


def losses(layer: Any) -> list[Any]:
    """Return the losses of a layer or model (`layer.losses`): of its weights, of its calls, and those added to it.

    A model of tf.keras lists those of its layers' calls in whatever model, a nested one's on its own inputs too. What
    it computes on replicas counts as on one device.

    Args:
        layer: the layer or model.
    """
    if object_eras.era_of_object(layer).is_tf_keras:
        numbers = [number for number, _ in kept_numbers.losses(layer)]
        return [*keras3.weight_regularization(layer), *_of_calls(layer, None, everywhere=True), *numbers]
    return [*keras3.weight_regularization(layer), *losses_but_of_weights(layer)]


def losses_but_of_weights(layer: Any) -> list[Any]:
    """Return the losses of a layer or model without those of its weights' regularizers.

    Args:
        layer: the layer or model.
    """
    return [*_of_calls(layer, None), *(number for number, _ in kept_numbers.losses(layer))]


def get_losses_for(layer: Any, inputs: Any = None) -> list[Any]:
    """Return the losses that depend on inputs (`layer.get_losses_for(inputs)`), or on none of them.

    Args:
        layer: the layer or model.
        inputs: a tensor or a list of them; None for the losses of weights.
    """
    numbers = [number for number, of in kept_numbers.losses(layer) if kept_numbers.are_for(of, inputs)]
    if inputs is None:
        return [*keras3.weight_regularization(layer), *numbers]
    given = keras.tree.flatten(inputs)
    if not any(isinstance(each, keras.KerasTensor) for each in given):
        return list(keras3.added_losses(layer))  # of the last call, on numbers
    return [*_of_calls(layer, given), *numbers]


def _of_calls(layer: Any, inputs: list[Any] | None, everywhere: bool = False) -> list[Any]:
    """Return the losses of calls: of a model's layers those in its graph, or everywhere."""
    found = list(keras3.symbolic_losses_of(layer))
    if inputs is not None:
        found = [each for each in found if any(depends_on(each, x) for x in inputs)]
    of_model = {id(node) for node in keras3.nodes_of(layer)} if isinstance(layer, keras.Model) else None
    for each in keras3.all_layers(layer):
        calls = [node for node in calls_of(each) if of_model is None or everywhere or id(node) in of_model]
        calls = [node for node in calls if _is_of(node, inputs) and not (everywhere and _is_of_replicas(each, node))]
        if isinstance(each, keras.Model):
            if each is not layer and (everywhere or not object_eras.era_of_object(each).is_tf_keras):
                found += keras3.symbolic_losses_of(each)
            if each is not layer or everywhere:
                found += [loss for node in calls if of_model is not None for loss in _of_nested(each, node)]
            continue
        for node in calls:
            found += keras3.losses_of_call(each, node)
            regularizer = _activity_regularizer(each)  # a `Bidirectional` of Keras 2.2.4 gets it in its call
            if regularizer is not None:
                found += [regularizer(output) for output in node.output_tensors]
    return found


def _is_of(node: Any, inputs: list[Any] | None) -> bool:
    return inputs is None or any(x is tensor for x in inputs for tensor in node.input_tensors)


def _is_of_replicas(layer: Any, node: Any) -> bool:
    """Say whether a parallel model made a call of its template."""
    merged = [call for call in calls_on(layer) if isinstance(call.operation, MergedOutput)]
    return any(x is output for call in merged for x in call.input_tensors for output in node.output_tensors)


def _activity_regularizer(layer: Any) -> Any:
    regularizer = getattr(layer, "activity_regularizer", None)
    if regularizer is None:
        return None
    return regularizer.regularizer if isinstance(regularizer, SumOverBatch) else _MeanOverBatch(regularizer)


class _MeanOverBatch(keras.Operation):  # type: ignore[misc]  # Keras carries no types
    """What an activity regularizer adds in tf.keras: the sum over a batch, divided by its samples."""

    def __init__(self, regularizer: Any) -> None:
        super().__init__(name="mean_over_batch")
        self._regularizer = regularizer

    def call(self, x: Any) -> Any:
        return self._regularizer(x) / samples_of(x)

    def compute_output_spec(self, x: Any) -> Any:
        return keras.KerasTensor((), x.dtype)


def _of_nested(model: Any, node: Any) -> list[Any]:
    """Return the losses that the layers in a model add, for one of its calls."""
    found: list[Any] = []
    own = {id(each) for each in keras3.nodes_of(model)}

    def in_call(tensor: Any, layer: Any) -> Any:
        return keras.Model(model.inputs, tensor, name=f"{model.name}_{layer.name}")(list(node.input_tensors))

    if object_eras.era_of_object(model).is_tf_keras:
        found += [in_call(loss, model) for loss in keras3.symbolic_losses_of(model)]
    for each in keras3.all_layers(model):
        regularizer = _activity_regularizer(each)
        for inner in calls_of(each) if each is not model else ():
            if id(inner) in own:
                if not callers.era_of_caller().is_standalone:  # which listed them for the call of the layer alone
                    found += [in_call(loss, each) for loss in keras3.losses_of_call(each, inner)]
                if regularizer is not None:
                    found += [regularizer(in_call(output, each)) for output in inner.output_tensors]
    return found
