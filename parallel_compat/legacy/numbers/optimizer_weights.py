"""`Optimizer.get_weights` and `set_weights` in the order of an era.

Keras 2.2.4 listed one kind of slot after the other (`weights` in `keras/optimizers.py`), with the iterations first in
some classes and without them in others; tf.keras the same, always with the iterations. Keras 3 lists them variable by
variable, behind the learning rate.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import tensorflow as tf

from parallel_compat.backend.keras3 import optimizer_steps
from parallel_compat.names.eras import Era

if TYPE_CHECKING:
    from collections.abc import Sequence

    import keras

# The order of the slots; a tuple's are listed in turn for each variable.
_ORDER: dict[str, tuple[Any, ...]] = {
    "SGD": ("momentum",),
    "RMSprop": ("velocity", "momentum", "mean"),
    "Adagrad": ("accumulator",),
    "Adadelta": ("accumulator", "delta"),
    "Adam": ("m", "v", "greatest"),
    "Adamax": ("m", "u"),
    "Nadam": ("m", "v"),
    "Ftrl": (("accumulator", "linear"),),
}
_WITHOUT_ITERATIONS = ("RMSprop", "Adagrad", "Adadelta")  # in Keras 2.2.4


def variables(optimizer: keras.optimizers.Optimizer, era: Era) -> list[Any]:
    """Return what `get_weights` has the values of; what never changes a step is made for the purpose.

    Args:
        optimizer: an optimizer; of a class of its own, it has what Keras 3 says.
        era: in whose order.
    """
    if optimizer_steps.kind_of(optimizer) not in _ORDER:
        return list(optimizer.variables)
    return [*_variables(optimizer, era), *(tf.Variable(tf.zeros(shape)) for shape in _never_used(optimizer, era))]


def get_weights(optimizer: keras.optimizers.Optimizer, era: Era) -> list[Any]:
    """Return the state of an optimizer as numpy arrays.

    Args:
        optimizer: an optimizer of one of Keras's own classes.
        era: in whose order.
    """
    values = [np.asarray(variable) for variable in _variables(optimizer, era)]
    return values + [np.zeros(shape, "float32") for shape in _never_used(optimizer, era)]


def set_weights(optimizer: keras.optimizers.Optimizer, weights: Sequence[Any], era: Era) -> None:
    """Give an optimizer the state that `get_weights` returned.

    Args:
        optimizer: an optimizer of one of Keras's own classes, compiled and built.
        weights: numpy arrays.
        era: in whose order they are.

    Raises:
        ValueError: the arrays are not as many, or not of the shapes, that the optimizer has.
    """
    weights = [np.asarray(each) for each in weights]
    variables, rest = _variables(optimizer, era), _never_used(optimizer, era)
    if era is not Era.KERAS_2_2_4 and len(weights) == len(variables) - 1:
        weights = [np.asarray(0), *weights]  # of standalone Keras, which kept no iterations in some classes
    elif not era.is_standalone and optimizer_steps.kind_of(optimizer) == "Adam" and len(variables) < len(weights):
        weights = weights[: len(variables)]  # the same, with a place for `amsgrad` that was not used
    shapes = [tuple(variable.shape) for variable in variables] + rest
    given = [each.shape for each in weights]
    if given != shapes:
        raise ValueError(
            f"Expected weights of the shapes {shapes} for the optimizer {type(optimizer).__name__}. Received: {given}. "
            "An optimizer has its weights once the model has been trained for a step."
        )
    for variable, value in zip(variables, weights, strict=False):
        variable.assign(np.asarray(value, variable.dtype))


def begin_as_loaded(optimizer: Any) -> None:
    """Let a loaded optimizer begin anew with what files of Keras 2.2.4 did not hold.

    That is Nadam's product of momenta, and the steps of some classes, which `decay` reads.
    """
    kind = optimizer_steps.kind_of(optimizer)
    if kind == "Nadam" and optimizer.built:
        optimizer_steps.product_of_momenta(optimizer).assign(1.0)
    if kind in _WITHOUT_ITERATIONS:
        optimizer.iterations.assign(0)


def _variables(optimizer: Any, era: Era) -> list[Any]:
    kind = optimizer_steps.kind_of(optimizer)
    if kind not in _ORDER:
        raise TypeError(
            f"Expected an optimizer of {', '.join(_ORDER)}. Received: {type(optimizer).__name__}. Use "
            "`optimizer.variables`."
        )
    if not optimizer.built:
        return []
    found = [] if era is Era.KERAS_2_2_4 and kind in _WITHOUT_ITERATIONS else [optimizer.iterations]
    if kind == "Nadam" and era is not Era.KERAS_2_2_4:
        found.append(optimizer_steps.product_of_momenta(optimizer))
    idle = optimizer_steps.idle(optimizer)
    for slot in _ORDER[kind]:
        columns = [optimizer_steps.slots(optimizer, name) for name in (slot if isinstance(slot, tuple) else (slot,))]
        rows = enumerate(zip(*columns, strict=True))
        found += [variable for place, row in rows if place not in idle for variable in row]
    return found


def _never_used(optimizer: Any, era: Era) -> list[tuple[int, ...]]:
    """The shapes of weights that Keras 2.2.4 made and that do not change a step."""
    if not era.is_standalone or not optimizer.built:
        return []
    kind, shapes = optimizer_steps.kind_of(optimizer), optimizer_steps.shapes_of_variables(optimizer)
    if kind == "Adam" and not optimizer.amsgrad:
        return [(1,)] * len(shapes)
    if kind == "SGD" and not optimizer_steps.slots(optimizer, "momentum"):
        return shapes
    return []
