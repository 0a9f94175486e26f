"""How a model was compiled: optimizer, loss and metrics, by Keras 3's names."""

from __future__ import annotations

import math
from collections.abc import Collection
from typing import Any

from parallel_compat.names import tsv
from parallel_compat.names.arguments import arguments
from parallel_compat.names.identifiers import SHORT_NAMES, identifiers
from parallel_compat.recover.errors import CheckpointError
from parallel_compat.recover.rules.layer_names import keras3_name
from parallel_compat.recover.rules.plain_values import is_object

_ROWS = tsv.rows("training.tsv", 3, __package__)


def _of(kind: str) -> dict[str, str]:
    return {name: today for of, name, today in _ROWS if of == kind}


OPTIMIZERS = {name: tuple(arguments.split()) for name, arguments in _of("optimizer").items()}
EPSILON = 1e-7  # what Keras 2 took for `epsilon: null` (`K.epsilon()`)

LOSS_NAMES, METRIC_NAMES, LOSS_CLASSES = list(_of("loss")), list(_of("metric")), _of("loss class")
LOSSES = {
    **SHORT_NAMES,
    "bce": "binary_crossentropy",
    **{old: row.new for old, row in identifiers()["loss"].items() if row.new in LOSS_NAMES},
    **{name: name for name in LOSS_NAMES},
}
METRICS = {
    "acc": "accuracy",
    "accuracy": "accuracy",
    **{name: name for name in METRIC_NAMES},
    **{name: new for name, new in LOSSES.items() if new not in ("kl_divergence", "log_cosh")},
}
OLD_NAMES = frozenset((*LOSSES, *METRICS, *" ".join(_of("old name")).split()))


def optimizer_entry(config: Any, notes: list[str], *, tf_keras: bool) -> dict[str, Any] | None:
    """Return an optimizer's class and config for Keras 3, or None (with a note) where there is no such thing."""
    if not isinstance(config, dict) or not isinstance(config.get("config"), dict):
        return None
    name, old = config.get("class_name"), config["config"]
    taken = OPTIMIZERS.get(str(name))
    if taken is None:
        notes.append(f"The optimizer {str(name)[:80]!r} does not exist in Keras 3; compile the model again.")
        return None
    new = {key: old[key] for key in taken if old.get(key) is not None}
    if name in ("SGD",) and "momentum" in new:
        new["momentum"] = float(new["momentum"])
    if "epsilon" in taken:
        new["epsilon"] = _epsilon(str(name), old)
    # OptimizerV2 (tf.keras from 1.14 or 2.0 on) says `learning_rate`; Keras up to 2.2 `lr`.
    rate = old.get("learning_rate", old.get("lr"))
    if not _is_number(rate):
        notes.append("The optimizer's learning rate was a custom schedule; compile the model again.")
        return None
    decay = old.get("decay", 0.0)
    if _is_number(decay) and decay:
        # lr / (1 + decay * iterations), in Keras 2's `get_updates`; Keras 3 ignores `decay`.
        rate = {
            "module": "keras.optimizers.schedules",
            "registered_name": None,
            "class_name": "InverseTimeDecay",
            "config": {
                "initial_learning_rate": rate,
                "decay_steps": 1,
                "decay_rate": decay,
                "staircase": False,
                "name": "InverseTimeDecay",
            },
        }
        notes.append(
            "The optimizer's `decay` is written as an InverseTimeDecay of the same values; Keras 3 ignores `decay`."
        )
    new["learning_rate"] = rate
    row = arguments()["keras.optimizers.Nadam"]["schedule_decay"]
    if name == "Nadam" and not row.is_harmless(old.get("schedule_decay", row.harmless[0])):
        notes.append(f"The optimizer's `schedule_decay` is {old['schedule_decay']}: {row.note}")
        return None
    for key in ("clipnorm", "clipvalue"):
        if _is_number(old.get(key)):
            new[_clipping(key, old, tf_keras=tf_keras)] = old[key]
    if any(not isinstance(value, (bool, dict)) and not _is_number(value) for value in new.values()):
        raise CheckpointError("training_config: an argument of the optimizer is not a number.")
    return {"class_name": name, "config": new}


