"""Layers, their state and the marks on their outputs. Read in Keras 3.15.1."""

from __future__ import annotations

import contextlib
import inspect
import random
import weakref
from typing import TYPE_CHECKING, Any

import keras
import tensorflow as tf
from keras.src.backend.common import global_state, masking
from keras.src.models.functional import Functional
from keras.src.random import seed_generator
from keras.src.utils import tracking
from tensorflow.python.eager import record

from parallel_compat.backend.keras3 import call_context, saved_models
from parallel_compat.backend.keras3.batch_normalization import debiased_in, model_in_training

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence


# What `global_state` calls the generator behind unseeded random numbers; a constant of `seed_generator` since 3.13.
GLOBAL_SEEDS = "global_seed_generator"
epsilon = keras.backend.epsilon
get_mask = masking.get_keras_mask
set_mask = masking.set_keras_mask


def computes_no_masks(layer: keras.Layer) -> bool:
    """Say whether it is a model of the user's class that leaves `compute_mask` to Keras."""
    subclassed = isinstance(layer, keras.Model) and not is_of_graph(layer)
    of_user = subclassed and not type(layer).__module__.startswith("parallel_compat.")
    return of_user and type(layer).compute_mask is keras.Layer.compute_mask


def forget_masks(outputs: Any) -> None:
    """Take the masks off tensors, so that neither a loss nor a layer after them is masked."""
    for output in keras.tree.flatten(outputs):
        if get_mask(output) is not None:
            set_mask(output, None)


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


def logits_behind(output: Any) -> Any:
    """Return what the operation of `operation_behind` made `output` of, or None."""
    noted = get_logits(output)
    return output.op.inputs[0] if noted is None and operation_behind(output) is not None else noted


def say_made_by_operation(output: Any) -> None:
    """Note that a `Softmax` layer or `K.softmax` made `output`, not the activation function of that name."""
    output._parallel_compat_made_by_operation = True


def made_by_activation(output: Any) -> bool:
    """Whether a function of `keras.activations` made a tensor of logits, not an operation that the user called."""
    return get_logits(output) is not None and not hasattr(output, "_parallel_compat_made_by_operation")


def is_recorded(tensor: Any) -> bool:
    """Whether a tape is to differentiate what is computed from a tensor."""
    return bool(record.should_record_backprop([tensor]))


def untracked() -> contextlib.AbstractContextManager[Any]:
    """Return a scope in which attributes set on a model are not tracked as its layers or variables."""
    scope: contextlib.AbstractContextManager[Any] = tracking.DotNotTrackScope()
    return scope


def all_layers(model: keras.Model) -> list[keras.Layer]:
    """List a model's layers, nested ones and itself included (`Layer._flatten_layers`)."""
    return list(model._flatten_layers())


def begins_with_input(model: keras.Sequential) -> bool:
    """Whether a Sequential's own list of layers begins with an `InputLayer` (`Sequential._layers`)."""
    return bool(model._layers) and isinstance(model._layers[0], keras.layers.InputLayer)


def is_of_graph(layer: keras.Layer) -> bool:
    """Say whether it is a functional or Sequential model, whose layers are those of its graph."""
    return isinstance(layer, (Functional, keras.Sequential))


def layers_of(layer: keras.Layer) -> list[keras.Layer]:
    """List the layers that a layer is directly made of; of a model, those of `model.layers` (`Layer._layers`)."""
    return list(layer.layers if isinstance(layer, keras.Model) else layer._layers)


_OF_TENSORFLOW = "_self_"  # by which `Trackable` names what it holds: the layers, in a dict (TensorFlow 2.21)
_OF_OTHERS = (_OF_TENSORFLOW, "_parallel_compat_")


def of_attributes(layer: keras.Layer) -> Iterator[Any]:
    """Yield what the attributes of a layer hold, without the lists of its parts that Keras and others keep."""
    for name, value in vars(layer).items():
        if name not in ("_layers", "_metrics") and not name.startswith(_OF_OTHERS):
            yield value


