"""Variables are not composite tensors for old Keras, which would take a composite tensor apart.

A composite tensor of TensorFlow 1.15 said whether it is of a graph.
"""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

from parallel_compat.originals.mends.register import Register

_MODULES = (
    *("framework.composite_tensor_utils", "keras.backend", "keras.engine.data_adapter"),
    *("keras.engine.network", "keras.engine.training_v1", "keras.utils.tf_utils"),
)


def apply(mends: Register) -> None:
    from tensorflow.python.framework.composite_tensor import CompositeTensor
    from tensorflow.python.ops.variables import Variable
    from tensorflow.python.util import nest

    def is_of_graph(self: Any) -> bool:
        return any(hasattr(part, "graph") for part in nest.flatten(self, expand_composites=True))

    mends.add(CompositeTensor, _is_graph_tensor=property(is_of_graph))

    class _Kind(type):
        def __instancecheck__(cls, value: Any) -> bool:
            return isinstance(value, CompositeTensor) and not isinstance(value, Variable)

    class Composite(metaclass=_Kind):
        """`composite_tensor.CompositeTensor`, as it was."""

    def replace(module: Any) -> None:
        if hasattr(module, "composite_tensor"):
            module.composite_tensor = SimpleNamespace(CompositeTensor=Composite)

    for name in _MODULES:
        mends.after(f"tensorflow.python.{name}", replace)