def _epsilon(name: str, old: dict[str, Any]) -> Any:
    epsilon = EPSILON if old.get("epsilon") is None else old["epsilon"]
    if name == "Adagrad" or (name == "RMSprop" and not old.get("momentum")):
        # They divided by sqrt(a) + epsilon, in Keras 3 by sqrt(a + epsilon): the square is what comes closest (equal
        # at a = 0, and within epsilon everywhere). With momentum, TensorFlow's RMSprop had it inside already.
        return float(epsilon) ** 2
    return epsilon


def _clipping(key: str, old: dict[str, Any], *, tf_keras: bool) -> str:
    """Name an argument: Keras's own optimizers clip the norm of all gradients together, OptimizerV2 each one's."""
    return "global_clipnorm" if key == "clipnorm" and not (tf_keras and "learning_rate" in old) else key


def old_optimizer_entry(
    config: Any, notes: list[str], custom_objects: Collection[str] = (), *, tf_keras: bool
) -> dict[str, Any] | None:
    """Return an optimizer's class and its old arguments, or None (with a note) where it is not known."""
    if not isinstance(config, dict) or not isinstance(config.get("config"), dict):
        return None
    given = str(config.get("class_name"))
    name = {known.lower(): known for known in OPTIMIZERS}.get(given.lower(), given)
    if name not in OPTIMIZERS and name not in custom_objects:
        notes.append(f"The optimizer {given[:80]!r} does not exist in Keras 3; compile the model again.")
        return None
    settings = {
        key: value
        for key, value in config["config"].items()
        if key not in ("name", "is_legacy_optimizer") and (value is not None or key == "epsilon")
    }
    if isinstance(settings.get("learning_rate"), dict):
        notes.append("The optimizer's learning rate was a custom schedule; compile the model again.")
        return None
    if name in OPTIMIZERS and not all(
        value is None or isinstance(value, bool) or _is_number(value) for value in settings.values()
    ):
        raise CheckpointError("training_config: an argument of the optimizer is not a number.")
    if name in OPTIMIZERS and name not in custom_objects:
        settings = {_clipping(key, settings, tf_keras=tf_keras): value for key, value in settings.items()}
        if "epsilon" in OPTIMIZERS[name]:
            settings["epsilon"] = _epsilon(name, settings)
    return {"class_name": name, "config": settings}


def old_training(
    config: Any, notes: list[str], custom_objects: Collection[str] = (), *, tf_keras: bool
) -> dict[str, Any] | None:
    """Return a `training_config` for a process that compiles as Keras 2 did: checked, its names as they are.

    Args:
        notes: sentences are added for what was left out.
        tf_keras: whether the Keras inside TensorFlow wrote it.

    Returns:
        optimizer_config, loss, metrics, weighted_metrics, loss_weights and sample_weight_mode; None where the optimizer
        is not known.
    """
    if not isinstance(config, dict):
        raise CheckpointError("training_config: not of a form that Keras wrote.")
    optimizer = old_optimizer_entry(config.get("optimizer_config"), notes, custom_objects, tf_keras=tf_keras)
    if optimizer is None:
        return None
    found: dict[str, Any] = {"optimizer_config": optimizer}
    for key in ("loss", "metrics", "weighted_metrics"):
        lost: list[str] = []
        found[key] = _old_names(config.get(key), {*OLD_NAMES, *custom_objects}, lost)
        if lost:
            raise CheckpointError(
                f"training_config: expected {key} of Keras or in `custom_objects`. Received: {', '.join(lost)}. Give "
                "it as `custom_objects`, or load the model with `compile=False`."
            )
    found["loss_weights"] = _loss_weights(config)
    found["sample_weight_mode"] = _modes(config.get("sample_weight_mode"))
    return found


def _loss_weights(config: dict[str, Any]) -> Any:
    weights = config.get("loss_weights")
    if weights is not None and not _are_numbers(weights):
        raise CheckpointError("training_config: `loss_weights` is not made of numbers.")
    return {keras3_name(key): value for key, value in weights.items()} if isinstance(weights, dict) else weights