def layers_by_attribute(
    model: keras.Layer, *, repeated: bool = False, metrics: Sequence[keras.metrics.Metric] = ()
) -> list[tuple[list[Any], bool]]:
    """List the layers of a model of the user's class, those that one list or dict holds together.

    Args:
        model: the model, or a layer that is made of others.
        repeated: whether a layer is listed with each attribute that holds it, and not with the first alone.
        metrics: those that attributes of it hold, to be listed as layers.

    Returns:
        For each attribute, in the order in which they were set, its layers and whether it is a list or dict; of any
        other model, each of its layers.
    """
    own: dict[int, Any] = {id(each): each for each in (*layers_of(model), *metrics)}
    left, found = dict(own), []
    if not is_of_graph(model):
        for value in of_attributes(model):
            holds = isinstance(value, (list, tuple, dict))
            if not (holds or id(value) in own):
                continue
            group = [own[id(leaf)] for leaf in _held(value) if id(leaf) in (own if repeated else left)]
            for layer in group:
                left.pop(id(layer), None)
            if group:
                found.append((group, holds))
    return [*found, *(([layer], False) for layer in left.values())]


def _held(value: Any) -> Iterator[Any]:
    """Yield what lists and dicts hold, in their order."""
    if isinstance(value, (list, tuple, dict)):
        for each in value.values() if isinstance(value, dict) else value:
            yield from _held(each)
    else:
        yield value


def own_weights(layer: keras.Layer) -> tuple[list[keras.Variable], list[keras.Variable]]:
    """Return the weights that a layer has without the layers in it, made as trainable, and made as not trainable.

    These are `Layer._trainable_variables` and `_non_trainable_variables`.
    """
    return list(layer._trainable_variables), list(layer._non_trainable_variables)


def all_weights(layer: keras.Layer) -> list[keras.Variable]:
    """Return `layer.weights` as Keras orders them, whoever asks."""
    return list(layer.weights)


_LEFT_OUT, _LEFT_OUT_OF = "_parallel_compat_left_out", "_parallel_compat_left_out_of"


def leave_out_layers(layer: keras.Layer) -> None:
    """Let a layer have no weights but its own: those of the layers it holds are theirs alone (`Layer._layers`).

    Args:
        layer: the layer; layers that are assigned later are left out as well.
    """
    if not hasattr(layer, "_tracker"):  # before `super().__init__()`
        layer._initialize_tracker()
    held: dict[int, keras.Layer] = vars(layer).setdefault(_LEFT_OUT, {})
    held.update({id(each): each for each in layer._layers})
    for each in held.values():
        vars(each)[_LEFT_OUT_OF] = layer
    layer._tracker.config["layers"] = (_leaving_out(layer), layer._layers)
    layer._tracker.stored_ids["layers"].clear()
    layer._layers.clear()


def held_layers(layer: keras.Layer) -> list[keras.Layer]:
    """List the layers that a layer holds and those that they hold, also where it has no weights but its own."""
    direct = [*layer._layers, *vars(layer).get(_LEFT_OUT, {}).values()]
    return [each for held in direct for each in (held, *held_layers(held))]


def give_up(layer: keras.Layer, held: Iterable[keras.Layer]) -> None:
    """Let layers that a layer holds be no part of it, while it keeps them on its attributes.

    Args:
        layer: the layer.
        held: some of those that it is directly made of.
    """
    for each in held:
        layer._tracker.untrack(each)


def _leaving_out(layer: keras.Layer) -> Callable[[Any], bool]:
    """Return what Keras's `Tracker` asks of each value, whether it is a layer: none is, and each is left out."""
    held: dict[int, keras.Layer] = vars(layer).setdefault(_LEFT_OUT, {})

    def leave_out(value: Any) -> bool:
        if isinstance(value, keras.Layer):
            held[id(value)] = value
            vars(value)[_LEFT_OUT_OF] = layer
        return False

    return leave_out


