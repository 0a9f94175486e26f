"""The names of layers that were given none: Keras 2 counted from `dense_1`, Keras 3 counts from `dense`.

So `load_weights(by_name=True)` of a file of Keras 2 would give each such layer the weights of the one before it.
"""

from __future__ import annotations

import re
from collections import defaultdict
from typing import TYPE_CHECKING, Any

import keras

from parallel_compat.backend.keras3 import counted_names
from parallel_compat.names.eras import Era
from parallel_compat.run import callers, object_eras

if TYPE_CHECKING:
    from collections.abc import Iterable

_PRIVATE = "private_"  # before the name of a class that begins with `_`
# Of operators: what TensorFlow 1.15 and 2.2 called them.
_OPERATIONS = {
    "Add": ("add", "AddV2"),
    "Subtract": ("sub", "Sub"),
    "Multiply": ("mul", "Mul"),
    "TrueDivide": ("truediv", "RealDiv"),
    "Power": ("pow", "Pow"),
    "Negative": ("Neg", "Neg"),
    "Absolute": ("Abs", "Abs"),
    "GetItem": ("strided_slice", "strided_slice"),
    "Matmul": ("matmul", "BatchMatMulV2"),
}
_OLD_KINDS = {"functional": "model", "parallel_model": "model", "input_layer": "input"}


def in_keras_2(layer: Any, read_by: str | None = None) -> str | None:
    """Return the name that Keras 2 gave a layer without one: `dense_1`, `model_1`; None for today's.

    Keras 3 counts from `dense`, so that `get_layer("dense_1")` would be another layer. Its operations, which Keras 2
    did not have, get names that no layer has: the counter of `a + b` says `add_1` as well.

    Args:
        layer: the layer.
        read_by: the layer or model that a Sequential model makes this input for: `dense_1_input`, which is not counted.
    """
    era = object_eras.era_of_object(layer)
    if era is not Era.TODAY:
        counted_names.count_by_graph()
    if read_by is not None:
        return None if era is Era.TODAY else f"{read_by}_input"
    kind = _old_kind(_kind(layer))
    if era.is_tf_keras and isinstance(layer, keras.layers.InputLayer):
        return f"{kind}_{keras.backend.get_uid(kind)}"  # `input_1`; all other layers count as today
    if era.is_tf_keras and not isinstance(layer, keras.layers.Layer):
        return _of_operation(type(layer).__name__, era)
    if era.is_tf_keras and kind != _todays_kind(layer):  # `model`, `conv_lst_m2d`
        before = keras.backend.get_uid(kind) - 1
        return f"{kind}_{before}" if before else kind
    if era.is_tf_keras and kind.startswith(_PRIVATE):  # no scope may begin with `_`
        before = keras.backend.get_uid(kind) - 1
        return f"{kind}_{before}" if before else kind
    if not era.is_standalone:
        return None
    if not isinstance(layer, keras.layers.Layer):
        kind += "_operation"
    return f"{kind}_{keras.backend.get_uid(kind)}"


def of_metric(metric: keras.metrics.Metric) -> str | None:
    """Return the name that Keras 2.3 gave a metric without one, `auc_1`; None for that of tf.keras and today, `auc`."""
    if object_eras.era_of_object(metric) is not Era.KERAS_2_3:
        return None
    kind = _kind(metric)
    return f"{kind}_{keras.backend.get_uid(kind)}"


def _of_operation(kind: str, era: Era) -> str:
    """Return the name of the layer that tf.keras made of an operator (`a + b`), which no other layer's number is of."""
    then = _OPERATIONS.get(kind, (kind, kind))[era is Era.TF_KERAS_2_2]
    name = f"tf_op_layer_{then}"
    before = keras.backend.get_uid(name) - 1
    return f"{name}_{before}" if before else name


def in_file(layers: Iterable[Any], names: Iterable[str]) -> dict[Any, str]:
    """Return under which names a file of Keras 2 has layers that Keras 3 named otherwise.

    >>> model = keras.Sequential([keras.layers.Dense(1, name="dense"), keras.layers.Dense(1, name="dense_1")])
    >>> list(in_file(model.layers, ["dense_1", "dense_2"]).values())
    ['dense_1', 'dense_2']

    Args:
        layers: of a model.
        names: the layers' names in the file.

    Returns:
        Layer -> name in the file, for those whose name is not that in the model.

    Raises:
        ValueError: the names may be Keras's own or given ones, and the two mean different layers of the file.
    """
    if callers.era_of_caller().is_standalone:
        return {}  # `in_keras_2` named them
    stored = set(names)
    numbered: dict[str, dict[Any, int]] = defaultdict(dict)
    for layer in layers:
        kind = _kind(layer)
        match = re.fullmatch(rf"{re.escape(kind)}(?:_(\d+))?", layer.name)
        if match is not None:
            numbered[kind][layer] = int(match[1] or 0)
    found: dict[Any, str] = {}
    for kind, numbers in numbered.items():
        shifted = {layer: f"{_old_kind(kind)}_{number + 1}" for layer, number in numbers.items()}
        if _counted_by_keras(kind, numbers, shifted, stored):
            found |= shifted
    return found


def _counted_by_keras(kind: str, numbers: dict[Any, int], shifted: dict[Any, str], stored: set[str]) -> bool:
    """Say whether the layers of one kind have Keras 3's own names, not names that the script gave."""
    if kind in stored:  # Keras 2 itself named none so
        return False
    if 0 in numbers.values():
        return True
    given, counted = {layer.name for layer in numbers} & stored, set(shifted.values()) & stored
    if not given or not counted:
        return bool(counted)
    if (len(given) == len(numbers)) is (len(counted) == len(numbers)):
        layer = next(iter(numbers))
        raise ValueError(
            f"Expected layers whose names tell which weights of the file they take. Received: {layer.name!r}, which is "
            f"the file's {layer.name!r} if the name was given, and its {shifted[layer]!r} if Keras counted: Keras 2 "
            f"counted from {_old_kind(kind)}_1, Keras 3 from {kind}. Call `keras.utils.clear_session()` before the "
            "model is made, or load without `by_name`."
        )
    return len(counted) == len(numbers)


def _kind(layer: Any) -> str:
    parts = re.sub(r"(.)([A-Z][a-z0-9]+)", r"\1_\2", type(layer).__name__)
    kind = re.sub(r"([a-z])([A-Z])", r"\1_\2", parts).lower()
    return f"{_PRIVATE}{kind[1:]}" if kind.startswith("_") else kind


def _todays_kind(layer: Any) -> str:
    parts = re.sub(r"(.)([A-Z][a-z]+)", r"\1_\2", type(layer).__name__)
    return re.sub(r"([a-z])([A-Z])", r"\1_\2", parts).lower()


def _old_kind(kind: str) -> str:
    return _OLD_KINDS.get(kind, kind)
