"""Attributes that Keras 2 let a user's code assign: `self.kernel`, `self.trainable_weights`, `model.outputs`.

Keras 3 computes them by properties without a setter. Here each such property of a layer or model can be assigned by
the user's code: what Keras's own code has to know of is handed to it, and the rest is kept for the user's code alone.
"""

from __future__ import annotations

import functools
import sys
from typing import TYPE_CHECKING, Any

from parallel_compat.names.eras import Era
from parallel_compat.run import callers, object_eras, usage

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from types import FrameType

    from parallel_compat.backend.patches import Patches

_ASSIGNED = "_parallel_compat_assigned"
_LAYERS = "_parallel_compat_layers"
_AMONG_TRAINABLE = "_parallel_compat_among_trainable_weights"  # those that are not trained, in tf.keras 2.2


def put_on(patches: Patches, keras: Any) -> None:
    """Put setters on the properties of Keras's classes."""
    from parallel_compat.backend.keras3 import assigned, patch_points

    layer, functional = keras.layers.Layer, patch_points.functional_class()
    own: dict[tuple[Any, str], Callable[[Any], Any]] = {
        (layer, "trainable_variables"): functools.partial(_variables, "trainable_weights"),
        (layer, "non_trainable_variables"): functools.partial(_variables, "non_trainable_weights"),
        (layer, "trainable_weights"): lambda original: _weights("trainable_weights", original, True),
        (layer, "non_trainable_weights"): lambda original: _weights("non_trainable_weights", original, False),
        (layer, "_trainable_weights"): lambda _: _weights("_trainable_weights", None, True),
        (layer, "_non_trainable_weights"): lambda _: _weights("_non_trainable_weights", None, False),
        (functional, "layers"): _layers,
        (keras.Model, "layers"): _layers_by_attribute,
        (keras.Sequential, "layers"): _layers_of_sequential,
        (layer, "__setattr__"): _taking_weights_when_built,
    }
    for owner, name, _ in list(assigned.read_only_properties()):
        own.setdefault((owner, name), functools.partial(_assignable, name))
    for owner, name, wrap in assigned.patch_points(_looks_for_variables):
        patches.wrap(owner, name, wrap, why="a `tf.Variable` that is assigned is a weight")
    for (owner, name), make in own.items():
        patches.wrap(owner, name, make, why="a script assigns it, or changes the list that it gives")


def _looks_for_variables(frame: FrameType | None) -> bool:
    """Say whether an attribute of a layer that is a variable was one of its weights: not in Keras 2.2.4."""
    frame = callers.user_frame(frame)
    return frame is not None and callers.era_of(frame) not in (Era.KERAS_2_2_4, Era.TODAY)


def _assignable(name: str, original: Any) -> property:
    """Return the property with a setter for the user's code.

    Args:
        name: its name.
        original: the property.
    """
    compute = original.fget
    # `Dense.kernel` shows `_kernel`: that is where Keras's own code finds it.
    code = compute.__code__
    field = f"_{name}" if f"_{name}" in (*code.co_names, *code.co_consts) else None

    def get(self: Any) -> Any:
        kept = vars(self).get(_ASSIGNED)
        if kept is not None and name in kept and callers.user_frame(sys._getframe(1)) is not None:
            return kept[name]
        return compute(self)

    def set(self: Any, value: Any) -> None:
        frame = _assigning(sys._getframe(1))
        if frame is None:
            raise AttributeError(f"property {name!r} of {type(self).__name__!r} object has no setter")
        usage.record(f"{_kind_of(self)}.{name} = ...", "assigned as in Keras 2", frame)
        if name in _ENDS:
            _ENDS[name](self, value)
        elif name == "dtype":
            self.dtype_policy = value
        else:
            if field is not None:
                setattr(self, field, value)
                value = getattr(self, field)
            vars(self).setdefault(_ASSIGNED, {})[name] = value

    return property(get, set, original.fdel, original.__doc__)


def _assigning(frame: FrameType | None) -> FrameType | None:
    """Return the user's frame that assigns; Keras's and TensorFlow's own `__setattr__` pass it on."""
    while frame is not None and frame.f_code.co_name == "__setattr__":
        frame = frame.f_back
    return callers.user_frame(frame)


