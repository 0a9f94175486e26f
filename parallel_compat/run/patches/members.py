"""Old methods and attributes of objects, for the user's code."""

from __future__ import annotations

import functools
import sys
from typing import TYPE_CHECKING, Any

from parallel_compat.backend.patches import TENSORFLOW
from parallel_compat.names import lookup, run_only
from parallel_compat.names.eras import Era
from parallel_compat.names.members import members
from parallel_compat.names.table import Change, Member
from parallel_compat.run import (
    callers,
    usage,
)
from parallel_compat.run.modules import GoneAttributeError

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import FrameType

    from parallel_compat.backend.patches import Patches


class ForUsers:
    """An attribute that is there for the user's code only.

    Args:
        row: the table's row.
        get: returns the value for an object.
        set: assigns it; None where it cannot be assigned to.
    """

    def __init__(self, row: Member, get: Callable[[Any], Any]) -> None:
        self._row = row
        self._get = get

    def __get__(self, instance: Any, owner: Any) -> Any:
        self._check(instance, owner, callers.user_frame(sys._getframe(1)))
        return self._get(instance)

    def _check(self, instance: Any, owner: Any, frame: FrameType | None) -> None:
        name = f"{self._row.of.rpartition('.')[2]}.{self._row.old}"
        if frame is None or instance is None:
            raise AttributeError(f"{owner.__name__!r} object has no attribute {self._row.old!r}")
        if self._row.change is Change.GONE:
            where = f"{frame.f_code.co_filename}:{frame.f_lineno}"
            raise GoneAttributeError(f"{where}: `{name}` is gone. {self._row.note}", name=self._row.old, obj=instance)
        usage.record(name, self._row.new or "", frame)


class MethodForUsers(ForUsers):
    """A method that is there for the user's code only, also on the class: `Model.fit_generator(model, ...)`."""

    def __get__(self, instance: Any, owner: Any) -> Any:
        frame = callers.user_frame(sys._getframe(1))
        if instance is not None or frame is None:
            self._check(instance, owner, frame)
            return self._get(instance)

        def of_class(instance: Any, *given: Any, **keywords: Any) -> Any:
            self._check(instance, type(instance), callers.user_frame(sys._getframe(1)))
            return self._get(instance)(*given, **keywords)

        of_class.__name__ = self._row.old
        return of_class


class ForUsersToSet(ForUsers):
    """An attribute that is there for the user's code only, and can be assigned to by anybody."""

    def __init__(self, row: Member, get: Callable[[Any], Any], set: Callable[[Any, Any], None]) -> None:
        super().__init__(row, get)
        self._set = set

    def __set__(self, instance: Any, value: Any) -> None:
        self._set(instance, value)


# Members whose row stands for a field of a class of ours, or that have an entry of their own below.
_NOT_HERE = {
    ("keras.callbacks.Callback", "model"),
    ("keras.Model", "save_weights"),
    ("keras.Model", "save"),
    ("keras.layers.Layer", "_name"),
}


