"""Tensors that a layer's `build` computes of its weights: computed anew when they are read. Read in Keras 3.15.1.

`self.kernel_i = self.kernel[:, :units]` was an operation of the graph, which gave the part of the weights of the day:
the recurrent cells of Keras 2 were written so, and everybody's that were copied from them. Keras 3 runs `build` on
numbers, and what it computes stays what the weights began with. Here the operations that `build` runs are recorded
(`op_callbacks` of TensorFlow 2.21), and an attribute that depends on a weight runs them again.
"""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any, NamedTuple

import keras
import tensorflow as tf
from tensorflow.python.framework import op_callbacks, op_def_registry

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

_COMPUTED = "_parallel_compat_computed_in_build"
_READ = "ReadVariableOp"


class _Operation(NamedTuple):
    kind: str
    inputs: tuple[Any, ...]
    attributes: dict[str, Any]
    outputs: tuple[Any, ...]


def patch_points(is_in_graph: Callable[[Any], bool]) -> Iterator[tuple[Any, str, Callable[[Any], Any]]]:
    """Yield where a layer's `build` is run: (owner, attribute, a function from what stands there to what shall).

    Args:
        is_in_graph: says of a layer whether it is the user's, and `build` was run in a graph.
    """

    def wrap(original: Any) -> Any:
        make = original.__func__

        @functools.wraps(make)
        def __new__(cls: Any, *args: Any, **kwargs: Any) -> Any:
            layer = make(cls, *args, **kwargs)
            if _builds_itself(cls):
                vars(layer)["build"] = _recording(layer, layer.build, is_in_graph)
            return layer

        return staticmethod(__new__)

    yield keras.layers.Layer, "__new__", wrap


@functools.cache
def _builds_itself(kind: type) -> bool:
    owner = next(each for each in kind.__mro__ if "build" in vars(each))
    return not owner.__module__.startswith("keras.")


def _recording(layer: Any, build: Callable[..., Any], is_in_graph: Callable[[Any], bool]) -> Callable[..., Any]:
    @functools.wraps(build)
    def build_and_record(*args: Any, **kwargs: Any) -> Any:
        if not is_in_graph(layer):
            return build(*args, **kwargs)
        operations: list[_Operation] = []

        def note(kind: Any, inputs: Any, attributes: Any, outputs: Any, *_: Any, **__: Any) -> None:
            name = kind.decode() if isinstance(kind, bytes) else kind
            pairs = dict(zip(attributes[::2], attributes[1::2], strict=True))
            operations.append(_Operation(name, tuple(inputs), pairs, tuple(outputs)))

        before = dict(vars(layer))
        with tf.init_scope():  # a layer within another one is built while that one is traced
            op_callbacks.add_op_callback(note)
            try:
                result = build(*args, **kwargs)
            finally:
                op_callbacks.remove_op_callback(note)
        _keep(layer, before, operations)
        return result

    return build_and_record


def _keep(layer: Any, before: dict[str, Any], operations: list[_Operation]) -> None:
    """Let the attributes that depend on a weight be computed whenever they are read."""
    variables = {id(handle): each for each in _variables(layer) if (handle := _handle(each)) is not None}
    made: dict[int, tuple[_Operation, int]] = {}  # the tensors that depend on a weight, and what computes them
    for operation in operations:
        reads = operation.kind == _READ and id(operation.inputs[0]) in variables
        if reads or any(id(each) in made for each in operation.inputs):
            made.update((id(each), (operation, i)) for i, each in enumerate(operation.outputs))
    if not made:
        return
    for name, value in list(vars(layer).items()):
        if before.get(name) is not value and any(id(each) in made for each in _leaves(value)):
            needed: dict[int, tuple[_Operation, int]] = {}
            _collect([id(each) for each in _leaves(value)], made, needed)
            vars(layer).setdefault(_COMPUTED, {})[name] = _Computed(value, needed, variables)
            if not isinstance(vars(type(layer)).get(name), _Attribute):
                setattr(type(layer), name, _Attribute(name, getattr(type(layer), name, _Attribute)))


