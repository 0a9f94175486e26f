"""Layers that repeat a TensorFlow operation on Keras tensors, such as `tf.concat`.

In TensorFlow 1.15 their inputs were a list where the operation has a list; today TensorFlow finds them itself. With
eager execution their names were those of the graph of layers (`tf_op_layer_add`, not `tf_op_layer_AddV2`): saved
weights have them. In TensorFlow 2.2 they are those of the operations, and `tf.add` made another one than `+`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from parallel_compat.originals.mends.register import Register


def apply(mends: Register) -> None:
    if mends.is_tensorflow_1:
        from tensorflow.python.framework import ops

        mends.edit("tensorflow.python.keras.engine.base_layer", "'N' in node_def.attr", "False")
        mends.around(ops, "name_scope", _of_graph_tensors)
        return
    import tensorflow
    from tensorflow.python.ops import math_ops

    for module in (tensorflow, tensorflow.math, tensorflow.compat.v1, tensorflow.compat.v1.math, math_ops):
        mends.around(module, "add", _of_dense_tensors, shown=True)


def _of_dense_tensors(of_today: Callable[..., Any], x: Any, y: Any, name: str | None = None) -> Any:
    from tensorflow.python.framework import composite_tensor
    from tensorflow.python.ops import gen_math_ops

    is_dense = not any(isinstance(each, composite_tensor.CompositeTensor) for each in (x, y))
    return (gen_math_ops.add if is_dense else of_today)(x, y, name=name)


def _of_graph_tensors(
    of_today: Callable[..., Any], name: Any, default_name: Any = None, values: Any = None, skip_on_eager: bool = True
) -> Any:
    from tensorflow.python.eager import context

    if values and context.executing_eagerly():
        graph = next((value.graph for value in values if hasattr(value, "graph")), None)
        if graph is not None:
            return graph.name_scope(default_name if name is None else name)
    return of_today(name, default_name, values, skip_on_eager)
