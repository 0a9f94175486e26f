"""`model.metrics_updates`: what Keras 2.2.4 ran with each batch of training and of evaluation.

    for average, weight in zip(averages, model.weights):
        model.metrics_updates.append(K.moving_average_update(average, weight, 0.999))

Its own metrics count by themselves here. Read in `Model._make_train_function` and `_make_test_function` of Keras 2.2.4.
"""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING, Any

import keras

from parallel_compat.legacy import graph

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

_LIST, _OF_FUNCTIONS = "_parallel_compat_metrics_updates", "_parallel_compat_updates_of_functions"


class Updates(list[Any]):
    """The updates of a model, whose values are computed of variables."""

    def append(self, update: Any) -> None:
        value = update[1] if isinstance(update, tuple) else getattr(update, "value", None)
        if isinstance(value, keras.KerasTensor):
            raise TypeError(
                "Expected updates in `model.metrics_updates` that are computed of variables. Received: one of "
                f"{value.name!r}, a tensor of a model. Compute it in a callback's `on_batch_end`: "
                "`K.function(model.inputs, [], updates=[update])([x])`, or log the tensor: `model.add_metric(tensor)`."
            )
        super().append(update)

    def extend(self, updates: Iterable[Any]) -> None:
        for each in updates:
            self.append(each)


def metrics_updates(model: keras.Model) -> Updates:
    """Return the list of a model that is compiled (`model.metrics_updates`)."""
    found: Updates = vars(model).setdefault(_LIST, Updates())
    return found


def forget(model: Any) -> None:
    """Forget what was appended: `compile` made the list anew."""
    vars(model).pop(_LIST, None)
    vars(model).pop(_OF_FUNCTIONS, None)


@contextlib.contextmanager
def run_with_step(model: Any, kind: str) -> Iterator[None]:
    """Run the updates with a step, from what variables are before it.

    What was appended after the first step of a kind is not run: the function had been made.

    Args:
        model: the model.
        kind: "train", "test" or "predict", with which nothing is run.
    """
    of_functions = vars(model).setdefault(_OF_FUNCTIONS, {})
    steps = graph.updates_to_run(of_functions.setdefault(kind, tuple(vars(model).get(_LIST, ()))))
    yield
    if kind != "predict":
        for step in steps:
            step()
