"""`TimeDistributed` as Keras 2 computed it: time is folded into the batch.

So a `BatchNormalization` in it takes its statistics over batch and time, the layer in it gets its masks, and what it
makes of a mask comes out. With a fixed batch size Keras 2.2.4 went step by step, as Keras 3 always does, and tf.keras
where the layer is of a user's class (`_always_use_reshape`).
"""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING, Any

import keras
import tensorflow as tf

from parallel_compat.backend import keras3
from parallel_compat.backend.keras3 import layers as keras3_layers
from parallel_compat.legacy.numbers import batch_normalization
from parallel_compat.legacy.numbers.activity_regularizers import divides_by_samples, samples_of
from parallel_compat.names.eras import Era
from parallel_compat.run import object_eras
from parallel_compat.training.time_distributed import fold, unfold

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

_STEP_BY_STEP, _TIME = "_parallel_compat_step_by_step", "_parallel_compat_time"


def build(original: Callable[..., None]) -> Callable[..., None]:
    """`TimeDistributed.build`, which remembers whether it goes step by step, and the number of time steps."""

    def build(self: Any, input_shape: Any) -> None:
        vars(self)[_STEP_BY_STEP] = _goes_step_by_step(self, input_shape[0])
        vars(self)[_TIME] = input_shape[1]
        original(self, input_shape)
        if isinstance(self.layer, keras.Model) and object_eras.era_of_object(self) is Era.TF_KERAS_1_15:
            batch_normalization.move_twice(self.layer)

    return build


def _goes_step_by_step(wrapper: keras.layers.TimeDistributed, batch_size: int | None) -> bool:
    """Say whether a wrapper's layer is called for each time step.

    tf.keras folded time for a layer of its own that keeps no states. For others TensorFlow 2.2 knew the size of each
    batch that it was called on.
    """
    era = object_eras.era_of_object(wrapper)
    of_keras = type(wrapper.layer).__module__.startswith(("keras.", "parallel_compat."))
    if era.is_tf_keras and of_keras and not getattr(wrapper.layer, "stateful", False):
        return False
    return batch_size is not None or era is Era.TF_KERAS_2_2


def call(original: Callable[..., Any]) -> Callable[..., Any]:
    """`TimeDistributed.call`."""

    def call(self: Any, inputs: Any, training: bool | None = None, mask: Any = None) -> Any:
        layer = self.layer
        if vars(self).get(_STEP_BY_STEP, False):
            return original(self, inputs, training=training, mask=mask)
        keywords: dict[str, Any] = {}
        if keras3.takes(layer, "training"):
            keywords["training"] = training
        if keras3.takes(layer, "mask") and mask is not None:
            keywords["mask"] = _folded(mask)
        with _layers_of_model_not_regularized(self):
            outputs = layer.call(_folded(inputs), **keywords)
        regularizer = getattr(layer, "activity_regularizer", None)
        if regularizer is not None:
            # As a call of the layer adds it: tf.keras did that, and Keras 2.2.4 added the sum, as it did of any layer.
            loss = regularizer(outputs)
            self.add_loss(loss / samples_of(outputs) if divides_by_samples() else loss)
        known = inputs.shape[0], vars(self).get(_TIME) if inputs.shape[1] is None else None
        unfolded = keras.tree.map_structure(lambda output: _of_sizes(_unfolded(output, inputs), known), outputs)
        if isinstance(layer, keras.Model):
            _pass_masks_on(outputs, unfolded, inputs)
        return unfolded

    return call


def _pass_masks_on(outputs: Any, unfolded: Any, inputs: Any) -> None:
    """Give the outputs of a model in a wrapper the masks that its layers made."""
    for output, whole in zip(keras.tree.flatten(outputs), keras.tree.flatten(unfolded), strict=True):
        mask = keras3_layers.get_mask(output)
        if mask is not None:
            keras3_layers.set_mask(whole, _unfolded(mask, inputs))


@contextlib.contextmanager
def _layers_of_model_not_regularized(wrapper: keras.layers.TimeDistributed) -> Iterator[None]:
    """Leave out the activity regularizers of a model in a wrapper of Keras 2.2.4, which added them to no model."""
    in_model = object_eras.era_of_object(wrapper).is_standalone and isinstance(wrapper.layer, keras.Model)
    layers = keras3.all_layers(wrapper.layer) if in_model else []
    kept = [(layer, layer.activity_regularizer) for layer in layers if layer.activity_regularizer is not None]
    for layer, _ in kept:
        layer.activity_regularizer = None
    try:
        yield
    finally:
        for layer, regularizer in kept:
            layer.activity_regularizer = regularizer


def compute_mask(original: Callable[..., Any]) -> Callable[..., Any]:
    """`TimeDistributed.compute_mask`."""

    def compute_mask(self: Any, inputs: Any, mask: Any = None) -> Any:
        if vars(self).get(_STEP_BY_STEP, False):
            return mask
        if isinstance(inputs, (list, tuple)):  # `layer.input`: the tensor and its mask
            inputs = inputs[0]
        inner = _folded(mask) if mask is not None else None
        found = self.layer.compute_mask(_folded(inputs), inner)
        if found is not None:
            return _unfolded(found, inputs)
        if mask is None:
            return None
        return keras.ops.any(mask, axis=tuple(range(2, len(mask.shape)))) if len(mask.shape) > 2 else mask

    return compute_mask


@keras.saving.register_keras_serializable(package="parallel_compat")
class Fold(keras.Operation):  # type: ignore[misc]
    """(batch, time, ...) to (batch * time, ...)."""

    def call(self, tensor: Any) -> Any:
        return fold(tensor)

    def compute_output_spec(self, tensor: Any) -> Any:
        return keras.KerasTensor((None, *tensor.shape[2:]), tensor.dtype)


@keras.saving.register_keras_serializable(package="parallel_compat")
class Unfold(keras.Operation):  # type: ignore[misc]
    """(batch * time, ...) to (batch, time, ...), with the time of another tensor."""

    def call(self, tensor: Any, like: Any) -> Any:
        return unfold(tensor, like)

    def compute_output_spec(self, tensor: Any, like: Any) -> Any:
        return keras.KerasTensor((like.shape[0], like.shape[1], *tensor.shape[1:]), tensor.dtype)


def _of_sizes(outputs: Any, known: tuple[int | None, int | None]) -> Any:
    """Let outputs have a fixed batch size, and the time steps that the layer before declares: neither is known."""
    if known == (None, None) or isinstance(outputs, keras.KerasTensor):
        return outputs
    return tf.ensure_shape(outputs, [*known, *[None] * (outputs.shape.rank - 2)])


def _folded(tensor: Any) -> Any:
    return Fold()(tensor) if isinstance(tensor, keras.KerasTensor) else fold(tensor)


def _unfolded(tensor: Any, like: Any) -> Any:
    return Unfold()(tensor, like) if isinstance(tensor, keras.KerasTensor) else unfold(tensor, like)
