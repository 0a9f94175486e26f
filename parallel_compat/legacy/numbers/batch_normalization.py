"""The moving statistics of an era's BatchNormalization.

Keras 2.2.4 counted the samples of a batch into its variance, and updated with `zero_debias=True`: after a few batches
the statistics are the weighted mean of what was seen, not mixed with the 0 and 1 that they began with. What that needs
besides is not saved, so a loaded layer starts anew. Keras 2.3 counted the samples as well, and updated plainly.
tf.keras updated plainly, and counted the samples on images alone, whose kernel does it. All left masks alone; a frozen
layer normalised a training batch with its own statistics up to TensorFlow 1.15 (`keras/layers/normalization.py`,
2.2.4 and 2.3.1; `moving_averages.py`, 1.15; `normalization.py`, 2.2), and without eager execution in TensorFlow 2.2
where it was frozen after it was called.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import keras
import tensorflow as tf

from parallel_compat.backend import keras3
from parallel_compat.legacy import trainable_paths
from parallel_compat.run import object_eras

if TYPE_CHECKING:
    from parallel_compat.backend.keras3.batch_normalization import DebiasedStatistics
    from parallel_compat.names.eras import Era


_TRAINED_WHEN_CALLED, _TWICE = "_parallel_compat_trained_when_called", "_parallel_compat_moves_twice"


def note_what_is_frozen(called: keras.layers.Layer) -> None:
    """Note which layers are frozen when they are called on symbolic tensors, by themselves or in a model.

    A graph of TensorFlow 2.2 held a layer's `trainable` of that time: what is set later changes nothing in it.

    Args:
        called: the layer or model.
    """
    for layer in keras3.all_layers(called) if isinstance(called, keras.Model) else [called]:
        if isinstance(layer, keras.layers.BatchNormalization):
            vars(layer)[_TRAINED_WHEN_CALLED] = layer.trainable


def predicts_always(layer: keras.layers.BatchNormalization, era: Era) -> bool:
    """Say whether a layer normalises a training batch with the moving statistics, whatever becomes of its `trainable`.

    Args:
        layer: the layer.
        era: its era.
    """
    return object_eras.trained_as(era) is not era and not vars(layer).get(_TRAINED_WHEN_CALLED, layer.trainable)


def normalises_frozen_batches(layer: keras.layers.BatchNormalization, era: Era) -> bool:
    """Say whether a frozen layer normalises a training batch with the batch's own statistics.

    Args:
        layer: the layer.
        era: its era.
    """
    return object_eras.trained_as(era).has_graphs and not predicts_always(layer, era)


def is_in_frozen(layer: keras.layers.BatchNormalization) -> bool:
    """Say whether a frozen layer stands around a layer that is trainable itself: tf.keras updated nothing in it.

    Args:
        layer: the layer, in its call.
    """
    outermost = keras3.outermost_layer()
    return outermost is not None and not trainable_paths.leads_to(outermost, layer)


def known_training(training: Any) -> Any:
    """Return the number of a `training` that code of a graph puts together, as `smart_cond` of tf.keras did.

    `tf.logical_and(training, self.trainable)`, with which layers are frozen, is an operation on two constants.

    Args:
        training: what the layer is called with; a tensor that hangs on data stays as it is.
    """
    if not tf.is_tensor(training):
        return training
    value = _folded(training)
    return training if value is None else value


def _folded(tensor: Any) -> bool | None:
    value = tf.get_static_value(tensor)
    if value is not None:
        return bool(value)
    inputs = [_folded(each) for each in tensor.op.inputs]
    if tensor.op.type == "LogicalAnd":
        return False if False in inputs else None if None in inputs else True
    if tensor.op.type == "LogicalOr":
        return True if True in inputs else None if None in inputs else False
    if None in inputs or tensor.op.type not in ("LogicalNot", "Identity", "Cast"):
        return None
    return bool(inputs[0] != (tensor.op.type == "LogicalNot"))


def move_twice(model: keras.Model) -> None:
    """Let the layers of a model move their statistics twice in a step, as in `TimeDistributed` of TensorFlow 1.15.

    It collected the updates of the model that it wraps as its own and as the model's.
    """
    for layer in keras3.all_layers(model):
        if isinstance(layer, keras.layers.BatchNormalization):
            vars(layer)[_TWICE] = True


def is_of_images(era: Era, layer: keras.layers.BatchNormalization) -> bool:
    """Say whether TensorFlow's kernel for images computed a layer's batches.

    It divided a variance by one less than the values, and its gradients have gradients of their own, where those of
    other layers take the mean in the variance for a constant.

    Args:
        era: the era of the layer.
        layer: the layer.
    """
    return layer.input_spec.ndim == 4 and layer.axis in ((-1, 3) if era.is_standalone else (-1, 3, 1))


def normalizes_by_kernel(layer: keras.layers.LayerNormalization, inputs: Any) -> bool:
    """Say whether a LayerNormalization of TensorFlow 2.2 computed by that kernel (`_fused_can_be_used`).

    Args:
        layer: the layer, built.
        inputs: what it is called with.
    """
    rank = len(inputs.shape)
    axes = sorted(axis % rank for axis in layer.axis)
    last = axes == list(range(axes[0], rank))
    return last and layer.epsilon >= 1.001e-5 and layer.variable_dtype == "float32"


def moving_statistics(
    era: Era,
    layer: keras.layers.BatchNormalization,
    mean: Any,
    variance: Any,
    samples: Any,
    debiased: DebiasedStatistics | None,
) -> tuple[Any, Any]:
    """Return the moving mean and variance after a batch.

    Args:
        era: the era of the layer.
        layer: the layer.
        mean: that of the batch.
        variance: the mean square deviation of the batch.
        samples: how many values each of them is of.
        debiased: what `zero_debias` needs as well for each, which Keras 2.2.4's layers keep; they take the batch in.
    """
    if is_of_images(era, layer):
        variance = variance * samples / keras.ops.maximum(samples - 1, 1)
    if era.is_standalone:
        variance = variance * samples / (samples - (1.0 + layer.epsilon))
    if debiased is None:
        rest = 1 - layer.momentum ** (2 if _TWICE in vars(layer) else 1)
        moving_mean, moving_variance = layer.moving_mean, layer.moving_variance
        return moving_mean - (moving_mean - mean) * rest, moving_variance - (moving_variance - variance) * rest
    return debiased.mean.after(mean, layer.momentum), debiased.variance.after(variance, layer.momentum)
