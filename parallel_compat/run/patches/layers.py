"""What `run` puts on Keras's layers so that they are named, called and wrapped as in Keras 2."""

from __future__ import annotations

import contextlib
import functools
import sys
from typing import TYPE_CHECKING, Any

from parallel_compat.backend.keras3 import (
    applications,
    as_called,
    call_context,
    checkpoint_children,
    checkpoint_slots,
    computed_in_build,
    counted_calls,
    decorated_constructors,
    input_signatures,
    kept_from_calls,
    layer_calls,
    made_variables,
    padded_convolutions,
    patch_points,
    saved_models,
    shallow_copies,
    symbolic_values,
)
from parallel_compat.backend.keras3 import layers as keras_layers
from parallel_compat.backend.patches import TENSORFLOW
from parallel_compat.names.eras import Era
from parallel_compat.run import assigned_attributes, callers, object_eras
from parallel_compat.run.patches.wrapping import looking_alike

if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import FrameType

    from parallel_compat.backend.patches import Patches


def put_on(patches: Patches, keras: Any) -> None:
    """Put everything on the classes."""
    from parallel_compat.legacy import (
        causal_convolutions,
        cell_dropout,
        cell_structures,
        dot_products,
        lambda_functions,
        masks,
        output_shapes,
        own_trainable,
        recurrent,
        shape_checks,
        time_distributed,
        time_major,
        weight_names,
    )

    layers = keras.layers
    assigned_attributes.put_on(patches, keras)
    for points, why in (
        (layer_calls.of_refused_names(), "a name may have a `/`, and that of a model anything"),
        (layer_calls.of_copied_collections(), "a configuration with a list of the layer's is copied alone"),
        (layer_calls.of_shapes_of_arguments(), "an argument of `call` may be called `args`"),
        (layer_calls.of_numbers_among_tensors(), "numbers among tensors become tensors"),
        (
            layer_calls.of_shapes_for_users(_is_of_user_of_tf_keras, output_shapes.with_methods),
            "shapes have `as_list()`",
        ),
        (layer_calls.of_layers_made_by_calls(), "layers that a layer of a Sequential model makes are the model's"),
        (layer_calls.of_other_sizes(_takes_other_sizes), "a model is called on pictures of another size"),
        (layer_calls.of_compiled_calls(), "a `call` that is a `tf.function` changes its variables"),
        (layer_calls.of_builds_before_calls(_builds_on_the_way), "seeds are drawn in the order of what draws them"),
        (layer_calls.of_dropout_masks(), "stacked cells with constants"),
        (
            layer_calls.of_notes_of_the_phase(),
            "a layer of one's own notes that it uses the learning phase",
        ),
        (symbolic_values.of_passes(_trains_unfed), "Keras 2.2.4 fed the phase where an output was noted to use it"),
        (layer_calls.of_absent_masks(_is_old), "a layer whose inputs have no masks is given none"),
        (layer_calls.of_output_shapes(_is_called_for_shape, _is_old), "what a layer gives is found by calling it"),
        (saved_models.of_first_inputs(), "a SavedModel has what a layer computes of the inputs that it was called on"),
        (counted_calls.patch_points(_in_a_graph), "a layer that counts its own calls"),
        (computed_in_build.patch_points(_in_a_graph), "what `build` computes of weights follows them"),
        (decorated_constructors.patch_points(), "`__init__` may be decorated"),
        (padded_convolutions.patch_points(), "TensorFlow loses the padding of a `Conv3D` behind a `ZeroPadding3D`"),
        (as_called.points(), "what is set on a layer of a graph after it was called is in later calls alone"),
        (kept_from_calls.patch_points(_in_a_graph), "what `call` keeps of one trace is not used in another"),
    ):
        for owner, name, wrap in points:
            # Keras reads the signature of a `build` from what it puts around the bound method.
            patches.wrap(
                owner, name, wrap if name in ("build", "__new__", "__deepcopy__") else looking_alike(wrap), why=why
            )

    for owner, name, method in shallow_copies.of_copies(_is_shallow_when_copied):
        patches.set(owner, name, method, why="a copy of a layer has its weights")
    for owner, name, wrap in made_variables.of_thawed_variables():
        patches.wrap(owner, name, wrap, why="a layer trains after it was thawed")
    for points, why in (
        (
            checkpoint_children.patch_points(_of_tf_keras, _metrics_in_checkpoint),
            "what a `tf.train.Checkpoint` reaches, and gives back",
        ),
        (checkpoint_slots.patch_points(), "the state of an optimizer of `tf.keras` in a checkpoint"),
        (input_signatures.patch_points(), "methods with an `input_signature`, and what does not fit one"),
    ):
        for owner, name, wrap in points:
            patches.wrap(owner, name, wrap, why=why, read_in=TENSORFLOW)

    patches.wrap(
        layers.Layer, "compute_output_shape", looking_alike(_same_shape), why="`super()` gave the shape of the input"
    )
    patches.set(layers.InputLayer, "call", _same, why="called as every layer of a model is, it gave what it was given")
    patches.wrap(layers.Layer, "__call__", looking_alike(_one_output), why="a list of one output was that output")
    patches.wrap(layers.Layer, "__call__", looking_alike(_called_without_training), why="`training=False` holds")
    patches.wrap(layers.Layer, "build", _build_of_model, why="`build` of a subclassed model made its weights")
    phase = "in training alone, unless it is said"
    patches.wrap(patch_points.image_preprocessing_class(), "call", _changing_images_in_training, why=phase)
    patches.wrap(layers.RandomCrop, "call", _cropping_without_training, why="it cut images at their centre")
    for kind in patch_points.convolution_classes():
        patches.wrap(kind, "build", shape_checks.build_of_convolution, why="a `ValueError`, as it was")
    for kind in patch_points.convolution_classes()[:2]:
        strides = "strides with dilation were refused when the layer was called"
        patches.wrap(kind, "__init__", looking_alike(shape_checks.init_of_convolution), why=strides)
    merge = looking_alike(functools.partial(shape_checks.call_of_merge, is_old=_is_old))
    patches.wrap(patch_points.merge_class(), "__call__", merge, why="a `ValueError`, as it was")
    nothing_left = "nothing may be left"
    patches.wrap(layers.Cropping1D, "call", shape_checks.call_of_cropping, why=nothing_left)
    patches.wrap(
        layers.Cropping1D, "compute_output_shape", shape_checks.compute_output_shape_of_cropping, why=nothing_left
    )
    patches.wrap(layers.Layer, "compute_mask", looking_alike(_refusing_masks), why="a `TypeError`, as it was")
    names = "functions of Lambda layers are found by name in the process that wrote them"
    patches.wrap(layers.Lambda, "get_config", lambda_functions.get_config, why=names)
    patches.wrap(layers.Lambda, "from_config", lambda_functions.from_config, why=names)
    structures = "states, inputs and outputs of several axes, and nested ones"
    for kind, name, in_structures in (
        (layers.RNN, "__init__", cell_structures.init),
        (layers.RNN, "build", cell_structures.build),
        (layers.RNN, "call", cell_structures.call),
        (layers.RNN, "compute_output_shape", cell_structures.compute_output_shape),
        (layers.RNN, "get_initial_state", cell_structures.initial_state),
        (layers.StackedRNNCells, "build", cell_structures.build_of_stack),
        (layers.StackedRNNCells, "get_initial_state", cell_structures.initial_state_of_stack),
    ):
        patches.wrap(kind, name, in_structures, why=structures)
    told = "an error in a Lambda layer's function is told as it is"
    patches.wrap(layers.Lambda, "compute_output_shape", looking_alike(_own_error), why=told)
    constants, stack = "constants of recurrent layers", "cells that are no layers"
    patches.wrap(layers.RNN, "__init__", recurrent.init_with_any_cell, why=stack)
    patches.wrap(layers.StackedRNNCells, "__init__", recurrent.init_of_stack, why=stack)
    patches.set(layers.RNN, "states", property(_states, _set_states), why="one None for each state, without states")
    turned = "`time_major`"
    patches.wrap(layers.RNN, "compute_output_shape", time_major.compute_output_shape, why=turned)
    patches.wrap(layers.RNN, "compute_output_shape", looking_alike(_flat_shapes), why="a list of shapes")
    patches.wrap(keras.Layer, "build_from_config", _build_of_file, why="shapes are no lists, to the user's code")
    for kind in patch_points.classes_with("compute_output_shape"):
        why = "a `tf.TensorShape` is taken and given, in the user's code of `tf.keras`"
        patches.wrap(kind, "compute_output_shape", looking_alike(_tensor_shapes), why=why)
    backwards = "`reverse_state_order`"
    patches.wrap(layers.StackedRNNCells, "state_size", recurrent.state_size_of_stack, why=backwards)
    patches.wrap(layers.StackedRNNCells, "get_initial_state", recurrent.initial_state_of_stack, why=backwards)
    patches.wrap(layers.StackedRNNCells, "state_size", _flat_sizes, why="the sizes of all states, one after the other")
    patches.wrap(layers.RNN, "call", recurrent.call_with_constants, why=constants)
    once = "masks that a cell of tf.keras draws once for all steps of a call"
    patches.wrap(layers.RNN, "call", looking_alike(cell_dropout.call_of_layer), why=once)
    patches.set(layers.RNN, keras_layers.RESET_OF_MASKS, cell_dropout.forget_in_layer, why=once)
    for kind in (layers.SimpleRNNCell, layers.GRUCell, layers.LSTMCell):
        for method in (cell_dropout.get_dropout_mask_for_cell, cell_dropout.get_recurrent_dropout_mask_for_cell):
            patches.set(kind, method.__name__, method, why=once)
    patches.wrap(layers.RNN, "inner_loop", recurrent.loop_with_constants, why=constants)
    patches.wrap(layers.RNN, "get_initial_state", recurrent.initial_state_of_tensor, why="zeros, given a tensor")
    patches.wrap(layers.StackedRNNCells, "call", recurrent.call_of_stack, why=constants)
    for kind in (layers.SimpleRNNCell, layers.GRUCell, layers.LSTMCell):
        patches.wrap(
            kind, "get_initial_state", recurrent.initial_state_of_cell, why="zeros, given a tensor and a dtype"
        )
    patches.wrap(layers.RNN, "build", recurrent.build_with_constants, why=constants)
    patches.wrap(
        layers.Bidirectional,
        "__init__",
        lambda original: recurrent.init_of_bidirectional(original, _repeats),
        why="what a masked step of Bidirectional gives",
    )
    patches.set(
        layers.Bidirectional, "layer", property(recurrent.layer_of_bidirectional), why="the layer that it was given"
    )
    patches.wrap(
        layers.Wrapper,
        "__init__",
        looking_alike(own_trainable.init_of_wrapper),  # Keras reads the arguments of a class derived from it
        why="it says its flag to what it wraps",
    )
    patches.wrap(layers.Bidirectional, "call", recurrent.call_of_bidirectional, why=constants)
    patches.wrap(layers.Bidirectional, "build", recurrent.build_of_bidirectional, why=constants)
    patches.wrap(
        layers.Bidirectional, "from_config", weight_names.number_forward_first, why="the backward layer is made first"
    )
    for kind in (layers.RNN, layers.Bidirectional):
        patches.wrap(kind, "__call__", recurrent.call_with_list, why="states and constants in a list")
        patches.wrap(kind, "get_config", recurrent.config_with_constants, why=constants)
    for name in ("__init__", "get_config", "build", "call"):
        patches.wrap(layers.RNN, name, getattr(time_major, name.strip("_")), why=turned)
    patches.wrap(layers.RNN, "get_initial_state", time_major.initial_state, why=turned)
    for kind in (layers.RNN, layers.Bidirectional):
        patches.wrap(kind, "build", recurrent.build_by_old_name, why="the argument was `input_shape`")
    for name in ("__init__", "call"):
        in_convolution = getattr(causal_convolutions, name.strip("_"))
        patches.wrap(layers.SeparableConv1D, name, looking_alike(in_convolution), why="it could be causal in tf.keras")
    causal = "`causal` is said when an attention layer is made"
    for name, in_attention in (
        ("__init__", _attention_init),
        ("get_config", _attention_config),
        ("call", _attention_call),
    ):
        patches.wrap(layers.Attention, name, looking_alike(in_attention), why=causal)
    for kind, of_several in ((patch_points.merge_class(), masks.of_merge), (layers.Concatenate, masks.of_concatenate)):
        make = looking_alike(functools.partial(of_several, is_old=_is_old))
        patches.wrap(kind, "compute_mask", make, why="what masks one of the inputs masks the output")
    for owner, name, wrap in applications.patch_points(_era_of_asking_code):
        patches.wrap(owner, name, wrap, why="the layers that networks had, by their numbers and names")
    value = looking_alike(functools.partial(masks.value_of_merge, is_old=_is_old))
    for kind, name in patch_points.merge_functions():
        patches.wrap(kind, name, value, why="masked steps count in a maximum, as they did")
    product = "a product of the last two axes"
    for owner, name, wrap in patch_points.of_dot(functools.partial(dot_products.merge, is_old=_multiplies_matrices)):
        patches.wrap(owner, name, looking_alike(wrap), why=product)
    of_shapes = looking_alike(functools.partial(dot_products.output_shape, is_old=_multiplies_matrices))
    patches.wrap(layers.Dot, "compute_output_shape", of_shapes, why=product)
    for name in ("build", "call", "compute_mask"):
        patches.wrap(layers.TimeDistributed, name, getattr(time_distributed, name), why="time is folded into the batch")


