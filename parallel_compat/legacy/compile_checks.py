"""What Keras 2's `compile` refused, and sample weights of another rank than it was told of.

Keras 3 finds out when the first batch comes, or not at all. Read in Keras 2.2.4's `Model.compile` and
`training_utils.standardize_weights`.
"""

from __future__ import annotations

from typing import Any

_MODES = "_parallel_compat_sample_weight_modes"


def check(model: Any, names: list[str], arguments: dict[str, Any]) -> None:
    """Refuse losses, their weights and modes of sample weights that are not those of the model's outputs.

    Args:
        model: the model that is compiled.
        names: those of its outputs; of none nothing is said.
        arguments: those of `compile`, by name.

    Raises:
        TypeError: for weights of losses that are no list or dict.
        ValueError: for as many as the model has no outputs, or names that are not theirs.
    """
    vars(model).pop(_MODES, None)
    if not names:
        return
    loss, weights, mode = (arguments.get(name) for name in ("loss", "loss_weights", "sample_weight_mode"))
    if weights is not None and not isinstance(weights, (list, dict)):
        raise TypeError(f"Expected `loss_weights` to be a list or a dict. Received: {type(weights).__name__}")
    for name, given in (("loss", loss), ("loss_weights", weights), ("sample_weight_mode", mode)):
        if isinstance(given, list) and len(given) != len(names) and len(names) > 1:
            raise ValueError(f"Expected `{name}` to have one entry for each of {names}. Received: {given}")
    if isinstance(mode, dict):
        unknown, missing = [name for name in mode if name not in names], [name for name in names if name not in mode]
        if unknown or (missing and len(names) > 1):
            raise ValueError(f"Expected `sample_weight_mode` for each of {names}. Received: {mode}")
        mode = [mode.get(name) for name in names]
    vars(model)[_MODES] = mode if isinstance(mode, list) else [mode] * len(names)


def check_metrics(names: list[str], arguments: dict[str, Any]) -> None:
    """Refuse metrics by names that are not those of the model's outputs, as tf.keras did; Keras 2.2.4 passed over them.

    Read in `collect_per_output_metric_info` of TensorFlow 1.15 and in `MetricsContainer` of 2.2.

    Args:
        names: those of the model's outputs; of none nothing is said.
        arguments: those of `compile`, by name.

    Raises:
        ValueError: for other names.
    """
    for argument in ("metrics", "weighted_metrics"):
        given = arguments.get(argument)
        unknown = [name for name in given if name not in names] if isinstance(given, dict) and names else []
        if unknown:
            raise ValueError(f"Expected names of outputs in `{argument}`: {names}. Received: {unknown}")


def check_weights(model: Any, weights: Any, y: Any) -> None:
    """Refuse sample weights of another rank than the model was compiled for.

    Args:
        model: the model.
        weights: of one output, or a list with those of each.
        y: the targets, likewise.

    Raises:
        ValueError: for weights of more than one axis without `sample_weight_mode="temporal"`, or of targets without
            time steps with it.
    """
    modes = vars(model).get(_MODES)
    if modes is None:
        return
    several = isinstance(weights, list) and len(modes) > 1
    each_weights, each_y = (weights, y) if several and isinstance(y, list) else ([weights], [y])
    for mode, given, target in zip(modes, each_weights, each_y, strict=False):
        rank, rank_of_target = getattr(given, "ndim", 1), getattr(target, "ndim", 3)
        if mode == "temporal" and given is not None and rank_of_target < 3:
            raise ValueError(
                'Expected targets of at least three axes with `sample_weight_mode="temporal"`. Received: targets of '
                f"the shape {target.shape}"
            )
        if mode is None and rank > 1:
            raise ValueError(
                f"Expected one sample weight for each sample. Received: weights of the shape {given.shape}. For a "
                'weight for each time step compile with `sample_weight_mode="temporal"`.'
            )
