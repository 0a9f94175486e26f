"""Values that JSON has no word for."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from parallel_compat.recover.config_json import Entry
    from parallel_compat.recover.translation import Translation


def plain_values(entry: Entry, translation: Translation) -> None:
    """Numpy values and tuples are written plainly.

    Keras 2 writes a numpy number or array as ``{"type": "ndarray", "value": 0.3}`` (`LeakyReLU`, `ELU`, `ReLU`),
    tf.keras a tuple as ``{"class_name": "__tuple__", "items": [...]}`` (`get_json_type`, `Encoder`).
    """
    config = entry["config"]
    for key, value in config.items():
        if key not in ("layers", "layer", "backward_layer", "function", "output_shape", "arguments"):
            config[key] = _plain(value)


def _plain(value: Any) -> Any:
    if isinstance(value, list):
        return [_plain(one) for one in value]
    if isinstance(value, dict):
        if set(value) == {"type", "value"} and value["type"] in ("ndarray", "array"):
            return _plain(value["value"])
        if set(value) == {"class_name", "items"} and value["class_name"] == "__tuple__":
            return _plain(value["items"])
        return {key: _plain(one) for key, one in value.items()}
    return value
