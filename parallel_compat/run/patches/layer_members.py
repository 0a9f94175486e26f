"""What is put on layers: their constructors, what they are called with, and what they say of it."""

from __future__ import annotations

import functools
import sys
from typing import TYPE_CHECKING, Any

import numpy as np

from parallel_compat.backend.keras3 import as_called, layers, metric_state, patch_points, symbolic_losses
from parallel_compat.legacy import weight_names
from parallel_compat.legacy.call_arguments import translate
from parallel_compat.names import lookup
from parallel_compat.names.eras import Era
from parallel_compat.names.members import members
from parallel_compat.run import (
    callers,
    object_eras,
    usage,
)
from parallel_compat.run.patches import weights
from parallel_compat.run.patches.constructors import OF_EVERY_LAYER
from parallel_compat.run.patches.models import taking_old_arguments
from parallel_compat.run.patches.wrapping import ARGUMENTS, like, looking_alike, noting

if TYPE_CHECKING:
    from parallel_compat.backend.patches import Patches


def put_on(patches: Patches, keras: Any) -> None:
    from parallel_compat.legacy import automatic_names
    from parallel_compat.legacy.numbers import activity_regularizers

    layer, input_layer = keras.layers.Layer, keras.layers.InputLayer
    for points, why in (
        (patch_points.of_layer_names(automatic_names.in_keras_2), "layers are numbered as in Keras 2"),
        (patch_points.of_single_outputs(), "a symbolic output that is alone is no list"),
        (patch_points.of_scalar_outputs(), "a loss that the graph computed is an output without axes"),
        (patch_points.of_variables_of_losses(), "a loss that makes a model made it once"),
        (patch_points.of_initializers(), "an initializer that takes a shape alone"),
        (patch_points.of_overridden_calls(), "a layer derived from one of Keras's whose `call` gives something else"),
        (patch_points.of_undeclared_output_shapes(), "`TimeDistributed` of a layer that does not say its output shape"),
    ):
        for owner, name, wrap in points:
            patches.wrap(owner, name, looking_alike(wrap), why=why)
    patches.wrap(keras.metrics.Metric, "__init__", _metric_init, why="metrics are numbered as in Keras 2.3")
    patches.wrap(layer, "__init__", _layer_init, why="the arguments that every layer had")
    patches.wrap(input_layer, "__init__", _input_layer_init, why=ARGUMENTS)
    patches.wrap(
        keras.layers.Lambda, "__call__", _call_of_lambda, why="symbolic tensors that its function uses are inputs"
    )
    patches.wrap(
        keras.layers.Lambda, "call", _computation_of_lambda, why="no variables are made in it, by TensorFlow 2.2"
    )
    patches.set(layer, "dynamic", _Dynamic(), why="an attribute of the layers of tf.keras, which `dynamic=True` sets")
    patches.set(
        layer, "activity_regularizer", activity_regularizers.OfLayer(), why="Keras 2.2.4 did not divide by the samples"
    )
    patches.set(keras.layers.Embedding, "input_length", None, why="an attribute that `Embedding` had")
    patches.set(keras.layers.LeakyReLU, "alpha", _slope(keras), why="what `negative_slope` was called")
    for kind in (keras.layers.SeparableConv2D, keras.layers.DepthwiseConv2D):
        attribute = "an attribute of every convolution, which those of two kernels did not use"
        patches.set(kind, "kernel_initializer", keras.initializers.GlorotUniform(), why=attribute)
        for name in ("kernel_regularizer", "kernel_constraint"):
            patches.set(kind, name, None, why=attribute)
    patches.wrap(layer, "input", _input_without_mask, why="a mask is no input, for the user's code")
    for name in ("input", "output"):
        patches.wrap(patch_points.functional_class(), name, _alone, why="one tensor is no list, for the user's code")
    made_by = property(lambda self: self.operation)
    patches.set(patch_points.history_class(), "layer", made_by, why="what tf.keras called it: `x._keras_history.layer`")
    patches.wrap(input_layer, "input", _input_of_input_layer, why="the tensor itself, for the user's code")
    patches.set(keras.layers.RNN, "reset_states", _reset_states, why="the method is called `reset_state` today")
    weights.put_on(patches, keras)
    for kind in (layer, patch_points.functional_class()):
        if "add_loss" in vars(kind):
            make = functools.partial(taking_old_arguments, name="add_loss", of="keras.layers.Layer.add_loss")
            patches.wrap(kind, "add_loss", make, why="losses that are symbolic tensors of a functional model")
    patches.wrap(
        keras.metrics.Metric, "__call__", metric_state.call_that_marks, why="`add_metric` of a metric's result"
    )
    make = functools.partial(taking_old_arguments, name="add_metric", of="keras.layers.Layer.add_metric")
    patches.wrap(layer, "add_metric", make, why="Keras 3 has the method no more")
    added = "losses and metrics that were added to a model as tensors are in its configuration"
    # Inside of what spells configurations for the user's code, which looks at who calls it.
    patches.wrap(patch_points.functional_class(), "get_config", _config_with_added, why=added)
    owner, name, wrap = symbolic_losses.from_config_with_added()
    patches.wrap(owner, name, looking_alike(wrap), why=added)


