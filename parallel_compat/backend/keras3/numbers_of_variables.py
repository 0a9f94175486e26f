"""What code of a graph computes of variables outside of a step: `1. - weight`, `K.switch(K.equal(count % 3, 0), ...)`.

In a graph it was a tensor, computed anew in each step that used it. Here it is a number at once. How it was computed is
noted on it: a function that is traced computes it again where it uses it, with what the variables hold in that step,
and so does whoever asks for its value now. What draws (`K.random_normal((3,))`) was an operation of the graph, too: it
is drawn anew in each step. Read in TensorFlow 2.21: all operations on numbers come by
`TFE_Py_FastPathExecute`, or by `execute` where that cannot read an argument; variables are read by `_read_variable_op`;
a number comes into a graph by `FuncGraph.capture`. A variable of Keras 3.15.1 makes one of TensorFlow in `_initialize`.
"""

from __future__ import annotations

import functools
import sys
import weakref
from typing import TYPE_CHECKING, Any, NamedTuple

import keras
import tensorflow as tf
from keras.src.backend import Variable as _KerasVariable
from tensorflow.python import pywrap_tfe
from tensorflow.python.eager import execute
from tensorflow.python.framework import op_def_library, op_def_registry
from tensorflow.python.framework.func_graph import FuncGraph
from tensorflow.python.framework.ops import EagerTensor
from tensorflow.python.ops.control_flow_v2_func_graphs import (
    CondBranchFuncGraph,
    WhileBodyFuncGraph,
    WhileCondFuncGraph,
)
from tensorflow.python.ops.resource_variable_ops import BaseResourceVariable

from parallel_compat.backend.keras3.layers import scopes_of_layers

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from types import FrameType

_HOW, _NOW, _OWNER = "_parallel_compat_computed_by", "_parallel_compat_now", "_parallel_compat_held_by"
_TOGETHER = "_parallel_compat_now_together"
_LOOPS = (WhileBodyFuncGraph, WhileCondFuncGraph, CondBranchFuncGraph)
_VARIABLES = (keras.Variable, tf.Variable)
# Operations that draw, of TensorFlow 1.
_DRAWING = {
    "Multinomial", "ParameterizedTruncatedNormal", "RandomGamma", "RandomPoissonV2", "RandomShuffle",
    "RandomStandardNormal", "RandomUniform", "RandomUniformInt", "TruncatedNormal",
}  # fmt: skip
# On a graph: what was drawn in it already, by what draws it.
_DRAWN = "_parallel_compat_drawn_numbers"


class _How(NamedTuple):
    """How a number was computed: as which of the results of a function."""

    function: Callable[..., Any]
    arguments: tuple[Any, ...]
    keywords: dict[str, Any]
    place: int


def is_noted(x: Any) -> bool:
    """Say whether it is noted on a number how it was computed of variables."""
    return type(x) is EagerTensor and _HOW in vars(x)


def is_drawn(x: Any) -> bool:
    """Say whether a number was drawn, or computed of one that was."""
    if isinstance(x, (list, tuple)):
        return any(map(is_drawn, x))
    if not is_noted(x):
        return False
    how: _How = getattr(x, _HOW)
    return how.function is _drawn_in_step or is_drawn((*how.arguments, *how.keywords.values()))


def is_of_variables(x: Any) -> bool:
    """Say whether something is a variable, or a number that was computed of variables, or holds one of these."""
    if isinstance(x, (list, tuple)):
        return any(map(is_of_variables, x))
    return is_noted(x) or isinstance(x, _VARIABLES)


def note(results: Any, function: Callable[..., Any], *arguments: Any, **keywords: Any) -> Any:
    """Note on numbers how they were computed.

    >>> weight = keras.Variable(2.0)
    >>> number = note(tf.add(weight, 1.0), tf.add, weight, 1.0)
    >>> _ = weight.assign(5.0)
    >>> float(number), float(as_of_now(number))
    (3.0, 6.0)

    Args:
        results: one eager tensor, or a structure of them.
        function: what computed them.
        *arguments: what it was given.
        **keywords: the same by name.

    Returns:
        `results`.
    """
    for place, each in enumerate(tf.nest.flatten(results)):
        if type(each) is EagerTensor:
            setattr(each, _HOW, _How(function, arguments, keywords, place))
    return results


def note_draw(results: Any, draw: Callable[[], Any]) -> Any:
    """Note on numbers that they were drawn: each step that uses them, and each run, draws once.

    Args:
        results: one eager tensor, or a structure of them.
        draw: draws others.

    Returns:
        `results`.
    """
    return note(results, _drawn_in_step, draw)


def _drawn_in_step(draw: Callable[[], Any]) -> Any:
    if tf.executing_eagerly():
        return draw()
    graph = tf.compat.v1.get_default_graph()
    if any(isinstance(scope.caller, keras.layers.RNN) for scope in scopes_of_layers()):
        while isinstance(graph, _LOOPS):
            graph = graph.outer_graph
    drawn: dict[Any, Any] = getattr(graph, _DRAWN, {})
    setattr(graph, _DRAWN, drawn)
    if draw not in drawn:
        with graph.as_default():
            drawn[draw] = draw()
    return drawn[draw]