def _kind_of(instance: Any) -> str:
    return "Model" if hasattr(type(instance), "fit") else "Layer"


def _set_outputs(model: Any, outputs: Any) -> None:
    from parallel_compat.backend.keras3 import assigned

    assigned.set_ends(model, model.inputs, outputs)


def _set_inputs(model: Any, inputs: Any) -> None:
    from parallel_compat.backend.keras3 import assigned

    assigned.set_ends(model, inputs, model.outputs)


_ENDS: dict[str, Callable[[Any, Any], None]] = {"outputs": _set_outputs, "inputs": _set_inputs}


# --- weights ------------------------------------------------------------------------------------------------------


def _edited(name: str) -> Any:
    edit = getattr(list, name)

    @functools.wraps(edit)
    def method(self: Weights, *given: Any) -> Any:
        from parallel_compat.backend.keras3 import assigned

        result = edit(self, *given)
        # What is computed of a weight had the weight's place in the list; here the weight keeps it.
        if self._its_own and not (name == "__setitem__" and assigned.is_computed(given[-1])):
            self._told()
        return result

    return method


class Weights(list[Any]):
    """The weights of a layer: what is put into this list becomes one of them.

    Args:
        values: the weights.
        layer: whose they are.
        trainable: which kind of them.
        its_own: whether the layer of then had this very list, so that it lost what was taken off it.
    """

    def __init__(
        self, values: Iterable[Any] = (), layer: Any = None, trainable: bool = True, its_own: bool = True
    ) -> None:
        # TensorFlow makes another one of values alone: the gradients with respect to these weights, a plain list.
        super().__init__(values)
        self._layer, self._trainable, self._its_own = layer, trainable, its_own

    def _told(self) -> None:
        if self._layer is None:
            return
        values, era = list(self), object_eras.era_of_object(self._layer)
        if self._trainable and era.is_tf_keras:
            values = _of_their_kind(self._layer, values, True, era)
        _hand_over(self._layer, values, self._trainable)

    def _begin(self) -> None:
        from parallel_compat.backend.keras3 import assigned

        if self._layer is not None and _leave_out_layers(self._layer):
            self[:] = assigned.own_weights(self._layer, self._trainable)

    def append(self, value: Any) -> None:
        self._begin()
        super().append(value)
        self._told()

    def extend(self, values: Iterable[Any]) -> None:
        values = list(values)  # they may be this very list
        self._begin()
        super().extend(values)
        self._told()

    def __iadd__(self, values: Iterable[Any]) -> Weights:  # type: ignore[misc]
        self.extend(values)
        return self

    insert, pop, remove, clear = map(_edited, ("insert", "pop", "remove", "clear"))
    __setitem__, __delitem__ = map(_edited, ("__setitem__", "__delitem__"))


def _hand_over(layer: Any, values: Iterable[Any], trainable: bool) -> None:
    """Let a layer have weights, with the names of what its `build` made: `K.variable` made them in its scope."""
    from parallel_compat.backend import keras3
    from parallel_compat.backend.keras3 import assigned
    from parallel_compat.legacy import weight_names

    assigned.set_own_weights(layer, values, trainable=trainable)
    if layer in keras3.layers_being_built():
        weight_names.remember_made(layer, assigned.own_weights(layer, trainable))


def _leave_out_layers(layer: Any) -> bool:
    """Let the weights be those that the script lists, as in Keras 2.2.4, which did not look into layers in a layer.

    Where a script lists none, the weights of such layers count, as since Keras 2.3.

    Returns:
        Whether it is a layer of that era for which that is said.
    """
    from parallel_compat.backend import keras3
    from parallel_compat.backend.keras3 import assigned

    if not object_eras.era_of_object(layer).is_standalone or not assigned.derives_from_layer_alone(layer):
        return False
    keras3.leave_out_layers(layer)
    return True


