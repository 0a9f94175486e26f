"""A function of Keras reads all variables before it writes one.

TensorFlow 1 ran the updates of a function side by side with all else: an optimizer's step counter was read before or
after it was counted up, weights were stepped while gradients of other layers were still computed, and of two updates of
one moving average either came last. Three runs gave three results. Here each update waits for all who read its
variable, and updates of one variable are made in the order of the list.

TensorFlow 2 ran the turns of a loop side by side, so that `recurrent_dropout` gave a mask to one step of time or to
another. Here the turns of a loop that draws go one after the other.

Seen in Keras 2.2.4, Keras 2.3.1 (on TensorFlow 1 and 2), tf.keras 1.15 and 2.2.
"""

from __future__ import annotations

import contextvars
import weakref
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from parallel_compat.names.eras import Era
from parallel_compat.originals.mends.operations import WRITES, uncounted, variable_of
from parallel_compat.originals.mends.register import Register

_DRAWS = ("Random", "TruncatedNormal", "Multinomial")
_READS = ("ReadVariableOp", "ResourceGather", "ResourceGatherNd")

# Operations that are computed from what they write, and what makes each anew.
_averages: weakref.WeakKeyDictionary[Any, Callable[[], Any]] = weakref.WeakKeyDictionary()


def apply(mends: Register) -> None:
    """Make the functions of Keras order their updates."""
    import tensorflow.compat.v1 as tf
    from tensorflow.python.ops import while_v2

    if mends.era is Era.TF_KERAS_2_2:
        mends.around(while_v2, "_build_while_op", _turn_by_turn)
        return

    def orders(init: Any, self: Any, inputs: Any, outputs: Any, updates: Any = None, *args: Any, **more: Any) -> None:
        if isinstance(updates, (list, tuple)) and isinstance(outputs, (list, tuple)):
            with uncounted(tf.get_default_graph()):
                updates = _in_order(outputs, updates)
        init(self, inputs, outputs, updates, *args, **more)

    keras, tf_keras = "keras.backend.tensorflow_backend", "tensorflow.python.keras.backend"
    if mends.era is Era.KERAS_2_2_4:
        mends.around(keras, "Function.__init__", orders)
    if mends.era is Era.KERAS_2_3:
        mends.around(keras, "moving_average_update", _kept)
    mends.around(tf_keras, "GraphExecutionFunction.__init__", orders)
    if not mends.is_tensorflow_1:
        mends.around(tf_keras, "EagerExecutionFunction.__init__", orders)
        mends.around(tf_keras, "EagerExecutionFunction.__init__", _in_graph)


def _turn_by_turn(build: Any, loop_vars: Any, cond_graph: Any, body_graph: Any, *args: Any, **options: Any) -> Any:
    if any(op.type.startswith(_DRAWS) for op in body_graph.get_operations()):
        options["parallel_iterations"] = 1
    return build(loop_vars, cond_graph, body_graph, *args, **options)


def _in_graph(init: Callable[..., None], self: Any, *args: Any, **options: Any) -> None:
    """Make a function of Keras 2.3 on TensorFlow 2 while the graph of Keras's layers is the default."""
    from tensorflow.python.keras import backend

    with backend.get_graph().as_default():
        init(self, *args, **options)


def _kept(make: Callable[..., Any], x: Any, value: Any, momentum: Any) -> Any:
    """Allow a moving average to be built again: of two of one variable, the second starts from the first."""
    update = make(x, value, momentum)
    context = contextvars.copy_context()  # of the tower
    _averages[update.op] = lambda: context.run(make, x, value, momentum).op
    return update


def _in_order(outputs: Sequence[Any], updates: Sequence[Any]) -> list[Any]:
    """Return the updates, rebuilt where possible, to run after everything that reads what they write."""
    import tensorflow.compat.v1 as tf

    if not updates:
        return []
    writes = [_write_of(update) for update in updates]
    others = [update for update, write in zip(updates, writes, strict=True) if write is None]
    values = [write.inputs[1] for write in writes if write is not None]
    before = [each for each in (_op(one) for one in (*outputs, *others, *values)) if each is not None]
    run = _ancestors(before)
    ordered: list[Any] = []
    _put_in_order(others)
    last: dict[Any, Any] = {}
    barrier: Any = None
    for update, write in zip(updates, writes, strict=True):
        if write is None or write in run:
            ordered.append(update)
            continue
        handle = write.inputs[0]
        waits = _readers(handle, run)
        if waits is None:  # a loop or a condition reads it: all is computed first
            if barrier is None:
                with tf.control_dependencies(before):
                    barrier = tf.no_op()
            waits = [barrier]
        if handle.op in last:
            waits.append(last[handle.op])
        with tf.control_dependencies(waits):
            last[handle.op] = _averages[write]() if handle.op in last and write in _averages else _again(write)
        ordered.append(last[handle.op])
    return ordered


def _write_of(update: Any) -> Any:
    """Return the operation of an update that only writes a variable; None for any other."""
    import tensorflow.compat.v1 as tf

    if isinstance(update, tuple):
        with tf.control_dependencies(None):
            update = tf.assign(*update)
    op = _op(update)
    if op is None or op.type not in WRITES or op._get_control_flow_context() is not None:
        return None
    return op


def _put_in_order(updates: Iterable[Any]) -> None:
    """Let what a condition writes, as tf.keras's moving averages, go on from what was written before."""
    last: dict[Any, Any] = {}
    for op in {op: None for op in map(_op, updates) if op is not None and op.type == "Merge"}:
        inside = [each for each in _ancestors([op]) if each._get_control_flow_context() is not None]
        writes = [each for each in inside if each.type in WRITES]
        for write in writes:
            handle, context = variable_of(write), write._get_control_flow_context()
            if handle not in last:
                continue
            before = _ancestors([last[handle]])  # has the read where a function made before has the other order
            for read in inside:
                is_own = read.type in _READS and read._get_control_flow_context() is context
                if is_own and variable_of(read) is handle and read not in before:
                    read._add_control_input(last[handle])
        last.update((variable_of(write), op) for write in writes)


def _op(one: Any) -> Any:
    import tensorflow.compat.v1 as tf

    return one if isinstance(one, tf.Operation) else getattr(one, "op", None)


def _ancestors(ops: Iterable[Any]) -> set[Any]:
    found, to_do = set(), list(ops)
    while to_do:
        op = to_do.pop()
        if op not in found:
            found.add(op)
            to_do.extend(tensor.op for tensor in op.inputs)
            to_do.extend(op.control_inputs)
    return found


def _readers(handle: Any, run: set[Any]) -> list[Any] | None:
    """Return the operations that read a variable and nothing else; None if a loop or a condition reads it."""
    readers = [op for op in handle.consumers() if op in run and op.type != "VarIsInitializedOp"]
    if all(op.type in _READS and op._get_control_flow_context() is None for op in readers):
        return readers
    return None


def _again(write: Any) -> Any:
    """Return a copy of an operation, which waits for what the block says."""
    import tensorflow.compat.v1 as tf
    from tensorflow.python.framework import ops

    with tf.control_dependencies(write.control_inputs), ops.name_scope(None), ops.device(write.device):
        return write.graph.create_op(
            write.type,
            list(write.inputs),
            [],
            name=write.name,
            attrs={name: write.node_def.attr[name] for name in write.node_def.attr if name != "_class"},
        )
