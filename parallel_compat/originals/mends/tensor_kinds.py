"""What counted as a tensor in TensorFlow 1: a sparse one, the result of `variable += value`, a tuple as a shape,
a whole float as a size. A variable was true, and of the kind `tf.compat.v1.Variable`. A ragged tensor was none.
"""

from __future__ import annotations

import abc
import functools
import operator
from typing import Any

from parallel_compat.names.eras import Era
from parallel_compat.originals.mends.register import Register

_IN_PLACE = ("add", "sub", "mul", "truediv", "pow")


class TensorLike(abc.ABC):  # noqa: B024 - kinds are registered
    """Tensors, dense or not: `ops._TensorLike`."""


def apply(mends: Register) -> None:
    import tensorflow.compat.v1 as tf
    from tensorflow.python.autograph import operators
    from tensorflow.python.framework import indexed_slices, ops, sparse_tensor, tensor, tensor_shape
    from tensorflow.python.ops import math_ops, resource_variable_ops, variable_v1
    from tensorflow.python.ops.losses import util

    variable_v1.VariableV1.register(resource_variable_ops.BaseResourceVariable)
    for kind in (tensor.Tensor, sparse_tensor.SparseTensor, indexed_slices.IndexedSlices):
        TensorLike.register(kind)
    mends.add(ops, _TensorLike=TensorLike)
    # A tensor of a graph is of a kind of its own now. Here a nested model asks for the learning phase.
    mends.edit(
        "tensorflow.python.keras.engine.network",
        "type(kwargs['training']) is ops.Tensor",
        "isinstance(kwargs['training'], ops.Tensor)",
    )
    _ragged_is_none(mends)
    if mends.era is Era.KERAS_2_2_4 or not mends.is_tensorflow_1:  # the others have 1.15's own functions
        mends.around(math_ops, "reduced_shape", _taking_long_axes)
    mends.around(tensor_shape.Dimension, "__init__", _taking_whole_numbers)
    if not mends.is_tensorflow_1:
        mends.around(util, "squeeze_or_expand_dimensions", _taking_lists_as_weights)
        return
    for name in _IN_PLACE:
        computing = functools.partial(_computing, getattr(operator, name))
        mends.around(resource_variable_ops.BaseResourceVariable, f"__i{name}__", computing)

    # Until TensorFlow 1.12 a variable could not be asked for its value, and was true: `if self.bias:`.
    true = functools.partial(_true_in_graphs, mends.is_standalone)
    mends.around(resource_variable_ops.BaseResourceVariable, "__bool__", true)
    mends.around(operators, "if_stmt", _asking_python)
    if not mends.is_standalone:
        mends.add(tensor.Tensor, _uses_learning_phase=False)  # until 1.12; layers of that time pass it on
    if mends.era is Era.KERAS_2_2_4 and "__len__" in vars(tensor.Tensor):
        del tensor.Tensor.__len__  # what has a length was a list of outputs: TensorFlow 1.14 began to give tensors one

    def takes_tensors(convolve: Any, value: Any, filters: Any, output_shape: Any, *args: Any, **options: Any) -> Any:
        return convolve(value, filters, tf.stack(output_shape), *args, **options)

    mends.around(tf.nn, "atrous_conv2d_transpose", takes_tensors)


def _ragged_is_none(mends: Register) -> None:
    import tensorflow
    import tensorflow.compat.v1
    from tensorflow.python.framework import tensor_util
    from tensorflow.python.ops.ragged.ragged_tensor import RaggedTensor

    for module in (tensorflow, tensorflow.compat.v1, tensor_util):
        mends.around(module, "is_tensor", lambda is_tensor, x: is_tensor(x) and not isinstance(x, RaggedTensor))


def _taking_long_axes(reduced_shape: Any, input_shape: Any, axes: Any) -> Any:
    """Let the gradient of a sum take the axes that `np.arange` makes, also where a size is not known."""
    import tensorflow as tf

    return reduced_shape(tf.cast(input_shape, tf.int32), tf.cast(axes, tf.int32))


def _taking_lists_as_weights(squeeze: Any, y_pred: Any, y_true: Any = None, sample_weight: Any = None) -> Any:
    import tensorflow as tf

    return squeeze(y_pred, y_true, None if sample_weight is None else tf.convert_to_tensor(sample_weight))


def _taking_whole_numbers(make: Any, self: Any, value: Any) -> None:
    """Let a size be a float that is whole (`np.prod(())` is 1.0), or true: protocol buffers took that for 1."""
    is_number = isinstance(value, bool) or (isinstance(value, float) and value.is_integer())
    make(self, int(value) if is_number else value)


def _true_in_graphs(scalars: bool, read: Any, self: Any) -> bool:
    from tensorflow.python.eager import context

    is_true = not context.executing_eagerly() and (scalars or self.shape.rank)
    return True if is_true else bool(read(self))


def _asking_python(if_stmt: Any, cond: Any, *branches: Any) -> Any:
    """Let AutoGraph ask a variable of several numbers as Python does."""
    from tensorflow.python.ops import resource_variable_ops

    is_array = isinstance(cond, resource_variable_ops.BaseResourceVariable) and cond.shape.rank
    return if_stmt(bool(cond) if is_array else cond, *branches)


def _computing(compute: Any, refusing: Any, self: Any, other: Any) -> Any:
    return compute(self, other)