def _of_their_kind(layer: Any, values: list[Any], trainable: bool, era: Era) -> list[Any]:
    """Let a layer of tf.keras have those weights of a list that were made as the other kind, and return the rest.

    What is set on an attribute, be it the list of the other kind, became a weight of the kind that it was made as, too.
    What is in both lists was trained; since TensorFlow 2 with gradients of a tape, which looks at no weight that is
    not trainable.
    """
    from parallel_compat.backend.keras3 import assigned

    if (trainable and era is Era.TF_KERAS_1_15) or not getattr(layer, "trainable", True):
        return values
    others = [each for each in values if getattr(each, "trainable", trainable) is not trainable]
    if trainable:
        vars(layer)[_AMONG_TRAINABLE] = others
    else:  # what the other list has, which was set before, is a weight all the same
        values = [*vars(layer).get(_AMONG_TRAINABLE, ()), *values]
    if others:
        _hand_over(layer, [*assigned.own_weights(layer, not trainable), *others], not trainable)
    return [each for each in values if all(each is not other for other in others)]


def _weights(name: str, original: Any, trainable: bool) -> property:
    def get(self: Any) -> Any:
        from parallel_compat.backend.keras3 import assigned

        frame = callers.user_frame(sys._getframe(1))
        if frame is None:
            if original is None:
                raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
            return original.fget(self)
        if original is None:
            values = assigned.own_weights(self, trainable)
        elif callers.era_of(frame).is_standalone:
            from parallel_compat.legacy import weight_order

            values = getattr(weight_order, name)(self)
        elif callers.era_of(frame).is_tf_keras:
            from parallel_compat.legacy import made_weights, trainable_paths

            if frame is sys._getframe(1):
                made_weights.check(self, callers.era_of(frame))
            values = getattr(trainable_paths, name)(self, callers.era_of(frame))
        else:
            values = original.fget(self)
        if hasattr(type(self), "fit"):
            return values
        its_own = original is None or callers.era_of(frame).is_standalone  # tf.keras gave a list of all weights
        return Weights(values, self, trainable, its_own)

    def set(self: Any, values: Any) -> None:
        frame = _assigning(sys._getframe(1))
        if frame is None:
            raise AttributeError(f"property {name!r} of {type(self).__name__!r} object has no setter")
        usage.record(f"{_kind_of(self)}.{name} = ...", "its weights, as in Keras 2", frame)
        values = list(values)
        _leave_out_layers(self)
        era = callers.era_of(frame)
        if era.is_tf_keras:
            values = _of_their_kind(self, values, trainable, era)
        _hand_over(self, values, trainable)

    return property(get, set)


def _variables(name: str, original: Any) -> property:
    """`layer.trainable_variables`, in `tf.keras` another name of `layer.trainable_weights`."""

    def get(self: Any) -> Any:
        frame = sys._getframe(1)
        if not callers.is_users(frame) or not callers.era_of(frame).is_tf_keras:
            return original.fget(self)
        from parallel_compat.legacy import made_weights, trainable_paths

        made_weights.check(self, callers.era_of(frame))
        return getattr(trainable_paths, name)(self, callers.era_of(frame))

    return property(get)


def _taking_weights_when_built(original: Any) -> Any:
    from parallel_compat.backend.keras3 import as_called, assigned, layers

    @functools.wraps(original)
    def __setattr__(self: Any, name: str, value: Any) -> None:
        if type(value).__module__.startswith(("tensorflow.", "keras.")):
            _replace_weight(self, name, value, sys._getframe(1))
        if isinstance(value, (list, tuple, dict)) and _passes_over_layers(self, name, value, sys._getframe(1)):
            with layers.leaving_out_listed(self, value) as listed:
                original(self, name, listed)
            return
        if _in_graph_of_user(self, sys._getframe(1)):
            as_called.note_change(self, name)
        refused = assigned.is_refused(self, value)
        frame = _assigning(sys._getframe(1)) if refused or assigned.is_of_layer_within(self, value) else None
        era = Era.TODAY if frame is None else callers.era_of(frame)
        if era is Era.TODAY or (era.is_tf_keras and not refused):
            original(self, name, value)
            return
        # In Keras 2.2.4 it was an attribute like any other; a list of weights is set by its property.
        listed = era.is_tf_keras and not name.endswith("trainable_weights")
        with assigned.taking(self, name, value, listed=listed):
            original(self, name, value)

    return __setattr__


