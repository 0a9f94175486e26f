"""The values that symbolic tensors have in one pass of a model. Read in Keras 3.15.1.

In TensorFlow 1 a loss, a gradient or a function of the backend could use any tensor of the graph, and got its value of
the pass that was running. Here a functional model's pass remembers what each of its symbolic tensors was
(`recorded`), and code that runs `with values.used()` finds these values wherever it uses a symbolic tensor.
"""

from __future__ import annotations

import contextlib
import threading
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any

import keras
from keras.src.models import functional
from keras.src.ops.function import Function
from keras.src.ops.node import Node
from keras.src.ops.numpy import Multiply
from keras.src.ops.operation import Operation

from parallel_compat.backend.keras3 import call_context, numbers_of_variables
from parallel_compat.backend.keras3.call_context import PHASE, Phase, in_phase, phase_of_call
from parallel_compat.context_variables import set_within

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

_used: ContextVar[Values | None] = ContextVar("used", default=None)
_recorded: ContextVar[Values | None] = ContextVar("recorded", default=None)
_computed: ContextVar[Values | None] = ContextVar("computed", default=None)


class NotComputedError(TypeError):
    """A symbolic tensor depends on an input that has no value in this pass."""


class Values:
    """Values of symbolic tensors: those that are known, and what the layers make of them.

    >>> import keras, tensorflow as tf
    >>> x = keras.Input((2,)); y = keras.ops.square(x)
    >>> Values([(x, tf.constant([[3.0, 1.0]]))]).of({"y": y})["y"].numpy().tolist()
    [[9.0, 1.0]]

    Args:
        known: pairs of a symbolic tensor and its value.
        training: passed to layers that have to be called.

    Attributes:
        phase: the learning phase of what is computed of a pass when it is over, where none was fed.
    """

    def __init__(self, known: Iterable[tuple[Any, Any]] = (), training: bool | int | None = None) -> None:
        self._values: dict[int, Any] = {}
        self._tensors: list[Any] = []  # whose ids the keys are: they must live
        self.training = training
        self.phase: Phase | None = None
        for tensor, value in known:
            self.put(tensor, value)

    def put(self, tensor: Any, value: Any) -> None:
        """Take note of a value."""
        self._values[id(tensor)] = value
        self._tensors.append(tensor)

    def known(self, tensor: Any) -> Any:
        """Return the value of a symbolic tensor, or None where it would have to be computed."""
        return self._values.get(id(tensor))

    def __len__(self) -> int:
        return len(self._values)

    def of(self, structure: Any) -> Any:
        """Return a structure with its symbolic tensors replaced by their values.

        Raises:
            NotComputedError: one of them depends on an input without a value.
        """
        return keras.tree.map_structure(
            lambda leaf: self._of(leaf) if isinstance(leaf, keras.KerasTensor) else leaf, structure
        )

    def _of(self, tensor: Any) -> Any:
        waiting = [tensor]
        while waiting:
            current = waiting[-1]
            if self._has(current):
                waiting.pop()
                continue
            node = node_of(current)
            if node is not None and isinstance(node.operation, _ReadVariable):
                self.put(current, node.operation.call())
                continue
            if node is None or node.is_input:
                raise NotComputedError(current.name)
            missing = [each for each in node.input_tensors if not self._has(each)]
            if missing:
                waiting += missing
                continue
            args, kwargs = node.arguments.fill_in(self._values)
            # A layer sees what it is given, and the phase that was fixed when it was called: not the last model's.
            with set_within(_used, None), set_within(_computed, self), _at(node):
                results = functional.operation_fn(node.operation, training=self.training)(*args, **kwargs)
            for output, value in zip(node.outputs, keras.tree.flatten(results), strict=True):
                self.put(output, value)
        return self._values[id(tensor)]

    def _has(self, tensor: Any) -> bool:
        return self.known(tensor) is not None

    def used(self) -> contextlib.AbstractContextManager[None]:
        """Let what is computed in this block find these values where it uses symbolic tensors."""
        return set_within(_used, self)

    def recorded(self) -> contextlib.AbstractContextManager[None]:
        """Let a functional model that is called in this block tell what its symbolic tensors were."""
        return set_within(_recorded, self)


def values_in_use() -> Values | None:
    """Return the values that symbolic tensors have here, or None where they have none."""
    return _used.get()


def values_computed() -> Values | None:
    """Return the values among which those of the operation that is called are to be, or None."""
    return _computed.get()


