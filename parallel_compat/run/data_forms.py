"""Data as Keras 2 took it: lists of numbers, lists of one array, targets and weights for some outputs only.

Keras 3 wants arrays in the structure of the model's inputs and outputs. Read in Keras 2.2.4's
`keras/engine/training_utils.py` (`standardize_input_data`, `standardize_sample_or_class_weights`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import keras
import numpy as np
import tensorflow as tf

from parallel_compat.backend.keras3 import patch_points
from parallel_compat.batches.batch import array_of_keras_2, has_flat_outputs, target_of_keras_2
from parallel_compat.names.eras import Era
from parallel_compat.run import object_eras

if TYPE_CHECKING:
    from collections.abc import Callable

    Note = Callable[[str, str], None]

# Bound here: under `run` an attribute of Keras's modules is found by a function of python.
_flatten, _map = keras.tree.flatten, keras.tree.map_structure
_Sequential = keras.Sequential
_Dataset, _Tensor = tf.data.Dataset, tf.Tensor

# What `fit` and its relatives call what they are fed.
_FED = ("x", "y", "sample_weight", "validation_data", "class_weight")
_ARRAYS = ("x", "y", "validation_data")


def in_todays_structure(model: Any, arguments: dict[str, Any], note: Note) -> dict[str, Any]:
    """Return the arguments of `fit` or a relative of it with the data as Keras 3 takes it.

    Args:
        model: the model that is fed.
        arguments: by name, as they were given; those that are no data come back as they are.
        note: called for what changes its meaning.
    """
    changed = {name: arguments[name] for name in _FED if arguments.get(name) is not None}
    if isinstance(changed.get("sample_weight"), dict) and any(not isinstance(x, str) for x in changed["sample_weight"]):
        note("weights of what is no output's name", "left out, as Keras 2 did")
        named = {name: each for name, each in changed["sample_weight"].items() if isinstance(name, str)}
        changed["sample_weight"] = arguments["sample_weight"] = named or None
        if not named:
            del changed["sample_weight"]
    era = object_eras.era_of_training(model)
    if era is Era.TF_KERAS_2_2:
        changed = {name: _rows_as_array(each) for name, each in changed.items()}
    elif era.has_graphs:
        changed |= {name: _in_floats(changed[name]) for name in _ARRAYS if name in changed}
    if type(changed.get("x")) is list:
        changed["x"] = _plain(changed["x"], _count_of_inputs(model))
        changed["x"] = _without_those_that_no_input_takes(model, changed["x"], note)
    if "x" in changed:
        changed["x"] = _strings_as_tensors(changed["x"])
    for name in ("x", "validation_data"):
        if isinstance(changed.get(name), _Dataset) and era.is_tf_keras:
            changed[name] = _with_columns(model, changed[name])
    if "y" in changed:
        changed["y"] = _as_floats(model, targets(model, changed["y"]))
        _check_shapes(model, changed["y"])
    if "sample_weight" in changed:
        changed["sample_weight"] = weights(model, changed["sample_weight"], changed.get("y"))
    if _has_zeros(changed.get("sample_weight")) or _has_zeros(changed.get("class_weight")):
        note("weights of 0", "the loss is divided by all samples; Keras 2 divided by those whose weight is not 0")
    held_out: Any = changed.get("validation_data")
    if isinstance(held_out, (tuple, list)) and 2 <= len(held_out) <= 3:
        x, y = _plain(held_out[0], _count_of_inputs(model)), targets(model, held_out[1])
        x = _strings_as_tensors(x)
        y = _as_floats(model, y)
        _check_shapes(model, y)
        changed["validation_data"] = (x, y, *(weights(model, each, y) for each in held_out[2:]))
    if "class_weight" in changed and isinstance(of_output := _of_the_output(model, changed["class_weight"]), dict):
        changed["class_weight"] = of_output
    if "class_weight" in changed and is_ignored(model, changed["class_weight"]):
        note(f"class_weight={changed['class_weight']!r}", "left out, as Keras 2 did")
        changed["class_weight"] = None
    return {**arguments, **changed}


def _check_shapes(model: Any, y: Any) -> None:
    from parallel_compat.legacy import target_shapes

    target_shapes.check(model, y)


def _with_columns(model: Any, dataset: tf.data.Dataset) -> tf.data.Dataset:
    """Let targets of a dataset that are one number of each sample be a column, `(samples, 1)`, as in tf.keras."""
    spec = dataset.element_spec
    targets = _flatten(spec[1]) if isinstance(spec, tuple) and len(spec) > 1 else []
    if targets and object_eras.era_of_training(model) is Era.TF_KERAS_2_2:
        _check_shapes(model, spec[1])
    if not any(isinstance(each, tf.TensorSpec) and each.shape.rank == 1 for each in targets):
        return dataset

    def with_column(x: Any, y: Any, *weights: Any) -> tuple[Any, ...]:
        return x, tf.nest.map_structure(lambda target: _column(model, target), y), *weights

    return dataset if has_flat_outputs(model) else dataset.map(with_column)


def _column(model: Any, target: Any) -> Any:
    """Make `(samples, 1)` of a tensor of one number of each sample, unless the model's outputs are so flat."""
    is_flat = isinstance(target, _Tensor) and target.shape.rank == 1
    return tf.expand_dims(target, 1) if is_flat and not has_flat_outputs(model) else target