@contextlib.contextmanager
def leaving_out_listed(layer: keras.Layer, value: Any) -> Iterator[Any]:
    """Return a list, tuple or dict for an attribute whose layers, also those put in later, are none of the layer's.

    Args:
        layer: the layer that holds it.
        value: the list, tuple or dict.

    Yields:
        What to set on the layer, within this context.
    """
    if not hasattr(layer, "_tracker"):  # before `super().__init__()`
        layer._initialize_tracker()
    own = layer._tracker
    tracker = tracking.Tracker({**own.config, "layers": (_leaving_out(layer), [])}, exclusions=own.exclusions)
    tracker.stored_ids = {**own.stored_ids, "layers": set()}
    listed = tracker.track(value)
    with untracked():
        yield listed


def is_left_out(layer: keras.Layer) -> bool:
    """Say whether a layer is held by one that has not its weights: a layer on attributes of its own has them.

    While a model trains it is asked whether that has it, which may be another one than the holder is part of.
    """
    holder, trained = vars(layer).get(_LEFT_OUT_OF), model_in_training()
    if holder is None or is_of_graph(holder):
        return False
    if trained is not None:
        return all(each is not layer for each in all_layers(trained))
    return id(layer) not in holder._tracker.stored_ids["layers"]


def listed_and_left_out(layer: keras.Layer) -> list[keras.Layer]:
    """List the layers that lists and dicts of a layer hold and whose weights it has not."""
    own = (_LEFT_OUT, "_layers")
    values = [value for name, value in vars(layer).items() if name not in own and not name.startswith(_OF_TENSORFLOW)]
    ids = {id(each) for value in values if isinstance(value, (list, tuple, dict)) for each in _held(value)}
    return [each for each in vars(layer).get(_LEFT_OUT, {}).values() if id(each) in ids and is_left_out(each)]


def _layers_left_out(model: keras.Model) -> list[keras.Layer]:
    held = [each for layer in all_layers(model) for each in vars(layer).get(_LEFT_OUT, {}).values()]
    return [layer for each in held for layer in (*all_layers(each), *_layers_left_out(each))]


def variables_left_out(model: keras.Model) -> list[keras.Variable]:
    """List the variables that the layers of a model use and that are none of its weights."""
    weights = {id(variable) for variable in model.variables}
    return [v for layer in _layers_left_out(model) for v in layer.variables if id(v) not in weights]


def seed_states(model: keras.Model) -> list[keras.Variable]:
    """List the states of the random seeds of all layers (`Layer._seed_generators`)."""
    layers = [*all_layers(model), *_layers_left_out(model)]
    return [generator.state for layer in layers for generator in layer._seed_generators]


def set_added_losses(model: keras.Model, losses: Sequence[Any]) -> None:
    """Let `model.losses` show these losses as well as those of weight regularizers (`Layer._losses`)."""
    model._clear_losses()
    model._losses.extend(losses)


def set_input_shape(layer: keras.layers.Layer, shape: tuple[Any, ...] | None) -> None:
    """Let `Sequential` make its input of a first layer's shape (`Layer._input_shape_arg`)."""
    vars(layer)["_input_shape_arg"] = shape  # by `setattr`, TensorFlow would wrap the tuple to track it


def input_shape_given_to(layer: keras.layers.Layer) -> Any:
    """Return the `input_shape=` of a layer, without the samples, or None (`Layer._input_shape_arg`)."""
    return getattr(layer, "_input_shape_arg", None)


def call_each_once(model: keras.Sequential) -> None:
    """Let a `Sequential` that does not know its input call a layer that was added twice once (`Sequential._layers`)."""
    if model._layers and not isinstance(model._layers[0], (keras.layers.InputLayer, keras.Model)):
        model._layers = list({id(layer): layer for layer in model._layers}.values())


def take_data_as_it_is(model: keras.Sequential, shape: Any) -> None:
    """Let a `Sequential` that does not know its input have one of the data's type, as in tf.keras.

    Keras 3 makes floats of all data (`Sequential.build`): of a complex number its real part, of whole numbers in layers
    of the user's those that a float holds. (Its own layers want floats.)

    Args:
        model: a model that is being called for the first time.
        shape: that of the data.
    """
    spec, first = saved_models.first_inputs(model), model._layers[0] if model._layers else None
    if not isinstance(spec, tf.TensorSpec) or first is None or spec.dtype.is_floating:
        return
    if isinstance(first, (keras.layers.InputLayer, keras.Model)):
        return
    of_user = isinstance(first, keras.layers.Lambda) or not type(first).__module__.startswith("keras.")
    if spec.dtype.is_complex or spec.dtype == tf.string or of_user:
        model._layers = [keras.layers.InputLayer(batch_shape=tuple(shape), dtype=spec.dtype.name), *model._layers]


