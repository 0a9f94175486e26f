"""What Keras 2 let a user's code assign, and Keras 3 computes: a layer's weights, a model's ends. Read in Keras 3.15.1.

A layer's weights are what its tracker has stored (`Layer._tracker`, `_trainable_variables`,
`_non_trainable_variables`); a functional model's ends go with its nodes (`Function.__init__`).
"""

from __future__ import annotations

import contextlib
import sys
from typing import TYPE_CHECKING, Any

import keras
import tensorflow as tf
from keras.src.backend.common import global_state

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from types import FrameType

_STORES = {True: "trainable_variables", False: "non_trainable_variables"}
_GRAPH = ("_inputs_struct", "_outputs_struct", "_inputs", "_outputs", "_nodes", "_nodes_by_depth", "_operations")


def read_only_properties() -> Iterator[tuple[Any, str, property]]:
    """Yield (class, name, property) for each public property of Keras's layers and models that has no setter."""
    kinds = [kind for kind in vars(keras.layers).values() if isinstance(kind, type)]
    seen = set()
    for kind in (*kinds, keras.Model, keras.Sequential, _functional()):
        for owner in kind.__mro__:
            if owner in seen or not owner.__module__.startswith("keras."):
                continue
            seen.add(owner)
            for name, value in vars(owner).items():
                if not isinstance(value, property) or value.fset is not None or name.startswith("_"):
                    continue
                if value.fget is not None and value.fget.__module__.startswith("keras."):  # Keras's own
                    yield owner, name, value


def own_weights(layer: Any, trainable: bool) -> list[Any]:
    """Return the layer's own weights of one kind, without those of layers in it (`Layer._trainable_variables`)."""
    return list(getattr(layer, f"_{_STORES[trainable]}"))


def derives_from_layer_alone(layer: Any) -> bool:
    """Say whether a layer's class is derived from `Layer` alone, and is no wrapper or recurrent layer of Keras.

    Args:
        layer: a layer of a class of the user's.
    """
    of_keras = next(kind for kind in type(layer).__mro__ if kind.__module__.startswith("keras."))
    return of_keras is keras.Layer


def set_own_weights(layer: Any, variables: Iterable[Any], *, trainable: bool) -> None:
    """Let these be the layer's own weights of one kind, in this order.

    Args:
        layer: the layer; attributes of it that hold one of TensorFlow's variables get Keras's instead, which can
            be mirrored and saved.
        variables: of Keras or of TensorFlow.
        trainable: which kind.
    """
    if not hasattr(layer, "_tracker"):  # before `super().__init__()`
        layer._initialize_tracker()
    others = {id(v) for each in layer._layers for v in each.weights}
    wanted: list[Any] = []
    taken = {each.name for each in own_weights(layer, not trainable)}
    for variable in variables:
        mine = _as_keras_variable(layer, variable, trainable, taken)
        if not isinstance(mine, keras.Variable):
            continue  # what was computed of a weight stood in the list of Keras 2.2.4 and was not trained
        if id(mine) not in others and not any(mine is each for each in wanted):
            wanted.append(mine)
            taken.add(mine.name)
    for variable in own_weights(layer, trainable):
        if not any(variable is each for each in wanted):
            layer._untrack_variable(variable)
    stored = getattr(layer, f"_{_STORES[trainable]}")
    locked = layer._tracker.locked
    layer._tracker.unlock()
    for variable in wanted:
        if any(variable is each for each in own_weights(layer, not trainable)):
            layer._untrack_variable(variable)
            layer._tracker.unlock()
        if variable.trainable is not trainable and getattr(layer, "_trainable", True):
            variable.trainable = trainable
        if not layer._tracker.is_in_store(_STORES[trainable], variable):
            layer._tracker.add_to_store(_STORES[trainable], variable)
            layer._post_track_variable(variable)
    stored[:] = wanted
    if locked:
        layer._tracker.lock()


def lose_weight(layer: Any, name: str, weight: Any) -> None:
    """Take a weight off those of a layer, if no other attribute of it holds it.

    Args:
        layer: the layer.
        name: of the attribute that will no longer hold it, a property or not.
        weight: the weight.
    """
    plain = name.removeprefix("_")
    if any(held is weight for each, held in vars(layer).items() if each not in (plain, f"_{plain}")):
        return
    if any(weight is each for kind in _STORES for each in own_weights(layer, kind)):
        layer._untrack_variable(weight)


def is_computed(value: Any) -> bool:
    """Say whether this is a tensor, and no variable."""
    return tf.is_tensor(value) and not isinstance(value, (keras.Variable, tf.Variable))


def is_refused(layer: Any, value: Any) -> bool:
    """Say whether Keras refuses that an attribute of a layer that is built holds this: weights, layers or metrics."""
    if value is None or isinstance(value, (bool, int, float, str)):  # as each call of a layer sets
        return False
    tracker = vars(layer).get("_tracker")
    if tracker is None or not tracker.locked:
        return False
    kinds = (keras.Variable, keras.Layer, keras.metrics.Metric)
    return any(isinstance(each, kinds) for each in keras.tree.flatten(value))


def is_of_layer_within(layer: Any, value: Any) -> bool:
    """Say whether a value is a weight of a layer that this one holds."""
    if not isinstance(value, keras.Variable):
        return False
    return any(value is weight for each in vars(layer).get("_layers", ()) for weight in each.weights)


@contextlib.contextmanager
def growing(layer: Any) -> Iterator[None]:
    """Let weights be added to a layer that is built already, which Keras 3 refuses."""
    tracker = vars(layer).get("_tracker")
    if tracker is None or not tracker.locked:
        yield
        return
    tracker.unlock()
    try:
        yield
    finally:
        tracker.lock()


