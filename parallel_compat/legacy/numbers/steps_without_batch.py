"""What TensorFlow 2.2 did in the step that found no batch: the first epoch on data of unknown length ended with one.

Its `fit` learned how long such data is (`from_generator`, `TFRecordDataset`, a generator) by asking for one batch too
many. The step on it failed, but what needed no batch had been run: Nadam's product of momenta was multiplied, and
moments of an Embedding's weights faded, which Adam, Nadam and RMSprop assigned before they added the gradient
(`optimizer_v2` of TensorFlow 2.2.3). Later epochs of the same `fit` stopped before it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import tensorflow as tf

from parallel_compat.backend.keras3 import optimizer_steps, patch_points
from parallel_compat.batches import epochs
from parallel_compat.names.eras import Era
from parallel_compat.run import object_eras

if TYPE_CHECKING:
    from collections.abc import Iterator

    from parallel_compat.backend.keras3.patch_points import Point

_FOUND_THE_END = "_parallel_compat_found_the_end"  # on the history of a `fit`
# The slots that faded by themselves where a gradient is sparse, and the number that they were multiplied by.
_FADING = {
    "Adam": {"m": "beta_1", "v": "beta_2"},
    "Nadam": {"m": "beta_1", "v": "beta_2"},
    "RMSprop": {"velocity": "rho", "mean": "rho"},
}


def points() -> Iterator[Point]:
    """Yield where the function of training is made, which is run without a batch."""
    yield patch_points.of_new_function_of_training(_end_with_data)


def _end_with_data(model: Any) -> None:
    if object_eras.era_of_training(model) is not Era.TF_KERAS_2_2:
        return
    function = model.train_function

    def run(iterator: Any) -> Any:
        try:
            return function(iterator)
        except tf.errors.OutOfRangeError:
            _end(model)
            raise

    model.train_function = run


def _end(model: Any) -> None:
    """Do what the step did that found no batch, the first time in a `fit`."""
    drawn, history = epochs.of_training(model), getattr(model, "history", None)
    length_is_known = drawn is not None and drawn.length is not None
    if length_is_known or history is None or vars(history).setdefault(_FOUND_THE_END, False):
        return
    vars(history)[_FOUND_THE_END] = True
    optimizer = getattr(model, "optimizer", None)
    if optimizer is not None and optimizer_steps.step_settings(optimizer) is not None and optimizer.built:
        step_without_batch(optimizer)


def step_without_batch(optimizer: Any) -> None:
    """Let an optimizer that steps as TensorFlow 2.2's do what it did without gradients.

    Args:
        optimizer: a built optimizer that `optimizer_steps.set_step` gave a step.
    """
    kind = optimizer_steps.kind_of(optimizer)
    if kind == "Nadam":
        optimizer_steps.multiply_momenta(optimizer)
    if kind == "RMSprop" and optimizer_steps.slots(optimizer, "momentum"):
        return  # a kernel of TensorFlow's, which began with the gradient
    for name, factor in _FADING.get(kind, {}).items():
        kept = optimizer_steps.slots(optimizer, name)
        for place in optimizer_steps.sparse(optimizer) if kept else ():
            kept[place].assign(kept[place] * tf.cast(optimizer_steps.number(optimizer, factor), kept[place].dtype))