def _strings_as_tensors(x: Any) -> Any:
    """Make tensors of arrays of strings, which tf.keras took; Keras 3 knows no dtype of theirs."""
    if type(x) in (list, tuple) and any(map(_is_text, x)):
        return type(x)(tf.constant(each, tf.string) if _is_text(each) else each for each in x)
    if isinstance(x, dict) and any(map(_is_text, x.values())):
        return {name: tf.constant(each, tf.string) if _is_text(each) else each for name, each in x.items()}
    return tf.constant(x, tf.string) if _is_text(x) else x


def _is_text(array: Any) -> bool:
    if not isinstance(array, np.ndarray):
        return False
    is_objects = array.dtype.kind == "O" and array.size > 0
    return array.dtype.kind in "US" or (is_objects and all(isinstance(each, (str, bytes)) for each in array.flat))


def _without_those_that_no_input_takes(model: Any, x: Any, note: Note) -> Any:
    """Leave out arrays beyond a functional model's inputs, which TensorFlow 2.2 paired with `zip`."""
    count = len(getattr(model, "inputs", None) or ())
    if (
        not 1 < count < len(x)
        or not isinstance(model, patch_points.functional_class())
        or isinstance(model, _Sequential)
    ):
        return x
    if object_eras.era_of_training(model) is not Era.TF_KERAS_2_2:
        return x
    note(f"{len(x)} arrays for {count} inputs", f"the first {count}, as in TensorFlow 2.2")
    return x[:count]


def is_ignored(model: Any, class_weight: Any) -> bool:
    """Whether Keras 2 made nothing of class weights.

    That is anything but a dict, a list of several for one output, and (until TensorFlow refused it) a dict without the
    name of one of several outputs.

    Raises:
        TypeError: for what is no dict in TensorFlow 2.2, which asked it for its keys.
    """
    if object_eras.era_of_training(model) is Era.TF_KERAS_2_2 and not isinstance(class_weight, dict):
        raise TypeError(
            "Expected `class_weight` as a dict of class -> weight, such as `dict(enumerate(weights))`. Received: "
            f"{type(class_weight).__name__}, which TensorFlow 2.2 refused, too."
        )
    if isinstance(class_weight, (list, tuple)):
        outputs = getattr(model, "outputs", None) or [None]
        return len(outputs) == 1 and len(class_weight) != 1
    if not isinstance(class_weight, dict):
        return True
    names = _output_names(model)
    is_keras = object_eras.era_of_training(model).is_standalone
    return is_keras and len(names) > 1 and not any(name in class_weight for name in names)


def _has_zeros(given: Any) -> bool:
    if given is None:
        return False
    return any(not np.all(leaf) for leaf in _flatten(given) if isinstance(leaf, (np.ndarray, float, int)))


def _as_floats(model: Any, y: Any) -> Any:
    """Return arrays of targets as `BatchReader` makes those of a generator's batches."""

    def as_float(target: Any) -> Any:
        if isinstance(target, _Tensor) and object_eras.era_of_training(model).is_tf_keras:
            # As those of a data set: the step is made for one rank, and `fit` may follow `train_on_batch`.
            return _column(model, target)
        if not isinstance(target, np.ndarray):
            return target
        if target.dtype.kind in "fiub":
            return array_of_keras_2(model, target)
        return np.asarray(target_of_keras_2(model, target))

    return as_float(y) if isinstance(y, np.ndarray) else _map(as_float, y)


def targets(model: Any, y: Any) -> Any:
    """Return the targets of several outputs as a list, with None for each output that has no loss."""
    names = _output_names(model)
    if len(names) < 2:
        y = _of_the_output(model, y)
        if isinstance(y, dict) and names and getattr(model, "loss", None) is not None:
            raise ValueError(f"Expected targets for {names}. Received: those of {sorted(map(str, y))}.")
        return _plain(y, len(names) or None)
    without = outputs_without_loss(model)
    if len(without) == len(names):
        return _plain(y, len(names))
    if isinstance(y, dict):
        return [y.get(name) for name in names] if y.keys() <= set(names) else y
    arrays = y if type(y) in (list, tuple) else [y]
    if not without or len(arrays) != len(names) - len(without):
        return _plain(y, len(names))
    given = iter(arrays)
    return [None if name in without else next(given) for name in names]