def _config_with_added(original: Any) -> Any:
    """`get_config` of functional models of tf.keras; Keras 2.2.4 left these tensors out."""
    with_added = symbolic_losses.config_with_added(original)

    @like(original)
    def get_config(self: Any) -> Any:
        return with_added(self) if object_eras.era_of_object(self).is_tf_keras else original(self)

    return get_config


class _Dynamic:
    """`layer.dynamic`: it, or a layer inside, was made with `dynamic=True`, and runs line by line, as its model does.

    What a user's class sets under that name counts instead.
    """

    FLAG = "_parallel_compat_dynamic"

    def __get__(self, layer: Any, kind: Any) -> Any:
        if layer is None:
            return self
        return any(self.FLAG in vars(each) for each in layers.all_layers(layer))


def _slope(keras: Any) -> property:
    def get(self: Any) -> Any:
        if callers.user_frame(sys._getframe(1)) is None:
            raise AttributeError(f"{type(self).__name__!r} object has no attribute 'alpha'")
        return np.asarray(self.negative_slope, keras.backend.floatx())

    def set_(self: Any, value: Any) -> None:
        if object_eras.era_of_object(self).has_graphs:
            as_called.note_change(self, "negative_slope")
        self.negative_slope = float(value)

    return property(get, set_)


def _metric_init(original: Any) -> Any:
    def __init__(self: Any, dtype: Any = None, name: str | None = None) -> None:
        from parallel_compat.legacy import automatic_names

        original(self, dtype=dtype, name=name or automatic_names.of_metric(self))

    return __init__


def _layer_init(original: Any) -> Any:
    @like(original)
    def __init__(self: Any, *given: Any, **keywords: Any) -> None:
        after = None
        era = callers.era_of_caller()
        object_eras.remember(self, era)
        if era is not Era.TODAY and "trainable" in keywords:
            keywords["trainable"] = bool(keywords["trainable"])  # a list of names, None or 1 was as good
        if era.is_tf_keras and keywords.pop("dynamic", False):
            vars(self)[_Dynamic.FLAG] = True
        if era.is_tf_keras and (getter := layers.getter_of_weights(type(self))) is not None:
            raise TypeError(
                f"Expected a layer whose weights are those of `add_weight`. Received: {type(self).__name__}, which "
                f"changes them by `{getter}`: Keras 3 does not ask it, so that they would stay as they are (not "
                "quantized, say). Change them in `call`."
            )
        if keywords.keys() & OF_EVERY_LAYER:
            from parallel_compat.legacy.layers import take_common

            after = take_common(keywords)
        original(self, *given, **keywords)
        patch_points.name_first_argument(self)
        weight_names.count_cell(self, era)
        if not type(self).__module__.startswith(("keras.", "parallel_compat.")):
            _tell_of_training(self, era)
        if after is not None:
            after(self)

    return __init__


