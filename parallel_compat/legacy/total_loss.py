"""What a compiled model's loss was in a graph: `model.total_loss`, `.targets`, `.sample_weights`.

    gradients = K.gradients(model.total_loss, model.trainable_weights)
    f = K.function(model.inputs + model.targets + model.sample_weights + [K.learning_phase()], gradients)

The targets and the weights of samples are placeholders, the loss is a symbolic tensor that is computed from them and
from the model's outputs. Read in `Model.compile` of Keras 2.2.4, and in `_prepare_total_loss` of TensorFlow 1.15.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import keras
import tensorflow as tf

from parallel_compat.backend import keras3
from parallel_compat.backend.keras3 import symbolic_values
from parallel_compat.legacy import data_tensors, layer_losses, target_shapes
from parallel_compat.legacy.graph import placeholder
from parallel_compat.legacy.numbers import made_functions, weighted_losses
from parallel_compat.names.eras import Era
from parallel_compat.parallel_model import ParallelModel
from parallel_compat.run import data_forms, object_eras

if TYPE_CHECKING:
    from collections.abc import Sequence

_OF_COMPILE, _MADE = "_parallel_compat_of_total_loss", "_parallel_compat_total_loss"


@dataclass(frozen=True, eq=False)
class _OfCompile:
    """The arguments of `compile` that only this asks for."""

    targets: list[Any]
    sample_weight_mode: Any
    loss_weights: Any
    weighted_metrics: Any


@dataclass(frozen=True, eq=False)
class _Loss:
    """The loss of a model in a graph: its placeholders, None for outputs without, and the whole."""

    targets: list[Any]
    weights: list[Any]
    total: Any
    places_for_weights: bool | None


def forget(model: keras.Model, targets: Sequence[Any], arguments: dict[str, Any]) -> None:
    """Begin with a `compile`.

    Args:
        model: the model.
        targets: placeholders among `target_tensors`, one for each output or None; none where none were given.
        arguments: what `compile` got, by name.
    """
    vars(model).pop(_MADE, None)  # past `__setattr__`, which would track layers
    kept = {name: arguments.get(name) for name in ("sample_weight_mode", "loss_weights", "weighted_metrics")}
    vars(model)[_OF_COMPILE] = _OfCompile(list(targets), **kept)


def compiled_with(model: keras.Model) -> dict[str, Any]:
    """Return the arguments of `compile` that files of Keras 2 held and Keras 3 has not; none of their defaults."""
    mode = _as_compiled(model, "sample_weight_mode")
    return {} if mode is None else {"sample_weight_mode": mode}


def _as_compiled(model: keras.Model, name: str) -> Any:
    return getattr(vars(model).get(_OF_COMPILE), name, None)


def loss_weights(model: keras.Model) -> Any:
    """Return the weights of the losses as `compile` got them (`model.loss_weights`), None before."""
    return _as_compiled(model, "loss_weights")


def sample_weight_mode(model: keras.Model) -> Any:
    """Return the same argument of `compile`, None before."""
    return _as_compiled(model, "sample_weight_mode")


def weighted_metrics(model: keras.Model) -> Any:
    """Return the same argument of `compile`, None before."""
    return _as_compiled(model, "weighted_metrics")


def total_loss(model: keras.Model) -> Any:
    """Return the loss that is minimised, a symbolic tensor (`model.total_loss`)."""
    return _of(model, "total_loss").total


def targets(model: keras.Model) -> list[Any]:
    """Return the placeholders of the targets, None for an output without a loss (`model.targets`)."""
    made = _of(model, "targets")
    if object_eras.era_of_training(model) is Era.TF_KERAS_1_15:
        raise AttributeError("Expected a model of Keras 2.2.4. tf.keras 1.15 had no `targets`: use `_feed_targets`.")
    return list(made.targets)


def feed_targets(model: keras.Model) -> list[Any]:
    """Return the placeholders of the targets alone (`model._feed_targets`)."""
    return [each for each in _of(model, "_feed_targets").targets if each is not None]


def sample_weights(model: keras.Model) -> list[Any]:
    """Return the placeholders of the weights of samples (`model.sample_weights`).

    Those of tf.keras are None unless the last batches that the model was trained or evaluated on had weights, or
    before the first ones a `sample_weight_mode` was compiled.
    """
    return list(_of(model, "sample_weights").weights)


def feed_sample_weights(model: keras.Model) -> list[Any]:
    """Return the placeholders of the weights of samples alone (`model._feed_sample_weights`)."""
    return [each for each in _of(model, "_feed_sample_weights").weights if each is not None]


def _of(model: Any, name: str) -> _Loss:
    found: _Loss | None = vars(model).get(_MADE)
    # TensorFlow 1.15 compiled the loss anew when weights came or went (`_recompile_weights_loss_and_weighted_metrics`).
    places = made_functions.has_places_for_weights(model)
    if found is None or found.places_for_weights != places:
        _check(model, name)
        with tf.init_scope():
            found = vars(model)[_MADE] = _made(model, found.targets if found else None, places)
    return found


def _check(model: Any, name: str) -> None:
    """Refuse where there is no such loss.

    Raises:
        AttributeError: as for an attribute that is not there.
    """
    era = object_eras.era_of_training(model)
    if not era.has_graphs:
        raise AttributeError(
            f"Expected `{name}` of a model of Keras 2.2.4 or tf.keras 1.15. Received: one that was compiled in code of "
            f"{era}, which had none. Use `tf.GradientTape`."
        )
    if not getattr(model, "compiled", False) or _OF_COMPILE not in vars(model):
        raise AttributeError(f"Expected a model that has been compiled. Received: {model.name!r}, which has not.")
    normalizing = [
        each.name
        for each in (keras3.all_layers(model.template) if isinstance(model, ParallelModel) else ())
        if isinstance(each, keras.layers.BatchNormalization)
    ]
    if normalizing:  # other layers compute of one device's batch what they compute of its parts
        raise AttributeError(
            f"Expected `{name}` of a model on one device. Received: a parallel model with {', '.join(normalizing)}, "
            "which normalise each replica's part of a batch by itself. Compile the model that `multi_gpu_model` was "
            "given."
        )
    outputs = getattr(model, "outputs", None)
    if not outputs or isinstance(model.output, dict) or not all(isinstance(x, keras.KerasTensor) for x in outputs):
        raise AttributeError(
            f"Expected `{name}` of a model of symbolic tensors. Received: {model.name!r}, whose outputs are made when "
            "it is called. Use `tf.GradientTape`."
        )
    read = data_tensors.of_model(model)
    if read is not None or keras3.compiled_parts(model)[0] is None:
        what = "reads its data from tensors" if read is not None else "was compiled without a loss"
        raise AttributeError(
            f"Expected `{name}` of a model that is fed its targets. Received: {model.name!r}, which {what}. "
            "Give `K.gradients` the loss that you compute yourself."
        )


def _made(model: Any, known: list[Any] | None, places: bool | None) -> _Loss:
    of_compile: _OfCompile = vars(model)[_OF_COMPILE]
    era, names, outputs = object_eras.era_of_training(model), data_forms.output_names(model), list(model.outputs)
    without = data_forms.outputs_without_loss(model)
    targets: list[Any] = []
    weights: list[Any] = []
    for place, (name, output) in enumerate(zip(names, outputs, strict=True)):
        if name in without:
            targets.append(None)
            weights.append(None)
            continue
        given = known[place] if known else of_compile.targets[place] if of_compile.targets else None
        if given is None:
            given = placeholder(ndim=len(output.shape), dtype=output.dtype, name=f"{name}_target")
        targets.append(given)
        mode = of_compile.sample_weight_mode
        mode = mode.get(name) if isinstance(mode, dict) else mode[place] if isinstance(mode, (list, tuple)) else mode
        weighted = era.is_standalone or (bool(mode) if places is None else places)
        axes = 2 if mode == "temporal" else 1
        weights.append(placeholder(ndim=axes, name=f"{name}_sample_weights") if weighted else None)
    compute = TotalLoss(model, targets, weights, layer_losses.losses_but_of_weights(model))
    return _Loss(targets, weights, compute.tensor(), places)


class TotalLoss(keras.Operation):  # type: ignore[misc]  # Keras carries no types
    """The weighted losses of the outputs, those of regularizers, and what layers and the model add.

    Args:
        model: the model.
        targets: placeholders, one for each output, or None.
        weights: placeholders, one for each output, or None.
        added: symbolic tensors and numbers that are added.
    """

    def __init__(self, model: Any, targets: list[Any], weights: list[Any], added: list[Any]) -> None:
        super().__init__(name="total_loss")
        era = object_eras.era_of_training(model)
        self._model, self._outputs = model, list(model.outputs)
        self._targets, self._weights = targets, weights
        of_class_ids = target_shapes.of_class_ids(model)
        self._of_class_ids = [name in of_class_ids for name in data_forms.output_names(model)]
        self._numbers = [each for each in added if not isinstance(each, keras.KerasTensor)]
        self._added = [each for each in added if isinstance(each, keras.KerasTensor)]
        self._loss = keras3.losses_like(
            model, self._in_structure(targets), model.output, lambda loss: weighted_losses.weighed(loss, era)
        )

    def tensor(self) -> Any:
        """Return the loss as a symbolic tensor."""
        fed = [each for each in (*self._targets, *self._weights) if each is not None]
        return self([*self._outputs, *fed, *self._added])

    def call(self, tensors: Any) -> Any:
        """Compute it in a pass.

        Args:
            tensors: the outputs, the placeholders' values and what is added.
        """
        values = iter(tensors)
        outputs = [next(values) for _ in self._outputs]
        targets: list[Any] = [None if each is None else next(values) for each in self._targets]
        weights = [None if each is None else next(values) for each in self._weights]
        targets = [
            tf.ensure_shape(y, (*y.shape[:-1], 1)) if of_ids else y
            for y, of_ids in zip(targets, self._of_class_ids, strict=True)
        ]
        given = self._in_structure(weights) if any(each is not None for each in weights) else None
        predictions = keras.tree.pack_sequence_as(self._model.output, outputs)
        with symbolic_values.as_values_of_pass(self._model, symbolic_values.values_computed()):
            total = self._loss(self._in_structure(targets), predictions, given)
        # Each weight as it is in this pass: Keras looks into the scope for those that the step has assigned.
        regularized = [weight for weight in self._model.weights if weight.regularizer is not None]
        for each in (*(weight.regularizer(weight) for weight in regularized), *values, *self._numbers):
            total = total + tf.cast(each, total.dtype)
        return total

    def compute_output_spec(self, tensors: Any) -> Any:
        """Return the spec of a number, or of a vector where the model adds one."""
        shape = max((tuple(each.shape) for each in self._added), key=len, default=())
        return keras.KerasTensor(shape, keras.config.floatx())

    def _in_structure(self, of_outputs: list[Any]) -> Any:
        return of_outputs if isinstance(self._model.output, (list, tuple)) else of_outputs[0]
