"""A number of steps on arrays: in Keras 2.2.4 and in graphs of TensorFlow 1.15 each step took all samples.

Read in Keras 2.2.4's `keras/engine/training_arrays.py` (`fit_loop`, `test_loop`, `predict_loop`) and TensorFlow 1.15's
(`model_iteration`), which looked at no `batch_size` then, where Keras 2.2.4 refused it. TensorFlow 2.2, and 1.15 where
execution was eager, divided the samples by the steps, as Keras 3 does.
"""

from __future__ import annotations

import math
from typing import Any

import keras

from parallel_compat.batches import ordered_batches
from parallel_compat.legacy import execution
from parallel_compat.names.eras import Era
from parallel_compat.run.validation_data import fields_of_arrays, validated_on


def in_steps(arguments: dict[str, Any], drawing: dict[str, Any], era: Era) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the arguments of `fit` with arrays as batches of all samples, if it was given a number of steps.

    Args:
        arguments: the arguments of `fit`, by name.
        drawing: how batches are drawn: these are where they are needed, not ahead.
        era: of the code that trains.

    Raises:
        ValueError: there is a `batch_size`, too, in Keras 2.2.4; or arrays to validate on and one number of steps of
            the two.
    """
    data = tuple(arguments.get(name) for name in _DATA)
    steps, held_out_steps = arguments.get("steps_per_epoch"), arguments.get("validation_steps")
    if (steps is None and held_out_steps is None) or not _are_taken_whole(data, era):
        return arguments, drawing
    held_out = validated_on(arguments)
    is_held_out = isinstance(held_out, (tuple, list))
    if steps is None and not is_held_out:
        return arguments, drawing
    _check_batch_size(arguments, "steps_per_epoch", era)
    if is_held_out and (held_out_steps is None or (steps is None and era.is_standalone)):
        missing, given = ("validation_steps", "steps_per_epoch") if steps else ("steps_per_epoch", "validation_steps")
        raise ValueError(
            f"Expected `{missing}` with `{given}`, for {era} took all samples in each step of arrays. Received: arrays "
            f"to validate on, and {missing}=None. Pass `{missing}=1`."
        )
    changed = dict(arguments)
    if is_held_out:
        if changed.pop("validation_split", 0):
            samples = ordered_batches.samples_of_arrays(data) - ordered_batches.samples_of_arrays(held_out)
            data = keras.tree.map_structure(lambda leaf: None if leaf is None else leaf[:samples], data)
            changed.update(zip(_DATA, data, strict=True))
        changed["validation_data"] = _again_and_again(held_out)
    if steps is not None:
        changed = _with_all_samples(changed, data)
    return changed, {**drawing, "workers": 0}


def evaluated_in_steps(
    arguments: dict[str, Any], drawing: dict[str, Any], era: Era
) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the arguments of `evaluate` as `in_steps` does those of `fit`.

    Args:
        arguments: the arguments of `evaluate`, by name.
        drawing: how batches are drawn.
        era: of the code that evaluates.

    Raises:
        ValueError: there is a `batch_size`, too, in Keras 2.2.4.
    """
    data = tuple(arguments.get(name) for name in _DATA)
    if arguments.get("steps") is None or not _are_taken_whole(data, era):
        return arguments, drawing
    _check_batch_size(arguments, "steps", era)
    return _with_all_samples(arguments, data), {**drawing, "workers": 0}


def inputs_in_steps(arguments: dict[str, Any], era: Era) -> dict[str, Any]:
    """Return the arguments of `predict` with arrays as batches of all samples, if it was given a number of steps.

    Args:
        arguments: the arguments of `predict`, by name.
        era: of the code that predicts.

    Raises:
        ValueError: there is a `batch_size`, too, in Keras 2.2.4.
    """
    x = arguments.get("x")
    if arguments.get("steps") is None or not _take_all(era) or not ordered_batches.are_arrays((x,)):
        return arguments
    _check_batch_size(arguments, "steps", era)
    return {**arguments, "x": _again_and_again((x,)), "batch_size": None}


def divided_by_steps(arguments: dict[str, Any], steps: str, era: Era) -> dict[str, Any]:
    """Return arguments with the size of batches where arrays were divided by the steps and Keras 3 does not do it so.

    TensorFlow 1.15 did it in eager execution; what is validated on was divided into batches of that size
    (`training_v2.Loop.fit`). TensorFlow 2.2 divided by what is no whole number, too (`TensorLikeDataAdapter`).

    Args:
        arguments: the arguments of `fit` or `evaluate`, by name.
        steps: the name of the argument that counts them.
        era: of the code that trains.
    """
    count = arguments.get(steps)
    divides = execution.is_eager() if era is Era.TF_KERAS_1_15 else era is Era.TF_KERAS_2_2 and isinstance(count, float)
    if not divides or arguments.get("batch_size") or not count:
        return arguments
    samples = fields_of_arrays(arguments).get("samples")
    return {**arguments, "batch_size": math.ceil(samples / count)} if samples else arguments


_DATA = ("x", "y", "sample_weight")


def _take_all(era: Era) -> bool:
    return era.is_standalone or (era is Era.TF_KERAS_1_15 and not execution.is_eager())


def _are_taken_whole(data: tuple[Any, ...], era: Era) -> bool:
    return _take_all(era) and data[1] is not None and ordered_batches.are_arrays(data)


def _with_all_samples(arguments: dict[str, Any], data: tuple[Any, ...]) -> dict[str, Any]:
    """Return arguments with `(x, y, sample_weight)` as a batch that comes in each step."""
    changed = {name: value for name, value in arguments.items() if name not in (*_DATA, "batch_size")}
    return {**changed, "x": _again_and_again(data if data[2] is not None else data[:2])}


def _check_batch_size(arguments: dict[str, Any], steps: str, era: Era) -> None:
    if era.is_standalone and arguments.get("batch_size") is not None and arguments.get(steps) is not None:
        raise ValueError(
            f"Expected no `batch_size` with `{steps}`, for Keras 2.2.4 took all samples in each step of arrays. "
            f"Received: batch_size={arguments['batch_size']}, {steps}={arguments[steps]}. Leave one of them out."
        )


def _again_and_again(batch: Any) -> Any:
    return iter(lambda: batch, None)