def node_of(tensor: Any) -> Any:
    """Return the call that made a symbolic tensor (`KerasTensor._keras_history`), or None."""
    history = getattr(tensor, "_keras_history", None)
    if history is None or history.operation is None:
        return None
    return history.operation._inbound_nodes[history.node_index]


def note_history(value: Any, tensor: Any) -> None:
    """Note on a value which call made the symbolic tensor that it is the value of."""
    value._keras_history = tensor._keras_history


@contextlib.contextmanager
def history_kept(tensor: Any) -> Iterator[None]:
    """Let an `InputLayer` on a symbolic tensor that is computed from others leave it so."""
    node, history = node_of(tensor), getattr(tensor, "_keras_history", None)
    yield
    if node is not None and not node.is_input:
        tensor._keras_history = history


class _ReadVariable(Operation):  # type: ignore[misc]  # Keras carries no types
    """Gives what a variable holds in the pass that asks, or a number that is computed of variables and draws."""

    def __init__(self, variable: Any) -> None:
        super().__init__()
        self._variable = variable

    def call(self) -> Any:
        return keras.ops.convert_to_tensor(numbers_of_variables.as_of_now(self._variable))


def tensor_of_variable(variable: Any) -> Any:
    """Return a symbolic tensor whose value is what a variable holds: computed from no input, anew in each pass.

    Args:
        variable: one of Keras's, or a number that is computed of variables and draws.
    """
    tensor = keras.KerasTensor(tuple(variable.shape), keras.backend.standardize_dtype(variable.dtype))
    Node(_ReadVariable(variable), call_args=(), call_kwargs={}, outputs=tensor)
    return tensor


def depends_on(tensor: Any, other: Any) -> bool:
    """Say whether a symbolic tensor is computed from another one, or is that one."""
    return tensor is other or any(x is other for node in _calls_behind(tensor) for x in node.input_tensors)


def layers_before(tensor: Any) -> list[keras.layers.Layer]:
    """Return the layers that a symbolic tensor was computed by."""
    found = {id(node.operation): node.operation for node in _calls_behind(tensor)}
    return [each for each in found.values() if isinstance(each, keras.layers.Layer)]


def _calls_behind(tensor: Any) -> Iterator[Any]:
    """Yield each call that a symbolic tensor was computed by, the last one first."""
    waiting, seen = [tensor], set()
    while waiting:
        node = node_of(waiting.pop())
        if node is not None and id(node) not in seen:
            seen.add(id(node))
            yield node
            waiting += node.input_tensors


def input_tensors_of(tensors: Iterable[Any]) -> list[Any]:
    """Return the inputs that symbolic tensors are computed from."""
    waiting, seen, found = list(tensors), set(), {}
    while waiting:
        current = waiting.pop()
        node = node_of(current)
        if node is not None and isinstance(node.operation, _ReadVariable):
            continue
        if node is None or node.is_input:
            found[id(current)] = current
        elif id(node) not in seen:
            seen.add(id(node))
            waiting += node.input_tensors
    return list(found.values())


class _Passes(threading.local):
    """The values of a model's last pass in each thread, and what is called with those of each pass."""

    def __init__(self, after: list[Callable[[Values], None]]) -> None:
        self.after = after
        self.values: Values | None = None


_PASSES = "_parallel_compat_passes"


def record_passes(model: keras.Model, after: Callable[[Values], None] | None = None) -> None:
    """Let each pass of a model keep the values of its symbolic tensors, for `values_of_pass`.

    Args:
        model: a functional or sequential model, or one that calls such a model.
        after: called in each pass with its values, when they are known.
    """
    passes = vars(model).get(_PASSES)
    if passes is not None:
        passes.values = None
        passes.after.extend([after] if after is not None else [])
        return
    passes = vars(model)[_PASSES] = _Passes([after] if after is not None else [])
    inner = vars(model).get("call", model.call)

    def call(inputs: Any, training: Any = None, mask: Any = None, **keywords: Any) -> Any:
        passes.values = values = Values(training=training)
        with values.recorded():
            outputs = inner(inputs, training=training, mask=mask, **keywords)
        with in_phase(values.phase) if values.phase is not None else contextlib.nullcontext():
            for each in passes.after:
                each(values)
        return outputs

    vars(model)["call"] = call  # past `__setattr__`, which would track layers


