"""What the optimizer of an old file remembers, put in the order of Keras 3's optimizer of the same name.

Keras 2 writes a list: the step counter (not all of them), then one kind of memory for all weights after another (all
first moments, all second moments). The weights are those of ``model.trainable_weights``, in that order.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np

    from parallel_compat.recover.layer_tree import Branch, Path

    Array = np.ndarray[Any, Any]

# Optimizer -> what the attributes of Keras 3's are called, in the order of the old file's kinds of memory.
MEMORY = {
    "SGD": ("momentum",),
    "RMSprop": ("velocity",),
    "Adagrad": ("accumulator",),
    "Adadelta": ("accumulated_grad", "accumulated_delta_var"),
    "Adam": ("momentum", "velocity"),
    "Adamax": ("m", "u"),
}


def memory(
    name: str,
    config: dict[str, Any],
    arrays: list[Array],
    tree: Branch,
    shapes: dict[tuple[Path, int], tuple[int, ...]],
) -> tuple[int | None, dict[tuple[Path, int], tuple[Array, ...]]] | str:
    """Sort an optimizer's arrays by the weight they belong to.

    Args:
        name: the optimizer.
        config: its config in Keras 3.
        arrays: what the file holds for it.
        tree: the single model's layers.
        shapes: (leaf, number of its weight) -> shape.

    Returns:
        The step counter (None if the file has none) and, for each trainable weight, its memories; or a sentence that
        says why they cannot be carried over.
    """
    kinds = MEMORY.get(name)
    if kinds is None:
        return f"Keras 3's {name} keeps its state in another form; training begins with a fresh one."
    if name == "RMSprop" and (config.get("centered") or config.get("momentum")):
        return "Keras 3's RMSprop keeps centered or momentum state in another form; training begins with a fresh one."
    steps = None
    if arrays and arrays[0].shape == () and arrays[0].dtype.kind in "iu":
        steps, arrays = int(arrays[0]), arrays[1:]
    weights = [(leaf.path, index) for leaf, index in tree.sections(frozen=True)[0]]
    if not arrays:
        return steps, {}
    if name == "Adam" and len(arrays) == 3 * len(weights):
        hats = arrays[2 * len(weights) :]
        arrays = arrays[: 2 * len(weights)]
        if config.get("amsgrad"):
            kinds = (*kinds, "velocity_hat")
            arrays += hats
        # Keras 2.2 writes a placeholder of one zero per weight where amsgrad is off.
    if not weights or len(arrays) != len(kinds) * len(weights):
        return (
            f"The optimizer's state has {len(arrays)} arrays, expected {len(kinds)} for each "
            f"of {len(weights)} trainable weights; training begins with "
            "a fresh one."
        )
    found: dict[tuple[Path, int], tuple[Array, ...]] = {}
    for number, weight in enumerate(weights):
        mine = tuple(arrays[kind * len(weights) + number] for kind in range(len(kinds)))
        if any(array.shape != shapes[weight] for array in mine):
            return "The optimizer's state does not have the shapes of the weights; training begins with a fresh one."
        found[weight] = mine
    return steps, found
