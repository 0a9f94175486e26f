"""The losses of layers as Keras 2 listed them: symbolic tensors, known before anything is computed.

Keras 3 computes a layer's losses while the layer is called, and knows none of them before.
"""

from __future__ import annotations

from typing import Any

import keras
import tensorflow as tf

from parallel_compat.backend import keras3
from parallel_compat.backend.keras3.layers import calls_of
from parallel_compat.backend.keras3.symbolic_values import depends_on, values_in_use
from parallel_compat.legacy.numbers.activity_regularizers import SumOverBatch


def are_symbolic(layer: Any) -> bool:
    """Say whether a layer's losses are those of symbolic tensors: it was called on some, and nothing is computed here.

    Args:
        layer: the layer or model.
    """
    if not tf.executing_eagerly() or values_in_use() is not None or keras3.training_of_call() is not None:
        return False
    return any(calls_of(each) for each in keras3.all_layers(layer))


def losses(layer: Any) -> list[Any]:
    """Return the losses of a layer or model (`layer.losses`): of its weights, of its calls, and those added to it.

    Args:
        layer: the layer or model.
    """
    return [*keras3.weight_regularization(layer), *_of_calls(layer, None)]


def get_losses_for(layer: Any, inputs: Any = None) -> list[Any]:
    """Return the losses that depend on inputs (`layer.get_losses_for(inputs)`), or on none of them.

    Args:
        layer: the layer or model.
        inputs: a tensor or a list of them; None for the losses of weights.
    """
    if inputs is None:
        return list(keras3.weight_regularization(layer))
    given = keras.tree.flatten(inputs)
    if not any(isinstance(each, keras.KerasTensor) for each in given):
        return list(keras3.added_losses(layer))  # of the last call, on numbers
    return _of_calls(layer, given)


def _of_calls(layer: Any, inputs: list[Any] | None) -> list[Any]:
    found = list(keras3.symbolic_losses_of(layer))
    if inputs is not None:
        found = [each for each in found if any(depends_on(each, x) for x in inputs)]
    of_model = {id(node) for node in keras3.nodes_of(layer)} if isinstance(layer, keras.Model) else None
    for each in keras3.all_layers(layer):
        if each is not layer and isinstance(each, keras.Model):
            found += keras3.symbolic_losses_of(each)
        regularizer = getattr(each, "activity_regularizer", None)
        if regularizer is None:
            continue
        for node in calls_of(each):
            if of_model is not None and id(node) not in of_model:
                continue
            if inputs is None or any(x is tensor for x in inputs for tensor in node.input_tensors):
                of_batch = regularizer.regularizer if isinstance(regularizer, SumOverBatch) else regularizer
                found += [of_batch(output) for output in node.output_tensors]
    return found
