"""The weights of layers: how they are added, named, ordered, set and thawed."""

from __future__ import annotations

import sys
from contextlib import nullcontext
from typing import TYPE_CHECKING, Any

import numpy as np

from parallel_compat.backend.keras3 import assigned, patch_points
from parallel_compat.legacy import first_values, listed_weights, tensor_names, weight_names
from parallel_compat.legacy.call_arguments import translate
from parallel_compat.names.eras import Era
from parallel_compat.names.table import Change, Member
from parallel_compat.run import callers, object_eras
from parallel_compat.run.patches.members import ForUsers
from parallel_compat.run.patches.wrapping import ARGUMENTS, like, looking_alike, noting

if TYPE_CHECKING:
    from contextlib import AbstractContextManager
    from types import FrameType

    from parallel_compat.backend.patches import Patches


def _add_weight(original: Any) -> Any:
    @like(original)
    def add_weight(self: Any, *given: Any, **keywords: Any) -> Any:
        given, keywords = _of_users("keras.layers.Layer.add_weight", given, keywords, sys._getframe(1))
        # A wrapper that normalises the weights of a layer has the layer built, and adds its own to it.
        with nullcontext() if object_eras.era_of_object(self) is Era.TODAY else assigned.growing(self):
            weight = original(self, *given, **keywords)
        name = keywords.get("name")
        weight_names.remember(weight, self, named=name is not None, name=name)
        return weight

    return add_weight


def _add_weight_of_metric(original: Any) -> Any:
    @like(original)
    def add_weight(self: Any, *given: Any, **keywords: Any) -> Any:
        given, keywords = _of_users("keras.metrics.Metric.add_weight", given, keywords, sys._getframe(1))
        return original(self, *given, **keywords)

    return add_weight


def _of_users(of: str, given: Any, keywords: dict[str, Any], asking: FrameType) -> tuple[Any, dict[str, Any]]:
    """Return today's arguments of a call of the user's; those of others as they are."""
    frame = callers.user_frame(asking)
    if frame is None:
        return given, keywords
    given, keywords = translate(of, given, keywords, noting(of, frame))
    if isinstance(keywords.get("shape"), (int, np.integer)):  # `shape=(units)`
        keywords = {**keywords, "shape": (int(keywords["shape"]),)}
    return given, keywords


def _add_variable(original: Any) -> Any:
    """Hand on to `add_weight`, whose other name it was; today it takes the shape first, and no `dtype` by position."""

    @like(original)
    def add_variable(self: Any, *given: Any, **keywords: Any) -> Any:
        frame = callers.user_frame(sys._getframe(1))
        if frame is None:
            return original(self, *given, **keywords)
        of = "keras.layers.Layer.add_weight"
        given, keywords = translate(of, given, keywords, noting(of, frame))
        return self.add_weight(*given, **keywords)

    return add_variable


def put_on(patches: Patches, keras: Any) -> None:
    """Give the user's code the weights in the order of its era, and the flags that Keras 2.2.4 would show.

    `trainable_weights` and `non_trainable_weights`, which can be assigned too, are with `assigned_attributes`.
    """
    layer = keras.layers.Layer
    patches.wrap(layer, "add_weight", _add_weight, why=ARGUMENTS)
    again = "a session gave variables their first values once more"
    patches.wrap(keras.Variable, "__init__", looking_alike(first_values.remembering), why=again)
    row = Member("keras.Variable", "initializer", Change.PROVIDED, "parallel_compat.legacy.first_values.initializer_of")
    patches.set(keras.Variable, row.old, ForUsers(row, first_values.initializer_of), why=again)
    patches.wrap(keras.metrics.Metric, "add_weight", _add_weight_of_metric, why=ARGUMENTS)
    patches.wrap(layer, "add_variable", _add_variable, why="tf.keras's other name of `add_weight`: its arguments")
    patches.wrap(layer, "weights", _ordered_weights, why="the order of the era, for the user's code")
    patches.wrap(layer, "variables", _weights_as_variables, why="the weights alone, for the user's code")
    patches.wrap(patch_points.variable_class(), "name", _name_of_weight, why="`dense_1/kernel:0`, for the user's code")
    why = "methods of TensorFlow's variables, for the user's code"
    patches.wrap(layer, "__call__", weight_names.call, why="the scopes that weights are named after")
    patches.wrap(layer, "__call__", listed_weights.call, why="layers whose weights a class of the user's lists")
    patches.set(patch_points.variable_class(), "__getattr__", _of_tensorflow, why=why)
    patches.wrap(layer, "get_weights", _get_weights, why="the order of the era, for the user's code")
    patches.wrap(layer, "set_weights", _set_weights, why="the order of the era, for the user's code")
    patches.wrap(layer, "count_params", _count_params, why="the weights that the era listed, for the user's code")
    patches.wrap(layer, "losses", _losses, why="symbolic losses, before anything is computed, for the user's code")
    for owner, name, wrap in patch_points.of_weights_in_files(_in_files):
        patches.wrap(owner, name, wrap, why="the order of the era, and metrics that layers of tf.keras hold")
    for owner, name, wrap in patch_points.of_layers_in_files(_layers_in_files, _layers_of_file):
        patches.wrap(owner, name, wrap, why="metrics that models of tf.keras hold were among their layers")
    patches.wrap(layer, "trainable", _trainable, why="each layer has a flag of its own, for the user's code")