def _replace_weight(layer: Any, name: str, value: Any, frame: FrameType) -> None:
    user = _assigning(frame)
    if user is not None:
        from parallel_compat.legacy import replaced_weights

        replaced_weights.note(layer, name, value, callers.era_of(user), _ASSIGNED)


def _in_graph_of_user(layer: Any, frame: FrameType) -> bool:
    """Say whether the user's code sets an attribute of a layer that may be in a graph of TensorFlow 1."""
    held = vars(layer)
    if not held.get("_inbound_nodes") or not object_eras.era_of_object(layer).has_graphs:
        return False
    return _assigning(frame) is not None


def _passes_over_layers(layer: Any, name: str, value: Any, frame: FrameType) -> bool:
    """Say whether layers in what a user's code sets on an attribute were none of a layer's.

    Keras up to 2.3 looked for layers in no list, tuple or dict, tf.keras 1.15 in no tuple. A model of functional form
    has the layers of its graph anyway, and a class that lists its weights itself those whose weights it lists.
    """
    from parallel_compat.backend.keras3 import layers
    from parallel_compat.legacy import listed_weights

    user = _assigning(frame)
    if user is None or layers.is_of_graph(layer) or hasattr(getattr(type(layer), name, None), "__set__"):
        return False
    if listed_weights.lists_its_own(type(layer)):
        return False
    era = callers.era_of(user)
    return era.is_standalone or (era is Era.TF_KERAS_1_15 and isinstance(value, tuple))


# --- layers of a model --------------------------------------------------------------------------------------------


class Layers(list[Any]):
    """`model.layers` of standalone Keras 2, which was the model's own list: `model.layers.pop()` took one off it."""

    def __init__(self, model: Any, layers: Iterable[Any]) -> None:
        super().__init__(layers)
        self._model = model

    def pop(self, index: Any = -1) -> Any:
        layer = super().pop(index)
        self._forget(layer)
        return layer

    def remove(self, layer: Any) -> None:
        super().remove(layer)
        self._forget(layer)

    def __delitem__(self, index: Any) -> None:
        taken = self[index] if isinstance(index, slice) else [self[index]]
        super().__delitem__(index)
        for layer in taken:
            self._forget(layer)

    def _forget(self, layer: Any) -> None:
        from parallel_compat.backend.keras3 import assigned

        vars(self._model)[_LAYERS] = list(self)
        assigned.forget_layer(self._model, layer)


def _layers(original: property) -> property:
    def get(self: Any) -> Any:
        kept = vars(self).get(_LAYERS)
        layers = original.fget(self) if kept is None else list(kept)  # type: ignore[misc]
        frame = callers.user_frame(sys._getframe(1))
        era = Era.TODAY if frame is None else callers.era_of(frame)
        if era.is_standalone:
            return Layers(self, layers)
        return [*layers, *_metrics_among_layers(self, era)]

    return property(get, original.fset, original.fdel, original.__doc__)


def _metrics_among_layers(model: Any, era: Era) -> list[Any]:
    if not era.is_tf_keras:
        return []
    from parallel_compat.legacy import weight_order

    return weight_order.metrics_among_layers(model, era)


def _layers_of_sequential(original: property) -> property:
    """`model.layers` of a Sequential: tf.keras 2.2 had a metric among them that an attribute holds."""

    def get(self: Any) -> Any:
        frame = callers.user_frame(sys._getframe(1))
        layers = original.fget(self)  # type: ignore[misc]
        return layers if frame is None else [*layers, *_metrics_among_layers(self, callers.era_of(frame))]

    return property(get, original.fset, original.fdel, original.__doc__)


def _layers_by_attribute(original: property) -> property:
    """`model.layers` of a subclassed model: tf.keras had the layers of a list where the list was set."""

    def get(self: Any) -> Any:
        frame = callers.user_frame(sys._getframe(1))
        era = Era.TODAY if frame is None else callers.era_of(frame)
        if not era.is_tf_keras:
            return original.fget(self)  # type: ignore[misc]
        from parallel_compat.backend import keras3

        groups = keras3.layers_by_attribute(self, metrics=_metrics_among_layers(self, era))
        return [layer for group, _ in groups for layer in group]

    return property(get, original.fset, original.fdel, original.__doc__)
