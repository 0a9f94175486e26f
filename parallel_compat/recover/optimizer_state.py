"""What the optimizer of a file remembers, given to a living optimizer of Keras 3 of the same name.

Keras 2 writes a list: the step counter (not all of them), then one kind of memory for all weights after another (all
first moments, all second moments), in the order of ``model.trainable_weights``. (What Keras 3 writes is read by
`backend/keras3/model_saving.py`.)
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

Array = np.ndarray[Any, Any]

# Optimizer -> how the paths of Keras 3's variables end, in the order of the old file's kinds of memory.
KINDS = {
    "SGD": ("momentum",),
    "RMSprop": ("velocity",),
    "Adagrad": ("accumulator",),
    "Adadelta": ("accumulated_grad", "accumulated_delta_var"),
    "Adam": ("momentum", "velocity"),
    "Adamax": ("momentum", "norm"),
}
FRESH = "training starts with a new state."


def restore(optimizer: Any, variables: Sequence[Any], arrays: Sequence[Array], weights: Sequence[Any]) -> str | None:
    """Give an optimizer what a file of Keras 2 remembers.

    Args:
        variables: the model's trainable variables, for which it is built.
        weights: those of `variables` that trained when the file was written, in the order of the file.

    Returns:
        None, or a sentence that says why nothing was carried over.
    """
    from parallel_compat.backend.keras3 import optimizer_slots

    name = type(optimizer).__name__
    kinds = KINDS.get(name)
    if kinds is None:
        return f"Keras 3's {name} keeps its state in another form; {FRESH}"
    if name == "RMSprop" and (optimizer.centered or optimizer.momentum):
        return f"Keras 3's RMSprop keeps centered or momentum state in another form; {FRESH}"
    left = list(arrays)
    steps = int(left.pop(0)) if left and _counts_steps(left, len(weights)) else None
    if name == "Adam" and len(left) == 3 * len(weights):
        if optimizer.amsgrad:
            kinds = (*kinds, "velocity_hat")
        else:  # Keras 2.2 writes a placeholder of one zero per weight
            left = left[: 2 * len(weights)]
    if left and (not weights or len(left) != len(kinds) * len(weights)):
        return (
            f"The optimizer's state has {len(left)} arrays, expected {len(kinds)} for each of {len(weights)} trainable "
            f"weights; {FRESH}"
        )
    if len(weights) != len(variables) and left:
        return f"The model has other trainable weights than its optimizer's state; {FRESH}"
    if any(
        left[kind * len(weights) + number].shape != tuple(weight.shape)
        for kind in range(len(kinds) if left else 0)
        for number, weight in enumerate(weights)
    ):
        return f"The optimizer's state does not have the shapes of the weights; {FRESH}"
    optimizer.build(variables)
    if steps is not None:
        optimizer.iterations.assign(steps)
    if name == "SGD" and not optimizer.momentum:  # Keras 2 wrote its moments all the same, of no effect
        return None
    place = {id(variable): number for number, variable in enumerate(variables)}
    for kind, ending in enumerate(kinds if left else ()):
        slots = optimizer_slots.slots(optimizer, ending)
        for number, weight in enumerate(weights):
            slots[place[id(weight)]].assign(left[kind * len(weights) + number])
    return None


def _counts_steps(arrays: Sequence[Array], weights: int) -> bool:
    """Return whether the first array is the step counter, a float until Keras 2.0.7."""
    first = arrays[0]
    if first.shape != () or first.dtype.kind not in "iuf":
        return False
    return first.dtype.kind != "f" or (float(first).is_integer() and (len(arrays) - 1) % max(weights, 1) == 0)