def forget(x: Any) -> None:
    """Let a number be what it is: what was drawn from a seed, which is a variable, would be drawn once more."""
    if is_noted(x):
        delattr(x, _HOW)


def as_of_now(x: Any) -> Any:
    """Return a number as its variables make it now, in the graph that is being traced or eagerly; else `x` itself.

    Args:
        x: anything.
    """
    if not (is_noted(x) and tf.executing_eagerly()):
        return _again(x, {})
    # Functions that choose may use other numbers of variables, which a graph takes in as they are now.
    if _NOW not in vars(x):
        setattr(x, _NOW, tf.function(lambda: _again(x, {}), autograph=False))
    return getattr(x, _NOW)()


def together_as_of_now(values: Sequence[Any]) -> list[Any]:
    """Return what `as_of_now` gives of each of some values, which one draw may be part of."""
    noted = list(filter(is_noted, values))
    if len(noted) < 2:
        return list(map(as_of_now, values))
    kept: dict[Any, Any] = vars(noted[0]).setdefault(_TOGETHER, {})
    key = tuple(map(id, noted))
    if key not in kept:
        kept[key] = tf.function(lambda: _again(noted, {}), autograph=False)
    computed = iter(kept[key]())
    return [next(computed) if is_noted(each) else each for each in values]


def _again(x: Any, done: dict[int, Any]) -> Any:
    if isinstance(x, (list, tuple)) and not hasattr(x, "_fields"):
        return type(x)(_again(each, done) for each in x)
    if not is_noted(x):
        return x
    if id(x) not in done:
        how: _How = getattr(x, _HOW)
        arguments = [_again(each, done) for each in how.arguments]
        keywords = {name: _again(each, done) for name, each in how.keywords.items()}
        done[id(x)] = tf.convert_to_tensor(tf.nest.flatten(how.function(*arguments, **keywords))[how.place])
    return done[id(x)]


def noting(function: Callable[..., Any], asks: Callable[[FrameType], bool]) -> Callable[..., Any]:
    """Return a function that notes on its results how it computed them, if it is given what is computed of variables.

    It is for what chooses in Python between operations (`tf.cond`), of which those that were left out leave no trace.

    Args:
        function: the function.
        asks: says of a frame whether code of a graph calls from there.
    """

    @functools.wraps(function)
    def noted(*arguments: Any, **keywords: Any) -> Any:
        results = function(*arguments, **keywords)
        of_variables = any(is_of_variables(each) for each in (*arguments, *keywords.values()))
        if not (tf.executing_eagerly() and of_variables and asks(sys._getframe(1))):
            return results
        if any(isinstance(each, tf.TensorArray) for each in tf.nest.flatten(results)):
            return results  # of a loop, which noted each operation of each pass
        # They may be numbers of the user's.
        results = tf.nest.map_structure(lambda x: x if x is None else tf.identity(x), results)
        return note(results, function, *arguments, **keywords)

    return noted


