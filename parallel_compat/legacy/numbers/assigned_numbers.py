"""Numbers that a script assigns to an optimizer of Keras 2.2.4: `model.optimizer.lr = 0.01`.

There the rate was a variable of the graph, and so were `momentum`, `decay`, `rho` and the betas. The function that
trains was made when a model trained for the first time after `compile`, before the callbacks of `fit` ran, and it had
the variables of that moment. What is assigned later takes the variable's place on the object and changes no step, until
a model is compiled with the optimizer once more (`Optimizer.get_updates`, `Model._make_train_function` of Keras 2.2.4).
`K.set_value(model.optimizer.lr, 0.01)` sets the variable.
"""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any

from parallel_compat.backend.keras3 import optimizer_steps, patch_points
from parallel_compat.run import object_eras

if TYPE_CHECKING:
    from collections.abc import Iterator

    from parallel_compat.backend.keras3.patch_points import Point

_IN_A_GRAPH = "_parallel_compat_in_a_graph"
_ASSIGNED = "_parallel_compat_assigned_numbers"


def points() -> Iterator[Point]:
    """Yield where the function of training is made, which has the numbers of that moment."""
    yield patch_points.of_function_of_training(_taking_numbers)


def _taking_numbers(original: Any) -> Any:
    @functools.wraps(original)
    def make(self: Any, force: bool = False) -> Any:
        result = original(self, force)
        take_into_graph(self)
        return result

    return make


def take_into_graph(model: Any) -> None:
    """Note that a model begins to train, with the numbers that its optimizer has.

    Args:
        model: a compiled model.
    """
    optimizer = getattr(model, "optimizer", None)
    if optimizer is not None and object_eras.era_of_object(model).is_standalone:
        vars(optimizer)[_IN_A_GRAPH] = True


def keep_from_steps(optimizer: Any, name: str, value: Any) -> bool:
    """Note a number that is assigned to an optimizer, if the graph has the one before; say whether that is so.

    Args:
        optimizer: any optimizer.
        name: the attribute, as Keras 2.2.4 called it.
        value: what is assigned.
    """
    if not vars(optimizer).get(_IN_A_GRAPH):
        return False
    vars(optimizer).setdefault(_ASSIGNED, {})[name] = value
    return True


def kept_from_steps(optimizer: Any) -> dict[str, Any]:
    """Return the numbers that were assigned to an optimizer whose graph has others, by name."""
    return dict(vars(optimizer).get(_ASSIGNED, {}))


def step_with_assigned(optimizer: Any, twin: Any) -> None:
    """Let the twin for another `compile` step with the numbers that were assigned to an optimizer.

    Args:
        optimizer: that was assigned to.
        twin: what it is compiled as, not built yet.
    """
    for name, value in kept_from_steps(optimizer).items():
        optimizer_steps.step_with_own(twin, name, value)
