"""Names that left TensorFlow: the functions that old Keras calls, as small functions over what TensorFlow has.

Seen in TensorFlow 2.18 to 2.21.
"""

from __future__ import annotations

import contextlib
import functools
import types
import weakref
from typing import TYPE_CHECKING, Any

from parallel_compat.originals.mends.moved_names import put_module

if TYPE_CHECKING:
    from collections.abc import Callable

    from parallel_compat.originals.mends.register import Register

_PYTHON = "tensorflow.python."


def _module(name: str, **names: Any) -> None:
    module = types.ModuleType(_PYTHON + name)
    vars(module).update(names)
    put_module(_PYTHON + name, module)


def apply(mends: Register) -> None:
    """Add the names."""
    import tensorflow as tf

    from tensorflow.python.checkpoint import checkpoint, graph_view
    from tensorflow.python.data.ops import options
    from tensorflow.python.eager import def_function, function
    from tensorflow.python.framework import composite_tensor, ops
    from tensorflow.python.ops import resource_variable_ops
    from tensorflow.python.profiler import trace
    from tensorflow.python.tpu import tpu
    from tensorflow.python.trackable import autotrackable

    _module(
        "data.experimental.ops.distribute_options",
        AutoShardPolicy=options.AutoShardPolicy,
        DistributeOptions=options.DistributeOptions,
        ExternalStatePolicy=options.ExternalStatePolicy,
    )
    _module("distribute.distributed_file_utils")
    values = (composite_tensor.CompositeTensor, tf.compat.v1.SparseTensorValue, tf.compat.v1.ragged.RaggedTensorValue)
    _module("framework.composite_tensor_utils", is_composite_or_composite_value=lambda x: isinstance(x, values))
    _module("profiler.traceme", TraceMe=trace.Trace)
    _module("eager.profiler")

    mends.add(
        ops,
        register_dense_tensor_like_type=lambda kind: None,
        is_dense_tensor_like=lambda x: isinstance(x, (tf.Tensor, tf.Variable)),
    )
    mends.add(ops.Graph, _enable_auto_casting_variables=lambda self, dtype: contextlib.nullcontext())
    mends.add(def_function, RUN_FUNCTIONS_EAGERLY=False)
    mends.add(function, defun=_defun, defun_with_attributes=_defun)
    mends.add(tpu, is_tpu_strategy=lambda strategy: False)
    mends.add(
        checkpoint,
        saver_with_op_caching=lambda root: checkpoint.TrackableSaver(graph_view.ObjectGraphView(weakref.ref(root))),
    )
    mends.add(autotrackable, cached_per_instance=_cached_per_instance, delete_tracking=_delete_tracking)
    resource_variable_ops.BaseResourceVariable._distributed_container = _DistributedContainer()


def _defun(f: Any = None, input_signature: Any = None, autograph: bool = True, **_: Any) -> Any:
    """Do as `function.defun` did."""
    import tensorflow as tf

    make = lambda g: tf.function(g, input_signature=input_signature, autograph=autograph)
    return make if f is None else make(f)


def _delete_tracking(obj: Any, name: str) -> None:
    obj._unconditional_dependency_names.pop(name, None)


def _cached_per_instance(f: Callable[[Any], Any]) -> Any:
    cache: weakref.WeakKeyDictionary[Any, Any] = weakref.WeakKeyDictionary()

    @functools.wraps(f)
    def wrapped(item: Any) -> Any:
        if item not in cache:
            cache[item] = f(item)
        return cache[item]

    wrapped.cache = cache  # type: ignore[attr-defined]
    return wrapped


class _DistributedContainer:
    """`variable._distributed_container`, which is on the variable or, since TensorFlow 2.13, on its handle."""

    def __get__(self, variable: Any, kind: Any) -> Any:
        if variable is None:
            return self
        own = vars(variable).get("_distributed_container_")
        return own if own is not None else variable.handle._distributed_container

    def __set__(self, variable: Any, value: Any) -> None:
        vars(variable)["_distributed_container_"] = value