def patch_points(
    asks: Callable[[FrameType], bool], draw_of: Callable[..., Callable[[], Any] | None]
) -> Iterator[tuple[tuple[Any, str, Callable[[Any], Any]], str]]:
    """Yield where operations on numbers are noted and where graphs take numbers in, with the reasons.

    Args:
        asks: says of a frame whether code of a graph computes there.
        draw_of: returns what draws on in each step as an operation did, given its name and arguments; None where the
            operation does so itself.
    """

    def wrap_fast(original: Any) -> Any:
        def fast(of: Any, operation: str, name: str | None, *arguments: Any) -> Any:
            results = original(of, operation, name, *arguments)
            draws = operation in _DRAWING
            if (draws or any(map(is_of_variables, arguments))) and asks(sys._getframe(1)):
                given = operation, *map(_of_keras, arguments)
                if draws:
                    note_draw(results, draw_of(*given) or functools.partial(_operation_as_of_now, *given))
                else:
                    note(results, _operation, *given)
            return results

        return fast

    def wrap_slow(original: Any) -> Any:
        def slow(op_name: Any, num_outputs: int, inputs: Any, attrs: Any, *rest: Any, **keywords: Any) -> Any:
            results = original(op_name, num_outputs, inputs, attrs, *rest, **keywords)
            if any(map(is_of_variables, inputs)) and asks(sys._getframe(1)):
                note(results, _operation, *_as_given(op_name, inputs, attrs))
            return results

        return slow

    def wrap_read(original: Any) -> Any:
        @functools.wraps(original)
        def read(self: Any, *arguments: Any, **keywords: Any) -> Any:
            result = original(self, *arguments, **keywords)
            if type(result) is EagerTensor and asks(sys._getframe(1)):
                whole, read_now = _of_keras(self), original.__get__(self, type(self))
                note(result, *((read_now, *arguments) if whole is self else (tf.convert_to_tensor, whole)), **keywords)
            return result

        return read

    def wrap_part(original: Any) -> Any:
        @functools.wraps(original)
        def read_part(self: Any, indices: Any, *arguments: Any, **keywords: Any) -> Any:
            result = original(self, indices, *arguments, **keywords)
            if type(result) is EagerTensor and asks(sys._getframe(1)):
                note(result, _parts[original.__name__], _of_keras(self), indices)
            return result

        return read_part

    def wrap_initialize(original: Any) -> Any:
        @functools.wraps(original)
        def _initialize(self: Any, value: Any) -> None:
            original(self, value)
            setattr(self._value, _OWNER, weakref.ref(self))

        return _initialize

    def wrap_capture(original: Any) -> Any:
        @functools.wraps(original)
        def capture(self: Any, tensor: Any, *arguments: Any, **keywords: Any) -> Any:
            if is_noted(tensor):
                with self.as_default():
                    tensor = as_of_now(tensor)
            return original(self, tensor, *arguments, **keywords)

        return capture

    noted = "what is computed of variables, noted for the steps that use it"
    yield (pywrap_tfe, "TFE_Py_FastPathExecute", wrap_fast), noted
    yield (execute, "execute", wrap_slow), noted
    yield (BaseResourceVariable, "_read_variable_op", wrap_read), noted
    for name in _parts:
        yield (BaseResourceVariable, name, wrap_part), noted
    yield (_KerasVariable, "_initialize", wrap_initialize), "the variable of Keras that one of TensorFlow is held by"
    yield (FuncGraph, "capture", wrap_capture), "what was computed of variables, computed anew in each step"


# What reads a part of a variable.
_parts: dict[str, Callable[..., Any]] = {"sparse_read": tf.gather, "gather_nd": tf.gather_nd}


def _of_keras(x: Any) -> Any:
    """Return the variable of Keras that holds one of TensorFlow, which has another value on replicas; else `x`."""
    if isinstance(x, (list, tuple)):
        return [_of_keras(each) for each in x]
    owner = getattr(x, _OWNER, None) if isinstance(x, tf.Variable) else None
    whole = owner() if owner is not None else None
    return x if whole is None else whole


def _as_given(operation: Any, inputs: Any, attrs: Any) -> tuple[Any, ...]:
    """Return an operation with the arguments of `TFE_Py_FastPathExecute`: inputs, names of attributes and values.

    Args:
        operation: its name.
        inputs: one behind the other, those of a list too.
        attrs: names and values, also those that follow from the inputs.
    """
    name = operation.decode() if isinstance(operation, bytes) else operation
    definition = op_def_registry.get(name)
    if definition is None:  # a function that was traced
        return (name, *inputs, *attrs)
    values = dict(zip(attrs[::2], attrs[1::2], strict=True))
    waiting = iter(inputs)
    given: list[Any] = []
    for each in definition.input_arg:
        count = values[each.number_attr] if each.number_attr else None
        if each.type_list_attr:
            count = len(values[each.type_list_attr])
        given.append(next(waiting) if count is None else [next(waiting) for _ in range(count)])
    known = _known_by_inputs(definition)
    return (name, *given, *(part for pair in values.items() if pair[0] not in known for part in pair))


def _known_by_inputs(definition: Any) -> set[str]:
    inputs = definition.input_arg
    return {name for each in inputs for name in (each.type_attr, each.number_attr, each.type_list_attr) if name}


def _operation(name: str, *arguments: Any) -> Any:
    """Compute an operation as part of the graph that is being traced.

    Args:
        name: its name.
        *arguments: what `TFE_Py_FastPathExecute` was given.
    """
    arguments = tuple(map(_tensors, arguments))
    definition = op_def_registry.get(name)
    count = len(definition.input_arg)
    given = {each.name: x for each, x in zip(definition.input_arg, arguments[:count], strict=True)}
    known = _known_by_inputs(definition)
    attrs = dict(zip(arguments[count::2], arguments[count + 1 :: 2], strict=True))
    given.update((key, value) for key, value in attrs.items() if key not in known)
    *_, operation, results = op_def_library._apply_op_helper(name, **given)
    if execute.must_record_gradient():
        of_operation = tuple(x for each in definition.attr for x in (each.name, operation.get_attr(each.name)))
        execute.record_gradient(name, operation.inputs, of_operation, results)
    return results


def _operation_as_of_now(name: str, *arguments: Any) -> Any:
    """Compute an operation as part of the graph that is being traced, of what its arguments are in it."""
    return _operation(name, *(_again(list(arguments), {})))


def _tensors(x: Any) -> Any:
    if isinstance(x, list):
        return [_tensors(each) for each in x]
    return tf.convert_to_tensor(x) if isinstance(x, keras.Variable) else x
