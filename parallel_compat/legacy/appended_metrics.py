"""`model.metrics_names.append(name)`, `model.metrics_tensors.append(tensor)`: metrics that are symbolic tensors.

Keras 2 ran the tensors of a compiled model's list with each batch, and logged them under the names. Here each pass of
the model computes them, and their mean over samples is logged.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import keras

from parallel_compat.backend.keras3 import symbolic_losses

if TYPE_CHECKING:
    from collections.abc import Iterable

_NAMES, _TENSORS = "_parallel_compat_appended_names", "_parallel_compat_metrics_tensors"


class Names(list[str]):
    """The names of a model's results: what is put behind them names a tensor to come."""

    def __init__(self, model: Any, names: Iterable[str]) -> None:
        known = list(names)
        super().__init__([*known, *(name for name in symbolic_losses.symbolic_metrics_of(model) if name not in known)])
        self._model = model

    def append(self, name: str) -> None:
        super().append(name)
        vars(self._model).setdefault(_NAMES, []).append(name)


class Tensors(list[Any]):
    """The symbolic tensors that are logged."""

    def __init__(self, model: Any) -> None:
        super().__init__()
        self._model = model

    def append(self, tensor: Any) -> None:
        names = vars(self._model).get(_NAMES)
        if not isinstance(tensor, keras.KerasTensor) or not names or not getattr(self._model, "inputs", None):
            raise TypeError(
                "Expected a symbolic tensor of a functional model, whose name was put into `model.metrics_names` "
                f"first. Received: {type(tensor).__name__}"
            )
        super().append(tensor)
        symbolic_losses.add_symbolic_metric(self._model, names.pop(0), tensor)


def tensors(model: Any) -> Tensors:
    """Return the list of a model (`model.metrics_tensors`)."""
    found: Tensors = vars(model).setdefault(_TENSORS, Tensors(model))
    return found


def forget(model: Any) -> None:
    """Forget what was appended: `compile` made the lists anew."""
    for name in (_NAMES, _TENSORS):
        vars(model).pop(name, None)
    symbolic_losses.forget_symbolic_metrics(model)
