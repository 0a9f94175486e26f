"""Layers, their state and the marks on their outputs. Read in Keras 3.15.1."""

from __future__ import annotations

import contextlib
import functools
import inspect
import random
from collections.abc import Callable, Sequence
from typing import Any

import keras
import tensorflow as tf
from keras.src.backend.common import global_state
from keras.src.random import seed_generator

from parallel_compat.backend.keras3.global_state import global_attribute, uncounted_names
from parallel_compat.backend.patches import CORE

# What `global_state` calls the generator behind unseeded random numbers; a constant of `seed_generator` since 3.13.
GLOBAL_SEEDS = "global_seed_generator"


def get_mask(output: Any) -> Any:
    """Return the mask of a layer's output (`_keras_mask`), or None."""
    return getattr(output, "_keras_mask", None)


def set_mask(output: Any, mask: Any) -> None:
    """Give a layer's output a mask."""
    output._keras_mask = mask


def get_logits(output: Any) -> Any:
    """Return what a softmax or sigmoid made `output` of (`_keras_logits`), or None.

    Keras's cross-entropies compute with it, because probabilities that round to 0 or 1 have no gradient.
    """
    return getattr(output, "_keras_logits", None)


def set_logits(output: Any, logits: Any, operation: str | None = None) -> None:
    """Note what a softmax or sigmoid made `output` of, and which of them, for `operation_behind`."""
    output._keras_logits = logits
    output._parallel_compat_operation = operation


def operation_behind(output: Any) -> str | None:
    """Return the TensorFlow operation that made a tensor of logits ("Softmax", "Sigmoid"); None for other tensors.

    Eager tensors do not know theirs.
    """
    noted: str | None = getattr(output, "_parallel_compat_operation", None)
    if noted is not None or tf.executing_eagerly() or not hasattr(output, "op"):
        return noted
    kind: str = output.op.type
    return kind if kind in ("Softmax", "Sigmoid") else None


class _Function(keras.Operation):  # type: ignore[misc]  # Keras carries no types
    """A function as an operation, which Keras calls on symbolic tensors."""

    def __init__(self, function: Callable[..., Any]) -> None:
        super().__init__(name="function")  # a name of its own takes no number
        self._function = function
        self.error: Exception | None = None

    def call(self, *args: Any, **keywords: Any) -> Any:
        try:
            return self._function(*args, **keywords)
        except Exception as error:
            self.error = error
            raise


def output_spec(function: Callable[..., Any], *args: Any, **keywords: Any) -> Any:
    """Call a function on shapes and dtypes alone (`keras.KerasTensor`), and return those of its outputs."""
    operation = _Function(function)
    try:
        return operation.compute_output_spec(*args, **keywords)
    except Exception as error:  # Keras makes another one, which speaks of the operation
        raise operation.error or error from None


def all_layers(model: keras.Model) -> list[keras.Layer]:
    """List a model's layers, nested ones and itself included, each once (`Layer._layers`)."""
    found, waiting = {id(model): model}, list(model._layers)
    while waiting:
        layer = waiting.pop(0)
        if id(layer) not in found:
            found[id(layer)] = layer
            waiting[:0] = layer._layers
    return list(found.values())


def layers_that_drop_masks(model: keras.Model) -> list[str]:
    """Name the recurrent layers and wrappers of a model that get a mask and hand none on, as in a nightly of 3.16."""
    kinds = (keras.layers.RNN, keras.layers.Bidirectional, keras.layers.TimeDistributed)
    dropping = [layer for layer in all_layers(model) if isinstance(layer, kinds) and not layer.supports_masking]
    masked = (
        any(get_mask(tensor) is not None for node in layer._inbound_nodes for tensor in node.input_tensors)
        for layer in dropping
    )
    pairs = zip(dropping, masked, strict=True)
    return [layer.name for layer, is_masked in pairs if is_masked and getattr(layer, "return_sequences", True)]


