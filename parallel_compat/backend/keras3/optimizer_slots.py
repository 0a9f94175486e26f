"""Where Keras's optimizers keep their slots, read in Keras 3.15.1 (`BaseOptimizer`, each class)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import keras
import tensorflow as tf

# What tf.keras called the slots of an optimizer -> what their names end in today.
SLOTS = {
    "SGD": {"momentum": "momentum"},
    "RMSprop": {"rms": "velocity", "momentum": "momentum", "mg": "average_gradient"},
    "Adagrad": {"accumulator": "accumulator"},
    "Adadelta": {"accum_grad": "accumulated_grad", "accum_var": "accumulated_delta_var"},
    "Adam": {"m": "momentum", "v": "velocity", "vhat": "velocity_hat"},
    "Adamax": {"m": "momentum", "v": "norm"},
    "Nadam": {"m": "momentum", "v": "velocity"},
    "Ftrl": {"accumulator": "accumulator", "linear": "linear"},
}
_OF_ACCUMULATION = "gradient_accumulator"  # kept for each variable beside the slots


def kind_of(optimizer: keras.optimizers.Optimizer) -> str:
    """Return the name of Keras's own class that an optimizer steps as, or "" for one with steps of its own."""
    for kind in type(optimizer).__mro__:
        if getattr(keras.optimizers, kind.__name__, None) is kind:
            return str(kind.__name__)
        if vars(kind).keys() & {"build", "update_step"}:
            break
    return ""


def share_variables(optimizer: Any, shared: Sequence[tuple[keras.Variable, keras.Variable]]) -> None:
    """Let an optimizer that is not built use other variables for some of its own, such as its count of iterations."""
    instead = {id(own): common for own, common in shared}
    before = optimizer.variables
    for each in before:
        optimizer._untrack_variable(each)
    for each in before:
        optimizer._track_variable(instead.get(id(each), each))
    for name, value in list(vars(optimizer).items()):
        if id(value) in instead:
            setattr(optimizer, name, instead[id(value)])


def slots(optimizer: Any, ending: str) -> list[Any]:
    """Return one slot of all variables of a built optimizer, by the ending of its name; none where it keeps none."""
    return [
        each
        for each in optimizer.variables
        if each.name.endswith(f"_{ending}") and not each.name.endswith(f"_{_OF_ACCUMULATION}")
    ]


def knows(optimizer: Any, variable: Any) -> bool:
    """Say whether an optimizer was built for a variable."""
    try:
        optimizer._get_variable_index(variable)
    except KeyError:
        return False
    return True


def extend(optimizer: Any, variables: list[Any]) -> None:
    """Build an optimizer that is built for more variables: those it has keep their slots and their number of steps."""
    if not variables:
        return
    indices = dict(optimizer._trainable_variables_indices)
    before = _lists(optimizer, len(indices))
    optimizer._trainable_variables_indices.clear()
    with tf.init_scope(), keras.name_scope(optimizer.name):
        optimizer.built = False
        optimizer.build(variables)
    optimizer.built = True
    for name, values in before.items():
        setattr(optimizer, name, [*values, *getattr(optimizer, name)])
    added = {key: len(indices) + i for key, i in optimizer._trainable_variables_indices.items()}
    optimizer._trainable_variables_indices = {**indices, **added}


def _lists(optimizer: Any, length: int) -> dict[str, list[Any]]:
    """Return the attributes of an optimizer that hold its variables, or one more value for each of them."""
    all_of_it = [id(each) for each in optimizer.variables]
    return {
        name: list(value)
        for name, value in vars(optimizer).items()
        if isinstance(value, list) and len(value) == length and [id(each) for each in value] != all_of_it
    }


def index_of(optimizer: Any, variable: Any) -> int:
    """Return at which place a built optimizer has a variable (`_get_variable_index`)."""
    return int(optimizer._get_variable_index(variable))
