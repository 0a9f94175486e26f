"""In a session of TensorFlow 1 a variable was its value: by its name, as an output of `K.function`, and in `feed_dict`.

Today its name names a handle, and a value that is fed to it reaches one of its reads alone.

Seen in Keras 2.2.4 and Keras 2.3.1 on TensorFlow 2.18 to 2.21.
"""

from __future__ import annotations

from typing import Any

from parallel_compat.names.eras import Era
from parallel_compat.originals.mends.register import Register

# What reads a variable in part, or reads it out of sight: a value that is fed would not reach it.
_READS_OTHERWISE = (
    *("ResourceGather", "ResourceGatherNd"),
    *("While", "If", "Case", "PartitionedCall", "StatefulPartitionedCall"),
)


def apply(mends: Register) -> None:
    """Let sessions and functions take a variable for its value."""
    if not (mends.is_tensorflow_1 and mends.is_standalone):
        return
    from tensorflow.python.client import session
    from tensorflow.python.framework import ops
    from tensorflow.python.ops.resource_variable_ops import BaseResourceVariable

    mends.around(ops.Graph, "get_tensor_by_name", _finding_variables)
    mends.around(session._ElementFetchMapper, "__init__", _fetching_by_name)
    for kind in (BaseResourceVariable, str):
        session.register_session_run_conversion_functions(
            kind,
            lambda fetch: ([fetch], lambda values: values[0]),
            lambda feed, value: [(each, value) for each in _fed(feed)],
            _fed,
        )
    if mends.era is Era.KERAS_2_2_4:
        mends.around("keras.backend.tensorflow_backend", "Function.__init__", _reads)


def _finding_variables(find: Any, self: Any, name: str) -> Any:
    found = find(self, name)
    if found.op.type != "VarHandleOp":
        return found
    variables = (each for key in self.collections for each in self.get_collection_ref(key))
    return next((each for each in variables if getattr(each, "handle", None) is found), found)


def _named(element: Any) -> Any:
    """Return the variable that a name names, or whose handle it is; anything else as it is."""
    import tensorflow.compat.v1 as tf

    name = element.name if getattr(element, "dtype", None) is tf.resource else element
    is_name = isinstance(name, str) and name.endswith(":0")
    return tf.get_default_graph().get_tensor_by_name(name) if is_name else element


def _fetching_by_name(make: Any, self: Any, fetches: Any, *args: Any) -> None:
    make(self, [_named(each) for each in fetches], *args)


def _fed(feed: Any) -> list[Any]:
    """Return the tensors that take the value which is fed: each read of a variable."""
    feed = _named(feed)
    if not hasattr(feed, "handle"):
        return [feed]
    users = feed.handle.consumers()
    if others := {op.type for op in users if op.type in _READS_OTHERWISE}:
        raise NotImplementedError(
            f"Expected in `feed_dict` a variable that is read as a whole. Received: {feed.name}, which "
            f"{sorted(others)} read. Write the value with `K.set_value` instead."
        )
    return [op.outputs[0] for op in users if op.type == "ReadVariableOp"]


def _reads(init: Any, self: Any, inputs: Any, outputs: Any, *args: Any, **options: Any) -> None:
    """Let a function return the value of a variable: Keras 2.2.4 fetches by names."""
    import tensorflow.compat.v1 as tf

    if isinstance(outputs, (list, tuple)):
        variables = (tf.Variable,)
        outputs = [each.graph.as_graph_element(each) if isinstance(each, variables) else each for each in outputs]
    init(self, inputs, outputs, *args, **options)
