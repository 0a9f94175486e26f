"""`model.metrics_names.append(name)`, `model.metrics_tensors.append(tensor)`: metrics that are symbolic tensors.

Keras 2 ran the tensors of a compiled model's list with each batch, and logged them under the names. Here each pass of
the model computes them, and their mean over samples is logged.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import keras

from parallel_compat.backend.keras3 import symbolic_losses
from parallel_compat.backend.keras3.symbolic_values import input_tensors_of
from parallel_compat.legacy import compiled_metrics

if TYPE_CHECKING:
    from collections.abc import Iterable

_NAMES, _TENSORS = "_parallel_compat_appended_names", "_parallel_compat_metrics_tensors"
_UNNAMED = "_parallel_compat_unnamed_metrics_tensors"


class _Appended(list[Any]):
    """A list of which each way to put something behind it is `append`."""

    def extend(self, values: Iterable[Any]) -> None:
        for value in list(values):
            self.append(value)

    def __iadd__(self, values: Iterable[Any]) -> Any:  # type: ignore[misc]  # `list` has overloads of `+`
        self.extend(values)
        return self


class Names(_Appended):
    """The names of a model's results: what is put behind them names a tensor to come."""

    def __init__(self, model: Any, names: Iterable[str]) -> None:
        known = list(names)
        super().__init__([*known, *(name for name in symbolic_losses.symbolic_metrics_of(model) if name not in known)])
        self._model = model

    def append(self, name: str) -> None:
        super().append(name)
        vars(self._model).setdefault(_NAMES, []).append(name)
        _pair(self._model)


class Tensors(_Appended):
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
        if any(size != 1 for size in tensor.shape[1:]):
            raise TypeError(
                f"Expected a tensor of one number for each sample, or for the batch. Received: one of shape "
                f"{tuple(tensor.shape)}, whose array Keras 2 gave to callbacks. Compute it in a callback: "
                "`K.function(model.inputs, [tensor])`."
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


def assign_names(model: Any, names: Iterable[str] | None) -> None:
    """Take `model.metrics_names += [...]`, or None, by which scripts kept what they had appended out of files.

    Args:
        model: the model.
        names: what is assigned.
    """
    if names is None:
        forget(model)
        return
    if isinstance(names, Names):  # `+=` put behind it what there is
        return
    now = list(Names(model, compiled_metrics.metrics_names(model)))
    names = list(names)
    if names[: len(now)] != now:
        raise ValueError(
            f"Expected `metrics_names` of a model to begin with {now}. Received: {names}. A metric is named by its "
            "function's `__name__`, or the `name` of its class."
        )
    Names(model, now).extend(names[len(now) :])


def assign_tensors(model: Any, values: Iterable[Any] | None) -> None:
    """Take `model.metrics_tensors += [...]`, or None.

    Args:
        model: the model.
        values: what is assigned.
    """
    if isinstance(values, Tensors):  # `+=` put behind it what there is
        return
    forget(model)
    tensors(model).extend(values or ())


def forget(model: Any) -> None:
    """Forget what was appended: `compile` made the lists anew."""
    for name in (_NAMES, _TENSORS, _UNNAMED):
        vars(model).pop(name, None)
    symbolic_losses.forget_symbolic_metrics(model)