def _is_shallow_when_copied(layer: Any) -> bool:
    """Whether `copy.copy` shares: not for models of Keras 2.2.4, which it copied by way of a file."""
    era = object_eras.era_of_object(layer)
    return era.is_tf_keras or (era.is_standalone and not isinstance(layer, sys.modules["keras"].Model))


def _changing_images_in_training(original: Any) -> Any:
    """`RandomRotation` and its relatives: TensorFlow 2.2 asked the learning phase, today's change images by default."""

    def call(self: Any, data: Any, training: Any = None) -> Any:
        if training is None:
            from parallel_compat.legacy import learning_phase

            training = object_eras.era_of_object(self) is Era.TODAY or bool(learning_phase.set_or_0())
        return original(self, data, training=training)

    return call


def _cropping_without_training(original: Any) -> Any:
    def call(self: Any, data: Any, training: Any = None) -> Any:
        from parallel_compat.legacy import learning_phase, random_crop

        trains = learning_phase.set_or_0() if training is None else training
        if trains or object_eras.era_of_object(self) is Era.TODAY:
            return original(self, data, training=training)
        return random_crop.without_training(data, self.height, self.width)

    return call


def _build_of_model(original: Any) -> Any:
    @functools.wraps(original)  # Keras asks whether a layer has a `build` of its own by a mark on this one
    def build(self: Any, input_shape: Any) -> None:
        is_model = isinstance(self, sys.modules["keras"].Model) and input_shape is not None
        if is_model and object_eras.era_of_object(self) is not Era.TODAY:
            from parallel_compat.backend import keras3

            keras3.build_by_calling(self, input_shape)
        original(self, input_shape)

    return build