def _variables(layer: Any) -> list[Any]:
    own = [each for value in vars(layer).values() for each in _leaves(value)]
    return [each for each in [*layer.variables, *own] if isinstance(each, (keras.Variable, tf.Variable))]


def _handle(variable: Any) -> Any:
    return getattr(variable.value if isinstance(variable, keras.Variable) else variable, "handle", None)


def _leaves(value: Any) -> list[Any]:
    if isinstance(value, dict):
        return [leaf for each in value.values() for leaf in _leaves(each)]
    if isinstance(value, (list, tuple)):
        return [leaf for each in value for leaf in _leaves(each)]
    return [value]


def _collect(todo: list[int], made: dict[int, Any], needed: dict[int, Any]) -> None:
    while todo:
        each = todo.pop()
        if each in made and each not in needed:
            needed[each] = made[each]
            todo.extend(id(given) for given in made[each][0].inputs)


class _Computed(NamedTuple):
    """An attribute's value when it was built, the operations that it depends on, and the variables that these read."""

    value: Any
    made: dict[int, tuple[_Operation, int]]
    variables: dict[int, Any]

    def now(self) -> Any:
        """Compute it of the weights of now, in the graph of now."""
        done: dict[int, Any] = {}
        return self._structure(self.value, done)

    def _structure(self, value: Any, done: dict[int, Any]) -> Any:
        if isinstance(value, dict):
            return {key: self._structure(each, done) for key, each in value.items()}
        if isinstance(value, (list, tuple)):
            each_now = [self._structure(each, done) for each in value]
            return tuple(each_now) if isinstance(value, tuple) else each_now
        return self._tensor(value, done)

    def _tensor(self, tensor: Any, done: dict[int, Any]) -> Any:
        if id(tensor) not in self.made:
            return tensor
        operation, place = self.made[id(tensor)]
        key = id(operation)
        if key not in done:
            if operation.kind == _READ:
                done[key] = [tf.convert_to_tensor(self.variables[id(operation.inputs[0])])]
            else:
                done[key] = _run(operation, [self._tensor(each, done) for each in operation.inputs])
        return done[key][place]


def _run(operation: _Operation, inputs: list[Any]) -> list[Any]:
    """Run an operation again, on other inputs."""
    definition = op_def_registry.get(operation.kind)
    given: dict[str, Any] = {}
    inferred: set[str] = set()
    rest = iter(inputs)
    for each in definition.input_arg:
        inferred |= {each.type_attr, each.number_attr, each.type_list_attr}
        if each.type_list_attr:
            given[each.name] = list(rest)  # such an argument is the last one of the operations that have it
        elif each.number_attr:
            given[each.name] = [next(rest) for _ in range(operation.attributes[each.number_attr])]
        else:
            given[each.name] = next(rest)
    for each in definition.attr:
        if each.name in operation.attributes and each.name not in inferred:
            value = operation.attributes[each.name]
            given[each.name] = tf.as_dtype(value) if each.type == "type" else value
    outputs = getattr(tf.raw_ops, operation.kind)(**given)
    return list(outputs) if isinstance(outputs, (list, tuple)) else [outputs]


class _Attribute:
    """An attribute of a user's layer, computed where it was once computed of a weight, and as assigned elsewhere."""

    def __init__(self, name: str, default: Any) -> None:
        self.name = name
        self.default = default  # of the class; this class itself says that there is none

    def __get__(self, layer: Any, owner: Any) -> Any:
        if layer is None:
            return self
        own = vars(layer)
        computed = own.get(_COMPUTED, {}).get(self.name)
        if computed is not None:
            if own.get(self.name) is computed.value:
                return computed.now()
            del own[_COMPUTED][self.name]  # it was assigned past this
        if self.name in own:
            return own[self.name]
        if self.default is _Attribute:
            raise AttributeError(f"`{type(layer).__name__}` has no attribute `{self.name}`")
        return self.default

    def __set__(self, layer: Any, value: Any) -> None:
        vars(layer).get(_COMPUTED, {}).pop(self.name, None)
        vars(layer)[self.name] = value

    def __delete__(self, layer: Any) -> None:
        vars(layer).get(_COMPUTED, {}).pop(self.name, None)
        vars(layer).pop(self.name, None)
