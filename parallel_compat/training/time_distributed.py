"""`TimeDistributed`: on the replicas time is folded into the batch where that gives the same.

Keras 3 calls the layer inside for each time step, or maps over them, and traces it so often. A layer that computes each
sample by itself, draws nothing and keeps nothing gives the same for (batch * time, ...) in one call. Keras 2 folded
time in any case: see `legacy/time_distributed.py`.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from contextvars import ContextVar
from typing import Any

import keras
from keras import layers

from parallel_compat.backend import keras3
from parallel_compat.backend.keras3 import moved_names
from parallel_compat.backend.patches import CORE
from parallel_compat.context_variables import set_within

# Layers of which each sample's output depends on that sample alone.
_PER_SAMPLE = {
    layers.InputLayer, layers.Dense, layers.EinsumDense, layers.Embedding, layers.Activation, layers.ReLU,
    layers.LeakyReLU, layers.PReLU, layers.ELU, layers.Softmax, layers.Flatten, layers.Reshape, layers.Permute,
    layers.RepeatVector, layers.Rescaling, layers.LayerNormalization, layers.UnitNormalization, layers.Masking,
    layers.Add, layers.Subtract, layers.Multiply, layers.Average, layers.Maximum, layers.Minimum, layers.Concatenate,
    layers.Dot, layers.LSTM, layers.GRU, layers.SimpleRNN, layers.Bidirectional, layers.TimeDistributed,
    layers.LSTMCell, layers.GRUCell, layers.SimpleRNNCell, layers.Conv1D, layers.Conv2D, layers.Conv3D,
    layers.Conv1DTranspose, layers.Conv2DTranspose, layers.Conv3DTranspose, layers.SeparableConv1D,
    layers.SeparableConv2D, layers.DepthwiseConv1D, layers.DepthwiseConv2D, layers.MaxPooling1D, layers.MaxPooling2D,
    layers.MaxPooling3D, layers.AveragePooling1D, layers.AveragePooling2D, layers.AveragePooling3D,
    layers.GlobalMaxPooling1D, layers.GlobalMaxPooling2D, layers.GlobalMaxPooling3D, layers.GlobalAveragePooling1D,
    layers.GlobalAveragePooling2D, layers.GlobalAveragePooling3D, layers.ZeroPadding1D, layers.ZeroPadding2D,
    layers.ZeroPadding3D, layers.Cropping1D, layers.Cropping2D, layers.Cropping3D, layers.UpSampling1D,
    layers.UpSampling2D, layers.UpSampling3D,
}  # fmt: skip


_folds: ContextVar[bool] = ContextVar("folds", default=False)
_always: list[bool] = []  # empty until migrated code asks for it


def fold_always() -> None:
    """Fold time into the batch in each `TimeDistributed` of this process, as Keras 2 did."""
    _always.append(True)


def folded_time() -> contextlib.AbstractContextManager[None]:
    """Fold time into the batch where that may be, in each `TimeDistributed` that this thread calls in the block."""
    return set_within(_folds, True)


def _folding(
    original: Callable[..., Any], self: Any, inputs: Any, training: bool | None = None, mask: Any = None
) -> Any:
    layer = self.layer
    if not _always and (not _folds.get() or isinstance(inputs, keras.KerasTensor) or not may_be_folded(layer)):
        return original(self, inputs, training=training, mask=mask)
    keywords: dict[str, Any] = {"training": training} if keras3.layers.takes(layer, "training") else {}
    if mask is not None and keras3.layers.takes(layer, "mask"):
        keywords["mask"] = fold(mask)
    return unfold(layer(fold(inputs), **keywords), inputs)


def _mask_of_steps(original: Callable[..., Any], self: Any, inputs: Any, mask: Any = None) -> Any:
    """Return the mask of the layer inside for each step; where it has none, a step is masked if all in it is."""
    if not _always:
        return original(self, inputs, mask)
    layer = self.layer
    inside = layer.compute_mask(fold(inputs), None if mask is None else fold(mask)) if layer.supports_masking else None
    if inside is not None:
        return unfold(inside, inputs)
    return mask if mask is None else keras.ops.any(mask, axis=tuple(range(2, len(mask.shape))))


def may_be_folded(layer: keras.layers.Layer) -> bool:
    """Return whether a layer computes the same for all time steps in one batch as for one after the other.

    >>> may_be_folded(keras.layers.LSTM(3)), may_be_folded(keras.layers.LSTM(3, dropout=0.5))
    (True, False)
    >>> may_be_folded(keras.Sequential([keras.layers.Dense(3), keras.layers.BatchNormalization()]))
    False
    """
    return all(
        (type(each) in _PER_SAMPLE or _is_of_layers(each))
        and not getattr(each, "stateful", False)
        and not getattr(each, "dropout", 0)
        and not getattr(each, "recurrent_dropout", 0)
        and getattr(each, "activity_regularizer", None) is None
        for each in keras3.layers.all_layers(layer)
    )


def _is_of_layers(layer: keras.layers.Layer) -> bool:
    """Return whether a layer is a model that is made of layers alone: a function of Keras in it may join samples."""
    if type(layer) is keras.Sequential:
        return True
    is_functional = type(layer) is moved_names.functional_class()
    return is_functional and all(isinstance(each, keras.layers.Layer) for each in layer.operations)


def fold(tensor: Any) -> Any:
    """Make (batch, time, ...) to (batch * time, ...)."""
    return keras.ops.reshape(tensor, (-1, *keras.ops.shape(tensor)[2:]))


def unfold(tensor: Any, like: Any) -> Any:
    """Make (batch * time, ...) to (batch, time, ...), with the time of another tensor."""
    return keras.ops.reshape(tensor, (-1, keras.ops.shape(like)[1], *keras.ops.shape(tensor)[1:]))


CORE.around(layers.TimeDistributed, "call", _folding, why="time is folded into the batch on replicas")
CORE.around(layers.TimeDistributed, "compute_mask", _mask_of_steps, why="a step has the mask of the layer inside")