def put_on_constructors(patches: Patches, keras: Any) -> None:
    """Patch constructors that user's code calls: before their arguments are translated, which asks who calls.

    Args:
        patches: the setter.
        keras: the module.
        looking_alike: makes a wrapper look like what it wraps.
    """
    slope = "a slope may be negative"
    patches.wrap(keras.layers.LeakyReLU, "__init__", looking_alike(_any_slope), why=slope)


def _any_slope(original: Any) -> Any:
    def __init__(self: Any, *given: Any, **keywords: Any) -> None:
        name = "negative_slope"
        slope = given[0] if given else keywords.get(name)
        is_negative = isinstance(slope, (int, float)) and slope < 0 and callers.era_of_caller() is not Era.TODAY
        if is_negative:
            given, keywords = given[1:], {**keywords, name: 0.0}
        original(self, *given, **keywords)
        if is_negative:
            self.negative_slope = slope

    return __init__


_CAUSAL = "causal"


def _attention_init(original: Any) -> Any:
    def __init__(self: Any, *given: Any, **keywords: Any) -> None:
        is_causal = keywords.pop(_CAUSAL, False)
        original(self, *given, **keywords)
        self.causal = is_causal

    return __init__


def _attention_config(original: Any) -> Any:
    def get_config(self: Any) -> Any:
        return {**original(self), **({_CAUSAL: True} if vars(self).get(_CAUSAL) else {})}

    return get_config


