"""Variables of mixed precision: old Keras wraps a variable in an object that reads it in another type.

TensorFlow knew that kind of object. Today it takes it for an array when it is passed to a `tf.function`, without a
gradient, and saves nothing of it.
"""

from __future__ import annotations

import contextlib
import threading
import weakref
from collections.abc import Iterator
from types import ModuleType
from typing import Any

from parallel_compat.originals.mends.register import Register


def apply(mends: Register) -> None:
    from tensorflow.python.framework import ops

    mends.add(ops, register_dense_tensor_like_type=lambda kind: setattr(kind, "is_tensor_like", True))
    mends.add(
        ops.Graph,
        _enable_auto_casting_variables=_read_variables_as,
        _auto_cast_variable_read_dtype=property(lambda self: getattr(_thread, "dtype", None)),
    )
    mends.after("tensorflow.python.keras.mixed_precision.experimental.autocast_variable", _acts_as_what_it_wraps)


_thread = threading.local()


@contextlib.contextmanager
def _read_variables_as(graph: Any, dtype: Any) -> Iterator[None]:
    """Let variables of mixed precision be read in a dtype, in this thread."""
    from tensorflow.python.framework import dtypes

    before = getattr(_thread, "dtype", None)
    _thread.dtype = dtype and dtypes.as_dtype(dtype)  # layers give its name; a variable's dtype is no string
    try:
        yield
    finally:
        _thread.dtype = before


def _acts_as_what_it_wraps(module: ModuleType) -> None:
    """Let the wrapper be passed as itself, and saved and run as the variable that it wraps."""
    from tensorflow.core.function.trace_type import default_types

    class Itself(default_types.Weakref):  # type: ignore[misc]
        """The type of an argument that is this object, which need not be hashable."""

        def __init__(self, value: Any) -> None:
            self._ref, self._ref_hash = weakref.ref(value), id(value)

        def __eq__(self, other: object) -> bool:
            return isinstance(other, Itself) and self._ref() is other._ref()

        __hash__ = default_types.Weakref.__hash__

    def _export_to_saved_model_graph(self: Any, object_map: Any, tensor_map: Any, options: Any, **more: Any) -> Any:
        resources = self._variable._export_to_saved_model_graph(object_map, tensor_map, options, **more)
        object_map[self] = object_map[self._variable]
        return resources

    kind = module.AutoCastVariable
    kind.__tf_tracing_type__ = lambda self, context: Itself(self)
    kind._export_to_saved_model_graph = _export_to_saved_model_graph
    for name in ("_as_graph_element", "_gather_saveables_for_checkpoint", "_write_object_proto"):
        setattr(kind, name, _of_variable(name))


def _of_variable(name: str) -> Any:
    return lambda self, *args, **options: getattr(self._variable, name)(*args, **options)
