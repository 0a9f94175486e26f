"""`model.train_function` of Keras 2.2.4, which took lists of arrays: programs called it, and put others in its place.

    model._make_train_function()
    step = model.train_function

    def train_function(inputs):  # arrays of the inputs, the targets, the weights of samples
        disturb(model)
        outputs = step(inputs)  # the loss and the metrics
        restore(model)
        return outputs

    model.train_function = train_function

Keras 3 calls its function with an iterator of batches. Read in `Model._make_train_function` of Keras 2.2.4.
"""

from __future__ import annotations

import functools
import warnings
from typing import TYPE_CHECKING, Any

import keras
import numpy as np

from parallel_compat.backend import keras3
from parallel_compat.backend.keras3 import patch_points
from parallel_compat.legacy import compiled_metrics, learning_phase, models, total_loss, user_data
from parallel_compat.legacy.numbers import batch_logs
from parallel_compat.run import model_methods, object_eras
from parallel_compat.warning_category import ParallelCompatWarning

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from parallel_compat.backend.keras3.patch_points import Point

_OF_LISTS = "_parallel_compat_takes_lists"


def points() -> Iterator[Point]:
    """Yield where the functions of a step are made, with what lets them take lists. Behind `batch_logs.points`."""
    yield from patch_points.of_functions_of_a_step(lambda name: functools.partial(_taking_lists, name=name))


def _taking_lists(original: Any, name: str) -> Any:
    def make(self: Any, force: bool = False) -> Any:
        function = None if force else getattr(self, name)
        if not object_eras.era_of_training(self).is_standalone:
            return original(self, force)
        if function is None:
            original(self, force)
            setattr(self, name, _of_lists_too(self, getattr(self, name)))
        elif _is_of_user(function):
            setattr(self, name, _taking_batches(self, function, name == "train_function"))
        return getattr(self, name)

    return make


def _is_of_user(function: Any) -> bool:
    module = str(getattr(function, "__module__", ""))
    if hasattr(type(function), "takes_batches"):  # what `parallel-compat compare` put there
        return False
    return not module.startswith((*keras3.OWN_PACKAGES, "tensorflow.")) and not hasattr(function, _OF_LISTS)


def _of_lists_too(model: Any, step: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """Return a function that takes batches as a step does, or a list of arrays: inputs, targets, weights, the phase."""

    def function(given: Any) -> Any:
        if not isinstance(given, list):
            return step(given)
        rest, parts = list(given), []
        for count in map(len, (models.input_names(model), total_loss.feed_targets(model))):
            parts.append(tuple(np.asarray(each) for each in rest[:count]))
            rest = rest[count:]
        parts.append(tuple(np.asarray(each) for each in rest[: len(parts[1])]))
        logs = step(iter([tuple(each[0] if len(each) == 1 else each for each in parts if each)]))
        return [float(logs[name]) for name in compiled_metrics.in_old_order(model, logs)]

    return function


def _taking_batches(model: Any, function: Callable[[list[Any]], Any], trains: bool) -> Callable[[Any], Any]:
    """Return a function for Keras's loops around one of the user's that takes a list of arrays.

    Metrics that it does not return in training are computed by a pass before it: `model.metrics_tensors` has those
    alone that a program appended.
    """
    returns_all = not trains

    @functools.wraps(function)
    def of_batches(given: Any) -> Any:
        nonlocal returns_all
        if isinstance(given, list):  # the user's code calls it
            return function(given)
        batch = next(given)
        inputs, targets, weights = user_data.standardize(model, *keras.utils.unpack_x_y_sample_weight(batch))
        uses_phase = learning_phase.uses_phase(model)
        logs = {} if returns_all else _evaluated(model, batch)
        values = function([*inputs, *targets, *(weights or ()), *([float(trains)] if uses_phase else [])])
        names = compiled_metrics.metrics_names(model)
        returned = dict(zip(names, np.ravel(values).tolist(), strict=False))
        returns_all = returns_all or len(returned) == len(names)
        if uses_phase and not returns_all:
            warnings.warn(
                f"The function in the place of `train_function` returned {len(returned)} values, of {len(names)}: "
                f"{names[len(returned) :]} are those of `evaluate` on each batch, before its step.",
                ParallelCompatWarning,
                stacklevel=2,
            )
        return batch_logs.add(model, {**logs, **returned}, len(inputs[0]))

    vars(of_batches)[_OF_LISTS] = True
    return of_batches


def _evaluated(model: Any, batch: Any) -> dict[str, Any]:
    with batch_logs.uncounted(model):
        model.make_test_function()
        return dict(model.test_function(iter([batch])))


# --- what programs read to make such a function ---------------------------------------------------------------------


def check_trainable_weights_consistency(model: keras.Model) -> None:
    """Warn where `trainable` was set after `compile` (`model._check_trainable_weights_consistency()`)."""
    model_methods.say_if_flags_differ(model)


def uses_dynamic_learning_phase(model: keras.Model) -> bool:
    """Say whether the functions of a model take the learning phase (`model._uses_dynamic_learning_phase()`)."""
    return learning_phase.uses_phase(model)


def function_arguments(model: keras.Model) -> dict[str, Any]:
    """Return what `compile` passed on to `K.function` (`model._function_kwargs`): nothing."""
    return {}
