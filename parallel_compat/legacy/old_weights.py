"""Weights of layers turned from one layout into another: Theano's kernels, Keras 1's arrays, cuDNN's.

Files are read by `parallel_compat.recover`; these are the functions that old code called on arrays of its own.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from parallel_compat.recover import keras1, weight_edits

Arrays = list[np.ndarray[Any, Any]]


def convert_kernel(kernel: Any) -> Any:
    """Turn a kernel of Theano's convolution, which flips it, into one of TensorFlow's, and back.

    >>> convert_kernel(np.arange(2.0).reshape(2, 1, 1)).ravel().tolist()
    [1.0, 0.0]

    Args:
        kernel: an array of 3 to 5 axes, inputs and outputs last.

    Raises:
        ValueError: it has another number of axes.
    """
    kernel = np.asarray(kernel)
    if not 3 <= kernel.ndim <= 5:
        raise ValueError(f"Expected a kernel of 3 to 5 axes. Received: shape {kernel.shape}")
    return np.flip(kernel, tuple(range(kernel.ndim - 2))).copy()


def convert_all_kernels_in_model(model: Any) -> None:
    """Turn the kernels of a model's convolutions from Theano's into TensorFlow's, or back.

    Args:
        model: the model; models in it are not changed, as by Keras 2.
    """
    for layer in model.layers:
        if type(layer).__name__ in ("Conv1D", "Conv2D", "Conv3D", "Conv2DTranspose"):
            layer.kernel.assign(convert_kernel(layer.kernel))


def convert_dense_weights_data_format(
    dense: Any, previous_feature_map_shape: Sequence[int], target_data_format: str = "channels_first"
) -> None:
    """Reorder the kernel of a `Dense` behind a `Flatten` for a feature map in the other data format.

    Args:
        dense: the layer.
        previous_feature_map_shape: the three sizes of the feature map, in the target's order.
        target_data_format: "channels_first" or "channels_last".

    Raises:
        ValueError: for another `target_data_format`.
    """
    if target_data_format not in ("channels_first", "channels_last"):
        raise ValueError(
            'Expected `target_data_format` to be "channels_first" or "channels_last". Received: '
            f"target_data_format={target_data_format!r}"
        )
    kernel, *rest = dense.get_weights()
    sizes, units = tuple(previous_feature_map_shape), kernel.shape[1]
    if target_data_format == "channels_first":
        kernel = kernel.reshape(sizes[1], sizes[2], sizes[0], units).transpose(2, 0, 1, 3)
    else:
        kernel = kernel.reshape(sizes[2], sizes[0], sizes[1], units).transpose(1, 2, 0, 3)
    dense.set_weights([kernel.reshape(-1, units), *rest])


# --- arrays of files ----------------------------------------------------------------------------------------------


def preprocess_weights_for_loading(
    layer: Any,
    weights: Sequence[Any],
    original_keras_version: str | None = None,
    original_backend: str | None = None,
    reshape: bool = False,
) -> Arrays:
    """Turn a layer's weights, as an old file has them, into those that the layer takes today.

    >>> import keras
    >>> layer = keras.layers.Conv2D(2, 3, data_format="channels_first")
    >>> old = [np.zeros((2, 1, 3, 3)), np.zeros(2)]
    >>> preprocess_weights_for_loading(layer, old, original_keras_version="1")[0].shape
    (3, 3, 1, 2)

    Args:
        layer: the layer, or a model.
        weights: its arrays.
        original_keras_version: "1" for arrays as Keras 1 wrote them.
        original_backend: "theano" for kernels that its convolution flipped.
        reshape: whether a kernel of the right size takes the layer's shape.

    Raises:
        ValueError: they do not fit the layer.
    """
    given = [np.asarray(each) for each in weights]
    convert = _Conversion(original_keras_version == "1", original_backend == "theano", reshape)
    return convert.of(layer, given)


class _Conversion:
    def __init__(self, keras_1: bool, theano: bool, reshape: bool) -> None:
        self._keras_1, self._theano, self._reshape = keras_1, theano, reshape

    def of(self, layer: Any, arrays: Arrays) -> Arrays:
        kind = type(layer).__name__
        if kind == "Bidirectional":
            half = len(arrays) // 2
            return self.of(layer.forward_layer, arrays[:half]) + self.of(layer.backward_layer, arrays[half:])
        if kind == "TimeDistributed":
            return self.of(layer.layer, arrays)
        if hasattr(layer, "layers"):
            return self._of_model(layer, arrays)
        if self._keras_1:
            if kind == "Conv1D" and arrays[0].shape[1:] != (1, arrays[0].shape[2], layer.filters):
                # Keras 1.1: (filters, inputs, length, 1), also of one input
                arrays = [np.transpose(arrays[0], (2, 3, 1, 0)), *arrays[1:]]
            edits = keras1.edits(kind, getattr(layer, "data_format", None), len(arrays))
            arrays = weight_edits.apply(edits, kind, arrays)
        if kind in ("Conv1D", "Conv2D", "Conv3D", "Conv2DTranspose", "ConvLSTM2D"):
            arrays = self._of_convolution(layer, arrays, 2 if kind == "ConvLSTM2D" else 1)
        return _from_cudnn(layer, kind, arrays)

    def _of_model(self, model: Any, arrays: Arrays) -> Arrays:
        # Keras 2 wrote the trainable weights of all layers, then the others.
        taken: Arrays = []
        for trainable in (True, False):
            for layer in model.layers:
                count = len(layer.trainable_variables if trainable else layer.non_trainable_variables)
                if count:
                    taken += self.of(layer, arrays[:count])
                    arrays = arrays[count:]
        return taken

    def _of_convolution(self, layer: Any, arrays: Arrays, kernels: int) -> Arrays:
        changed, rest = arrays[:kernels], arrays[kernels:]
        if self._theano:
            changed = [convert_kernel(kernel) for kernel in changed]
        shape = tuple(layer.weights[0].shape) if layer.weights else changed[0].shape
        if changed[0].shape != shape and self._reshape:
            if changed[0].size != math.prod(shape):
                raise ValueError(
                    f"Expected a kernel of '{layer.name}' of shape {shape}, or of as many numbers. Received: shape "
                    f"{changed[0].shape}"
                )
            changed[0] = changed[0].reshape(shape)
        elif changed[0].shape != shape:
            changed = [np.transpose(kernel, (3, 2, 0, 1)) for kernel in changed]
        return [*changed, *rest]


def _from_cudnn(layer: Any, kind: str, arrays: Arrays) -> Arrays:
    if kind not in ("LSTM", "GRU") or len(arrays) != 3:
        return arrays
    gates, units, bias = 4 if kind == "LSTM" else 3, arrays[1].shape[0], arrays[2].shape
    of_cudnn, plain, reset_after = bias == (2 * units * gates,), (units * gates,), (2, units * gates)
    takes = reset_after if kind == "GRU" and layer.reset_after else plain
    if of_cudnn and not (kind == "GRU" and takes == plain):
        return weight_edits.apply([f"cudnn_{kind.lower()}"], kind, arrays)
    if bias != takes:
        raise ValueError(f"Expected weights of '{layer.name}' with a bias of shape {takes}. Received: shape {bias}")
    return arrays