def _attention_call(original: Any) -> Any:
    def call(self: Any, inputs: Any, *given: Any, **keywords: Any) -> Any:
        if vars(self).get(_CAUSAL):
            keywords["use_causal_mask"] = True
        return original(self, inputs, *given, **keywords)

    return call


def _refusing_masks(original: Any) -> Any:
    """`layer.compute_mask(x, mask)` of the user's, of a layer that does not take masks."""

    def compute_mask(self: Any, inputs: Any, mask: Any = None) -> Any:
        frame = callers.user_frame(sys._getframe(1))
        takes_masks = self.supports_masking or isinstance(self, sys.modules["keras"].Model)
        if frame is None or takes_masks or callers.era_of(frame) is Era.TODAY:
            return original(self, inputs, mask)
        masks = mask if isinstance(mask, list) else [mask]
        if any(each is not None for each in masks):
            raise TypeError(f"Layer '{self.name}' does not support masking, but was passed an input_mask: {mask}")
        return None

    return compute_mask


def _own_error(original: Any) -> Any:
    """Raise what the function raised: Keras 3 says in its place that it cannot find the shape of the output."""

    def compute_output_shape(self: Any, *given: Any, **keywords: Any) -> Any:
        try:
            return original(self, *given, **keywords)
        except NotImplementedError as error:
            if error.__context__ is None or isinstance(error.__context__, NotImplementedError):
                raise
            raise error.__context__ from None

    return compute_output_shape


