"""Whether a function is made only of TensorFlow operations that compute sample i from sample i.

The function is traced and its operations are followed from its arguments. Each tensor is one of `Kind`; an
operation that is not known to keep samples apart ends it, so the answer is never wrong in the dangerous direction.
"""

from __future__ import annotations

import enum
from collections.abc import Callable
from typing import Any

import numpy as np
import tensorflow as tf


class Kind(enum.Enum):
    """What a tensor has to do with the samples."""

    FREE = "does not depend on the batch"
    SAMPLES = "the first axis is the samples, and sample i depends on sample i alone"
    COUNT = "the number of samples, a scalar or a vector of one"
    SHAPE = "a shape that begins with the number of samples"


class SamplesMixError(Exception):
    """An operation mixes samples, or is not known not to."""


# fmt: off
# Sample i of the result is made of sample i of each argument.
ELEMENTWISE = frozenset(
    {
        "Abs", "Acos", "Acosh", "Add", "AddN", "AddV2", "Asin", "Asinh", "Atan", "Atan2", "Atanh", "Bitcast",
        "BitwiseAnd", "BitwiseOr", "BitwiseXor", "Cast", "Ceil", "CheckNumerics", "ClipByValue", "Cos", "Cosh",
        "Digamma", "Div", "DivNoNan", "Elu", "EnsureShape", "Equal", "Erf", "Erfc", "Erfinv", "Exp", "Expm1",
        "Floor", "FloorDiv", "FloorMod", "Greater", "GreaterEqual", "Identity", "Inv", "IsFinite", "IsInf", "IsNan",
        "LeakyRelu", "Less", "LessEqual", "Lgamma", "Log", "Log1p", "LogicalAnd", "LogicalNot", "LogicalOr",
        "Maximum", "Minimum", "Mod", "Mul", "MulNoNan", "Ndtri", "Neg", "NextAfter", "NotEqual", "OnesLike", "Pow",
        "PreventGradient", "RealDiv", "Reciprocal", "Relu", "Relu6", "Rint", "Round", "Rsqrt", "Select", "SelectV2",
        "Selu", "Sigmoid", "Sign", "Sin", "Sinh", "Softplus", "Softsign", "Sqrt", "Square", "SquaredDifference",
        "StopGradient", "Sub", "Tan", "Tanh", "TruncateDiv", "Xdivy", "Xlog1py", "Xlogy", "ZerosLike",
    }
)
# Reduce the axes that the second argument names.
REDUCTIONS = frozenset(
    {
        "All", "Any", "ArgMax", "ArgMin", "Max", "Mean", "Min", "Prod", "Sum", "EuclideanNorm",
    }
)
# Take the first axis for the batch and leave it alone; other arguments are weights.
BATCHED = frozenset(
    {
        "AvgPool", "AvgPool3D", "BatchMatMul", "BatchMatMulV2", "BiasAdd", "Conv2D", "Conv3D",
        "DepthwiseConv2dNative", "MaxPool", "MaxPool3D", "MaxPoolV2",
    }
)
# Work on the last axis: keep samples apart where that is not the first.
ON_THE_LAST_AXIS = frozenset(
    {
        "LogSoftmax", "Softmax", "SoftmaxCrossEntropyWithLogits", "TopKV2",
    }
)
# fmt: on


def keeps_samples_apart(function: Callable[[Any, Any], Any], y_true: Any, y_pred: Any) -> bool:
    """Whether sample i of what `function` returns is computed from sample i of its arguments alone.

    Returns:
        Whether it is; False where it is not known.
    """
    specs = [tf.TensorSpec((None, *like.shape[1:]), like.dtype) for like in (y_true, y_pred)]
    try:
        graph = tf.function(function, autograph=False).get_concrete_function(*specs).graph
        arguments = {id(tensor) for tensor in graph.inputs[:2]}
        kinds: dict[int, Kind] = {}
        for operation in graph.get_operations():
            if operation.type == "Placeholder":  # an argument, or what the function closes over
                kind = Kind.SAMPLES if id(operation.outputs[0]) in arguments else Kind.FREE
            elif operation.outputs:
                kind = _kind_of_result(operation, [kinds[id(tensor)] for tensor in operation.inputs])
            else:
                continue
            kinds.update((id(tensor), kind) for tensor in operation.outputs)
        return len(graph.outputs) == 1 and kinds[id(graph.outputs[0])] is Kind.SAMPLES
    except Exception:  # a user's function may raise anything; what cannot be followed counts as mixed
        return False


