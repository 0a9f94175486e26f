"""What the optimizers of all versions remember, in one form: a step counter, and arrays by kind and weight.

Keras 2 lists one kind of memory for all weights after another (all first moments, all second moments), most with the
step counter first; Keras 3 lists its variables as they were made, and their paths say which is which.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from parallel_compat.names import tsv

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np

    Array = np.ndarray[Any, Any]

# Optimizer -> kinds in the order of Keras 2's list, each with what Keras 3 calls it.
_KINDS: dict[str, tuple[tuple[str, tuple[str, ...]], ...]] = {}
for _optimizer, _kind, _today in tsv.rows("optimizer_states.tsv", 3, __package__):
    _KINDS[_optimizer] = (*_KINDS.get(_optimizer, ()), (_kind, tuple(_today.split())))
_COUNTERS = ("iteration", "iterations", "iter", "learning_rate", "current_learning_rate")


class State(NamedTuple):
    """What an optimizer remembers."""

    steps: int | None  # how many steps it has made; None where that is not in its list
    kinds: dict[str, list[Array]]  # for each kind of memory, the array of each weight that trains


def state(facts: dict[str, Any], arrays: Sequence[Array]) -> State | None:
    """Return a recorded state in the one form, or None for an optimizer that is not Keras's.

    Args:
        facts: what was recorded of the model: its optimizer, how that is configured, the variables' names (None in a
            list without names), and the weights that it trains.
    """
    optimizer, names, weights = str(facts["optimizer"]), facts["state_names"], len(facts["trainable"])
    if optimizer not in _KINDS or not weights or len(names) != len(arrays):
        return None
    if all(isinstance(name, str) for name in names):
        return _by_name(optimizer, [str(name) for name in names], arrays, weights)
    config = facts.get("optimizer_config") or {}
    unused = [name for name in ("momentum", "centered") if optimizer == "RMSprop" and not config.get(name)]
    return _by_place(optimizer, unused, list(arrays), weights)


def _by_place(optimizer: str, unused: list[str], left: list[Array], weights: int) -> State | None:
    steps = int(left.pop(0)) if left and _is_counter(left, weights) else None
    if optimizer == "Nadam" and len(left) == 2 * weights + 1:
        left.pop(0)  # of tf.keras: the product of its momenta
    kinds: dict[str, list[Array]] = {}
    for kind, _ in _KINDS[optimizer]:
        if kind in unused or not left:
            continue
        part, left = left[:weights], left[weights:]
        if len(part) != weights:
            return None
        # Where `amsgrad` is off, Keras 2 kept one zero for each weight.
        if kind != "greatest v" or [each.shape for each in part] == [each.shape for each in kinds["v"]]:
            kinds[kind] = part
    return None if left else State(steps, kinds)


def _is_counter(arrays: list[Array], weights: int) -> bool:
    """Say whether a list begins with the step counter, a float before Keras 2.1: then one array is left over."""
    first = arrays[0]
    return first.shape == () and (first.dtype.kind in "iu" or (len(arrays) % weights > 0 and not float(first) % 1))


def _by_name(optimizer: str, names: list[str], arrays: Sequence[Array], weights: int) -> State | None:
    steps = None
    kinds: dict[str, list[Array]] = {}
    for name, array in zip(names, arrays, strict=True):
        parts = name.split(":")[0].split("/")
        if parts[-1] in _COUNTERS:
            steps = int(array) if parts[-1].startswith("iter") else steps
            continue
        # "adam/dense_kernel_momentum" of Keras 3, "Adam/m/dense/kernel" of tf.keras 2.11 to 2.15
        found = [kind for kind, known in _KINDS[optimizer] if len(parts) > 2 and parts[1] in known]
        found += [kind for kind, known in _KINDS[optimizer] for end in known if parts[-1].endswith(f"_{end}")]
        if found:
            kinds.setdefault(found[0], []).append(array)
    return State(steps, kinds) if all(len(found) == weights for found in kinds.values()) else None
