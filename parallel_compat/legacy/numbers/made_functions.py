"""Sample weights that TensorFlow 1.15 left out: those of a function which had been made without any.

Its models made what trains and what evaluates at the first call, with a place for weights if that call had some. With
the first weights they compiled the loss anew and made the function of that call again, but not the other one:

    model.train_on_batch(x, y)
    model.test_on_batch(x, y, sample_weight=w)  # from here on the model has places for weights
    model.fit(x, y, sample_weight=w)            # and what trains has none: `w` is left out

So it went on until the model was compiled, or called without weights (`_recompile_weights_loss_and_weighted_metrics`
in `tensorflow/python/keras/engine/training.py`).
"""

from __future__ import annotations

from typing import Any

_MADE = "_parallel_compat_functions_made_with_weights"


def forget(model: Any) -> None:
    """Let all functions be made anew, as by `compile`."""
    vars(model).pop(_MADE, None)


def heeds_weights(model: Any, function: str, weighted: bool) -> bool:
    """Note a call, and say whether the function that it runs heeds weights.

    Args:
        model: the model.
        function: "train" or "test".
        weighted: whether the call has weights, of samples or classes.
    """
    made = vars(model).setdefault(_MADE, {"loss": False})
    if weighted != made["loss"]:
        made["loss"] = made[function] = weighted
    return bool(made.setdefault(function, weighted))


def has_places_for_weights(model: Any) -> bool | None:
    """Say whether the loss has places for weights since the last call; None before the first one."""
    made = vars(model).get(_MADE)
    return None if made is None else bool(made["loss"])
