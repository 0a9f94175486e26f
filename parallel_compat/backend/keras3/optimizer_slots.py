"""Where Keras's optimizers keep their slots, read in Keras 3.15.1 (`BaseOptimizer`, each class)."""

from __future__ import annotations

from typing import Any

import keras
import tensorflow as tf

from parallel_compat.backend.keras3.layers import untracked

# Where the classes keep their slots, by the names that the formulas use.
_SLOTS = {
    "SGD": {"momentum": "momentums"},
    "RMSprop": {"velocity": "_velocities", "momentum": "_momentums", "mean": "_average_gradients"},
    "Adagrad": {"accumulator": "_accumulators"},
    "Adadelta": {"accumulator": "_accumulated_grads", "delta": "_accumulated_delta_vars"},
    "Adam": {"m": "_momentums", "v": "_velocities", "greatest": "_velocity_hats"},
    "Adamax": {"m": "_m", "u": "_u"},
    "Nadam": {"m": "_momentums", "v": "_velocities"},
    "Ftrl": {"accumulator": "_accumulators", "linear": "_linears"},
}


def kind_of(optimizer: keras.optimizers.Optimizer) -> str:
    """Return the name of Keras's own class that an optimizer steps as, or "" for one with steps of its own."""
    for kind in type(optimizer).__mro__:
        if getattr(keras.optimizers, kind.__name__, None) is kind:
            return str(kind.__name__)
        if vars(kind).keys() & {"build", "update_step"}:
            break
    return ""


def replace_variable(optimizer: Any, name: str, common: keras.Variable) -> None:
    """Let an optimizer use another variable for one of its own, such as `_iterations`."""
    own = getattr(optimizer, name)
    if own is common:
        return
    place = next(place for place, each in enumerate(optimizer._variables) if each is own)
    optimizer._variables[place] = common  # in its place: TensorFlow compares the values of lists that are set
    # Keras knows by their ids which variables it keeps: a later one may have that of one that is gone.
    known = optimizer._tracker.stored_ids["variables"]
    known.discard(id(own))
    known.add(id(common))
    with untracked():
        setattr(optimizer, name, common)


def slots(optimizer: Any, name: str) -> list[Any]:
    """Return one slot of all variables of a built optimizer; none where it does not keep that."""
    return list(getattr(optimizer, _SLOTS[kind_of(optimizer)][name], None) or ())


def can_be_extended(optimizer: Any) -> bool:
    """Return whether an optimizer is of a kind whose slots are known here, as `extend` needs them."""
    return kind_of(optimizer) in _SLOTS


def extend(optimizer: Any, variables: list[Any]) -> None:
    """Build an optimizer that is built for more variables: those it has keep their slots and their number of steps.

    Args:
        optimizer: the optimizer.
        variables: that it does not know yet.
    """
    if not variables:
        return
    lists = ("_trainable_variables", *_SLOTS.get(kind_of(optimizer), {}).values(), "_model_variables_moving_average")
    before = {
        name: list(getattr(optimizer, name)) for name in lists if isinstance(getattr(optimizer, name, None), list)
    }
    with tf.init_scope(), keras.name_scope(optimizer.name):
        optimizer.built = False
        optimizer.build(variables)
    optimizer.built = True
    for name, values in before.items():
        setattr(optimizer, name, [*values, *getattr(optimizer, name)])
    keys = [optimizer._var_key(each) for each in optimizer._trainable_variables]
    optimizer._trainable_variables_indices = {key: i for i, key in enumerate(keys)}


def index_of(optimizer: Any, variable: Any) -> int:
    """Return at which place a built optimizer has a variable (`_get_variable_index`)."""
    return int(optimizer._get_variable_index(variable))