_built_later: weakref.WeakSet[keras.Sequential] = weakref.WeakSet()


def note_build(model: keras.Sequential, *, at_last: bool = False) -> None:
    """Take note of a `Sequential` that is built and does not know its input yet (`Sequential._layers`).

    Args:
        model: the model.
        at_last: whether it was built by a shape that it was given after its layers, as a configuration says.
    """
    first = model._layers[0] if model._layers else None
    if at_last or not (isinstance(first, keras.layers.InputLayer) or getattr(first, "inputs", None)):
        _built_later.add(model)


def knows_its_input(model: keras.Sequential) -> bool:
    """Say whether a `Sequential` had an input from the beginning, and not from its first batch or `build`."""
    return model not in _built_later


def build_of_calls(model: keras.Sequential) -> bool:
    """Put a `Sequential` together again of the calls that were made before, and say whether there were any.

    Keras 3 calls all layers anew whenever one is added or popped (`Sequential._maybe_rebuild`, read in 3.15): a layer
    of Keras 2 was called once, and what it returned is part of the model still.
    """
    first, *others = model._layers
    if not isinstance(first, keras.layers.InputLayer) or not others or _call_on(others[0], first.output) is None:
        return False
    x = first.output
    for layer in others:
        made = _call_on(layer, x)
        x = layer(x) if made is None else made.outputs[0] if len(made.outputs) == 1 else made.outputs
    model._functional = Functional(inputs=first.output, outputs=x, name=model.name)  # which no counter gives
    return True


def with_several_outputs(model: keras.Sequential) -> list[str]:
    """Name the layers of a `Sequential` that gave several tensors when last called (`Operation._inbound_nodes`)."""
    called = [layer for layer in model._layers if layer._inbound_nodes]
    return [layer.name for layer in called if len(layer._inbound_nodes[-1].outputs) > 1]


def _call_on(layer: keras.layers.Layer, x: Any) -> Any:
    mask = getattr(x, "_keras_mask", None)  # which each call is given

    def is_it(node: Any) -> bool:
        arguments = node.arguments
        others = [value for value in arguments.kwargs.values() if value is not mask]
        is_plain = all(value is None or value is False for value in others)
        return len(arguments.args) == 1 and arguments.args[0] is x and is_plain

    return next(filter(is_it, layer._inbound_nodes), None) if isinstance(x, keras.KerasTensor) else None


def forget_calls_on(layer: keras.layers.Layer) -> None:
    """Let no layer be called on what a layer returned: it is the last of its model (`Operation._outbound_nodes`)."""
    layer._outbound_nodes.clear()


def layers_being_built() -> list[Any]:
    """Return the layers that are being built or called, from the outermost."""
    return [scope.caller for scope in scopes_of_layers()]


def scopes_of_layers() -> list[Any]:
    """Return the scope of each layer that is being built or called (`keras.src.backend.common.name_scope`)."""
    scopes = global_state.get_global_attribute("name_scope_stack") or []
    return [scope for scope in scopes if isinstance(scope.caller, keras.Layer)]


def added_losses(layer: keras.Layer) -> list[Any]:
    """Return what a layer itself added in its last call (`Layer._losses`)."""
    return list(layer._losses)


def nodes_of(model: keras.Model) -> list[Any]:
    """List the calls that a functional or sequential model is made of (`Function._nodes_by_depth`)."""
    return [node for nodes in nodes_by_depth(model) for node in nodes]


def nodes_by_depth(model: keras.Model) -> list[list[Any]]:
    """List these calls by the longest way from them to an output, the longest first."""
    inner = getattr(model, "_functional", None) or model
    return [nodes for _, nodes in sorted(getattr(inner, "_nodes_by_depth", {}).items(), reverse=True)]


