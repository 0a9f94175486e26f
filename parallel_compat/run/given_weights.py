"""The weights of classes and of samples that `fit` and its relatives are given, as each era applied them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import keras
import numpy as np
import tensorflow as tf

from parallel_compat.backend import keras3
from parallel_compat.batches.batch import weighted_classes
from parallel_compat.legacy import compile_checks
from parallel_compat.legacy.numbers import made_functions
from parallel_compat.names.eras import Era
from parallel_compat.run import data_forms

if TYPE_CHECKING:
    from collections.abc import Callable

_OF_WEIGHTS = ("sample_weight", "class_weight")
_DATA = ("x", "y", "sample_weight")


def leave_out_weights(
    model: Any, function: str, arguments: dict[str, Any], era: Era, note: Callable[[str, str], None]
) -> None:
    """Take out the weights of samples and classes that TensorFlow 1.15 left out, also those of held-out arrays."""
    if era is not Era.TF_KERAS_1_15:
        return
    if isinstance(arguments.get("x"), tf.data.Dataset) and arguments.get("class_weight") is not None:
        note("class_weight= of a data set", "left out, as TensorFlow 1.15 did: let it yield weights of samples")
        arguments["class_weight"] = None
    for name, called in ("x", function), ("validation_data", "test"):
        data = arguments.get(name)
        if isinstance(data, tf.data.Dataset):
            weighted = isinstance(data.element_spec, tuple) and len(data.element_spec) == 3
            made_functions.heeds_weights(model, called, weighted)
    if arguments.get("y") is None:
        return
    left_out = "left out, as TensorFlow 1.15 did: it had trained or evaluated without, and weighed in the other since"
    weighted = any(arguments.get(name) is not None for name in _OF_WEIGHTS)
    heeded = made_functions.heeds_weights(model, function, weighted) or not weighted
    held_out = arguments.get("validation_data")
    splits = weighted and arguments.get("validation_split") and held_out is None
    if splits and made_functions.heeds_weights(model, "test", weighted) != heeded:
        _split(arguments, weighs_held_out=not heeded)
        note("validation_split= with weights", left_out)
    if not heeded:
        note("sample_weight= or class_weight=", left_out)
        arguments.update({name: None for name in _OF_WEIGHTS if name in arguments})
    if isinstance(held_out, (tuple, list)) and len(held_out) in (2, 3):
        weighted = len(held_out) == 3 and held_out[2] is not None
        if not made_functions.heeds_weights(model, "test", weighted) and weighted:
            note("validation_data= with weights", left_out)
            arguments["validation_data"] = tuple(held_out[:2])


def _split(arguments: dict[str, Any], weighs_held_out: bool) -> None:
    """Split the arrays of `fit` where only what trains, or only what evaluates, heeds weights."""
    y, weights, classes = arguments.get("y"), arguments.get("sample_weight"), arguments.get("class_weight")
    if classes is not None and not keras.tree.is_nested(y):
        weights = np.asarray(weighted_classes(y, weights, classes))
        arguments["class_weight"] = None
    fraction = arguments.pop("validation_split")
    (*data, trained), (*held_out, held_out_weights) = keras3.split((arguments["x"], y, weights), fraction)
    arguments["x"], arguments["y"] = data
    arguments["sample_weight"] = trained
    arguments["validation_data"] = (*held_out, held_out_weights) if weighs_held_out else tuple(held_out)


def weigh_classes_and_samples(
    model: Any, arguments: dict[str, Any], era: Era, note: Callable[[str, str], None]
) -> None:
    """Make one of `class_weight` and `sample_weight`, which Keras 3 refuses together."""
    if arguments.get("sample_weight") is not None:
        compile_checks.check_weights(model, arguments["sample_weight"], arguments.get("y"))
    if arguments.get("class_weight") is not None and not len(arguments["class_weight"]):
        arguments["class_weight"] = None
    if arguments.get("class_weight") is not None and type(arguments.get("y")) is list and era.has_graphs:
        _weigh_classes_of_outputs(model, arguments, era, note)
    if arguments.get("class_weight") is not None and arguments.get("sample_weight") is None:
        check_classes(arguments["class_weight"], arguments.get("y"), era)
    if arguments.get("class_weight") is None or arguments.get("sample_weight") is None:
        return
    classes = arguments.pop("class_weight")
    if era is Era.KERAS_2_2_4:  # `standardize_weights`
        note("class_weight= with sample_weight=", "left out, as Keras 2.2.4 did")
        return
    fraction = arguments.get("validation_split")
    if era is Era.TF_KERAS_2_2 and fraction and arguments.get("validation_data") is None:
        # What is held out has its own weights alone: `DataHandler` weighed the classes of what it was given to train.
        parts = keras3.split(tuple(arguments[name] for name in _DATA), fraction)
        arguments.update(zip(_DATA, parts[0], strict=True), validation_split=0.0, validation_data=tuple(parts[1]))
    arguments["sample_weight"] = np.asarray(weighted_classes(arguments["y"], arguments["sample_weight"], classes))


def _weigh_classes_of_outputs(
    model: Any, arguments: dict[str, Any], era: Era, note: Callable[[str, str], None]
) -> None:
    """Make sample weights of class weights for several outputs, by name or in order.

    What is no output's name was no weight (`standardize_sample_or_class_weights`); TensorFlow 1.15 refused it.
    """
    classes, targets, names = arguments.pop("class_weight"), arguments["y"], data_forms.output_names(model)
    if isinstance(classes, dict):
        unknown = [name for name in classes if name not in names]
        if unknown and era.is_tf_keras:
            raise ValueError(f"Expected names of outputs in `class_weight`: {names}. Received: {unknown}")
        if unknown:
            note(f"class_weight= of {unknown}", "left out, as Keras 2.2.4 did: no output has that name")
        classes = [classes.get(name) for name in names]
    if len(classes) != len(names) or len(targets) != len(names):
        raise ValueError(
            f"Expected `class_weight` and targets for {len(names)} outputs, {names}. Received: {len(classes)} dicts "
            f"and {len(targets)} targets."
        )
    weights = arguments.get("sample_weight") or [None] * len(names)
    made: list[Any] = []
    for target, weight, of_output in zip(targets, weights, classes, strict=True):
        if not isinstance(of_output, dict) or target is None or (weight is not None and era is Era.KERAS_2_2_4):
            made.append(weight)
            continue
        check_classes(of_output, target, era)
        made.append(np.asarray(weighted_classes(target, weight, of_output)))
    if any(each is not None for each in made):
        arguments["sample_weight"] = [
            np.ones(len(target), "float32") if weight is None and target is not None else weight
            for target, weight in zip(targets, made, strict=True)
        ]


def check_classes(weights: Any, y: Any, era: Era) -> None:
    """Refuse class weights that leave out a class of the data, as Keras did before TensorFlow 2."""
    if not era.has_graphs or not isinstance(weights, dict):
        return
    if not isinstance(y, np.ndarray) or y.ndim > 2 or any(not isinstance(each, (int, np.integer)) for each in weights):
        return
    found = set(np.unique(y.argmax(axis=1) if y.ndim == 2 and y.shape[1] > 1 else y).astype(int).tolist())
    missing = sorted(found - {int(each) for each in weights})
    if missing:
        raise ValueError(
            f"Expected `class_weight` to contain all classes in the data. Received: none of {missing}. A weight of 1 "
            "changes nothing."
        )


def weigh_held_out_samples(arguments: dict[str, Any], era: Era) -> None:
    """Weigh the samples that `validation_split` holds out by their classes, as Keras did before TensorFlow 2.

    It made weights of samples of `class_weight` first and split the data then (`Model.fit`).
    """
    classes, y = arguments.get("class_weight"), arguments.get("y")
    if not era.has_graphs or classes is None or keras.tree.is_nested(y):
        return
    if arguments.get("validation_split") and arguments.get("validation_data") is None:
        arguments["sample_weight"] = np.asarray(weighted_classes(y, None, arguments.pop("class_weight")))
