"""`tensor.name` and `tensor.op` of what a layer returns: `dense_1/BiasAdd:0`, of which programs split off the layer.

Keras 3 calls such tensors `keras_tensor_1`. The last part is the TensorFlow operation that the layer ended with, which
is known for Keras's own layers (read off Keras 2.2.4 and TensorFlow 1.15.5); for others it is `Identity`, as it is for
every layer in TensorFlow 2.2.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import keras

from parallel_compat.backend.keras3 import layers
from parallel_compat.legacy import weight_names
from parallel_compat.names.eras import Era

# The operation that a layer of a class ends with.
_OF_LAYERS = {
    "Activation": "Identity",
    "Add": "add",
    "Average": "truediv",
    "AveragePooling2D": "AvgPool",
    "Bidirectional": "concat",
    "Concatenate": "concat",
    "Conv2D": "BiasAdd",
    "Conv2DTranspose": "BiasAdd",
    "Conv3D": "BiasAdd",
    "Cropping2D": "strided_slice",
    "Dense": "BiasAdd",
    "DepthwiseConv2D": "BiasAdd",
    "Dot": "ExpandDims",
    "Dropout": "cond/Merge",
    "Embedding": "embedding_lookup/Identity_1",
    "Flatten": "Reshape",
    "GlobalAveragePooling1D": "Mean",
    "GlobalAveragePooling2D": "Mean",
    "GlobalMaxPooling1D": "Max",
    "GlobalMaxPooling2D": "Max",
    "LeakyReLU": "LeakyRelu",
    "Masking": "mul",
    "MaxPooling1D": "Squeeze",
    "MaxPooling2D": "MaxPool",
    "Maximum": "Maximum",
    "Multiply": "mul",
    "PReLU": "add",
    "Permute": "transpose",
    "RepeatVector": "Tile",
    "Reshape": "Reshape",
    "SeparableConv2D": "BiasAdd",
    "SpatialDropout1D": "cond/Merge",
    "SpatialDropout2D": "cond/Merge",
    "Subtract": "sub",
    "TimeDistributed": "Reshape_1",
    "ZeroPadding2D": "Pad",
}
_OF_ERA = {
    Era.KERAS_2_2_4: {
        "BatchNormalization": "cond/Merge",
        "Conv1D": "add",
        "GRU": "TensorArrayReadV3",
        "LSTM": "TensorArrayReadV3",
        "SimpleRNN": "TensorArrayReadV3",
        "UpSampling2D": "ResizeNearestNeighbor",
    },
    Era.TF_KERAS_1_15: {
        "BatchNormalization": "batchnorm/add_1",
        "Conv1D": "BiasAdd",
        "GRU": "strided_slice_12",
        "LSTM": "strided_slice_7",
        "SimpleRNN": "strided_slice_3",
        "UpSampling2D": "resize/ResizeNearestNeighbor",
    },
}
# What an activation adds, of layers that apply it last.
_OF_ACTIVATIONS = {"relu": "Relu", "sigmoid": "Sigmoid", "softmax": "Softmax", "softplus": "Softplus", "tanh": "Tanh"}
# The types of operations that are not spelled as their names.
_TYPES = {
    "add": "Add",
    "clip_by_value": "Maximum",
    "mul": "Mul",
    "sub": "Sub",
    "truediv": "RealDiv",
    "concat": "ConcatV2",
    "transpose": "Transpose",
}


class Operation(NamedTuple):
    """What `tensor.op` tells of the operation that made a tensor.

    Attributes:
        name: with the layer's name before it.
        type: of the operation, `Placeholder` of an input.
    """

    name: str
    type: str


def operation_in_era(tensor: Any, era: Era) -> Operation | None:
    """Return the operation that a symbolic tensor came from, or None if no layer of a model made it.

    Args:
        tensor: a `keras.KerasTensor`.
        era: of the code that asks.
    """
    if not layers.has_history(tensor):
        return None
    layer = layers.operation_of(tensor)
    if not isinstance(layer, keras.layers.Layer):
        return None
    if isinstance(layer, keras.layers.InputLayer):
        return Operation(layer.name, "Placeholder")
    call, _ = layers.place_of(tensor)
    scope = f"{layer.name}_{call}" if call else layer.name
    within = _last(layer, tensor, era)
    last = within.rpartition("/")[-1]
    stem, _, number = last.rpartition("_")
    kind = stem if number.isdigit() else last
    return Operation(f"{scope}/{within}", _TYPES.get(kind, kind))


def operation_of_variable(weight: Any, era: Era) -> Operation:
    """Return the operation that held a weight in a graph.

    Args:
        weight: a `keras.Variable`.
        era: of the code that asks.
    """
    name = weight_names.in_era(weight, weight.name, era)
    return Operation(name.removesuffix(":0"), "VariableV2" if era.is_standalone else "VarHandleOp")


def name_in_era(tensor: Any, name: str, era: Era) -> str:
    """Return the name of a symbolic tensor as its era spelled it.

    Args:
        tensor: a `keras.KerasTensor`.
        name: Keras 3's name.
        era: of the code that asks.
    """
    operation = None if era is Era.TODAY else operation_in_era(tensor, era)
    if operation is None:
        return name
    return f"{operation.name}:0"


def in_words(tensor: Any, era: Era, *, short: bool) -> str:
    """Return what `print` says of a symbolic tensor, or, shortly, what it says of one in a list.

    Args:
        tensor: a `keras.KerasTensor`.
        era: of the code that asks.
        short: as `repr` says it.
    """
    unknown = "None" if era is Era.TF_KERAS_2_2 else "?"
    sizes = [unknown if size is None else str(size) for size in tensor.shape]
    shape = f"({sizes[0]},)" if len(sizes) == 1 else f"({', '.join(sizes)})"
    name = name_in_era(tensor, tensor.name, era)
    if short:
        return f"<tf.Tensor '{name}' shape={shape} dtype={tensor.dtype}>"
    return f'Tensor("{name}", shape={shape}, dtype={tensor.dtype})'


def _last(layer: Any, tensor: Any, era: Era) -> str:
    """Return the name of the operation that a layer ends with, within the layer's own scope."""
    if era is Era.TF_KERAS_2_2:
        return "Identity"
    if isinstance(layer, keras.Model):
        outputs = layer.outputs if getattr(layer, "inputs", None) else []
        inner = operation_in_era(outputs[0], era) if len(outputs) == 1 else None
        return inner.name if inner is not None else "Identity"
    kind = type(layer).__name__
    activation = getattr(getattr(layer, "activation", None), "__name__", "linear")
    if activation != "linear" and not isinstance(layer, keras.layers.RNN):
        if activation == "softmax" and len(tensor.shape) > 2:
            return "truediv"
        return _OF_ACTIVATIONS.get(activation, "Identity")
    if getattr(layer, "use_bias", True) is False and kind in ("Conv2D", "Dense"):
        convolution = "convolution" if era.is_standalone else "Conv2D"
        return "MatMul" if kind == "Dense" else convolution
    if kind == "ReLU":
        return _of_relu(layer)
    if kind == "BatchNormalization" and len(tensor.shape) == 4:
        return "cond/Merge"
    if isinstance(layer, keras.layers.RNN) and layer.return_sequences:
        return "transpose_1"
    return _OF_ERA[Era.KERAS_2_2_4 if era.is_standalone else era].get(kind) or _OF_LAYERS.get(kind, "Identity")


def _of_relu(layer: Any) -> str:
    """`K.relu` of both eras: an operation of its own for each of the common cases, else arithmetic."""
    slope, highest, threshold = float(layer.negative_slope), layer.max_value, float(layer.threshold)
    if slope:
        return "sub" if highest is not None or threshold else "LeakyRelu"
    if highest is not None and (threshold or highest != 6):
        return "clip_by_value"
    return "mul" if threshold else "Relu" if highest is None else "Relu6"
