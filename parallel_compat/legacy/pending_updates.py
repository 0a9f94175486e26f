"""Assignments in a user's layer, loss or metric, which a graph carried out only where something asked for them.

What assigned was an operation like any other. It ran where `add_update` had been given it, where something was computed
from what it returned, or behind `tf.control_dependencies`, and else never; and what `call` read of the variable beside
it was, as a rule, what it had been before.
"""

from __future__ import annotations

import contextlib
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import keras
import tensorflow as tf

from parallel_compat.backend.keras3 import call_context
from parallel_compat.context_variables import set_within
from parallel_compat.legacy import execution
from parallel_compat.run import object_eras

if TYPE_CHECKING:
    from collections.abc import Iterator


@dataclass(eq=False)
class _Pending:
    """An assignment to come.

    Attributes:
        variable: the variable.
        value: what it is assigned, or what is added or subtracted.
        method: "assign", "assign_add" or "assign_sub".
        tensor: what code got for it, or None.
        asked: whether something wants it to be carried out.
    """

    variable: Any
    value: Any
    method: str = "assign"
    tensor: Any = None
    asked: bool = False

    def carry_out(self) -> None:
        getattr(self.variable, self.method)(self.value)


@dataclass(eq=False)
class _Call:
    """A call in progress.

    Attributes:
        owner: the layer that is called, or the model whose step is traced.
        graph: what the call is traced in, or None where it computes at once or on symbolic tensors.
        symbolic: whether it is called on symbolic tensors: what it is traced in, for its shapes, is never run.
        pending: the assignments to come.
    """

    owner: Any
    graph: Any
    symbolic: bool
    pending: list[_Pending] = field(default_factory=list)


_call: ContextVar[_Call | None] = ContextVar("call", default=None)


@contextlib.contextmanager
def assigned_after(owner: Any, symbolic: bool = False) -> Iterator[list[Any]]:
    """Carry out what a call of a user's layer, or a step of a model, asked for as it ends.

    Keras 2 assigned after the outputs. What losses, metrics and functions of `Lambda` assign belongs to the step.

    Args:
        owner: the layer or model.
        symbolic: whether it is called on symbolic tensors.

    Yields:
        a list for what the call returns.
    """
    outputs: list[Any] = []
    call = _Call(owner, call_context.traced_graph(), symbolic)
    with set_within(_call, call):
        yield outputs
    if not call.pending:
        return
    given = {id(each) for each in keras.tree.flatten(outputs)}
    for each in call.pending:
        used = each.tensor is not None and (each.tensor.consumers() or id(each.tensor) in given)
        if each.asked or used:
            each.carry_out()


@contextlib.contextmanager
def never_carried_out() -> Iterator[None]:
    """Let what is assigned within the block be operations of a graph that nothing ran."""
    call = _call.get()
    if call is None:
        yield
        return
    with set_within(_call, _Call(call.owner, call.graph, call.symbolic)):
        yield


def _in_progress() -> _Call | None:
    call = _call.get()
    return call if call is not None and call.graph is call_context.traced_graph() else None


def is_traced() -> bool:
    """Say whether the call in progress is traced on tensors, to be run, and not on symbolic ones for its shapes."""
    call = _call.get()
    return call is not None and call.graph is not None


def assign_after(variable: Any, value: Any) -> None:
    """Assign to a variable as the call in progress ends, or at once where there is none."""
    value, call = tf.cast(value, variable.dtype), _in_progress()
    if call is None:
        variable.assign(value)
    else:
        call.pending.append(_Pending(variable, value, asked=True))


def waiting(variable: Any, value: Any, method: str) -> Any:
    """Return what a variable will be, to be assigned as the call in progress ends if something asks for it.

    Args:
        variable: the variable, or an average that says what it will be (`after`).
        value: a tensor.
        method: "assign", "assign_add" or "assign_sub".

    Returns:
        a tensor, with the gradient of the variable; None where no call of a layer of graph code is traced.
    """
    call, graph = _call.get(), call_context.traced_graph()
    traced = call is not None and graph is not None and (call.symbolic or call.graph is graph)
    if call is None or not traced or not execution.computes_in_graphs(object_eras.era_of_object(call.owner)):
        return None
    value = tf.cast(value, variable.dtype)
    if hasattr(variable, "after"):
        tensor = tf.stop_gradient(variable.after(value))
    else:
        now = tf.convert_to_tensor(variable)
        after = value if method == "assign" else now + value if method == "assign_add" else now - value
        # Computed of what it is assigned, with no gradient but that of the variable itself.
        tensor = tf.stop_gradient(after)
        if getattr(variable, "trainable", False):
            tensor += now - tf.stop_gradient(now)
        else:
            tensor = tf.identity(tensor)
    if not call.symbolic:
        call.pending.append(_Pending(variable, value, method, tensor))
    return tensor


def ask_for(update: Any) -> bool:
    """Let an assignment that waits be carried out as the call in progress ends, and say whether there is one.

    Args:
        update: what the assignment returned, or `tf.group` of several.
    """
    found = _behind(update)
    for each in found:
        each.asked = True
        if hasattr(each.variable, "after"):  # what followed read the average with the batch in it, as a rule
            _carry_out_now(each)
    return bool(found)


def _carry_out_now(pending: _Pending) -> None:
    call = _in_progress()
    assert call is not None, "nothing is found outside of a call"
    pending.carry_out()
    call.pending.remove(pending)


def carry_out(updates: Any) -> None:
    """Carry out the assignments that wait among what `tf.control_dependencies` is given: what follows reads them."""
    for each in keras.tree.flatten(updates):
        for pending in _behind(each):
            _carry_out_now(pending)


def _behind(update: Any) -> list[_Pending]:
    call = _in_progress()
    if call is None or not any(each.tensor is not None for each in call.pending):
        return []
    operations = {getattr(update, "op", update)}
    for each in list(operations):
        if isinstance(each, tf.Operation) and each.type == "NoOp":  # of a group
            operations.update(each.control_inputs)
    return [each for each in call.pending if each.tensor is not None and each.tensor.op in operations]