def put_on(patches: Patches, keras: Any) -> None:
    owners = {
        "keras.Model": keras.Model,
        "keras.layers.Layer": keras.layers.Layer,
        "keras.Sequential": keras.Sequential,
        "keras.layers.Dropout": keras.layers.Dropout,
        "keras.optimizers.Optimizer": keras.optimizers.Optimizer,
        "keras.callbacks.Callback": keras.callbacks.Callback,
        "keras.KerasTensor": keras.KerasTensor,
        "keras.metrics.Metric": keras.metrics.Metric,
    }
    for rows in members().values():
        for row in rows:
            owner = owners.get(row.of)
            if owner is None or (row.of, row.old) in _NOT_HERE or hasattr(owner, row.old):
                continue
            patches.set(owner, row.old, _member(row), why=f"an old member, for the user's code: {row.new or 'gone'}")
    for (of, old), new in {**run_only.UNREPORTED_ATTRIBUTES, **run_only.UNREPORTED_METHODS}.items():
        row = Member(of, old, Change.PROVIDED, new, method=(of, old) in run_only.UNREPORTED_METHODS)
        patches.set(owners[of], old, _member(row), why=f"an old member, for the user's code: {new}")
    why = "for the user's code; checkpoints of TensorFlow, which look for the name in `dir`, take slots their own way"
    patches.set(keras.optimizers.Optimizer, "get_slot_names", _get_slot_names, why=why)
    why = "a schedule, where one was given, for the user's code of tf.keras"
    patches.wrap(keras.optimizers.Optimizer, "learning_rate", _learning_rate, why=why)
    patches.set(keras.Model, "optimizer", _OptimizerBeforeCompile(), why="None before `compile`, for the user's code")
    (row,) = members()["_name"]
    patches.set(keras.layers.Layer, row.old, _PrivateName(row.old), why="a layer is renamed by it in tf.keras")
    import tensorflow as tf

    # What `call` of a layer gets: in Keras 2 a symbolic tensor, here one of TensorFlow's while the step is traced.
    (row,) = members()["_keras_shape"]
    why = "the shape that Keras 2 wrote on tensors, for the user's code"
    patches.set(tf.Tensor, row.old, ForUsers(row, _static_shape), why=why, read_in=TENSORFLOW)
    (row,) = (each for each in members()["_uses_learning_phase"] if each.of == "keras.KerasTensor")
    row = row._replace(change=Change.PROVIDED, new="")
    why = "a mark of tf.keras until TensorFlow 1.12, for the user's code: `call` has `training`"
    patches.set(tf.Tensor, row.old, ForUsers(row, lambda tensor: False), why=why, read_in=TENSORFLOW)


def _get_slot_names(optimizer: Any) -> list[str]:
    if callers.user_frame(sys._getframe(1)) is None:
        return []
    from parallel_compat.legacy import optimizer_methods

    return optimizer_methods.get_slot_names(optimizer)


class _OptimizerBeforeCompile:
    """`model.optimizer` of a model that was not compiled: None in the eras, for the user's code."""

    def __get__(self, instance: Any, owner: Any) -> None:
        frame = callers.user_frame(sys._getframe(1))
        if instance is None or frame is None or callers.era_of(frame) is Era.TODAY:
            raise AttributeError(f"{owner.__name__!r} object has no attribute 'optimizer'")


class _PrivateName:
    """`layer._name`: what `layer.name` shows in tf.keras, where only this one could be assigned to."""

    def __init__(self, old: str) -> None:
        self._old = old

    def __get__(self, instance: Any, owner: Any) -> Any:
        frame = callers.user_frame(sys._getframe(1))
        if instance is not None and frame is not None and callers.era_of(frame).is_tf_keras:
            return instance.name
        if instance is None or self._old not in vars(instance):
            raise AttributeError(f"{owner.__name__!r} object has no attribute {self._old!r}")
        return vars(instance)[self._old]

    def __set__(self, instance: Any, value: Any) -> None:
        if callers.era_of_caller().is_tf_keras:
            instance.name = value
        else:
            vars(instance)[self._old] = value


def _static_shape(tensor: Any) -> tuple[int | None, ...]:
    return tuple(tensor.shape.as_list())