def values_of_pass(model: keras.Model) -> Values | None:
    """Return the values of the model's last pass in this thread, or None if it does not keep them."""
    passes = vars(model).get(_PASSES)
    return passes.values if passes is not None else None


def set_values_of_pass(model: keras.Model, values: Values) -> None:
    """Set what `values_of_pass` returns in this thread."""
    vars(model)[_PASSES].values = values


@contextlib.contextmanager
def as_values_of_pass(model: keras.Model, values: Values | None) -> Iterator[None]:
    """Let `values_of_pass` return these in the block, if the model keeps the values of its passes."""
    passes = vars(model).get(_PASSES)
    if passes is None:
        yield
        return
    before, passes.values = passes.values, values
    try:
        yield
    finally:
        passes.values = before


class _Fixed(int):
    """A learning phase that was fixed, which is no argument that code gave."""


_fixed: bool | None = None
_default: bool | None = None
_FIXED = "_parallel_compat_fixed_phase"  # on layers, and on the nodes of their calls
_fixed_of_node: ContextVar[int | None] = ContextVar("fixed_of_node", default=None)
# The call of a functional model's graph that runs, and those of the models around that model, the outermost first.
_node: ContextVar[Any] = ContextVar("node", default=None)
_nodes_around: ContextVar[tuple[Any, ...]] = ContextVar("nodes_around", default=())


def fix_training(training: bool | None) -> None:
    """Fix what layers that are called on symbolic tensors from here on get as `training`; None fixes nothing.

    Layers that have been called before predict as long as it is fixed.
    """
    global _fixed
    _fixed = training


def set_default_training(training: bool | None) -> None:
    """Set what layers and models that are called on values get as `training` where nobody says; None: what they do."""
    global _default
    _default = training


def call_in_phase(model: keras.Model, fixed: int) -> None:
    """Let all layers of a model be called in one phase, as those of one that was called anew while it was fixed."""
    inner = vars(model).get("call", model.call)

    def call(inputs: Any, training: Any = None, mask: Any = None, **keywords: Any) -> Any:
        with in_phase(Phase(bool(training), fixed)):
            return inner(inputs, training=_Fixed(fixed), mask=mask, **keywords)

    vars(model)["call"] = call  # past `__setattr__`, which would track layers


def of_passes(trains_unfed: Callable[[Any], bool]) -> Iterator[tuple[Any, str, Callable[[Any], Any]]]:
    """Yield where a functional model computes its outputs (`Functional.call`).

    Args:
        trains_unfed: says of a model that is called to train whether its layers are to predict all the same, because
            nothing fed the learning phase.
    """

    def wrap(original: Any) -> Any:
        def call(self: Any, inputs: Any, training: Any = None, mask: Any = None, **keywords: Any) -> Any:
            whole = is_whole(self)
            around = () if whole else (*_nodes_around.get(), _node.get())
            with set_within(_nodes_around, around), set_within(_node, None):
                decided = training is not True or _fixed is not None or phase_of_call() is not None
                if decided or not whole or not trains_unfed(self):
                    return original(self, inputs, training=training, mask=mask, **keywords)
                phase, values = Phase(True, 0), _recorded.get()
                if values is not None:  # what is computed of this pass predicts as well
                    values.training, values.phase = _Fixed(0), phase
                with in_phase(phase):
                    return original(self, inputs, training=_Fixed(0), mask=mask, **keywords)

        return call

    yield functional.Functional, "call", wrap


@contextlib.contextmanager
def _at(node: Any) -> Iterator[None]:
    """Let the operation that is called in the block be that of a node."""
    with set_within(_fixed_of_node, vars(node).get(_FIXED)), set_within(_node, node):
        yield


def place_of_call() -> tuple[tuple[Any, ...], Any]:
    """Return at which place of a model the layer is that a functional model calls.

    Returns:
        The calls (`Node`) of the models around it in the model that is called as a whole, the outermost first; and the
        layer's own. None stands for one by other code than a functional model's graph.
    """
    return _nodes_around.get(), _node.get()


@contextlib.contextmanager
def unfed(keywords: dict[str, Any]) -> Iterator[None]:
    """Let the layers of the model that is called in the block predict, though it trains: nothing feeds the phase.

    Args:
        keywords: those of the call, which are changed.
    """
    keywords["training"] = _Fixed(0)
    with in_phase(Phase(True, 0)):
        yield


