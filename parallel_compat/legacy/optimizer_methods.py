"""Methods of tf.keras 2's optimizers that Keras 3's have not: `minimize`, slots, hyperparameters by name."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import keras
import tensorflow as tf

from parallel_compat.backend.keras3 import learning_rate, optimizer_slots
from parallel_compat.legacy.functions import Update
from parallel_compat.legacy.optimizers import for_one_compile
from parallel_compat.legacy.symbolic_gradients import gradients


def minimize(
    optimizer: Any,
    loss: Any,
    *given: Any,
    var_list: Any = None,
    grad_loss: Any = None,
    name: str | None = None,
    global_step: Any = None,
) -> Any:
    """Make one step that makes a loss smaller.

    >>> x = keras.Variable(2.0)
    >>> _ = minimize(keras.optimizers.SGD(0.25), lambda: x * x, [x])
    >>> float(x)
    1.0

    Args:
        optimizer: the optimizer.
        loss: a function without arguments that returns it.
        given: `var_list`, `grad_loss` and `name` by position, or `global_step` and `var_list`, as `tf.train` had them.
        var_list: the variables, one of them, or a function that returns them; where it is None, those that the function
            reads and that are trained.
        grad_loss: the gradient of the loss, if it is not 1.
        name: left out.
        global_step: a variable that counts the steps, as `tf.train`'s optimizers took it.

    Returns:
        The number of steps made.
    """
    rest = list(given)
    if rest and (
        _is_global_step(rest[0]) or (rest[0] is None and len(rest) > 1 and isinstance(rest[1], (list, tuple)))
    ):
        global_step = rest.pop(0)
    rest += (var_list, grad_loss)[len(rest) :]
    var_list, grad_loss = rest[:2]
    pairs = compute_gradients(optimizer, loss, var_list, grad_loss)
    if not pairs:
        return tf.no_op()
    result = optimizer.apply_gradients(pairs)
    if global_step is not None:
        global_step.assign_add(1)
    return result


def _is_global_step(given: Any) -> bool:
    """Whether this is a variable that counts steps: no name, and none that is trained."""
    return isinstance(given, (tf.Variable, keras.Variable)) and tf.as_dtype(given.dtype).is_integer


def compute_gradients(optimizer: Any, loss: Any, var_list: Any = None, grad_loss: Any = None) -> list[tuple[Any, Any]]:
    """Return (gradient, variable) for each variable.

    Args:
        optimizer: the optimizer.
        loss: a function without arguments.
        var_list: as `minimize` takes it.
        grad_loss: likewise.
    """
    if not callable(loss):
        raise TypeError(
            f"Expected `loss` to be a function without arguments: `minimize(lambda: ..., var_list)`. Received: {loss!r}"
        )
    with tf.GradientTape() as tape:
        if var_list is not None and not callable(var_list):
            for each in tf.nest.flatten(var_list):
                tape.watch(each.value if isinstance(each, keras.Variable) else each)
        value = loss()
    if var_list is None:
        var_list = list(tape.watched_variables())
    variables = tf.nest.flatten(var_list() if callable(var_list) else var_list)
    return list(zip(tape.gradient(value, variables, grad_loss), variables, strict=True))


def get_updates(optimizer: Any, *given: Any, loss: Any = None, params: Any = None, constraints: Any = None) -> Any:
    """Return what `K.function(..., updates=)` carries out as a step that makes a symbolic loss smaller.

    >>> x = keras.Input((1,)); w = keras.Variable(2.0)
    >>> from parallel_compat.legacy.backend import function
    >>> step = function([x], [], get_updates(keras.optimizers.SGD(0.5), keras.ops.sum(x * w), [w]))
    >>> _ = step([tf.ones((1, 1))])
    >>> float(w)
    1.5

    Args:
        optimizer: the optimizer.
        given: `loss` and `params`, or `params`, `constraints` and `loss` as in Keras 1.
        loss: a symbolic tensor.
        params: the weights.
        constraints: not used: weights have theirs.
    """
    lists = [each for each in given if isinstance(each, (list, tuple, dict))]
    loss = next((each for each in given if isinstance(each, keras.KerasTensor)), loss)
    params = list(lists[0] if lists else params)
    optimizer = for_one_compile(optimizer)
    optimizer.build(params)
    return [_Step(optimizer, gradients(loss, params), params=params)]


@dataclass(frozen=True, eq=False)
class _Step(Update):
    """A step to come: `variable` is the optimizer, `value` the gradients."""

    params: Any = ()

    def assign(self, value: Any) -> None:
        self.variable.apply(value, self.params)


def get_slot(optimizer: Any, var: Any, slot_name: str) -> Any:
    """Return what an optimizer keeps for a variable, a variable itself.

    Args:
        optimizer: an optimizer that has stepped.
        var: the variable.
        slot_name: as tf.keras called it: "m" and "v" of Adam.
    """
    names = _slot_names(optimizer)
    if slot_name not in names:
        raise KeyError(f"Expected one of {names}. Received: {slot_name!r}")
    found = optimizer_slots.slots(optimizer, optimizer_slots.SLOTS[optimizer_slots.kind_of(optimizer)][slot_name])
    return found[optimizer_slots.index_of(optimizer, var)]


def get_hyper(optimizer: Any, name: str, dtype: Any = None) -> Any:
    """Return the value that a hyperparameter has now: `optimizer._get_hyper("learning_rate")`.

    Args:
        optimizer: the optimizer.
        name: of the hyperparameter.
        dtype: what it is cast to.
    """
    if name == "decay":
        value: Any = learning_rate.decay_of(optimizer) or 0.0
    else:
        value = getattr(optimizer, "learning_rate" if name == "lr" else name)
        schedule = learning_rate.schedule_of(optimizer) if name in ("lr", "learning_rate") else None
        if schedule is not None:
            return schedule
    value = value() if callable(value) else value
    value = tf.convert_to_tensor(value)
    return value if dtype is None else tf.cast(value, dtype)


def set_hyper(optimizer: Any, name: str, value: Any) -> None:
    """Set a hyperparameter: `optimizer._set_hyper("learning_rate", 0.1)`."""
    setattr(optimizer, "learning_rate" if name == "lr" else name, value)


def _slot_names(optimizer: Any) -> list[str]:
    """Return the names of what an optimizer keeps for each variable; before its first step it keeps nothing."""
    if not optimizer.built:
        return []
    # Slots that depend on an argument.
    flags = {"momentum": "momentum", "mg": "centered", "vhat": "amsgrad"}
    return [
        name
        for name in optimizer_slots.SLOTS.get(optimizer_slots.kind_of(optimizer), {})
        if name not in flags or getattr(optimizer, flags[name])
    ]
