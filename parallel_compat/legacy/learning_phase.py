"""The learning phase (`K.learning_phase()`): whether layers train or predict, as TensorFlow 1's graph held it."""

from __future__ import annotations

from typing import Any

import keras

from parallel_compat.backend.keras3 import call_context
from parallel_compat.backend.keras3 import symbolic_values as values
from parallel_compat.names.eras import Era
from parallel_compat.run import callers, object_eras


class LearningPhase:
    """What `K.learning_phase()` returns outside of a layer's call: the place of the flag in `K.function`'s inputs."""

    def __repr__(self) -> str:
        return "<the learning phase>"


PHASE = LearningPhase()
_set_phase: int | None = None
_in_graphs = True  # whether it was set by code of a graph's time


def learning_phase() -> Any:
    """Return whether the model trains: 0 or 1 inside a layer's call, a stand-in for the flag outside of it."""
    phase = values.phase_of_call()
    if phase is not None:
        return phase.fixed
    training = call_context.training()
    if _set_phase is not None and (training is None or _in_graphs):
        return _set_phase
    return PHASE if training is None else int(training)


def set_learning_phase(value: int) -> None:
    """Fix the learning phase of the layers that are called on symbolic tensors from here on.

    Layers that a model already has predict, whatever the model does: Keras 2 did not feed the flag any
    more once it was fixed, and its default was 0. In code of TensorFlow 2.2, where `fit` and `predict` said which it
    is, it counts for models that are called on arrays alone.

    Args:
        value: 0 or 1.
    """
    global _set_phase, _in_graphs
    if value not in (0, 1):
        raise ValueError(f"Expected `value` to be 0 or 1. Received: value={value!r}")
    _set_phase, _in_graphs = int(value), object_eras.trained_as(callers.era_of_caller()) is not Era.TF_KERAS_2_2
    if _in_graphs:
        values.fix_training(bool(value))
    else:
        values.set_default_training(bool(value))


def fixed_learning_phase() -> int | None:
    """Return what `set_learning_phase` fixed, or None."""
    return _set_phase


def forget() -> None:
    """Let the learning phase be what each model does (`clear_session`)."""
    global _set_phase
    _set_phase = None
    values.fix_training(None)
    values.set_default_training(None)


@keras.saving.register_keras_serializable(package="parallel_compat")
class InTrainPhase(keras.layers.Layer):  # type: ignore[misc]  # Keras carries no types
    """The first of two tensors while the model trains, the second otherwise: `K.in_train_phase` in a model's graph."""

    def __init__(self, **keywords: Any) -> None:
        super().__init__(autocast=False, **keywords)
        self.supports_masking = True

    def call(self, inputs: Any, training: bool | None = None) -> Any:
        """Choose."""
        return inputs[0] if training else inputs[1]

    def compute_output_spec(self, inputs: Any, training: bool | None = None) -> Any:
        """Return the shape and dtype of what is chosen."""
        return keras.KerasTensor(inputs[1].shape, inputs[1].dtype)

    def compute_mask(self, inputs: Any, previous_mask: Any = None) -> None:
        """There is no mask."""
        return


def choose_symbolically(x: Any, alt: Any, symbolic: keras.KerasTensor) -> Any:
    """Return a tensor of a model's graph that is `x` while the model trains and `alt` otherwise.

    Args:
        x: a symbolic tensor, or a value.
        alt: a symbolic tensor, or a value.
        symbolic: the one of the two whose dtype the other gets.
    """
    both = [each if isinstance(each, keras.KerasTensor) else _constant(each, symbolic) for each in (x, alt)]
    return InTrainPhase()(both)


def _constant(value: Any, like: Any) -> Any:
    return keras.ops.zeros_like(like) + keras.ops.cast(value, like.dtype)


# Layers that compute something else in training, and what must be set for it.
_WITH_NOISE = {
    "Dropout": "rate",
    "SpatialDropout1D": "rate",
    "SpatialDropout2D": "rate",
    "SpatialDropout3D": "rate",
    "GaussianDropout": "rate",
    "AlphaDropout": "rate",
    "GaussianNoise": "stddev",
}


def uses_phase(tensor_or_model: Any) -> bool:
    """Say whether what it computes depends on the learning phase.

    That is `_uses_learning_phase` of a symbolic tensor, and `uses_learning_phase` of a model.

    Args:
        tensor_or_model: a symbolic tensor, or a functional model.
    """
    if isinstance(tensor_or_model, keras.Model):
        waiting = list(getattr(tensor_or_model, "outputs", None) or ())  # a subclass has none
        if not waiting:
            return any(layer_uses_phase(layer) for layer in tensor_or_model.layers)
    else:
        waiting = [tensor_or_model]
    seen = set()
    while waiting:
        node = values.node_of(waiting.pop())
        if node is None or id(node) in seen:
            continue
        seen.add(id(node))
        if node.arguments.kwargs.get("training") is not True and layer_uses_phase(node.operation):
            return True
        waiting += node.input_tensors
    return False


def layer_uses_phase(layer: Any) -> bool:
    """Say whether a layer computes something else in training."""
    if isinstance(layer, InTrainPhase):
        return True
    if isinstance(layer, keras.layers.BatchNormalization):
        return True
    if isinstance(layer, keras.Model):
        return uses_phase(layer)
    noise = _WITH_NOISE.get(type(layer).__name__)
    if noise is not None:
        return bool(getattr(layer, noise))
    if any(getattr(layer, name, None) for name in ("dropout", "recurrent_dropout")):
        return True
    parts = (getattr(layer, name, None) for name in ("layer", "forward_layer", "backward_layer", "cell"))
    return any(layer_uses_phase(part) for part in parts if isinstance(part, keras.layers.Layer))