def is_whole(model: keras.Model) -> bool:
    """Say whether it is the model that is called, not one that this one calls.

    A Sequential model has a functional one that it calls, a parallel model its template.
    """
    entry = call_context.outermost_layer()
    entry = getattr(entry, "template", entry)
    return entry is model or getattr(entry, "_functional", None) is model


def multiplied() -> tuple[tuple[Any, str, Callable[[Any], Any]], str]:
    """What to wrap for a product of a symbolic tensor and a number or array not to be sparse, and why."""

    def wrap_multiply(original: Any) -> Any:
        def compute_output_spec(self: Any, x1: Any, x2: Any) -> Any:
            output = original(self, x1, x2)
            if output.sparse and not any(isinstance(x, keras.KerasTensor) and x.sparse for x in (x1, x2)):
                return keras.KerasTensor(output.shape, output.dtype)  # `x * 2` is not sparse
            return output

        return compute_output_spec

    return (Multiply, "compute_output_spec", wrap_multiply), "`x * 2` of a symbolic tensor is not sparse"


def patch_points() -> Iterator[tuple[tuple[Any, str, Callable[[Any], Any]], str]]:
    """Yield where operations meet symbolic tensors and where a functional model computes its own, with the reasons.

    That is `Operation.symbolic_call` (of all but layers), `Function._run_through_graph`, and `operation_fn`, which
    passes `training` on.
    """

    def wrap_symbolic_call(original: Any) -> Any:
        def symbolic_call(self: Any, *args: Any, **kwargs: Any) -> Any:
            values = _used.get()
            if values is None:
                return original(self, *args, **kwargs)
            args, kwargs = values.of((args, kwargs))
            return self(*args, **kwargs)

        return symbolic_call

    def wrap_run(original: Any) -> Any:
        def _run_through_graph(self: Any, inputs: Any, operation_fn: Any = lambda op: op, call_fn: Any = None) -> Any:
            values = _recorded.get()
            if values is None or call_fn is not None:
                return original(self, inputs, operation_fn=operation_fn, call_fn=call_fn)
            return _run_and_record(values, self, inputs, operation_fn)

        return _run_through_graph

    def wrap_operation_fn(original: Any) -> Any:
        def operation_fn(operation: Any, **context: Any) -> Any:
            call = original(operation, **context)

            def call_as_given(*args: Any, **kwargs: Any) -> Any:
                # `Dropout(0.5)(x, training=True)` drops out whatever the model does, as in Keras 2.
                # Keras 3 notes the default of `call` as if it had been given, where it hands it on.
                alone = _keeps_default_of_training(operation)
                given = kwargs.get("training")
                if given is PHASE:  # `layer(x, training=K.learning_phase())` is told what the model does
                    given, kwargs = None, {**kwargs, "training": None}
                said = given is not None and (alone or given is not _default_of_training(operation))
                if said and not isinstance(given, _Fixed):
                    with in_phase(None), call_context.saying(given):
                        return operation(*args, **kwargs)
                if _fixed is not None and "training" in context:
                    return _call_in_phase(operation, context["training"], args, kwargs)
                if not alone:
                    return call(*args, **kwargs)
                with call_context.telling(operation, context.get("training")):
                    return operation(*args, **kwargs)

            return call_as_given

        return operation_fn

    def wrap_resolve(original: Any) -> Any:
        def _resolve_and_populate_arg(self: Any, name: str, spec: Any, context: Any, kwargs: Any) -> Any:
            if name == "training" and spec.user_arguments_dict.get(name, True) is None:
                del spec.user_arguments_dict[name]  # `layer(x, training=None)` says nothing
            if name == "training" and not (_fixed is None and _default is None):
                given = spec.user_arguments_dict
                if isinstance(spec.first_arg, keras.KerasTensor):
                    if _fixed is not None:
                        vars(self)[_FIXED] = int(_fixed)
                        if self._call_has_training_arg:
                            given.setdefault(name, _Fixed(_fixed))
                elif _default is not None and given.get(name) is None and context.get_value(name) is None:
                    context.set_value(name, _default)
            phase, given = phase_of_call(), spec.user_arguments_dict
            if name == "training" and phase is not None and self._call_has_training_arg and given.get(name) is None:
                given[name] = _Fixed(phase.fixed)  # of a layer that a layer calls; the context says that it trains
            return original(self, name, spec, context, kwargs)

        return _resolve_and_populate_arg

    def wrap_node(original: Any) -> Any:
        def __init__(self: Any, *given: Any, **keywords: Any) -> None:
            original(self, *given, **keywords)
            if _fixed is not None:
                vars(self)[_FIXED] = int(_fixed)

        return __init__

    def wrap_operation_of_node(original: Any) -> Any:
        def _get_operation_for_node(self: Any, node: Any) -> Any:
            _fixed_of_node.set(vars(node).get(_FIXED))  # of what is called next
            _node.set(node)
            return original(self, node)

        return _get_operation_for_node

    training = "the `training` that a layer was called with holds, whatever its model does"
    in_use = "a loss finds the values of symbolic tensors in the pass it is computed in"
    yield multiplied()
    yield (keras.layers.Layer, "_resolve_and_populate_arg", wrap_resolve), training
    yield (functional, "operation_fn", wrap_operation_fn), training
    yield (Node, "__init__", wrap_node), training
    yield (Function, "_get_operation_for_node", wrap_operation_of_node), training
    yield (Operation, "symbolic_call", wrap_symbolic_call), in_use
    yield (Function, "_run_through_graph", wrap_run), in_use


