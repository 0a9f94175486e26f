"""What counted as a tensor in TensorFlow 1: a sparse one, what `variable += value` made, a tuple of them as a shape.

Seen in TensorFlow 2.18 to 2.21.
"""

from __future__ import annotations

import abc
import operator
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from parallel_compat.originals.mends.register import Register

_IN_PLACE = {
    "__iadd__": operator.add,
    "__isub__": operator.sub,
    "__imul__": operator.mul,
    "__itruediv__": operator.truediv,
    "__ipow__": operator.pow,
}


class TensorLike(abc.ABC):  # noqa: B024 - kinds are registered
    """Tensors, dense or not: `ops._TensorLike`."""


def apply(mends: Register) -> None:
    """Add the kind, the arithmetic and the shape."""
    import tensorflow.compat.v1 as tf
    from tensorflow.python.framework import indexed_slices, ops, sparse_tensor, tensor
    from tensorflow.python.ops import resource_variable_ops

    for kind in (tensor.Tensor, sparse_tensor.SparseTensor, indexed_slices.IndexedSlices):
        TensorLike.register(kind)
    mends.add(ops, _TensorLike=TensorLike)
    if not mends.is_tensorflow_1:
        return
    for name, compute in _IN_PLACE.items():
        mends.replace(resource_variable_ops.BaseResourceVariable, name, _computing(compute))

    def takes_tensors(convolve: Any) -> Any:
        def convolves(value: Any, filters: Any, output_shape: Any, *args: Any, **options: Any) -> Any:
            return convolve(value, filters, tf.stack(output_shape), *args, **options)

        return convolves

    mends.replace(tf.nn, "atrous_conv2d_transpose", takes_tensors)


def _computing(compute: Any) -> Any:
    return lambda refusing: lambda self, other: compute(self, other)
