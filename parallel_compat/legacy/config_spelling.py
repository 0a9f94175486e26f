"""Configurations as an era spelled them, for the code of that era that reads or changes them.

What this package writes to files names Keras 2's `hard_sigmoid` as its own, because Keras 3's function of that name is
another one. The user's `layer.get_config()` says `hard_sigmoid`, and the user's `from_config` means that function.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from parallel_compat.legacy.activations import REGISTERED_HARD_SIGMOID
from parallel_compat.names.arguments import SCHEDULE_DECAY

if TYPE_CHECKING:
    from parallel_compat.names.eras import Era

_NAME = "hard_sigmoid"


def as_in_era(kind: str, config: dict[str, Any], era: Era) -> dict[str, Any]:
    """Return a configuration for the code of an era.

    >>> from parallel_compat.names.eras import Era
    >>> as_in_era("LSTM", {"units": 2, "recurrent_activation": REGISTERED_HARD_SIGMOID}, Era.KERAS_2_2_4)
    {'units': 2, 'recurrent_activation': 'hard_sigmoid'}

    Args:
        kind: the name of the class.
        config: what today's `get_config` says.
        era: of the code that asks.
    """
    changed: dict[str, Any] = _replaced(config, REGISTERED_HARD_SIGMOID, _NAME)
    if era.is_tf_keras and kind.startswith("SeparableConv"):  # a convolution, whose own kernel it never had
        changed["kernel_initializer"] = {"class_name": "GlorotUniform", "config": {"seed": None}}
    if era.is_tf_keras and kind == "Nadam":
        changed.setdefault("decay", SCHEDULE_DECAY)  # as it was called there
    return changed


def as_today(config: dict[str, Any]) -> dict[str, Any]:
    """Return the configuration that code of an old era hands to `from_config` as today's classes take it.

    >>> as_today({"activation": "hard_sigmoid", "name": "hard_sigmoid"})
    {'activation': 'parallel_compat>hard_sigmoid', 'name': 'hard_sigmoid'}
    """
    changed: dict[str, Any] = _replaced(config, _NAME, REGISTERED_HARD_SIGMOID)
    return changed


def _replaced(value: Any, old: str, new: str, key: str = "") -> Any:
    """Replace the name of an activation, wherever a configuration has one."""
    of_activation = key.endswith("activation")
    if isinstance(value, dict):
        if of_activation and value.get("class_name") == "function" and value.get("config") == old:
            return new
        made = {k: _replaced(v, old, new, k) for k, v in value.items()}
        if "pointwise_initializer" in made and old == _NAME:
            made.pop("kernel_initializer", None)
        return made
    if isinstance(value, list):
        return [_replaced(each, old, new) for each in value]
    return new if of_activation and isinstance(value, str) and value == old else value
