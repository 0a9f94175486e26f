"""A variable can begin with the value of another one that is not initialized yet.

TensorFlow 1's variables did so; its resource variables, which Keras has here, read the other one too early.
"""

from __future__ import annotations

from typing import Any

from parallel_compat.originals.mends.register import Register


def apply(mends: Register) -> None:
    """Let a variable have its initialized value, and a read in an initial value be that."""
    import tensorflow.compat.v1 as tf
    from tensorflow.python.ops import resource_variable_ops, variables

    def initialized_value(_: Any, self: Any) -> Any:
        with tf.init_scope():
            return tf.cond(tf.is_variable_initialized(self), self.read_value, lambda: self.initial_value)

    def looks_at_reads(safe: Any, name: Any, op: Any, op_cache: Any) -> Any:
        if op.type != "ReadVariableOp":
            return safe(name, op, op_cache)
        value = variables._find_initialized_value_for_variable(op.inputs[0].op)
        return op if value is None else value.op

    mends.around(resource_variable_ops.BaseResourceVariable, "initialized_value", initialized_value)
    if mends.is_tensorflow_1:
        mends.around(variables, "_safe_initial_value_from_op", looks_at_reads)