def _kind_of_result(operation: tf.Operation, kinds: list[Kind]) -> Kind:
    if all(kind is Kind.FREE for kind in kinds):
        # Random numbers and outside state could differ from one part of the batch to the other.
        if operation.op_def.is_stateful and operation.type != "ReadVariableOp":
            raise SamplesMixError(operation.type)
        return Kind.FREE
    if operation.type == "Shape":
        return Kind.SHAPE if kinds[0] is Kind.SAMPLES else _mixed(operation)
    if Kind.SHAPE in kinds or Kind.COUNT in kinds:
        return _from_a_shape(operation, kinds)
    if operation.type in ELEMENTWISE and _is_aligned(operation, kinds):
        return Kind.SAMPLES
    if operation.type in BATCHED and kinds[0] is Kind.SAMPLES and _leaves_first_axis(operation, kinds):
        return Kind.SAMPLES
    if operation.type in ON_THE_LAST_AXIS and min(_ranks(operation, kinds)) > 1:
        return Kind.SAMPLES
    if operation.type in WITH_AXES and WITH_AXES[operation.type](operation, kinds):
        return Kind.SAMPLES
    return _mixed(operation)


def _mixed(operation: tf.Operation) -> Kind:
    raise SamplesMixError(f"{operation.type} ({operation.name})")


def _ranks(operation: tf.Operation, kinds: list[Kind]) -> list[int]:
    """The ranks of the arguments that have samples; an unknown rank ends it."""
    ranks = [t.shape.rank for t, kind in zip(operation.inputs, kinds, strict=True) if kind is Kind.SAMPLES]
    if None in ranks:
        raise SamplesMixError(operation.type)
    return ranks


def _is_aligned(operation: tf.Operation, kinds: list[Kind]) -> bool:
    """Whether broadcasting lays samples on samples: arguments with them have one rank, the others do not reach them."""
    ranks = set(_ranks(operation, kinds))
    if len(ranks) != 1:
        return False
    (rank,) = ranks
    for tensor, kind in zip(operation.inputs, kinds, strict=True):
        if kind is Kind.FREE:
            other = tensor.shape.rank
            if other is None or other > rank or (other == rank and tensor.shape[0] != 1):
                return False
    return True


def _leaves_first_axis(operation: tf.Operation, kinds: list[Kind]) -> bool:
    if operation.type.startswith("BatchMatMul"):
        (rank, *others) = [tensor.shape.rank or 0 for tensor in operation.inputs]
        return rank > 2 and all(
            other == rank if kind is Kind.SAMPLES else other <= 2 for other, kind in zip(others, kinds[1:], strict=True)
        )
    return all(kind is Kind.FREE for kind in kinds[1:])


def _from_a_shape(operation: tf.Operation, kinds: list[Kind]) -> Kind:
    """What may be made of a shape: parts of it, other shapes, and tensors with as many samples."""
    first, *rest = kinds
    if operation.type in ("Cast", "Identity"):
        return first
    if first is Kind.SHAPE and operation.type == "StridedSlice" and set(rest) == {Kind.FREE}:
        taken = list(np.atleast_1d(np.arange(operation.inputs[0].shape[0])[_slices(operation)[0]]))
        return Kind.FREE if 0 not in taken else (Kind.COUNT if taken == [0] else _mixed(operation))
    if operation.type in ("Pack", "ConcatV2") and set(rest) <= {Kind.FREE}:
        return Kind.SHAPE
    if operation.type == "Fill" and kinds == [Kind.SHAPE, Kind.FREE]:
        return Kind.SAMPLES
    if operation.type == "Reshape" and kinds == [Kind.SAMPLES, Kind.SHAPE]:
        return Kind.SAMPLES
    return _mixed(operation)


def _constant(tensor: tf.Tensor) -> Any:
    value = tf.get_static_value(tensor)
    if value is None:
        raise SamplesMixError(tensor.name)
    return value


def _axes(operation: tf.Operation, value: Any, rank: int) -> set[int]:
    return {int(axis) % rank for axis in np.atleast_1d(value)}


def _reduces_other_axes(operation: tf.Operation, kinds: list[Kind]) -> bool:
    return 0 not in _axes(operation, _constant(operation.inputs[1]), _ranks(operation, kinds)[0])


def _expands_behind(operation: tf.Operation, kinds: list[Kind]) -> bool:
    return 0 not in _axes(operation, _constant(operation.inputs[1]), _ranks(operation, kinds)[0] + 1)


def _squeezes_behind(operation: tf.Operation, kinds: list[Kind]) -> bool:
    axes = operation.get_attr("squeeze_dims")
    return bool(axes) and 0 not in _axes(operation, axes, _ranks(operation, kinds)[0])


def _reshapes_samples(operation: tf.Operation, kinds: list[Kind]) -> bool:
    """Whether each sample keeps as many values: `(-1, ...)`, with the rest known before and after."""
    shape, before = np.atleast_1d(_constant(operation.inputs[1])), operation.inputs[0].shape
    if before.rank is None or None in before[1:].as_list() or len(shape) == 0 or shape[0] != -1:
        return False
    return bool(np.prod(shape[1:]) == np.prod(before[1:].as_list()))


