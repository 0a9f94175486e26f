"""Targets of a shape that is not their output's, refused where the era refused them.

Keras 3 computes with them what broadcasting makes of them: ten numbers against ten rows of four are a loss over forty
pairs, and nobody is told. So did TensorFlow 2.2, but for `categorical_crossentropy`. Read in
`standardize_input_data` and `check_loss_and_target_compatibility` of Keras 2.2.4's `engine/training_utils.py` and
of TensorFlow 1.15's.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import keras
import numpy as np
import tensorflow as tf

from parallel_compat.backend.keras3 import patch_points
from parallel_compat.names.eras import Era
from parallel_compat.run import object_eras

if TYPE_CHECKING:
    from collections.abc import Iterator

    _Shape = tuple[int | None, ...]

# Bound here: under `run` an attribute of Keras's modules is found by a function of python.
_Sequential = keras.Sequential

# The functions of `keras.losses` in 2.2.4: of any other loss Keras assumed nothing.
_NAMED = frozenset(
    (
        "mean_squared_error",
        "mse",
        "MSE",
        "mean_absolute_error",
        "mae",
        "MAE",
        "mean_absolute_percentage_error",
        "mape",
        "MAPE",
        "mean_squared_logarithmic_error",
        "msle",
        "MSLE",
        "squared_hinge",
        "hinge",
        "categorical_hinge",
        "logcosh",
        "categorical_crossentropy",
        "binary_crossentropy",
        "kullback_leibler_divergence",
        "kld",
        "KLD",
        "poisson",
        "cosine_proximity",
        "cosine",
    )
)
_OF_CLASS_IDS = "sparse_categorical_crossentropy"
# Those whose targets TensorFlow 1.15 looked at, and the classes of them.
_LIKE_THE_OUTPUT = {
    "mean_squared_error": "mean_squared_error",
    "mse": "mean_squared_error",
    "MSE": "mean_squared_error",
    "MeanSquaredError": "mean_squared_error",
    "binary_crossentropy": "binary_crossentropy",
    "BinaryCrossentropy": "binary_crossentropy",
    "categorical_crossentropy": "categorical_crossentropy",
    "CategoricalCrossentropy": "categorical_crossentropy",
}


def check(model: Any, y: Any) -> None:
    """Refuse targets that the losses of a model did not take for its outputs in its era.

    Args:
        model: a compiled model; of one that is no graph of layers nothing is said.
        y: its targets, an array for its one output, or a list of them or a dict; tensors are not looked at.

    Raises:
        ValueError: for targets of another shape than the output's, or `(samples, 1)` as one-hot classes.
    """
    era = object_eras.era_of_training(model)
    if era is Era.TODAY or not isinstance(model, (_Sequential, patch_points.functional_class())):
        return
    for name, target, loss, output in _of_outputs(model, y):
        shape = getattr(target, "shape", None)
        if loss is None or shape is None or (not isinstance(target, np.ndarray) and tf.is_tensor(target)):
            continue
        given = tuple(shape) if len(shape) > 1 else (*shape, 1)
        if era.is_standalone:
            _check_shape(name, given, loss, tuple(output.shape))
        elif era is Era.TF_KERAS_1_15:
            _check_sizes(name, given, loss, tuple(output.shape))
        elif _function_of_keras(loss) == "categorical_crossentropy":
            _check_same(name, given, tuple(output.shape), "categorical_crossentropy")


def of_class_ids(model: Any) -> frozenset[str]:
    """Return the names of the outputs whose targets are class ids, `(..., 1)`.

    Args:
        model: a compiled model.
    """
    outputs = _of_outputs(model, [None] * len(model.outputs))
    return frozenset(name for name, _, loss, _ in outputs if _name_of_function(loss) == _OF_CLASS_IDS)


def _name_of_function(loss: Any) -> Any:
    return loss if isinstance(loss, str) else getattr(getattr(loss, "fn", loss), "__name__", None)


def _of_outputs(model: Any, y: Any) -> Iterator[tuple[str, Any, Any, Any]]:
    """Yield the name, targets, loss and tensor of each output, as far as they can be told apart."""
    outputs = list(getattr(model, "outputs", None) or ())
    if isinstance(model, _Sequential):
        names = [layer.name for layer in model.layers[-1:]]
    else:
        names = list(getattr(model, "output_names", None) or ())
    loss = getattr(model, "loss", None)
    if not outputs or len(names) != len(outputs):
        return
    targets = _in_order(y, names)
    losses = _in_order(loss, names) if isinstance(loss, (dict, list, tuple)) else [loss] * len(names)
    if len(targets) == len(losses) == len(names):
        yield from zip(names, targets, losses, outputs, strict=True)


def _in_order(given: Any, names: list[str]) -> list[Any]:
    if isinstance(given, dict):
        return [given.get(name) for name in names]
    return list(given) if isinstance(given, (list, tuple)) else [given]


def _check_shape(name: str, given: _Shape, loss: Any, output: _Shape) -> None:
    """Keras 2.2.4: any loss of its own."""
    function = loss if isinstance(loss, str) else getattr(loss, "__name__", None)
    if function == _OF_CLASS_IDS:
        first = keras.config.image_data_format() == "channels_first" and len(output) in (4, 5)
        expected = (output[0], 1, *output[2:]) if first else (*output[:-1], 1)
    elif function in _NAMED:
        expected = output
    else:
        expected = (None,) * len(output)  # that of the placeholder, which was of the output's rank
    _check_same(name, given, expected, function or type(loss).__name__)
    if function == "categorical_crossentropy":
        _check_classes(name, given)


def _check_sizes(name: str, given: _Shape, loss: Any, output: _Shape) -> None:
    """TensorFlow 1.15: three losses, as far as both shapes go."""
    function = _function_of_keras(loss)
    if function == "categorical_crossentropy":
        _check_classes(name, given)
    if function is not None and _differ(given, output):
        raise _unexpected(name, given, (None, *output[1:]), function)


def _function_of_keras(loss: Any) -> str | None:
    """Return which of the three functions in `_LIKE_THE_OUTPUT` a loss is."""
    function = getattr(loss, "fn", loss)
    if isinstance(function, str):
        return _LIKE_THE_OUTPUT.get(function)
    of_keras = getattr(function, "__module__", "").startswith(("keras.", "parallel_compat."))
    return _LIKE_THE_OUTPUT.get(getattr(function, "__name__", "")) if of_keras else None


def _check_same(name: str, given: _Shape, expected: _Shape, function: str) -> None:
    if len(given) != len(expected) or _differ(given, expected):
        raise _unexpected(name, given, (None, *expected[1:]), function)


def _differ(given: _Shape, expected: _Shape) -> bool:
    pairs = zip(given[1:], expected[1:], strict=False)
    return any(None not in (got, size) and got != size for got, size in pairs)


def _check_classes(name: str, given: _Shape) -> None:
    if given[-1] == 1:
        raise ValueError(
            f"Expected one-hot targets for '{name}', of shape (samples, classes): its loss is "
            f"`categorical_crossentropy`. Received: targets of shape {given}. Use `keras.utils.to_categorical(y)`, or "
            "`sparse_categorical_crossentropy`, which takes class ids."
        )


def _unexpected(name: str, given: _Shape, expected: _Shape, function: str) -> ValueError:
    return ValueError(
        f"Error when checking target: expected '{name}' to have shape {expected}, for its loss is `{function}`. "
        f"Received: targets of shape {given}."
    )