def train_further_layers(model: keras.Model, layers: list[Any]) -> None:
    """Let a functional model train layers that are on no way to its outputs.

    Since Keras 3.15 it trains each layer that is an attribute; before, what is in `_layers` alone.
    """
    model._parallel_compat_layers_of_losses = layers
    own = {id(layer) for layer in model._layers}
    model._layers.extend(layer for layer in layers if id(layer) not in own)


def seed_states(model: keras.Model) -> list[keras.Variable]:
    """List the states of the random seeds of all layers: what is in a layer's `variables` and not in its `weights`."""
    weights = {id(weight) for weight in model.weights}
    return list({id(variable): variable for variable in model.variables if id(variable) not in weights}.values())


def set_added_losses(model: keras.Model, losses: Sequence[Any]) -> None:
    """Let `model.losses` show these losses as well as those of weight regularizers (`Layer._clear_losses`)."""
    model._clear_losses()
    keras.layers.Layer.add_loss(model, list(losses))  # a functional model refuses its own


def set_input_shape(layer: keras.layers.Layer, shape: tuple[Any, ...] | None) -> None:
    """Let `Sequential` make its input of a first layer's shape (`Layer._input_shape_arg`)."""
    vars(layer)["_input_shape_arg"] = shape  # by `setattr`, TensorFlow would wrap the tuple to track it


def layers_being_built() -> list[Any]:
    """Return the layers that are being built or called, from the outermost (`keras.src.backend.common.name_scope`)."""
    scopes = global_state.get_global_attribute("name_scope_stack") or []
    return [scope.caller for scope in scopes if isinstance(scope.caller, keras.Layer)]


def takes(layer: Any, argument: str) -> bool:
    """Whether a layer's `call` has an argument, "training" or "mask"."""
    return argument in _arguments(type(layer).call)


@functools.lru_cache(1024)
def _arguments(call: Callable[..., Any]) -> frozenset[str]:
    return frozenset(inspect.signature(call).parameters)


def output_names(model: keras.Model) -> list[str]:
    """Return the names of a model's outputs, if it has any: of a Sequential model, that of the last layer."""
    if isinstance(model, keras.Sequential):  # Keras 3 gives its outputs none
        return [layer.name for layer in model.layers[-1:]]
    return list(getattr(model, "output_names", None) or ())


def operation_of(tensor: Any) -> Any:
    """Return the operation that made a symbolic tensor (`KerasTensor._keras_history`)."""
    return tensor._keras_history.operation


def symbolic_history(tensor: keras.KerasTensor) -> tuple[Any, int, int] | None:
    """Return the operation that made a symbolic tensor, the index of its call, the tensor's (`_keras_history`)."""
    history = getattr(tensor, "_keras_history", None)
    return None if history is None or history.operation is None else tuple(history)


def global_seeds() -> keras.random.SeedGenerator:
    """Return the generator that layers without a seed of their own draw from.

    Keras makes it on first use, and draws its seed from Python's `random`; that draw is taken back, so that
    what is built afterwards starts from the same numbers as without a parallel model.
    """
    generator = global_state.get_global_attribute(GLOBAL_SEEDS)
    if generator is None:
        state = random.getstate()
        with tf.init_scope():
            generator = seed_generator.global_seed_generator()
        random.setstate(state)
    return generator


def global_seeds_from(generator: keras.random.SeedGenerator) -> contextlib.AbstractContextManager[None]:
    """Let this thread draw from `generator`: Keras keeps the global one per thread, and replicas are threads."""
    return global_attribute(GLOBAL_SEEDS, generator)


def variables_of_training(model: keras.Model) -> list[keras.Variable]:
    """List what a training changes: weights, seeds, moving statistics, the optimizer's variables, the global seed."""
    optimizer = getattr(model, "optimizer", None)
    variables = [
        *model.variables,
        *layer_metric_variables(model),
        *(optimizer.variables if optimizer is not None else ()),
        global_seeds().state,
    ]
    return list({id(variable): variable for variable in variables}.values())


