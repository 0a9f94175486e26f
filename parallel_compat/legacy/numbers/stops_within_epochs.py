"""What is left of an epoch in whose midst a callback stops the training (`model.stop_training = True`).

TensorFlow 2.2 looked at the flag between epochs alone: it trained on the epoch's other batches, and validated. Keras
2.2.4 and TensorFlow 1.15 left both out. Keras 3 leaves out the batches, and validates.

In TensorFlow 1.15 `evaluate` and `predict` began by setting the flag back, as `fit` did: one that a callback called
after another one had stopped the training let it go on.
"""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any

from parallel_compat.backend.keras3 import patch_points
from parallel_compat.batches import epochs
from parallel_compat.names.eras import Era
from parallel_compat.run import object_eras

if TYPE_CHECKING:
    from collections.abc import Iterator

    from parallel_compat.backend.keras3.patch_points import Point

_STOPS = "_parallel_compat_stops_after_epoch"


def points() -> Iterator[Point]:
    """Yield where the flag is looked at, and where callbacks see it, with what is done there."""
    yield from patch_points.of_ends_of_trained_batches(_hiding)
    yield from patch_points.of_batch_begins(lambda kind: functools.partial(_showing, kind=kind))
    yield from patch_points.of_epoch_ends(functools.partial(_showing, kind="train"))
    yield from patch_points.of_validations(_validating)


def forget(model: Any) -> None:
    """Forget that a callback stopped the training, if the era of a model did so where it evaluates or predicts.

    Args:
        model: a model that begins to.
    """
    if object_eras.era_of_training(model) is Era.TF_KERAS_1_15:
        model.stop_training = False


def _hiding(original: Any) -> Any:
    """Hide the flag from the loop over batches, once the callbacks have seen the end of one."""

    @functools.wraps(original)
    def on_train_batch_end(self: Any, batch: int, logs: Any = None) -> None:
        original(self, batch, logs)
        model = getattr(self, "model", None)
        if getattr(model, "stop_training", False) and object_eras.era_of_training(model) is Era.TF_KERAS_2_2:
            vars(model)[_STOPS] = True
            model.stop_training = False  # type: ignore[union-attr]  # that it has one was found out

    return on_train_batch_end


def _showing(original: Any, kind: str) -> Any:
    @functools.wraps(original)
    def hook(self: Any, number: int, logs: Any = None) -> None:
        model = getattr(self, "model", None)
        if kind == "train" and model is not None and vars(model).pop(_STOPS, False):
            model.stop_training = True
        original(self, number, logs)

    return hook


def _validating(original: Any) -> Any:
    @functools.wraps(original)
    def _should_eval(self: Any, epoch: int, validation_freq: Any) -> bool:
        if getattr(self, "stop_training", False) and not _validates_when_stopped(self):
            return False
        return bool(original(self, epoch, validation_freq))

    return _should_eval


def _validates_when_stopped(model: Any) -> bool:
    era = object_eras.era_of_training(model)
    if era.is_standalone:  # `fit_generator` validated before it looked at the flag, where all steps were done
        drawn = epochs.of_training(model)
        return drawn is not None and drawn.is_done()
    return era is not Era.TF_KERAS_1_15