def _tell_of_training(layer: Any, era: Era) -> None:
    """Let the `call` of a user's class be handed `training` where it was: Keras 3 hands it to each that names it.

    In graphs it was handed to none (tf.keras 1.15: but see `layers._handing_on`): what is None by default was None, and
    layers asked for the learning phase. TensorFlow 2.2 handed it to `**kwargs`, too. tf.keras handed it to a `call`
    that requires it, which Keras 3 refuses to call without.
    """
    from parallel_compat.legacy import execution

    parameter = layers.training_parameter(layer)
    if parameter is None:
        return
    in_graph = execution.computes_in_graphs(era)
    if parameter.kind is parameter.VAR_KEYWORD:
        if era is Era.TF_KERAS_2_2 and not in_graph:
            layers.let_inherit_training(layer, True)
    elif era.is_tf_keras and parameter.default is parameter.empty:
        layers.let_leave_out_training(layer)
    elif in_graph and not hasattr(type(layer), "fit"):
        layers.let_inherit_training(layer, False)
    elif era.is_standalone and parameter.default is not parameter.empty:
        layers.let_pass_over_training(layer)


def _input_layer_init(original: Any) -> Any:
    @like(original)
    def __init__(self: Any, *given: Any, **keywords: Any) -> None:
        batch = getattr(keywords.get("shape"), "batch", None)
        if batch is not None:
            keywords["batch_size"] = batch
        if keywords.get("batch_shape") is not None and not given:
            keywords["shape"] = None  # in Keras 2 the whole shape counted where both were given
        if isinstance(keywords.get("shape"), int) and callers.era_of_caller().is_tf_keras:
            keywords["shape"] = (keywords["shape"],)
        frame = callers.user_frame(sys._getframe(1))
        if frame is not None:
            of = "keras.layers.InputLayer"
            given, keywords = translate(of, given, keywords, noting(of, frame))
        tensor = keywords.get("input_tensor")
        if tensor is None or not callers.era_of_caller().has_graphs:
            original(self, *given, **keywords)
            return
        from parallel_compat.legacy import data_tensors

        data_tensors.make_input(functools.partial(original, self), self, keywords)

    return __init__


def _call_of_lambda(original: Any) -> Any:
    from keras.layers import Lambda as type_of_lambda

    @like(original)
    def __call__(self: Any, inputs: Any, *given: Any, **keywords: Any) -> Any:
        call = super(type_of_lambda, self).__call__  # with what else is put on layers, before this or after
        if not patch_points.any_symbolic(inputs):
            return call(inputs, *given, **keywords)
        from parallel_compat.backend.keras3 import counted_calls
        from parallel_compat.legacy import as_of_now, closures

        if object_eras.era_of_object(self).has_graphs:
            vars(self)["function"] = as_of_now.as_of_now(as_of_now.given(self.function))
        inputs = closures.capture(self, inputs)
        outputs = call(inputs, *given, **keywords)
        if as_of_now.given(self.function) is not self.function:
            counted_calls.begin_last_call_with(self, {"function": self.function})
        return outputs

    return __call__


def _computation_of_lambda(original: Any) -> Any:
    @like(original)
    def call(self: Any, inputs: Any, mask: Any = None, training: Any = None) -> Any:
        compute = functools.partial(original, self, inputs, mask=mask, training=training)
        if object_eras.era_of_object(self) is not Era.TF_KERAS_2_2:
            return compute()
        from parallel_compat.legacy import lambda_variables

        return lambda_variables.checked(self, compute)

    return call


def _input_without_mask(original: Any) -> property:
    def get(self: Any) -> Any:
        if callers.user_frame(sys._getframe(1)) is not None:
            from parallel_compat.legacy import nodes

            if nodes.has_mask_among_inputs(self):
                return nodes.get_input_at(self, 0)
        return original.__get__(self, type(self))

    return property(get)


def _alone(original: Any) -> property:
    """`Model([x], [y]).output` is y; Keras 3 keeps the list that was given."""

    def get(self: Any) -> Any:
        value = original.__get__(self, type(self))
        if isinstance(value, (list, tuple)) and len(value) == 1:
            frame = callers.user_frame(sys._getframe(1))
            if frame is not None and callers.era_of(frame) is not Era.TODAY:
                return value[0]
        return value

    return property(get, original.fset)


def _input_of_input_layer(original: Any) -> property:
    row = members()["input"][0]

    def get(self: Any) -> Any:
        frame = callers.user_frame(sys._getframe(1))
        if frame is None:
            return original.__get__(self, type(self))
        usage.record("InputLayer.input", row.new or "", frame)
        return lookup.fetch(row.new or "")(self)

    return property(get)


def _reset_states(self: Any, states: Any = None) -> None:
    from parallel_compat.legacy.layers import reset_states

    reset_states(self, states)