def depths_of_operations(model: keras.Model) -> dict[int, int]:
    """Return the longest way from each operation of a model to an output, by its id (`Function._nodes_by_depth`).

    An input is as deep as the deepest one of them, as in Keras 2.
    """
    inner = getattr(model, "_functional", None) or model
    found: dict[int, int] = {}
    for depth, nodes in getattr(inner, "_nodes_by_depth", {}).items():
        for node in nodes:
            found[id(node.operation)] = max(depth, found.get(id(node.operation), 0))
    return found


def rnn(*arguments: Any, **keywords: Any) -> Any:
    """Run a step function over time (`keras.src.backend.rnn`)."""
    return keras.src.backend.rnn(*arguments, **keywords)


RESET_OF_MASKS = "_maybe_reset_cell_dropout_mask"  # of `RNN` in tf.keras, which `call` of classes derived from it used


@contextlib.contextmanager
def dropout_of_steps(layer: keras.layers.RNN, step: Any, states: list[Any]) -> Iterator[None]:
    """Let the cells of a recurrent layer drop the same in all steps (`RNN._maybe_config_dropout_masks`).

    Args:
        layer: the layer.
        step: what its cell is given at the first step.
        states: those before the first step.
    """
    layer._maybe_config_dropout_masks(layer.cell, step, states)
    try:
        yield
    finally:
        layer._maybe_reset_dropout_masks(layer.cell)


def takes(layer: Any, argument: str) -> bool:
    """Whether a layer's `call` takes "training" or "mask" (`Layer._call_has_training_arg`, `_call_has_mask_arg`)."""
    return bool(getattr(layer, f"_call_has_{argument}_arg", False))


def let_take(layer: Any, argument: str, taken: bool) -> None:
    """Say whether a layer's `call` takes "training" or "mask", which Keras reads off its signature otherwise."""
    setattr(layer, f"_call_has_{argument}_arg", taken)


def training_parameter(layer: Any) -> inspect.Parameter | None:
    """Return the parameter of a layer's `call` that `training` goes to, or None: its own, or that for any keyword."""
    parameters = layer._call_signature.parameters
    keywords = (each for each in parameters.values() if each.kind is each.VAR_KEYWORD)
    return parameters.get("training") or next(keywords, None)


def let_leave_out_training(layer: Any) -> None:
    """Let a layer whose `call` requires `training` be called without it (`Layer._call_signature`).

    Args:
        layer: one that requires no argument behind that.
    """
    signature = layer._call_signature
    parameters = list(signature.parameters.values())
    place = list(signature.parameters).index("training")
    if all(each.default is not each.empty or each.kind is each.VAR_KEYWORD for each in parameters[place + 1 :]):
        parameters[place] = parameters[place].replace(default=False)
        layer._call_signature = signature.replace(parameters=parameters)


def let_inherit_training(layer: Any, inherited: bool) -> None:
    """Say whether `call` is handed the `training` of the call around it (`Layer._call_has_context_arg`)."""
    layer._call_has_context_arg = {**layer._call_has_context_arg, "training": inherited}
    let_take(layer, "training", inherited)


def let_pass_over_training(layer: Any) -> None:
    """Let a layer's call know whether it trains, and its `call` not be told, which names `training` all the same.

    Args:
        layer: one whose `call` has a default for it.
    """
    let_inherit_training(layer, False)
    parameters = [each for each in layer._call_signature.parameters.values() if each.name != "training"]
    layer._call_signature = layer._call_signature.replace(parameters=parameters)


def is_left_without_training(layer: Any) -> bool:
    """Say whether the `call` of a layer takes `training` and is not handed it, see `let_inherit_training`."""
    return not layer._call_has_context_arg["training"] and training_parameter(layer) is not None


_BUILT_BY_CALLS = "_parallel_compat_built_by_calls"


def is_trained_itself(layer: Any) -> bool:
    """Say whether a model that is no graph of layers is the one that is trained, and its `call` takes `training`.

    That is one of a class of the user's, or a Sequential model that was built when it was called on data.
    """
    if not isinstance(layer, keras.Model) or not layer._call_has_context_arg["training"]:
        return False
    if isinstance(layer, keras.Sequential) and not layer.built:
        vars(layer)[_BUILT_BY_CALLS] = True
    if is_of_graph(layer) and _BUILT_BY_CALLS not in vars(layer):
        return False
    context = call_context.outermost()
    return context is None or getattr(context.entry_layer, "template", None) is layer


