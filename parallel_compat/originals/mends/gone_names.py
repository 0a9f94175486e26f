"""Functions of TensorFlow that old Keras calls and that were removed, written with today's functions."""

from __future__ import annotations

import functools
import types
import weakref
from collections.abc import Callable
from typing import Any

from parallel_compat.originals.mends.moved_names import put_module
from parallel_compat.originals.mends.register import Register

_PYTHON = "tensorflow.python."


def _module(name: str, **names: Any) -> None:
    module = types.ModuleType(_PYTHON + name)
    vars(module).update(names)
    put_module(_PYTHON + name, module)


def apply(mends: Register) -> None:
    import tensorflow as tf
    from tensorflow.python.checkpoint import checkpoint, graph_view
    from tensorflow.python.ops import nn, resource_variable_ops, summary_ops_v2
    from tensorflow.python.platform import build_info
    from tensorflow.python.profiler import trace
    from tensorflow.python.tpu import tpu
    from tensorflow.python.trackable import autotrackable
    from tensorflow.python.training.experimental import mixed_precision_global_state
    from tensorflow.python.util import nest

    _module("profiler.traceme", TraceMe=trace.Trace)
    _module("eager.profiler")

    mends.add(tf.config, experimental_list_devices=lambda: [device.name for device in tf.config.list_logical_devices()])
    mends.add(tpu, is_tpu_strategy=lambda strategy: False)
    mends.add(
        checkpoint,
        saver_with_op_caching=lambda root: checkpoint.TrackableSaver(graph_view.ObjectGraphView(weakref.ref(root))),
    )
    mends.add(autotrackable, cached_per_instance=_cached_per_instance)
    mends.add(autotrackable, delete_tracking=autotrackable.AutoTrackable._delete_tracking)
    mends.add(build_info, **{name: build_info.build_info[name] for name in ("is_cuda_build", "is_rocm_build")})
    mends.add(summary_ops_v2, keras_model=_write_model)
    mends.replace(summary_ops_v2, "graph", lambda today: summary_ops_v2.graph_v1)  # which takes a step
    mends.add(nest, _sorted=sorted)
    for name in ("tanh", "sigmoid"):  # two functions today, one then: recurrent layers ask whether theirs is `tf.tanh`
        setattr(nn, name, getattr(tf.nn, name))
    mends.add(
        mixed_precision_global_state,
        mixed_precision_graph_rewrite_is_enabled=False,
        using_default_mixed_precision_policy=True,
    )
    mends.replace(mixed_precision_global_state, "non_mixed_precision_session_created", lambda _: False)
    mends.replace(
        mixed_precision_global_state,
        "is_mixed_precision_graph_rewrite_enabled",
        lambda _: lambda: vars(mixed_precision_global_state)["mixed_precision_graph_rewrite_is_enabled"],
    )
    resource_variable_ops.BaseResourceVariable._distributed_container = _DistributedContainer()


def _write_model(name: str, data: Any, step: Any = None) -> Any:
    """Do as `summary_ops_v2.keras_model` did: TensorBoard draws the graph of the layers from it."""
    import tensorflow as tf
    from tensorflow.python.ops import summary_ops_v2

    metadata = tf.compat.v1.SummaryMetadata()
    metadata.plugin_data.plugin_name = "graph_keras_model"
    metadata.plugin_data.content = b"1"
    try:
        json = data.to_json()
    except Exception as error:  # of a layer without a configuration; the training goes on
        tf.get_logger().warning("Model failed to serialize as JSON. Ignoring... %s", error)
        return False
    with summary_ops_v2.summary_scope(name, "graph_keras_model", [data, step]) as (tag, _):
        with tf.device("cpu:0"):
            tensor = tf.constant(json, dtype=tf.string)
        return summary_ops_v2.write(tag=tag, tensor=tensor, step=step, metadata=metadata)


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
