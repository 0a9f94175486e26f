"""A number of steps on arrays: in Keras 2.2.4 each step took all samples.

Read in Keras 2.2.4's `keras/engine/training_arrays.py` (`fit_loop`, `predict_loop`); TensorFlow 1.15 and 2.2 divided
the samples by the steps, as Keras 3 does.
"""

from __future__ import annotations

from typing import Any

import keras

from parallel_compat.batches import ordered_batches
from parallel_compat.run.validation_data import validated_on


def in_steps(arguments: dict[str, Any], drawing: dict[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the arguments of `fit` with arrays as batches of all samples, if it was given a number of steps.

    Args:
        arguments: the arguments of `fit`, by name.
        drawing: how batches are drawn: these are where they are needed, not ahead.

    Raises:
        ValueError: there is a `batch_size`, too; or arrays to validate on, without a number of steps for them.
    """
    data = tuple(arguments.get(name) for name in ("x", "y", "sample_weight"))
    steps, held_out = arguments.get("steps_per_epoch"), validated_on(arguments)
    if steps is None or data[1] is None or not ordered_batches.are_arrays(data):
        return arguments, drawing
    _check_batch_size(arguments, "steps_per_epoch")
    changed = {name: value for name, value in arguments.items() if name not in ("y", "sample_weight", "batch_size")}
    if isinstance(held_out, (tuple, list)):
        if arguments.get("validation_steps") is None:
            raise ValueError(
                "Expected `validation_steps` with `steps_per_epoch`, for Keras 2.2.4 took all samples in each step of "
                "arrays. Received: arrays to validate on, and validation_steps=None. Pass `validation_steps=1`."
            )
        if changed.pop("validation_split", 0):
            samples = ordered_batches.samples_of_arrays(data) - ordered_batches.samples_of_arrays(held_out)
            data = keras.tree.map_structure(lambda leaf: None if leaf is None else leaf[:samples], data)
        changed["validation_data"] = _again_and_again(held_out)
    changed["x"] = _again_and_again(data if data[2] is not None else data[:2])
    return changed, {**drawing, "workers": 0}


def inputs_in_steps(arguments: dict[str, Any]) -> dict[str, Any]:
    """Return the arguments of `predict` with arrays as batches of all samples, if it was given a number of steps.

    Args:
        arguments: the arguments of `predict`, by name.

    Raises:
        ValueError: there is a `batch_size`, too.
    """
    x = arguments.get("x")
    if arguments.get("steps") is None or not ordered_batches.are_arrays((x,)):
        return arguments
    _check_batch_size(arguments, "steps")
    return {**arguments, "x": _again_and_again((x,)), "batch_size": None}


def _check_batch_size(arguments: dict[str, Any], steps: str) -> None:
    if arguments.get("batch_size") is not None:
        raise ValueError(
            f"Expected no `batch_size` with `{steps}`, for Keras 2.2.4 took all samples in each step of arrays. "
            f"Received: batch_size={arguments['batch_size']}, {steps}={arguments[steps]}. Leave one of them out."
        )


def _again_and_again(batch: Any) -> Any:
    return iter(lambda: batch, None)
