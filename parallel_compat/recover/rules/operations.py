"""Operations of TensorFlow that were called on tensors of a functional model (`TensorFlowOpLayer`)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from parallel_compat.names import tsv
from parallel_compat.recover.config_json import Entry
from parallel_compat.recover.translation import Translation

Layer = tuple[str, dict[str, Any]]

_ROWS = tsv.rows("operations.tsv", 3, __package__)
_ACTIVATIONS = {operation: activation for operation, _, activation in _ROWS if activation}
_OF_TENSORS = {operation: layer for operation, layer, activation in _ROWS if not activation}


def tensorflow_operation(entry: Entry, translation: Translation) -> None:
    """An operation that one of Keras's layers computes too becomes that layer."""
    if entry["class_name"] != "TensorFlowOpLayer" or "TensorFlowOpLayer" in translation.custom_objects:
        return
    config = entry["config"]
    node, constants = config.get("node_def"), config.get("constants") or {}
    if not isinstance(node, dict) or not isinstance(constants, dict):
        return
    operation = str(node.get("op"))
    inputs = {len(call) for call in entry.get("inbound_nodes", [])}
    layer = _layer(operation, constants, node.get("attr") or {}, inputs)
    if layer is None:
        return
    entry["class_name"], arguments = layer
    entry["config"] = {"name": config["name"], **arguments}


def _layer(operation: str, constants: dict[str, Any], attributes: dict[str, Any], inputs: set[int]) -> Layer | None:
    if inputs == {1} and not constants and operation in _ACTIVATIONS:
        return "Activation", {"activation": _ACTIVATIONS[operation]}
    if inputs == {2} and not constants and operation in _OF_TENSORS:
        return _OF_TENSORS[operation], {}
    if inputs == {1} and operation in _OF_ONE:
        return _OF_ONE[operation](constants) if _of_floats(attributes) or operation in _MOVES else None
    if operation == "ConcatV2" and len(inputs) == 1:
        axis = constants.get(str(min(inputs)))
        if set(constants) == {str(min(inputs))} and type(axis) is int and axis != 0:
            return "Concatenate", {"axis": axis}
    return None


def _of_floats(attributes: dict[str, Any]) -> bool:
    kind = attributes.get("T")
    return isinstance(kind, dict) and kind.get("type") in ("DT_FLOAT", "DT_HALF", "DT_DOUBLE")


def _reshape(constants: dict[str, Any]) -> Layer | None:
    shape = _numbers(constants)
    if shape is None or len(shape) < 2 or shape[0] != -1 or min(shape[1:]) < 1:
        return None  # the samples of the batch may not keep to themselves
    return "Reshape", {"target_shape": shape[1:]}


def _transpose(constants: dict[str, Any]) -> Layer | None:
    axes = _numbers(constants)
    if axes is None or len(axes) < 2 or axes[0] != 0 or sorted(axes) != list(range(len(axes))):
        return None
    return "Permute", {"dims": axes[1:]}


def _numbers(constants: dict[str, Any]) -> list[int] | None:
    found = constants.get("1")
    whole = isinstance(found, list) and all(type(one) is int for one in found)
    return found if whole and set(constants) == {"1"} else None


def _scaled(scale: Callable[[float], float], offset: Callable[[float], float], place: str = "1") -> Any:
    def rule(constants: dict[str, Any]) -> Layer | None:
        found = constants.get(place)
        if set(constants) != {place} or isinstance(found, bool) or not isinstance(found, (int, float)):
            return None
        try:
            return "Rescaling", {"scale": scale(found), "offset": offset(found)}
        except ZeroDivisionError:
            return None

    return rule


def _first_of(*rules: Any) -> Any:
    return lambda constants: next((found for rule in rules if (found := rule(constants)) is not None), None)


_SUM = _first_of(*(_scaled(lambda _: 1.0, float, place) for place in "01"))
_MOVES = frozenset({"Reshape", "Transpose"})
_OF_ONE: dict[str, Callable[[dict[str, Any]], Layer | None]] = {
    "Reshape": _reshape,
    "Transpose": _transpose,
    "Add": _SUM,
    "AddV2": _SUM,
    "Mul": _first_of(*(_scaled(float, lambda _: 0.0, place) for place in "01")),
    "RealDiv": _scaled(lambda value: 1.0 / value, lambda _: 0.0),
    "Sub": _first_of(_scaled(lambda _: 1.0, lambda value: -float(value)), _scaled(lambda _: -1.0, float, "0")),
}