def written_to_scope() -> keras.StatelessScope:
    """Return a scope in which what is assigned to Keras's variables is kept apart."""
    return keras.StatelessScope()


def noise_shape(layer: Any, inputs: Any) -> Any:
    """Return the shape of a dropout layer's mask, None for the inputs' own (`BaseSpatialDropout._get_noise_shape`)."""
    of_inputs = getattr(layer, "_get_noise_shape", None)
    return layer.noise_shape if of_inputs is None else of_inputs(inputs)


def in_stateless_scope() -> bool:
    """Whether this thread runs inside a `keras.StatelessScope`."""
    inside: bool = keras.src.backend.in_stateless_scope()
    return inside


def asks_for_shapes() -> bool:
    """Whether a layer's `call` runs on stand-ins of its inputs, which are computed from nothing, for shapes alone."""
    inside: bool = keras.src.backend.in_symbolic_scope()
    return inside


def is_input(tensor: Any) -> bool:
    """Say whether a tensor is symbolic and was computed from nothing: that of `keras.Input`."""
    return isinstance(tensor, keras.KerasTensor) and isinstance(operation_of(tensor), keras.layers.InputLayer)


def has_history(tensor: Any) -> bool:
    """Say whether an operation made a symbolic tensor, so that `operation_of` has an answer."""
    return getattr(tensor, "_keras_history", None) is not None


def operation_of(tensor: Any) -> Any:
    """Return the operation that made a symbolic tensor (`KerasTensor._keras_history`)."""
    return tensor._keras_history.operation


def place_of(tensor: Any) -> tuple[int, int]:
    """Return of which call of that operation a symbolic tensor is an output, and which (`_keras_history`)."""
    return tensor._keras_history.node_index, tensor._keras_history.tensor_index


def inputs_behind(tensor: Any) -> list[Any]:
    """Return the symbolic tensors of the call that a symbolic tensor is an output of (`Node.input_tensors`)."""
    number, _ = place_of(tensor)
    return list(operation_of(tensor)._inbound_nodes[number].input_tensors)


def computed_again(tensor: Any, values: dict[int, Any]) -> Any:
    """Return what the operation that made a symbolic tensor makes of other inputs (`SymbolicArguments.fill_in`).

    Args:
        tensor: the tensor.
        values: for each tensor of the call, by its id, what stands for it.
    """
    operation, (number, output) = operation_of(tensor), place_of(tensor)
    args, kwargs = operation._inbound_nodes[number].arguments.fill_in(values)
    return keras.tree.flatten(operation.call(*args, **kwargs))[output]


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


@contextlib.contextmanager
def global_seeds_from(generator: keras.random.SeedGenerator) -> Iterator[None]:
    """Let this thread draw from `generator`: Keras keeps the global one per thread, and replicas are threads."""
    before = global_state.get_global_attribute(GLOBAL_SEEDS)
    global_state.set_global_attribute(GLOBAL_SEEDS, generator)
    try:
        yield
    finally:
        global_state.set_global_attribute(GLOBAL_SEEDS, before)


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
    return [metric for layer in (*all_layers(model), *_layers_left_out(model)) for metric in layer._metrics]


def layer_metric_variables(model: keras.Model) -> list[keras.Variable]:
    """List the variables of `layer_metrics`, and of `Debiased`."""
    return [
        *(v for metric in layer_metrics(model) for v in metric.variables),
        *(v for found in debiased_in(model, [*all_layers(model), *_layers_left_out(model)]) for v in found.variables),
    ]


def calls_of(layer: keras.layers.Layer) -> list[Any]:
    """List a layer's calls on symbolic tensors (`Operation._inbound_nodes`)."""
    return list(layer._inbound_nodes)


def calls_on(layer: keras.layers.Layer) -> list[Any]:
    """List the calls on what a layer returned (`Operation._outbound_nodes`)."""
    return list(layer._outbound_nodes)


