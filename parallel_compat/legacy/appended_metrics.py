"""`model.metrics_names.append(name)`, `model.metrics_tensors.append(tensor)`: metrics that are symbolic tensors.

Keras 2 ran the tensors of a compiled model's list with each batch, and logged them under the names. Here each pass of
the model computes them, and their mean over samples is logged.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import keras

from parallel_compat.backend.keras3 import symbolic_losses
from parallel_compat.backend.keras3.symbolic_values import input_tensors_of

if TYPE_CHECKING:
    from collections.abc import Iterable

_NAMES, _TENSORS = "_parallel_compat_appended_names", "_parallel_compat_metrics_tensors"
_UNNAMED = "_parallel_compat_unnamed_metrics_tensors"


class Names(list[str]):
    """The names of a model's results: what is put behind them names a tensor to come."""

    def __init__(self, model: Any, names: Iterable[str]) -> None:
        known = list(names)
        super().__init__([*known, *(name for name in symbolic_losses.symbolic_metrics_of(model) if name not in known)])
        self._model = model

    def append(self, name: str) -> None:
        super().append(name)
        vars(self._model).setdefault(_NAMES, []).append(name)
        _pair(self._model)


class Tensors(list[Any]):
    """The symbolic tensors that are logged."""

    def __init__(self, model: Any) -> None:
        super().__init__()
        self._model = model

    def append(self, tensor: Any) -> None:
        if not isinstance(tensor, keras.KerasTensor) or not getattr(self._model, "inputs", None):
            raise TypeError(
                f"Expected a symbolic tensor of a functional model. Received: {type(tensor).__name__} for {self._model}"
            )
        own = {id(each) for each in self._model.inputs}
        fed = [each.name for each in input_tensors_of([tensor]) if id(each) not in own]
        if fed:
            raise TypeError(
                f"Expected a tensor computed from the inputs of {self._model.name!r}. Received: one that needs {fed} "
                "as well (a loss's targets or weights). Compute it in a callback: `K.function(model.inputs + "
                "model._feed_targets + model._feed_sample_weights + [K.learning_phase()], [tensor])`."
            )
        super().append(tensor)
        vars(self._model).setdefault(_UNNAMED, []).append(tensor)
        _pair(self._model)


def _pair(model: Any) -> None:
    """Log each tensor whose name is there: programs append the one or the other first."""
    names, tensors = (vars(model).get(each) or [] for each in (_NAMES, _UNNAMED))
    while names and tensors:
        symbolic_losses.add_symbolic_metric(model, names.pop(0), tensors.pop(0))


def tensors(model: Any) -> Tensors:
    """Return the list of a model (`model.metrics_tensors`)."""
    found: Tensors = vars(model).setdefault(_TENSORS, Tensors(model))
    return found


def forget(model: Any) -> None:
    """Forget what was appended: `compile` made the lists anew."""
    for name in (_NAMES, _TENSORS, _UNNAMED):
        vars(model).pop(name, None)
    symbolic_losses.forget_symbolic_metrics(model)
