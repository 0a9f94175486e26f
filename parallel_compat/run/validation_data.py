"""What `fit` validates on, as callbacks found it."""

from __future__ import annotations

from typing import Any

import keras
import numpy as np

from parallel_compat.batches.sources import is_generator, is_sequence
from parallel_compat.legacy.numbers import callback_params
from parallel_compat.legacy.utils import to_list
from parallel_compat.run import object_eras
from parallel_compat.run.method_arguments import flatten


def hand_over(model: Any, callbacks: Any, validation_data: Any, of_arrays: dict[str, int] | None = None) -> None:
    """Give callbacks the fields that Keras 2's `fit` set: `validation_data`, and more of `params`.

    Args:
        model: the model that is trained.
        callbacks: as given to `fit`.
        validation_data: as given to `fit`; set where it is arrays.
        of_arrays: `batch_size` and `samples`, where the training data is arrays.
    """
    of_tf_keras = object_eras.era_of_training(model).is_tf_keras
    arrays = None if of_tf_keras else _arrays(validation_data)
    for callback in flatten(callbacks) if callbacks else ():
        if isinstance(callback, keras.callbacks.Callback):
            callback_params.extend(callback, do_validation=validation_data is not None, **(of_arrays or {}))
            if arrays is not None:
                callback.validation_data = arrays


def are_arrays(validation_data: Any) -> bool:
    return isinstance(validation_data, (tuple, list)) or validation_data is None


def fields_of_arrays(arguments: dict[str, Any]) -> dict[str, Any]:
    sizes = {int(each.shape[0]) for each in flatten(arguments.get("x")) if _has_samples(each)}
    if len(sizes) != 1:
        return {}
    count = sizes.pop()
    if arguments.get("validation_split") and arguments.get("validation_data") is None:
        count = int(count * (1 - arguments["validation_split"]))
    return {
        "batch_size": arguments.get("batch_size") or 32,
        "samples": count,
        "steps": arguments.get("steps_per_epoch"),
    }


def samples_of_arrays(validation_data: Any) -> int | None:
    """Return how many samples are validated on; None where that is no arrays."""
    if not isinstance(validation_data, (tuple, list)):
        return None
    first = next((each for each in flatten(validation_data[0]) if _has_samples(each)), None)
    return None if first is None else int(first.shape[0])


def validated_on(arguments: dict[str, Any]) -> Any:
    """Return what `fit` validates on: as given, or the last samples of the arrays that it trains on.

    There are no targets where the loss is one that the model adds itself (`add_loss`).
    """
    part = arguments.get("validation_split")
    if arguments.get("validation_data") is not None or not part:
        return arguments.get("validation_data")
    data: tuple[Any, ...] = (arguments.get("x"), arguments.get("y"))
    if arguments.get("sample_weight") is not None:
        data = (*data, arguments["sample_weight"])
    sizes = {int(each.shape[0]) for each in flatten(data) if _has_samples(each)}
    if len(sizes) != 1:
        return None
    start = int(sizes.pop() * (1 - part))
    return keras.tree.map_structure(lambda each: each[start:] if _has_samples(each) else each, data)


def _has_samples(each: Any) -> bool:
    return bool(getattr(each, "shape", ())) and not is_sequence(each) and not is_generator(each)


def _arrays(validation_data: Any) -> list[Any] | None:
    if not isinstance(validation_data, (tuple, list)) or len(validation_data) < 2:
        return None
    x, y = ([] if each is None else to_list(each, allow_tuple=True) for each in validation_data[:2])
    if not all(getattr(each, "shape", ()) for each in (*x, *y)):
        return None
    weights = validation_data[2] if len(validation_data) > 2 else [np.ones(each.shape[0]) for each in y]
    # Of pandas's columns and tables too.
    with_two_axes = [np.expand_dims(each, 1) if len(each.shape) == 1 else np.asarray(each) for each in (*x, *y)]
    return [*with_two_axes, *to_list(weights, allow_tuple=True)]
