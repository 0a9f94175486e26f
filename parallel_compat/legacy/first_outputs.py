"""Losses and metrics of several outputs, where the first batch alone tells how many there are: models of a subclass.

tf.keras named such outputs `output_1`, `output_2`, or as the keys of a dict, and gave each output a loss that is no
list, and metrics that are no list of lists (`create_pseudo_output_names` and `LossesContainer` of TensorFlow 2.2,
`_build_model_with_inputs` of 1.15). Keras 3 takes one loss for all of them: its log has that of the last.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import keras

from parallel_compat.backend import keras3
from parallel_compat.legacy import compiled_metrics
from parallel_compat.template import output_names_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from parallel_compat.names.eras import Era


def are_unknown(model: keras.Model) -> bool:
    """Say whether a model does not know yet how many outputs it has."""
    return not isinstance(model, keras.Sequential) and not getattr(model, "output_names", None)


def compile_with_first(model: keras.Model, era: Era, compiled: Mapping[str, Any], given: list[Any]) -> None:
    """Compile a model for each of its outputs as soon as the first batch tells how many there are.

    Args:
        model: a compiled model.
        era: its era.
        compiled: the arguments of `compile` as Keras 3 was given them: `loss` and `loss_weights` are read.
        given: `loss`, `metrics` and `weighted_metrics` as the user gave them.
    """

    def compile_for(y_pred: Any) -> None:
        if not _are_several(y_pred):
            return
        names = model.output_names = output_names_of(model, y_pred)
        of_era = compiled_metrics.of_compile(model, era, *given)
        losses: Any = _for_each(compiled.get("loss"), names)
        weights = compiled.get("loss_weights")
        if weights is not None:
            pairs = zip(_for_each(weights, names, 1.0), losses, strict=True)
            weights = [None if loss is None else weight for weight, loss in pairs]
        if isinstance(y_pred, dict):
            losses = dict(zip(names, losses, strict=True))
            weights = weights and dict(zip(names, weights, strict=True))
        keras3.compile_for_outputs(model, names, losses, weights, of_era.metrics, of_era.weighted_metrics)
        compiled_metrics.remember(model, of_era)

    keras3.before_compiled_is_built(model, compile_for)


def _for_each(given: Any, names: list[str], missing: Any = None) -> list[Any]:
    if isinstance(given, dict):
        unknown = sorted(set(given) - set(names))
        if unknown:
            raise ValueError(f"Expected names of the model's outputs: {names}. Received: {unknown}")
        return [given.get(name, missing) for name in names]
    if isinstance(given, (list, tuple)):
        if len(given) != len(names):
            raise ValueError(f"Expected one entry for each of the {len(names)} outputs. Received: {len(given)} entries")
        return list(given)
    return [given] * len(names)


def _are_several(outputs: Any) -> bool:
    """Say whether outputs are a list or dict of several tensors; of lists in lists nothing is known."""
    if not isinstance(outputs, (list, tuple, dict)) or len(outputs) < 2:
        return False
    parts = outputs.values() if isinstance(outputs, dict) else outputs
    return not any(map(keras.tree.is_nested, parts))