def node_class() -> Any:
    """Return the class of these calls (`keras.src.ops.node.Node`)."""
    from keras.src.ops.node import Node

    return Node


def was_called(layer: keras.layers.Layer) -> bool:
    """Say whether a layer has symbolic inputs and outputs (`Operation._inbound_nodes`), as functional models have."""
    return bool(layer._inbound_nodes) or bool(getattr(layer, "inputs", None))


def infer_spec_by_calling(layer: keras.layers.Layer) -> None:
    """Let a layer's output be what its call makes of its inputs, whatever `compute_output_shape` says."""
    from keras.src import backend

    def compute_output_spec(*args: Any, **kwargs: Any) -> Any:
        return backend.compute_output_spec(layer.call, *args, **kwargs)

    vars(layer)["compute_output_spec"] = compute_output_spec


def build_by_calling(model: keras.Model, input_shape: Any) -> None:
    """Make what a subclassed model has inside, as its call on inputs of these shapes does; its own `build` makes none.

    Args:
        model: the model.
        input_shape: a shape, or a list or dict of them.
    """
    from keras.src import backend
    from keras.src.layers.layer import might_have_unbuilt_state

    if not might_have_unbuilt_state(model):
        return
    inputs = keras.tree.map_shape_structure(keras.KerasTensor, input_shape)
    required = [
        each.name
        for each in inspect.signature(model.call).parameters.values()
        if each.kind is each.POSITIONAL_OR_KEYWORD and each.default is each.empty
    ]
    backend.compute_output_spec(model.call, inputs, **({"training": False} if "training" in required[1:] else {}))


def weight_regularization(model: keras.Model) -> list[Any]:
    """Compute the losses of weight regularizers (`Layer._get_regularization_losses`)."""
    losses: list[Any] = model._get_regularization_losses()
    return losses


def regularization_of_frozen(layer: keras.layers.Layer) -> list[Any]:
    """Compute the losses of the regularizers of weights that are not trained, which Keras 3 leaves out."""
    scope = keras.src.backend.get_stateless_scope() if keras.src.backend.in_stateless_scope() else None
    symbolic = keras.src.backend.in_symbolic_scope()
    return [
        weight.regularizer(weight if scope is None or symbolic else scope.get_current_value(weight))
        for weight in layer.non_trainable_weights
        if weight.regularizer is not None
    ]


def alpha_dropouts() -> tuple[Any, ...]:
    """Return the classes that are called AlphaDropout: `tf.keras` has one of its own (`keras.src.legacy.layers`)."""
    from keras.src.legacy import layers

    return keras.layers.AlphaDropout, layers.AlphaDropout


def thresholded_relu() -> Any:
    """Return the class that `tf.keras` has still (`keras.src.legacy.layers`)."""
    from keras.src.legacy import layers

    return layers.ThresholdedReLU


def finds_shape_by_its_function(layer: keras.layers.Layer) -> bool:
    """Say whether a layer is a Lambda layer whose function is called to find the shape of what it gives."""
    return isinstance(layer, keras.layers.Lambda) and layer._output_shape is None


def call_on_specs(layer: keras.layers.Layer, *args: Any, **kwargs: Any) -> None:
    """Run a layer's `call` on symbolic tensors, for what it does besides."""
    keras.Operation.compute_output_spec(layer, *args, **kwargs)


def count_seed(initializer: keras.initializers.Initializer) -> None:
    """Let the next weight of an initializer with a seed be drawn with the next one (`RandomInitializer._init_seed`)."""
    if isinstance(getattr(initializer, "_init_seed", None), int):
        initializer._init_seed += 1
        initializer.seed = initializer._init_seed


# Of `Trackable`, which `add_weight` of tf.keras asked: layers of larq quantize their kernels by it.
_GETTER = "_add_variable_with_custom_getter"


def getter_of_weights(kind: type) -> str | None:
    """Return the name of the method by which a class of layers changes the weights that it is given, or None."""
    return None if getattr(kind, _GETTER, None) is getattr(keras.layers.Layer, _GETTER, None) else _GETTER