def _flat_shapes(original: Any) -> Any:
    from parallel_compat.legacy import recurrent

    def compute_output_shape(self: Any, *given: Any, **keywords: Any) -> Any:
        found = original(self, *given, **keywords)
        return found if _asking_for_shapes(sys._getframe(1)) is None else recurrent.flat_shapes(found)

    return compute_output_shape


def _asking_for_shapes(frame: FrameType | None) -> FrameType | None:
    """Return the user's frame that calls `compute_output_shape`, or None; the patches of it call one another."""
    while frame is not None and frame.f_globals is globals():
        frame = frame.f_back
    return callers.user_frame(frame)


def _tensor_shapes(original: Any) -> Any:
    def compute_output_shape(self: Any, *given: Any, **keywords: Any) -> Any:
        frame = _asking_for_shapes(sys._getframe(1))
        if frame is None or not callers.era_of(frame).is_tf_keras:
            return original(self, *given, **keywords)
        from parallel_compat.legacy import output_shapes

        given = tuple(output_shapes.plain(each) for each in given)
        if len(given) == 1 and not self.built and patch_points.finds_shape_by_calling(self):
            self.build(given[0])
        keywords = {name: output_shapes.plain(each) for name, each in keywords.items()}
        return output_shapes.with_methods(original(self, *given, **keywords))

    return compute_output_shape


def _states(self: Any) -> Any:
    found = vars(self).get("states")
    if found is None and callers.user_frame(sys._getframe(1)) is not None:
        sizes = self.cell.state_size
        return [None] * (len(sizes) if isinstance(sizes, (list, tuple)) else 1)
    return found


def _set_states(self: Any, value: Any) -> None:
    vars(self)["states"] = value


def _flat_sizes(original: Any) -> property:
    def state_size(self: Any) -> Any:
        sizes = original.fget(self)
        frame = callers.user_frame(sys._getframe(1))
        era = Era.TODAY if frame is None else callers.era_of(frame)
        if not era.is_standalone:
            return tuple(sizes) if era.is_tf_keras else sizes
        return tuple(size for cell in sizes for size in (cell if isinstance(cell, (list, tuple)) else [cell]))

    return property(state_size)


def _same(self: Any, inputs: Any) -> Any:
    return inputs


def _same_shape(original: Any) -> Any:
    def compute_output_shape(self: Any, *given: Any, **keywords: Any) -> Any:
        frame = _asking_for_shapes(sys._getframe(1))
        by_super = frame is not None and frame.f_code.co_name == "compute_output_shape" and bool(given)
        if frame is not None and by_super and callers.era_of(frame).is_standalone:
            return given[0]
        return original(self, *given, **keywords)

    return compute_output_shape


