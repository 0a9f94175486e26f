"""Configurations as an era spelled them, for the code of that era that reads or changes them.

What this package writes to files names Keras 2's `hard_sigmoid` as its own, because Keras 3's function of that name is
another one. The user's `layer.get_config()` says `hard_sigmoid`, and the user's `from_config` means that function.
"""

from __future__ import annotations

from typing import Any

from parallel_compat.legacy.activations import REGISTERED_HARD_SIGMOID
from parallel_compat.names.eras import Era

_NAME = "hard_sigmoid"


class OptimizerConfig(dict[str, Any]):
    """The configuration of an optimizer as its era spelled it; today's `learning_rate` is answered as well.

    >>> config = OptimizerConfig(lr=0.1)
    >>> list(config), config["learning_rate"]
    (['lr'], 0.1)
    """

    def __missing__(self, name: str) -> Any:
        if name != "learning_rate":
            raise KeyError(name)
        return self["lr"]


# What the configuration of each class held, besides the learning rate, and in which order.
_OF_OPTIMIZERS = {
    "SGD": ("momentum", "decay", "nesterov"),
    "RMSprop": ("rho", "decay", "epsilon"),
    "Adagrad": ("decay", "epsilon"),
    "Adadelta": ("rho", "decay", "epsilon"),
    "Adam": ("beta_1", "beta_2", "decay", "epsilon", "amsgrad"),
    "Adamax": ("beta_1", "beta_2", "decay", "epsilon"),
    "Nadam": ("beta_1", "beta_2", "epsilon", "schedule_decay"),
}
_OF_OPTIMIZERS_OF_TENSORFLOW = {
    "SGD": ("decay", "momentum", "nesterov"),
    "RMSprop": ("decay", "rho", "momentum", "epsilon", "centered"),
    "Adagrad": ("decay", "initial_accumulator_value", "epsilon"),
    "Adadelta": ("decay", "rho", "epsilon"),
    "Adam": ("decay", "beta_1", "beta_2", "epsilon", "amsgrad"),
    "Adamax": ("decay", "beta_1", "beta_2", "epsilon"),
    "Nadam": ("decay", "beta_1", "beta_2", "epsilon"),
    "Ftrl": (
        "decay",
        "initial_accumulator_value",
        "learning_rate_power",
        "l1_regularization_strength",
        "l2_regularization_strength",
        "l2_shrinkage_regularization_strength",
    ),
}


def of_optimizer(kind: str, config: dict[str, Any], era: Era, clips: dict[str, Any], schedule_decay: float) -> Any:
    """Return the configuration of an optimizer for the code of an era.

    >>> from parallel_compat.names.eras import Era
    >>> of_optimizer("SGD", {"learning_rate": 0.1, "momentum": 0.0, "nesterov": False}, Era.KERAS_2_2_4, {}, 0.004)
    {'lr': 0.1, 'momentum': 0.0, 'decay': 0.0, 'nesterov': False}

    Args:
        kind: the name of the class.
        config: what today's `get_config` says.
        era: of the code that asks.
        clips: `clipnorm` and `clipvalue`, where they were given.
        schedule_decay: that of a Nadam.
    """
    names = (_OF_OPTIMIZERS if era is Era.KERAS_2_2_4 else _OF_OPTIMIZERS_OF_TENSORFLOW).get(kind)
    if names is None:
        return config
    # tf.keras called Nadam's `decay`.
    own = {"decay": schedule_decay if kind == "Nadam" else 0.0, "schedule_decay": schedule_decay, **config}
    if kind == "Nadam":
        own["decay"] = schedule_decay
    if era is Era.KERAS_2_2_4:
        return OptimizerConfig({**clips, "lr": config["learning_rate"], **{name: own[name] for name in names}})
    name = config["name"]
    is_automatic = name.rstrip("0123456789").rstrip("_").replace("_", "") == kind.lower()
    head = {"name": kind if is_automatic else name, **clips, "learning_rate": config["learning_rate"]}
    return {**head, **{each: own[each] for each in names}}


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
    if kind == "VarianceScaling":
        return _of_variance_scaling(changed, era)
    if era.is_tf_keras and kind.startswith("SeparableConv"):  # a convolution, whose own kernel it never had
        changed["kernel_initializer"] = {"class_name": "GlorotUniform", "config": {"seed": None}}
    return changed


def _of_variance_scaling(config: dict[str, Any], era: Era) -> dict[str, Any]:
    """Spell it without Keras 3's axes; Keras 2.2.4 knew one normal distribution, TensorFlow 1.15 a dtype."""
    changed = {name: value for name, value in config.items() if name not in ("input_axes", "output_axes")}
    if era is Era.KERAS_2_2_4 and changed["distribution"] == "truncated_normal":
        changed["distribution"] = "normal"
    return {**changed, "dtype": "float32"} if era is Era.TF_KERAS_1_15 else changed


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