def _of_tensorflow(self: Any, name: str) -> Any:
    """`weight.read_value()`, `weight.ref()`, `weight.scatter_update(...)`: those of the variable that it holds."""
    import tensorflow as tf

    frame = callers.user_frame(sys._getframe(1)) if not name.startswith("_") else None
    era = callers.era_of(frame) if frame is not None else Era.TODAY
    if era is Era.TODAY or not hasattr(tf.Variable, name):
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
    if name == "op" and object_eras.trained_as(era).has_graphs:
        return tensor_names.operation_of_variable(self, era)
    return getattr(self.value, name)


def _name_of_weight(original: Any) -> property:
    def get(self: Any) -> Any:
        name = original.__get__(self, type(self))
        frame = callers.user_frame(sys._getframe(1))
        era = callers.era_of(frame) if frame is not None else Era.TODAY
        return name if era is Era.TODAY else weight_names.in_era(self, name, era)

    return property(get)


def _ordered_weights(original: Any) -> property:
    def get(self: Any) -> Any:
        frame = callers.user_frame(sys._getframe(1))
        era = Era.TODAY if frame is None else callers.era_of(frame)
        if era is Era.TODAY:
            return original.__get__(self, type(self))
        from parallel_compat.legacy import weight_order

        _check_made(self, sys._getframe(1))
        return weight_order.weights(self, era)

    return property(get)


def _check_made(layer: Any, asking: FrameType) -> None:
    """Refuse a model without weights whose weights the user's code asks for itself."""
    if callers.is_users(asking):
        from parallel_compat.legacy import made_weights

        made_weights.check(layer, callers.era_of(asking))


def _in_files(layer: Any) -> list[Any] | None:
    """The order in a file of Keras 2.2.4, where a model that is frozen as a whole has that of one that trains.

    In tf.keras the metrics that a layer holds are among them.
    """
    from parallel_compat.legacy import metrics_in_files, weight_order

    era = object_eras.era_of_object(layer)
    if era.is_standalone:
        return weight_order.weights(layer, Era.KERAS_2_2_4)
    return metrics_in_files.weights_of(layer, era)


def _layers_in_files(model: Any) -> list[Any] | None:
    from parallel_compat.legacy import metrics_in_files

    return metrics_in_files.layers_of(model)


def _layers_of_file(model: Any, arrays: int) -> AbstractContextManager[list[Any] | None]:
    from parallel_compat.legacy import metrics_in_files

    return metrics_in_files.of_file(model, arrays)


def _weights_as_variables(original: Any) -> property:
    """`layer.variables` were the weights; Keras 3 lists states, seeds and the variables of metrics as well."""

    def get(self: Any) -> Any:
        frame = sys._getframe(1)
        if not callers.is_users(frame) or callers.era_of(frame) is Era.TODAY:
            return original.__get__(self, type(self))
        from parallel_compat.legacy import weight_order

        _check_made(self, frame)
        return weight_order.weights(self, callers.era_of(frame))

    return property(get)


def _losses(original: Any) -> property:
    def get(self: Any) -> Any:
        frame = callers.user_frame(sys._getframe(1))
        era = Era.TODAY if frame is None else callers.era_of(frame)
        if era is Era.TODAY:
            return original.__get__(self, type(self))
        from parallel_compat.legacy import layer_losses

        of_graph = layer_losses.are_symbolic(self) and not (
            era is Era.TF_KERAS_2_2 and layer_losses.were_computed(self)
        )
        return layer_losses.losses(self) if of_graph else original.__get__(self, type(self))

    return property(get)


def _get_weights(original: Any) -> Any:
    @like(original)
    def get_weights(self: Any) -> Any:
        frame = callers.user_frame(sys._getframe(1))
        era = Era.TODAY if frame is None else callers.era_of(frame)
        if era is Era.TODAY:
            return original(self)
        from parallel_compat.legacy import weight_order

        _check_made(self, sys._getframe(1))
        return weight_order.get_weights(self, era)

    return get_weights


def _count_params(original: Any) -> Any:
    @like(original)
    def count_params(self: Any) -> Any:
        frame = callers.user_frame(sys._getframe(1))
        era = Era.TODAY if frame is None else callers.era_of(frame)
        if not era.is_tf_keras or not self.built:
            return original(self)
        from parallel_compat.legacy import weight_order

        return weight_order.count_params(self, era)

    return count_params


def _set_weights(original: Any) -> Any:
    @like(original)
    def set_weights(self: Any, weights: Any) -> None:
        frame = callers.user_frame(sys._getframe(1))
        era = Era.TODAY if frame is None else callers.era_of(frame)
        if era is Era.TODAY:
            original(self, weights)
            return
        from parallel_compat.legacy import weight_order

        _check_made(self, sys._getframe(1))
        weight_order.set_weights(original, self, era, weights)

    return set_weights


def _trainable(original: Any) -> property:
    compares = patch_points.code_that_compares_before_it_sets()

    def get_flag(self: Any) -> Any:
        asking = sys._getframe(1)
        if asking.f_code in compares:
            # `model.trainable = True` says it to the layers inside too, whatever the model's own flag was before.
            return None
        frame = callers.user_frame(asking)
        if frame is None or not callers.era_of(frame).is_standalone:
            return original.fget(self)
        from parallel_compat.legacy import own_trainable

        return own_trainable.own(self, original.fget)

    def set_flag(self: Any, value: Any) -> None:
        asking: FrameType | None = sys._getframe(1)
        while asking is not None and asking.f_code.co_name == "__setattr__":  # Keras's, and what wraps it
            asking = asking.f_back
        frame = callers.user_frame(asking)
        if frame is None or not callers.era_of(frame).is_standalone:
            original.fset(self, value)
            return
        from parallel_compat.legacy import own_trainable

        own_trainable.set_own(original.fset, self, value)

    return property(get_flag, set_flag)