def _slices(operation: tf.Operation) -> list[Any]:
    """The index of a StridedSlice as slices, ints, None and Ellipsis."""
    begin, end, strides = (np.atleast_1d(_constant(tensor)) for tensor in operation.inputs[1:4])
    masks = {
        name: operation.get_attr(f"{name}_mask") for name in ("begin", "end", "ellipsis", "new_axis", "shrink_axis")
    }
    index: list[Any] = []
    for i, (start, stop, stride) in enumerate(zip(begin, end, strides, strict=True)):
        if masks["ellipsis"] >> i & 1:
            index.append(Ellipsis)
        elif masks["new_axis"] >> i & 1:
            index.append(None)
        elif masks["shrink_axis"] >> i & 1:
            index.append(int(start))
        else:
            first = None if masks["begin"] >> i & 1 else int(start)
            last = None if masks["end"] >> i & 1 else int(stop)
            index.append(slice(first, last, int(stride)))
    return index


def _slices_behind(operation: tf.Operation, kinds: list[Kind]) -> bool:
    if kinds[0] is not Kind.SAMPLES or Kind.SAMPLES in kinds[1:]:
        return False
    first, *rest = _slices(operation)
    if first is Ellipsis:
        return sum(part is not None for part in rest) < _ranks(operation, kinds)[0]
    return isinstance(first, slice) and first == slice(None, None, 1)


def _joins_behind(operation: tf.Operation, kinds: list[Kind]) -> bool:
    if operation.type == "Pack":
        return set(kinds) == {Kind.SAMPLES} and operation.get_attr("axis") % (_ranks(operation, kinds)[0] + 1) != 0
    return set(kinds[:-1]) == {Kind.SAMPLES} and 0 not in _axes(
        operation, _constant(operation.inputs[-1]), _ranks(operation, kinds)[0]
    )


def _splits_behind(operation: tf.Operation, kinds: list[Kind]) -> bool:
    rank = _ranks(operation, kinds)[0]
    if operation.type == "Unpack":
        return bool(operation.get_attr("axis") % rank != 0)
    axis = operation.inputs[0 if operation.type == "Split" else 2]
    return 0 not in _axes(operation, _constant(axis), rank)


def _transposes_behind(operation: tf.Operation, kinds: list[Kind]) -> bool:
    return kinds[0] is Kind.SAMPLES and int(_constant(operation.inputs[1])[0]) == 0


def _gathers(operation: tf.Operation, kinds: list[Kind]) -> bool:
    parameters, indices = kinds[:2]
    batched = operation.get_attr("batch_dims")
    if parameters is Kind.FREE:  # each index takes an entry of a table, along an axis before which nothing is
        return batched == 0 and int(_constant(operation.inputs[2])) == 0
    axis = int(_constant(operation.inputs[2])) % _ranks(operation, [*kinds[:1], Kind.FREE, Kind.FREE])[0]
    return axis != 0 and (batched == 0 if indices is Kind.FREE else batched > 0)


def _one_hot_behind(operation: tf.Operation, kinds: list[Kind]) -> bool:
    behind = operation.get_attr("axis") % (_ranks(operation, kinds)[0] + 1) != 0
    return kinds[0] is Kind.SAMPLES and Kind.SAMPLES not in kinds[1:] and behind


def _multiplies_samples(operation: tf.Operation, kinds: list[Kind]) -> bool:
    return kinds[0] is Kind.SAMPLES and kinds[1] is Kind.FREE and not operation.get_attr("transpose_a")


def _pads_behind(operation: tf.Operation, kinds: list[Kind]) -> bool:
    return kinds[0] is Kind.SAMPLES and not bool(np.any(_constant(operation.inputs[1])[0]))


def _tiles_behind(operation: tf.Operation, kinds: list[Kind]) -> bool:
    return kinds[0] is Kind.SAMPLES and int(_constant(operation.inputs[1])[0]) == 1


WITH_AXES: dict[str, Callable[[tf.Operation, list[Kind]], bool]] = {
    **dict.fromkeys(REDUCTIONS, _reduces_other_axes),
    **dict.fromkeys(("ConcatV2", "Pack"), _joins_behind),
    **dict.fromkeys(("Split", "SplitV", "Unpack"), _splits_behind),
    **dict.fromkeys(("Pad", "PadV2", "MirrorPad"), _pads_behind),
    **dict.fromkeys(("Cumsum", "Cumprod", "ReverseV2"), _reduces_other_axes),
    "ExpandDims": _expands_behind,
    "GatherV2": _gathers,
    "InTopKV2": lambda operation, kinds: kinds == [Kind.SAMPLES, Kind.SAMPLES, Kind.FREE],
    "MatMul": _multiplies_samples,
    "OneHot": _one_hot_behind,
    "Reshape": _reshapes_samples,
    "SparseSoftmaxCrossEntropyWithLogits": lambda operation, kinds: set(kinds) == {Kind.SAMPLES},
    "Squeeze": _squeezes_behind,
    "StridedSlice": _slices_behind,
    "Tile": _tiles_behind,
    "Transpose": _transposes_behind,
}
