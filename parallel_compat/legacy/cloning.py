"""`clone_model` as each era made the clone: the names of its inputs, and what it is built on."""

from __future__ import annotations

import warnings
from typing import Any

import keras

from parallel_compat.backend import keras3
from parallel_compat.backend.keras3 import patch_points, symbolic_losses
from parallel_compat.legacy import data_tensors, nodes
from parallel_compat.legacy.layers import BatchShape
from parallel_compat.names.eras import Era
from parallel_compat.run import callers
from parallel_compat.warning_category import ParallelCompatWarning


def clone_model(model: keras.Model, input_tensors: Any = None, **keywords: Any) -> keras.Model:
    """Return a model of the same layers with new weights, not compiled, as Keras 2's clones.

    Args:
        model: the model.
        input_tensors: the clone's inputs; of variables, whose values it is then fed in each step.
        **keywords: those that only today's `clone_model` has.
    """
    era = callers.era_of_caller()
    if era.is_tf_keras:
        return symbolic_losses.cloned_with_added(model, lambda each: _clone(each, input_tensors, era, keywords))
    return _clone(model, input_tensors, era, keywords)


def _clone(model: Any, input_tensors: Any, era: Era, keywords: dict[str, Any]) -> keras.Model:
    if era.is_standalone and input_tensors is None and not keywords and _begins_with_input_layer(model):
        warnings.warn(
            f"The clone of '{model.name}', which begins with an `InputLayer`, has no weights before its first batch, "
            "as in Keras 2.2.4: `set_weights` has no effect. Give the first layer an `input_shape=` instead.",
            ParallelCompatWarning,
            stacklevel=3,
        )
        return _without_input(model)
    if era is not Era.TODAY and isinstance(model, patch_points.functional_class()):
        given, passed = _inputs(model, input_tensors, era)
        input_tensors = keras.tree.pack_sequence_as(model.input, given)
        if passed:
            keywords.setdefault("call_function", _calling(passed))
    elif input_tensors is not None:
        input_tensors = keras.tree.map_structure(data_tensors.as_input, input_tensors)
    if era is not Era.TODAY and isinstance(model, keras.Sequential) and model.layers:
        return _of_sequential(model, input_tensors, keywords)
    with keras3.not_compiled(model):
        return keras.models.clone_model(model, input_tensors=input_tensors, **keywords)


def _inputs(model: Any, input_tensors: Any, era: Era) -> tuple[list[Any], dict[int, Any]]:
    """Return the inputs of a clone, and what stands for each in the clone, by the input's id."""
    layers = nodes.input_layers(model)
    if input_tensors is None:
        return [_like(layer, tensor) for layer, tensor in zip(layers, model.inputs, strict=True)], {}
    given = keras.tree.flatten(input_tensors)
    if len(given) != len(layers):
        raise ValueError(
            f"Expected `input_tensors` for the {len(layers)} inputs of '{model.name}'. Received: {len(given)}"
        )
    symbolic = [isinstance(each, keras.KerasTensor) for each in given]
    if era is Era.TF_KERAS_2_2:  # built the clone on the model's own inputs, whatever it was given
        chosen = zip(given, symbolic, model.inputs, strict=True)
        return [own if is_symbolic else data_tensors.as_input(each) for each, is_symbolic, own in chosen], {}
    made = [data_tensors.as_input(each) for each in given]
    # The model's own inputs were copied as layers are, and called on what was given.
    passed = {
        id(each): nodes.InputLayer(name=layer.name)(each)
        for each, is_symbolic, layer in zip(made, symbolic, layers, strict=True)
        if is_symbolic and nodes.place_of(each)[0].name != layer.name
    }
    return made, passed


def _like(layer: Any, tensor: Any) -> Any:
    """Return an input like that of a model, by the name of its layer, where Keras 3 takes that of its tensor."""
    return keras.Input(
        batch_shape=tensor.shape, dtype=tensor.dtype, sparse=tensor.sparse, optional=layer.optional, name=layer.name
    )


def _calling(passed: dict[int, Any]) -> Any:
    def instead(value: Any) -> Any:
        return passed.get(id(value), value)

    def call(layer: Any, *given: Any, **keywords: Any) -> Any:
        given, keywords = keras.tree.map_structure(instead, (given, keywords))
        return layer(*given, **keywords)

    return call


def _of_sequential(model: keras.Sequential, input_tensors: Any, keywords: dict[str, Any]) -> keras.Sequential:
    if input_tensors is None:
        with keras3.not_compiled(model):
            clone = keras.models.clone_model(model, **keywords)
        _give_shape(clone.layers[0], model.layers[0])
        return clone
    given = keras.tree.flatten(input_tensors)
    if len(given) != 1 or not keras3.is_input(given[0]):
        raise ValueError(
            f"Expected `input_tensors` of '{model.name}', a Sequential model, to be one input. Received: {given}. Call "
            "the model on the tensor instead."
        )
    make = keywords.get("clone_function") or (lambda layer: type(layer).from_config(layer.get_config()))
    layers = [make(each) for each in model.layers]
    _give_shape(layers[0], model.layers[0])
    return keras.Sequential([nodes.place_of(given[0])[0], *layers], name=model.name)


def _give_shape(layer: Any, original: Any) -> None:
    """Let a layer know the `input_shape=` of another, which was part of its configuration."""
    shape = keras3.input_shape_given_to(original)
    if shape is not None:
        keras3.set_input_shape(layer, shape)


def give_shape_of_input(model: Any) -> None:
    """Let the first layer of a Sequential that was made of a configuration know the `input_shape=` it was given.

    In today's configurations the model's input alone has it, under the name that it has of that layer.
    """
    if not isinstance(model, keras.Sequential) or not model.layers or not getattr(model, "inputs", None):
        return
    first, shape = model.layers[0], model.inputs[0].shape
    named_for_it = nodes.input_layers(model)[0].name == f"{first.name}_input"
    if named_for_it and not isinstance(first, keras.Model) and keras3.input_shape_given_to(first) is None:
        keras3.set_input_shape(first, BatchShape(shape[1:], shape[0]))


def _begins_with_input_layer(model: Any) -> bool:
    """Say whether a model is a Sequential whose first layer, or the first layer of that, is an `InputLayer`."""
    if not isinstance(model, keras.Sequential) or not model.layers:
        return False
    first = model.layers[0]
    if isinstance(first, keras.Model):
        return _begins_with_input_layer(first)
    if not model.built or keras3.input_shape_given_to(first) is not None:
        return False
    # One that was made of a configuration has the input of the layer whose `input_shape=` was in it.
    return bool(nodes.input_layers(model)[0].name != f"{first.name}_input")


def _without_input(model: keras.Sequential) -> keras.Sequential:
    """Return a Sequential of the same layers whose weights are made at its first batch.

    `model.layers` of Keras 2.2.4 left out an `InputLayer` that began a Sequential, and `clone_model` made the clone of
    them: it had no weights yet, and `set_weights` found none to set. Likewise for a Sequential inside it.
    """
    layers = [
        _without_input(each) if _begins_with_input_layer(each) else type(each).from_config(each.get_config())
        for each in model.layers
    ]
    return keras.Sequential(layers, name=model.name)