def _member(row: Member) -> ForUsers:
    if (row.of, row.old) == ("keras.optimizers.Optimizer", "lr"):
        return ForUsersToSet(row, _rate, _set_rate)
    if (row.of, row.old) == ("keras.Model", "metrics_tensors"):
        from parallel_compat.legacy import appended_metrics

        provided = row._replace(change=Change.PROVIDED, new=run_only.ATTRIBUTES[row.of, row.old])
        return ForUsersToSet(provided, appended_metrics.tensors, appended_metrics.assign_tensors)
    if (row.of, row.old) == ("keras.metrics.Metric", "trainable"):
        return ForUsersToSet(row, lambda metric: lookup.fetch(row.new or "")(metric), _set_trainable_of_metric)
    of_attribute = run_only.ATTRIBUTES.get((row.of, row.old))
    if of_attribute is not None:
        provided = row._replace(change=Change.PROVIDED, new=of_attribute)
        return ForUsers(provided, lambda instance: lookup.fetch(of_attribute)(instance))
    stand_in = run_only.MEMBERS.get((row.of, row.old))
    if stand_in is not None:
        provided = row._replace(change=Change.PROVIDED, new=row.new or stand_in)
        return MethodForUsers(provided, lambda instance: functools.partial(lookup.fetch(stand_in), instance))
    if row.change is Change.RENAMED and row.new is not None:
        new = row.new
        if row.method:
            return MethodForUsers(row, lambda instance: lambda: getattr(instance, new))
        return ForUsers(row, lambda instance: getattr(instance, new))
    if row.change is Change.PROVIDED and row.new is not None:
        new = row.new
        if row.method:
            return MethodForUsers(row, lambda instance: functools.partial(lookup.fetch(new), instance))
        return ForUsers(row, lambda instance: lookup.fetch(new)(instance))
    return ForUsers(row, lambda instance: None)


def _set_trainable_of_metric(metric: Any, value: Any) -> None:
    from parallel_compat.legacy import layer_members

    layer_members.set_metric_trainable(metric, value)


def _rate(optimizer: Any) -> Any:
    """Return what `optimizer.lr` was: the variable, in the eras of tf.keras the schedule, else the rate of now."""
    from parallel_compat.backend.keras3 import learning_rate
    from parallel_compat.legacy.numbers import assigned_numbers

    assigned = assigned_numbers.kept_from_steps(optimizer)
    if "lr" in assigned and callers.is_users(sys._getframe(2)):
        return assigned["lr"]
    for kept in (learning_rate.variable_of(optimizer), learning_rate.number_of(optimizer)):
        if kept is not None:
            return kept
    frame = callers.user_frame(sys._getframe(2))  # what asks the property
    schedule = learning_rate.schedule_of(optimizer) if frame and callers.era_of(frame).is_tf_keras else None
    return optimizer.learning_rate if schedule is None else schedule


def _set_rate(optimizer: Any, value: Any) -> None:
    if not is_kept_from_steps(optimizer, "lr", value, sys._getframe(2)):
        optimizer.learning_rate = value


def is_kept_from_steps(optimizer: Any, name: str, value: Any, asking: FrameType) -> bool:
    """Note what the user's code assigns where Keras 2.2.4's graph had the number before; say whether that is so.

    Args:
        optimizer: any optimizer.
        name: the attribute, as Keras 2.2.4 called it.
        value: what is assigned.
        asking: the frame that assigns.
    """
    from parallel_compat.legacy.numbers import assigned_numbers

    while asking.f_code.co_name == "__setattr__" and asking.f_back is not None:  # Keras's, which tracks what is set
        asking = asking.f_back
    if not (callers.is_users(asking) and assigned_numbers.keep_from_steps(optimizer, name, value)):
        return False
    became = f"without effect on a model that trains, as in Keras 2.2.4; K.set_value(optimizer.{name}, ...) has one"
    usage.record(f"optimizer.{name} = ...", became, asking)
    return True


def _learning_rate(original: Any) -> property:
    def get(self: Any) -> Any:
        frame = sys._getframe(1)
        return _rate(self) if callers.is_users(frame) and callers.era_of(frame).is_tf_keras else original.fget(self)

    def set_(self: Any, value: Any) -> None:
        from parallel_compat.backend.keras3 import learning_rate, numbers_of_variables

        if is_kept_from_steps(self, "lr", value, sys._getframe(1)):
            return
        if numbers_of_variables.is_noted(value):
            learning_rate.compute_with(self, value)
        else:
            original.fset(self, value)

    return property(get, set_, doc=original.__doc__)