def _called_without_training(original: Any) -> Any:
    """Let the user's `layer(x, training=False)` on a symbolic tensor hold, whatever the model is told.

    Keras 3 notes the default of `call`, False for most layers, as if it had been given, and does not tell the two
    apart; a number is none of them (`backend.keras3.symbolic_values`).
    """

    def __call__(self: Any, *given: Any, **keywords: Any) -> Any:
        if len(given) > 1 and _is_old(self):
            given, keywords = layer_calls.with_mask_and_training_by_name(self, given, keywords)
        phase = keywords.get("training") is call_context.PHASE
        if phase and object_eras.era_of_object(self) is Era.TF_KERAS_2_2:
            keywords["training"] = 0  # TensorFlow 2.2 had no flag outside of its steps: it gave 0 there
        if keywords.get("training") is False and given and patch_points.any_symbolic(given[0]):
            frame = callers.user_frame(sys._getframe(1))
            if frame is not None and callers.era_of(frame) is not Era.TODAY:
                keywords["training"] = 0
        symbolic = bool(given) and patch_points.any_symbolic(given[0])
        if symbolic:
            from parallel_compat.legacy.numbers import batch_normalization, collected_updates

            collected_updates.note_call(self)
            if object_eras.trains_in_graphs():
                batch_normalization.note_what_is_frozen(self)
        if given and isinstance(given[0], (dict, list, tuple)) and _of_tf_keras(self):
            given = (layer_calls.arrays_among_tensors(given[0]), *given[1:])
        is_users = not type(self).__module__.startswith("keras.")
        if is_users and symbolic:
            given = (_with_captured(self, given[0]), *given[1:])
        is_standalone = object_eras.era_of_object(self).is_standalone
        undecided = is_standalone and call_context.is_undecided() and keywords.get("training") is None
        in_graph = (is_users or symbolic) and object_eras.era_of_training(self).has_graphs
        with (
            _predicting_in_training(self, keywords) if in_graph and is_users else _NOTHING,
            _assigning_after(self, symbolic) if in_graph else _NOTHING as outputs,
            call_context.in_call_of(self) if in_graph and is_users else _NOTHING,
            _putting_weights_back() if in_graph and is_users else _NOTHING,
            _handing_on(self, given, keywords, sys._getframe(1)),
        ):
            result = original(self, *given, **keywords)
            if outputs is not None:
                outputs.append(result)
        _say_whether_it_trains(result, self, given[:1], keywords.get("training"), undecided)
        return result

    return __call__


def _one_output(original: Any) -> Any:
    """Give a tensor for a list of one, as Keras 2.2.4 did, whether `call` or `compute_output_shape` made the list.

    There the tensors were those of `call`, and the shapes were put on them one by one. And what a subclassed model gave
    had no masks, unless its class computed them: `Network.compute_mask` gave None.
    """

    def __call__(self: Any, *given: Any, **keywords: Any) -> Any:
        outputs = original(self, *given, **keywords)
        alone, unmasked = type(outputs) is list and len(outputs) == 1, keras_layers.computes_no_masks(self)
        if not (alone or unmasked) or not object_eras.era_of_object(self).is_standalone:
            return outputs
        if unmasked:
            keras_layers.forget_masks(outputs)
        return outputs[0] if alone else outputs

    return __call__


_NOTHING: contextlib.AbstractContextManager[None] = contextlib.nullcontext()


def _handing_on(
    layer: Any, given: Any, keywords: dict[str, Any], asking: FrameType | None
) -> contextlib.AbstractContextManager[None]:
    """Let what a layer's call is told of training be for the calls inside it alone.

    In a graph of tf.keras 1.15 a layer of the user's was handed as `training` what code had given a call around it, or
    what trained a model of a class of the user's, and else nothing (`base_layer.Layer.__call__`).

    Args:
        layer: the layer.
        given: the arguments of its call by place.
        keywords: those by name, to which `training` may be added.
        asking: the frame that calls it.
    """
    if not _is_old(layer):
        return _NOTHING
    from parallel_compat.legacy import execution

    said, era = None, object_eras.era_of_object(layer)
    if era.is_tf_keras and execution.computes_in_graphs(era):
        handed = call_context.said() is not None and keras_layers.is_left_without_training(layer)
        if handed and not patch_points.any_symbolic(given):  # which Keras would note as what the user gave
            keywords.setdefault("training", call_context.said())
        said = keywords.get("training")
        if callers.user_frame(asking) is None and not keras_layers.is_trained_itself(layer):
            said = None
    if said is None and call_context.outermost() is None:  # a call that no other is around
        return _NOTHING
    return _for_inner_calls(said)


def _predicting_in_training(model: Any, keywords: dict[str, Any]) -> contextlib.AbstractContextManager[None]:
    """Let a model of a class of the user's predict where Keras 2.2.4 did not feed the phase; see `symbolic_values`."""
    if keywords.get("training") is not True or not hasattr(model, "fit") or keras_layers.is_of_graph(model):
        return _NOTHING
    is_whole = call_context.outermost() is None or symbolic_values.is_whole(model)
    if not is_whole or call_context.phase_of_call() is not None or not _trains_unfed(model):
        return _NOTHING
    return symbolic_values.unfed(keywords)


