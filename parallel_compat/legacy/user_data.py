"""`model._standardize_user_data(x, y)`: the lists of arrays that recipes feed to `K.function`.

    f = K.function(model._feed_inputs + model._feed_targets + model._feed_sample_weights, gradients)
    x, y, sample_weight = model._standardize_user_data(x, y)
    f(x + y + sample_weight)

Read in `Model._standardize_user_data` of Keras 2.2.4 and TensorFlow 1.15.
"""

from __future__ import annotations

from typing import Any

import keras
import numpy as np

from parallel_compat.batches.batch import weighted_classes
from parallel_compat.legacy import models, total_loss
from parallel_compat.run import data_forms, given_weights, object_eras


def standardize(
    model: Any,
    x: Any,
    y: Any = None,
    sample_weight: Any = None,
    class_weight: Any = None,
    check_array_lengths: bool = True,
    batch_size: int | None = None,
) -> tuple[list[Any], list[Any], list[Any] | None]:
    """Return lists of the arrays of a model's inputs, of its targets, and of the weights of samples.

    Without weights these are ones in Keras 2.2.4, and None in tf.keras.

    Args:
        model: a compiled model.
        x: as in `fit`.
        y: as in `fit`; None for no targets and no weights.
        sample_weight: as in `fit`.
        class_weight: as in `fit`.
        check_array_lengths: taken and left alone, as `batch_size`.
        batch_size: taken and left alone.
    """
    era = object_eras.era_of_training(model)
    given = {"x": x, "y": y, "sample_weight": sample_weight, "class_weight": class_weight}
    arguments = data_forms.in_todays_structure(model, given, _says_nothing)
    given_weights.weigh_classes_and_samples(model, arguments, era, _says_nothing)
    x, y = arguments["x"], arguments["y"]
    inputs = [x[name] for name in models.input_names(model)] if isinstance(x, dict) else keras.tree.flatten(x)
    if y is None:
        return [_array(each) for each in inputs], [], [] if era.is_standalone else None
    targets = [_array(each) for each in keras.tree.flatten(y) if each is not None]
    weights = arguments.get("sample_weight")
    weights = [None] * len(targets) if weights is None else keras.tree.flatten(weights)
    if arguments.get("class_weight") is not None:
        weights = [np.asarray(weighted_classes(targets[0], None, arguments["class_weight"]))]
    if era.is_standalone:
        places = [len(each.shape) for each in total_loss.feed_sample_weights(model)]
        weights = [
            np.ones(target.shape[:axes], keras.config.floatx()) if weight is None else np.asarray(weight)
            for target, axes, weight in zip(targets, places, weights, strict=True)
        ]
    elif all(each is None for each in weights):
        return [_array(each) for each in inputs], targets, None
    return [_array(each) for each in inputs], targets, weights


def _array(given: Any) -> Any:
    array = np.asarray(given)
    return array[:, None] if array.ndim == 1 else array


def _says_nothing(what: str, became: str) -> None:
    pass