def weights(model: Any, given: Any, y: Any) -> Any:
    """Return the sample weights of several outputs as a list, with ones for each output that was given none.

    Args:
        model: the model.
        given: as it was given.
        y: the targets, as `targets` returns them.
    """
    if object_eras.era_of_training(model).is_standalone:  # of a pandas Series TensorFlow made a column
        given = _map(lambda each: np.asarray(each) if hasattr(each, "iloc") else each, given)
    names = _output_names(model)
    if len(names) > 1 and isinstance(given, tuple):
        raise TypeError(f"Expected weights for {len(names)} outputs in a list or a dict. Received: a tuple")
    if len(names) == 1:
        given = _of_the_output(model, given)
    if len(names) < 2 or not isinstance(given, dict) or not given.keys() <= set(names) or type(y) is not list:
        return _plain(given, len(names) or None)
    return [
        None if target is None else given.get(name, np.ones(len(target))) for name, target in zip(names, y, strict=True)
    ]


def _of_the_output(model: Any, given: Any) -> Any:
    """Return what a dict has for a model's only output: Keras 3 takes a dict for several outputs alone."""
    names = output_names(model)
    return given[names[0]] if isinstance(given, dict) and len(names) == 1 and names[0] in given else given


def outputs_without_loss(model: Any) -> frozenset[str]:
    """Return the names of the outputs for which the model was compiled without a loss."""
    return _without(getattr(model, "loss", None), _output_names(model))


def _without(loss: Any, names: list[str]) -> frozenset[str]:
    if isinstance(loss, dict):
        return frozenset(name for name in names if loss.get(name) is None)
    if isinstance(loss, (list, tuple)) and len(loss) == len(names):
        return frozenset(name for name, each in zip(names, loss, strict=True) if each is None)
    return frozenset(names) if loss is None else frozenset()


def for_outputs_with_loss(model: Any, arguments: dict[str, Any], note: Note) -> dict[str, Any]:
    """Return the arguments of `compile` with every output in a dict of losses, and metrics where there are targets.

    Args:
        model: the model that is compiled.
        arguments: by name.
        note: called for what changes.
    """
    names, loss = _output_names(model), arguments.get("loss")
    if not names:
        return arguments
    if isinstance(loss, dict) and len(names) > 1 and loss and loss.keys() < set(names):
        loss = {name: loss.get(name) for name in names}
        note("loss={...} without an output", "None: that output is not trained on")
    without = _without(loss, names)
    changed = {**arguments, "loss": loss}
    for name in ("metrics", "weighted_metrics"):
        given = arguments.get(name)
        if not without or not given:
            continue
        if len(without) == len(names):
            changed[name] = None
        elif isinstance(given, dict):
            changed[name] = {output: each for output, each in given.items() if output not in without}
        elif isinstance(given, (list, tuple)) and len(given) == len(names):
            changed[name] = [[] if output in without else each for output, each in zip(names, given, strict=True)]
    return changed


def _plain(value: Any, count: int | None) -> Any:
    """Turn a list of numbers into an array, and a list of one array into that array, where one array is expected.

    Where several are expected, each that is a list becomes an array.
    """
    if type(value) is not list or not count or not value:
        return value
    if count > 1:
        return [np.asarray(each) if type(each) is list else each for each in value]
    if isinstance(value[0], (int, float, np.number)):
        return np.asarray(value)
    if len(value) == 1 and type(value[0]) is list:
        return np.asarray(value[0])  # one input's numbers: `predict([[10.0]])`
    return value[0] if len(value) == 1 and hasattr(value[0], "shape") else value


def _rows_as_array(value: Any) -> Any:
    """Make an array of lists of lists of numbers, as TensorFlow 2.2 did (`ListsOfScalarsDataAdapter`)."""
    if type(value) is tuple:
        return tuple(_rows_as_array(each) for each in value)
    if type(value) is not list or not value or type(value[0]) is not list:
        return value
    first: Any = value
    while type(first) is list and first:
        first = first[0]
    return np.asarray(value) if isinstance(first, (int, float, np.number)) else value


def _in_floats(data: Any) -> Any:
    """Make arrays of numbers of those of objects, as `frame.values` is with columns of several types.

    What fed a graph made floats of them; TensorFlow 2.2 refused them, as Keras 3 does.
    """
    if type(data) in (list, tuple) and data and not isinstance(data[0], (int, float)):
        return type(data)(map(_in_floats, data))
    if type(data) is dict:
        return {name: _in_floats(each) for name, each in data.items()}
    values = np.asarray(data) if hasattr(data, "iloc") else data
    if not isinstance(values, np.ndarray) or values.dtype != object:
        return data
    of_numbers = not any(isinstance(each, (str, bytes)) for each in values.flat)
    return values.astype(keras.config.floatx()) if of_numbers else data


def _count_of_inputs(model: Any) -> int | None:
    if isinstance(model, _Sequential):
        return 1
    inputs = getattr(model, "inputs", None)
    return len(inputs) if isinstance(inputs, (list, tuple)) else None


def output_names(model: Any) -> list[str]:
    """Return the names of the outputs, in order; none where they are not known. A Sequential's is its last layer's."""
    if isinstance(model, _Sequential):
        return [model.layers[-1].name] if model.layers else ["output"]
    return list(getattr(model, "output_names", None) or ())


def _output_names(model: Any) -> list[str]:
    """Return the names of the outputs, in order; none where they are not a plain list."""
    names = output_names(model)
    return [] if names and isinstance(getattr(model, "output", None), dict) else names