@contextlib.contextmanager
def _for_inner_calls(said: Any) -> Iterator[None]:
    with call_context.for_inner_calls(), _NOTHING if said is None else call_context.saying(said):
        yield


def _assigning_after(layer: Any, symbolic: bool) -> contextlib.AbstractContextManager[list[Any]]:
    from parallel_compat.legacy import pending_updates

    return pending_updates.assigned_after(layer, symbolic)


def _putting_weights_back() -> contextlib.AbstractContextManager[None]:
    from parallel_compat.legacy import replaced_weights

    return replaced_weights.put_back_after()


def _with_captured(layer: Any, inputs: Any) -> Any:
    if not object_eras.era_of_object(layer).has_graphs:
        return inputs
    from parallel_compat.legacy import closures

    return closures.capture_of_call(layer, inputs)


def _say_whether_it_trains(results: Any, layer: Any, inputs: Any, training: Any, undecided: bool) -> None:
    """Let what a layer gives for a value say whether it depends on the learning phase, as a graph's tensor did."""
    if object_eras.era_of_object(layer).is_standalone:
        from parallel_compat.legacy import learning_phase

        asked = training is True and call_context.training() is not True  # by code, not by the model that trains
        uses = not asked and learning_phase.layer_uses_phase(layer)
        if undecided and layer_calls.is_traced(results):
            layer_calls.keep_notes_of_phase(layer, results)
        layer_calls.say_uses_phase(results, uses or layer_calls.says_uses_phase((inputs, results)))


def _builds_on_the_way(layer: Any, on_values: bool) -> bool:
    """A layer was called once, in which weights and masks drew their seeds by turns."""
    era = object_eras.era_of_object(layer)
    return era is Era.TF_KERAS_2_2 if on_values else era.is_standalone


def _trains_unfed(model: Any) -> bool:
    if not object_eras.era_of_object(model).is_standalone:
        return False
    from parallel_compat.legacy import learning_phase

    return not learning_phase.feeds_phase(model)


def _is_old(layer: Any) -> bool:
    return object_eras.era_of_object(layer) is not Era.TODAY


def _takes_other_sizes(model: Any, inputs: Any, inside: bool) -> bool:
    """In a graph the sizes of arrays were compared with those of a model's inputs, in TensorFlow 2.2 none were."""
    era = object_eras.era_of_object(model)
    return era is Era.TF_KERAS_2_2 or (era.has_graphs and (inside or patch_points.any_symbolic(inputs)))


def _is_called_for_shape(layer: Any) -> bool:
    """tf.keras asked `compute_output_shape` of layers that are made with `dynamic=True` alone."""
    return _of_tf_keras(layer) and layer.dynamic is not True


def _metrics_in_checkpoint(layer: Any) -> list[Any]:
    from parallel_compat.legacy import metrics_in_files

    return metrics_in_files.in_checkpoint(layer)


def _of_tf_keras(layer: Any) -> bool:
    return object_eras.era_of_object(layer).is_tf_keras


def _era_of_asking_code() -> Era:
    frame: FrameType | None = sys._getframe(1)
    while frame is not None and not callers.is_users(frame):
        frame = frame.f_back
    return Era.TODAY if frame is None else callers.era_of(frame)


def _build_of_file(original: Any) -> Any:
    def build_from_config(self: Any, config: Any) -> None:
        from parallel_compat.legacy import output_shapes

        make = output_shapes.with_methods if _is_of_user_of_tf_keras(self, "build") else output_shapes.tuples
        original(self, make(config))

    return build_from_config


def _is_of_user_of_tf_keras(layer: Any, method: str) -> bool:
    owner = next((kind for kind in type(layer).__mro__ if method in vars(kind)), None)
    return owner is not None and callers.is_class_of_user(owner) and _of_tf_keras(layer)


def _in_a_graph(layer: Any) -> bool:
    # tf.keras 2.2 called the layers again in each pass, as today.
    return object_eras.era_of_object(layer).has_graphs


def _multiplies_matrices(layer: Any) -> bool:
    from parallel_compat.legacy import dot_products

    return object_eras.era_of_object(layer) in dot_products.OF_MATRICES


def _repeats(layer: Any) -> bool:
    return object_eras.era_of_object(layer).is_standalone  # tf.keras 1.15 gives zeros, as today