@contextlib.contextmanager
def taking(layer: Any, name: str, value: Any, *, listed: bool) -> Iterator[None]:
    """Let an attribute of a layer that is built take weights or layers, a weight of another layer for example.

    Args:
        layer: the layer.
        name: of the attribute.
        value: what it takes.
        listed: whether that becomes a part of the layer, a weight in the place of the one that the attribute held.
    """
    from keras.src.utils import tracking

    if not listed:
        with tracking.DotNotTrackScope():
            yield
        return
    held = getattr(layer, name, None)
    if isinstance(held, keras.Variable) and held is not value:
        layer._untrack_variable(held)
    layer._tracker.unlock()
    try:
        yield
    finally:
        layer._tracker.lock()


@contextlib.contextmanager
def _holding_values() -> Iterator[None]:
    """Let a variable that is made get its value: while a model is looked over, Keras gives it one afterwards."""
    scope = global_state.get_global_attribute("stateless_scope")
    global_state.set_global_attribute("stateless_scope", None)
    try:
        yield
    finally:
        global_state.set_global_attribute("stateless_scope", scope)


def variable_around(variable: tf.Variable, trainable: bool, name: str | None) -> Any:
    """Return the one variable of Keras that holds a variable of TensorFlow.

    Args:
        variable: the variable.
        trainable: whether it is trained, said when it is held first.
        name: its name in files, likewise.
    """
    made: Any = getattr(variable, "_parallel_compat_variable", None)
    if made is None:
        with tf.init_scope(), _holding_values():
            made = keras.Variable(
                lambda shape, dtype: tf.zeros(shape, dtype),
                shape=tuple(variable.shape),
                dtype=variable.dtype.name,
                trainable=trainable,
                name=name,
            )
        made._value = variable
        made.regularizer = None
        made.constraint = getattr(variable, "constraint", None)
        variable._parallel_compat_variable = made
    return made


def patch_points(is_asked: Callable[[FrameType | None], bool]) -> Iterator[tuple[Any, str, Callable[[Any], Any]]]:
    """Yield where an attribute becomes part of a layer, model or metric (`Tracker.track`), also one in a list or dict.

    Keras 3 passes over a variable of TensorFlow, which would not be trained; tf.keras made it a weight. It makes a dict
    of its own of every dict: of one with methods of its own (settings with attributes) the class was lost.

    Args:
        is_asked: called with the frame that assigns it or puts it into the list; says whether it becomes a weight.
    """
    from keras.src.utils import tracking

    def wrap(original: Any) -> Any:
        def track(self: Any, attr: Any) -> Any:
            if isinstance(attr, (dict, list)) and _is_of_own_class(attr):
                for each in list(attr.values() if isinstance(attr, dict) else attr):
                    self.track(each)
                return attr
            if not isinstance(attr, tf.Variable) or not tracking.is_tracking_enabled():
                return original(self, attr)
            if not attr.trainable and not attr.shape.is_fully_defined():
                return original(self, attr)  # no variable of Keras has values of any size: it stays TensorFlow's
            frame: FrameType | None = sys._getframe(1)
            while frame is not None and (
                frame.f_code.co_name == "__setattr__" or frame.f_globals is vars(tracking) or frame.f_code is code
            ):
                frame = frame.f_back
            if not is_asked(frame):
                return original(self, attr)
            name = attr.name.rpartition("/")[2].partition(":")[0] or None
            locked, self.locked = self.locked, False  # tf.keras took a weight at any time
            try:
                return original(self, variable_around(attr, attr.trainable, name))
            finally:
                self.locked = locked

        code = track.__code__
        return track

    yield tracking.Tracker, "track", wrap


def _is_of_own_class(container: Any) -> bool:
    return type(container).__module__.partition(".")[0] not in ("builtins", "collections", "keras", "tensorflow")


def _as_keras_variable(layer: Any, variable: Any, trainable: bool, taken: set[str]) -> Any:
    if not isinstance(variable, tf.Variable):
        return variable
    # Those without a name are all `Variable` where there is no graph, and a file has a name of each.
    name = first = variable.name.rpartition("/")[2].partition(":")[0]
    number = 0
    while name in taken:
        number += 1
        name = f"{first}_{number}"
    made = variable_around(variable, trainable, name or None)
    with keras.src.utils.tracking.DotNotTrackScope():
        for name, value in list(vars(layer).items()):
            if value is variable:
                setattr(layer, name, made)
            elif isinstance(value, list):
                for i, each in enumerate(value):
                    if each is variable:
                        list.__setitem__(value, i, made)
    return made


def set_ends(model: Any, inputs: Any, outputs: Any) -> None:
    """Let a functional or sequential model compute other outputs, or from other inputs.

    Its list of layers stays what it is.

    Args:
        model: the model.
        inputs: symbolic tensors.
        outputs: symbolic tensors computed from them.
    """
    if isinstance(model, keras.Sequential):
        model._functional = _functional()(inputs=inputs, outputs=outputs, name=model.name)
    else:
        made = _functional()(inputs=_alone(inputs), outputs=_alone(outputs), name=model.name)
        for name in (*_GRAPH, "_operations_by_depth", "output_names"):
            vars(model)[name] = vars(made)[name]
        for layer in made.layers:
            model._tracker.unlock()
            model._tracker.track(layer)
    for name in ("train_function", "test_function", "predict_function"):
        setattr(model, name, None)


def _alone(tensors: Any) -> Any:
    return tensors[0] if isinstance(tensors, (list, tuple)) and len(tensors) == 1 else tensors


def forget_layer(model: Any, layer: Any) -> None:
    """Take a layer's weights out of those of the model (`Layer._layers`)."""
    model._tracker.unlock()
    model._tracker.untrack(layer)


def _functional() -> Any:
    from keras.src.models.functional import Functional

    return Functional