def layer_metrics(model: keras.Model) -> list[keras.metrics.Metric]:
    """List the metrics that layers, and models in a model, own and update in `call` (`Layer._metrics`)."""
    return [metric for layer in all_layers(model) for metric in layer._metrics]


def layer_metric_variables(model: keras.Model) -> list[keras.Variable]:
    """List the variables of `layer_metrics`."""
    return [variable for metric in layer_metrics(model) for variable in metric.variables]


def mean_of_layer(layer: keras.Layer, name: str) -> keras.metrics.Mean:
    """Return the mean that a layer logs under a name; it is made where the layer has none, also one that is built."""
    for metric in layer._metrics:
        if metric.name == name:
            return metric
    with tf.init_scope():  # its variables outlive the step in which the layer is called
        made = keras.metrics.Mean(name)
    layer._metrics.append(made)
    return made


def lambda_again(layer: keras.layers.Lambda) -> keras.layers.Lambda:
    """Return a Lambda layer of the same function (`Lambda._output_shape`): its config has the bytecode alone."""
    common = {"name": layer.name, "dtype": layer.dtype_policy, "trainable": layer.trainable}
    return keras.layers.Lambda(layer.function, layer._output_shape, layer.mask, layer.arguments, **common)


def build_by_calling(model: keras.Model, input_shape: Any) -> None:
    """Make a subclassed model's layers and weights by a call on inputs of these shapes; its own `build` makes none."""
    if all(layer.built for layer in model.layers):
        return
    inputs = keras.tree.map_shape_structure(keras.KerasTensor, input_shape)
    required = [
        each.name
        for each in inspect.signature(model.call).parameters.values()
        if each.kind is each.POSITIONAL_OR_KEYWORD and each.default is each.empty
    ]
    output_spec(model.call, inputs, **({"training": False} if "training" in required[1:] else {}))


def let_products_be_sparse_of_sparse_tensors_alone() -> None:
    """Let `x * 2.0` of a symbolic tensor be sparse where `x` is; 3.12 to the nightly of 3.16 are alike.

    `Multiply.compute_output_spec` takes what has no attribute `sparse` (numbers, arrays, tensors of TensorFlow) for
    a sparse tensor, and the product for sparse if one factor is. The next layer is then built with a `SparseTensor`.
    """
    with uncounted_names():
        multiply = type(operation_of(keras.Input((1,)) * 1.0))
    why = "the product with a number is as sparse as before"
    CORE.around(multiply, "compute_output_spec", _spec_of_product, why=why)


def _spec_of_product(before: Callable[[Any, Any, Any], Any], self: Any, x1: Any, x2: Any) -> Any:
    found = before(self, x1, x2)
    is_sparse = any(getattr(factor, "sparse", False) for factor in (x1, x2))
    return found if found.sparse == is_sparse else keras.KerasTensor(found.shape, found.dtype)


def let_pictures_of_unknown_size_be_enlarged() -> None:
    """Let `UpSampling2D` interpolate pictures whose size the graph does not know; Keras 3.15 compares it with 0.

    `keras.ops.image.resize` refuses a size that is a tensor. `Model.predict` gets one with the second size of pictures.
    """
    why = "pictures whose size is not known are interpolated, too"
    CORE.around(keras.layers.UpSampling2D, "call", _enlarging, why=why)


def _enlarging(before: Callable[[Any, Any], Any], self: Any, inputs: Any) -> Any:
    first = self.data_format == "channels_first"
    if self.interpolation == "nearest" or None not in (inputs.shape[2:] if first else inputs.shape[1:3]):
        return before(self, inputs)
    pictures = keras.ops.transpose(inputs, (0, 2, 3, 1)) if first else inputs
    size = tf.shape(pictures)[1:3] * self.size
    enlarged = tf.cast(tf.image.resize(pictures, size, self.interpolation), inputs.dtype)
    return keras.ops.transpose(enlarged, (0, 3, 1, 2)) if first else enlarged