def _call_in_phase(operation: Any, training: Any, args: Any, kwargs: Any) -> Any:
    """Call a layer of a model's pass with what was fixed when the layer, or the model that it is in, was called."""
    around = phase_of_call()
    # Of a model in a model: a graph ran its layers anew, in the phase of that time.
    nested = isinstance(training, _Fixed)
    noted, of_node = kwargs.get("training"), _fixed_of_node.get()
    if not isinstance(noted, _Fixed):
        noted = getattr(operation, _FIXED, 0) if of_node is None else of_node
    fixed = training if nested else _Fixed(noted)
    if "training" in getattr(operation, "_call_context_args", ()) and not _keeps_default_of_training(operation):
        kwargs = {**kwargs, "training": fixed}
    with in_phase(Phase(around.trains if around is not None and nested else bool(training), fixed)):
        return operation(*args, **kwargs)


def _keeps_default_of_training(operation: Any) -> bool:
    """Say whether `call` names `training` and is not handed it: see `layers.let_inherit_training`."""
    inherits = getattr(operation, "_call_has_context_arg", {}).get("training", True)
    return not inherits and "training" in operation._call_signature.parameters


def _default_of_training(operation: Any) -> Any:
    parameter = operation._call_signature.parameters.get("training")
    return None if parameter is None or parameter.default is parameter.empty else parameter.default


def _run_and_record(values: Values, function: Any, inputs: Any, operation_fn: Any) -> Any:
    flat = keras.tree.flatten(inputs)
    # A nested model called on its own inputs computes its own symbolic tensors, as the graph of Keras 2 did; called on
    # something else, their values are none of this pass.
    own = not len(values) or all(values.known(x) is y for x, y in zip(function.inputs, flat, strict=True))
    here = values if own else Values()
    for tensor, value in zip(function.inputs, flat, strict=True):
        here.put(tensor, value)
    nodes_by_depth = function._nodes_by_depth
    for depth in sorted(nodes_by_depth, reverse=True):
        for node in nodes_by_depth[depth]:
            if not node.operation or node.is_input or any(here.known(x) is None for x in node.input_tensors):
                continue
            args, kwargs = node.arguments.fill_in(here._values)
            results = operation_fn(function._get_operation_for_node(node))(*args, **kwargs)
            for output, value in zip(node.outputs, keras.tree.flatten(results), strict=True):
                here.put(output, value)
    return keras.tree.pack_sequence_as(function._outputs_struct, [here.known(x) for x in function.outputs])


def iterator_class() -> Any:
    """Return the class of iterators over datasets outside of graphs (`iterator_ops.OwnedIterator`)."""
    from tensorflow.python.data.ops.iterator_ops import OwnedIterator

    return OwnedIterator


def variable_classes(operator: str) -> list[Any]:
    """List the classes of TensorFlow's and Keras's variables that define an operator (`variables.Variable`)."""
    import tensorflow as tf
    from keras.src.backend.common.variables import Variable
    from tensorflow.python.ops.resource_variable_ops import BaseResourceVariable, ResourceVariable

    found: list[Any] = []
    for kind in (ResourceVariable, BaseResourceVariable, tf.Variable, Variable):
        owner = next((each for each in kind.__mro__ if operator in vars(each)), None)
        if owner not in (None, object, *found):
            found.append(owner)
    return found