def _modes(given: Any) -> Any:
    if isinstance(given, dict):
        return {keras3_name(key): _modes(value) for key, value in given.items()}
    if isinstance(given, list):
        return [_modes(value) for value in given]
    return "temporal" if given == "temporal" else None  # Keras 2 took any other for None


def compiled(config: Any, notes: list[str], *, tf_keras: bool) -> dict[str, Any] | None:
    """Translate a `training_config`.

    A loss or metric that is not Keras's own (or one with arguments) cannot be named in a file: it is dropped and
    noted; the optimizer is kept all the same.

    Args:
        notes: sentences are added for what was changed or left out.
        tf_keras: whether the Keras inside TensorFlow wrote it.

    Returns:
        The `training_config` for Keras 3's `.h5`, or None where not even the optimizer can be written.
    """
    if not isinstance(config, dict):
        raise CheckpointError("training_config: not of a form that Keras wrote.")
    optimizer = optimizer_entry(config.get("optimizer_config"), notes, tf_keras=tf_keras)
    if optimizer is None:
        return None
    lost: list[str] = []
    loss = _names(config.get("loss"), LOSSES, lost)
    if lost:
        notes.append(f"The loss {', '.join(lost)} does not exist in Keras 3; compile the model with it again.")
        loss = None
    lost = []
    metrics = _names(config.get("metrics"), METRICS, lost)
    if lost:
        notes.append(f"The metrics {', '.join(lost)} do not exist in Keras 3; they are left out.")
        metrics = None
    return {
        "optimizer_config": optimizer,
        "loss": loss,
        "metrics": metrics or None,
        "weighted_metrics": None,
        "loss_weights": _loss_weights(config) if loss is not None else None,
    }


def _old_names(found: Any, known: Collection[str], lost: list[str]) -> Any:
    """Check names in a string, a list, or a dictionary by output; what is not known is added to `lost`."""
    if isinstance(found, dict) and "class_name" in found:
        if not isinstance(found["class_name"], str) or is_object(found.get("config")):
            raise CheckpointError("training_config: an argument of a loss or metric is not a plain value.")
        return {"class_name": found["class_name"], "config": found.get("config") or {}}
    if isinstance(found, dict):
        return {keras3_name(key): _old_names(value, known, lost) for key, value in found.items()}
    if isinstance(found, list):
        return [_old_names(value, known, lost) for value in found]
    if found is not None and not (isinstance(found, str) and found in known):
        lost.append(str(found)[:80])
    return found


def _names(found: Any, names: dict[str, str], lost: list[str]) -> Any:
    """Translate names in a string, a list, or a dictionary by output; what is not known is added to `lost`."""
    if found is None:
        return None
    if isinstance(found, dict) and "class_name" in found:
        config = found.get("config") or {}
        name = (
            config.get("fn", config.get("name")) if found["class_name"] == "MeanMetricWrapper" else found["class_name"]
        )
        plain = isinstance(config, dict) and all(
            key in ("name", "dtype", "fn") or (key == "reduction" and value in ("auto", "sum_over_batch_size"))
            for key, value in config.items()
        )
        if plain and name in LOSS_CLASSES and LOSS_CLASSES[name] in names:
            return LOSS_CLASSES[name]
        if plain and name in names:
            return names[name]
        lost.append(str(name)[:80])
        return None
    if isinstance(found, dict):
        return {keras3_name(key): _names(value, names, lost) for key, value in found.items()}  # by output
    if isinstance(found, list):
        return [_names(value, names, lost) for value in found]
    if isinstance(found, str) and found in names:
        return names[found]
    lost.append(str(found)[:80])
    return None


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool) and math.isfinite(value)


def _are_numbers(value: Any) -> bool:
    if isinstance(value, dict):
        return all(_are_numbers(one) for one in value.values())
    if isinstance(value, list):
        return all(_are_numbers(one) for one in value)
    return value is None or _is_number(value)
