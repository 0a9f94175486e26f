"""What is done where data ends before the steps of an epoch that were asked for.

Keras 3 begins a data set again. TensorFlow 2.2 and 1.15 took the batches of all epochs from one iterator
(`DataHandler.enumerate_epochs`, `training_v2.run_one_epoch`, `training_arrays.model_iteration`), in 2.2 unless the
steps are just those that the data set has, and where it ended, training ended:

- In 2.2 the epoch was finished, with validation, and was the last one. One without a batch had the logs before it.
- In 1.15 `stop_training` was set, there was no validation, and an epoch without a batch was an error where execution is
  eager. A validation that ended early ended training, too, and its loss was divided by the steps that were asked for.
"""

from __future__ import annotations

import functools
import warnings
from typing import TYPE_CHECKING, Any

from parallel_compat.backend import keras3
from parallel_compat.backend.keras3 import patch_points
from parallel_compat.legacy import execution
from parallel_compat.legacy.numbers import batch_logs, classes_of_datasets
from parallel_compat.names.eras import Era
from parallel_compat.run import object_eras
from parallel_compat.warning_category import ParallelCompatWarning

if TYPE_CHECKING:
    from collections.abc import Iterator

    import tensorflow as tf

    from parallel_compat.backend.keras3.patch_points import Point

_OVER, _STOPPED = "_parallel_compat_data_is_over", "_parallel_compat_stopped_by_data"


def points() -> Iterator[Point]:
    """Yield where data ends, and where an epoch and a training end, with what is done there."""
    yield from patch_points.of_ends_of_data()
    yield from patch_points.of_epoch_ends(_ending_training)
    yield from patch_points.of_train_ends(_as_if_not_stopped)


def dataset_of(model: Any, data: tf.data.Dataset, what: str, steps: int | None, class_weight: Any) -> Any:
    """Return what to give to Keras for a data set, so that it ends as in the era of a model.

    Args:
        model: the model that is fed.
        data: the data set.
        what: "training", "validation" or "prediction".
        steps: the batches of an epoch, None for all there are.
        class_weight: a weight for each class of the targets, or None.
    """
    era = object_eras.era_of_training(model)
    trains, is_22 = what == "training", era is Era.TF_KERAS_2_2
    if not era.is_tf_keras or (not trains and not is_22 and steps is None):
        return data
    if class_weight is not None:
        data = classes_of_datasets.weighed(data, class_weight)
    if is_22 and steps == int(data.cardinality()):
        steps = None
    of_end = functools.partial(ended, model, what, steps)
    return keras3.DatasetAdapter(
        data,
        goes_on=steps is not None,
        learns_length=is_22 or not execution.is_eager(),
        ended=of_end,
        one_before=is_22 and not trains and steps is None,  # that of training, made once, is in `fit`
    )


def ended(model: Any, what: str, steps: int | None, batches: int) -> bool:
    """Do what the era of a model did where data ended within an epoch, and return whether it did not refuse that.

    Args:
        model: the model that is fed.
        what: "training", "validation" or "prediction".
        steps: the batches of an epoch, as they were asked for.
        batches: how many there were.

    Raises:
        ValueError: for an epoch without a batch in TensorFlow 1.15's eager execution.
    """
    era = object_eras.era_of_training(model)
    needs_steps = era is Era.TF_KERAS_1_15 and steps is None  # of a generator, which it took no other way
    if not era.is_tf_keras or (not batches and (what != "training" or needs_steps)):
        return False
    if what == "training":
        warnings.warn(
            f"The data ended after {batches} batches of an epoch, before {steps or 'as many as in the first one'} were "
            "done, and training with it, as in its time. Let it `repeat()`, or ask for no more steps than it has.",
            ParallelCompatWarning,
            stacklevel=3,
        )
    if era is Era.TF_KERAS_2_2:
        if what == "training":
            vars(model)[_OVER] = True
        return True
    if not batches and execution.is_eager():
        raise ValueError(
            f"Expected a batch in each epoch of {what}. Received: data that ended before. Empty training data, as "
            "TensorFlow 1.15 said. Let the data set `repeat()`."
        )
    if what != "prediction":
        model.stop_training = True
    if steps and (what == "validation" or not batches):
        batch_logs.divide_loss(model, steps / max(batches, 1))
    return True


def _ending_training(original: Any) -> Any:
    @functools.wraps(original)
    def on_epoch_end(self: Any, epoch: int, logs: Any = None) -> None:
        original(self, epoch, logs)
        model = getattr(self, "model", None)
        if model is not None and vars(model).pop(_OVER, False) and not model.stop_training:
            vars(model)[_STOPPED] = model.stop_training = True

    return on_epoch_end


def _as_if_not_stopped(original: Any) -> Any:
    """In TensorFlow 2.2 it was no flag of the model that ended training."""

    @functools.wraps(original)
    def on_train_end(self: Any, logs: Any = None) -> None:
        model = getattr(self, "model", None)
        if model is not None and vars(model).pop(_STOPPED, False):
            model.stop_training = False
        original(self, logs)

    return on_train_end
