"""Functions that use a model's symbolic tensors as well as their arguments: what TensorFlow 1's graph allowed.

Losses and metrics (`def vae_loss(x, decoded): ... z_mean ...`) get the values of these tensors in the pass whose loss
is computed. To a Lambda layer, and to a layer of the user's whose `call` reads them, they become inputs, after its own.
"""

from __future__ import annotations

import dis
import functools
import inspect
import itertools
from types import CodeType, FunctionType, MethodType
from typing import TYPE_CHECKING, Any

import keras

from parallel_compat.backend import keras3
from parallel_compat.backend.keras3.symbolic_values import NotComputedError, Values, input_tensors_of, note_history
from parallel_compat.legacy import nodes

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

_ENDS = ("input", "inputs", "output", "outputs")
# Of a call of a layer: `crf._inbound_nodes[0].input_tensors[0]`.
_OF_CALLS = frozenset(("input_tensors", "output_tensors", "input_masks", "output_masks"))


def symbolic_tensors(function: Any) -> dict[str, Any]:
    """Return the symbolic tensors that a function reaches in addition to its arguments, by the names it has for them.

    >>> inputs = keras.Input((3,))
    >>> list(symbolic_tensors(lambda y_true, y_pred: y_pred - inputs))
    ['inputs']
    """
    return dict(pair for names, held in reached(function, set()) for pair in _among(held, names))


def _reads_history(function: Any) -> bool:
    """Say whether a function asks a tensor for the layer that made it: `crf, i = y_pred._keras_history[:2]`."""
    return any("_keras_history" in names for names, _ in reached(function, set()))


def in_pass(function: Any, model: keras.Model) -> Any:
    """Return a loss or metric that finds the values of the symbolic tensors it uses, or the function if it uses none.

    Args:
        function: takes `(y_true, y_pred)`; anything else is returned as it is.
        model: the model that is compiled with it.
    """
    if not callable(function) or isinstance(function, type):
        return function
    reads_history = _reads_history(function)
    if not reads_history and not symbolic_tensors(function):
        return function

    def of_pass(*given: Any, **keywords: Any) -> Any:
        values = keras3.values_of_pass(model)
        if values is None:  # there was no pass yet: Keras makes up the structure of losses and metrics
            return keras.ops.zeros_like(keras.tree.flatten(given)[0])
        if reads_history:
            _note_history(given[1] if len(given) > 1 else keywords.get("y_pred"), model, values)
        try:
            with values.used():
                return values.of(function(*given, **keywords))
        except NotComputedError as error:
            raise TypeError(_sentence(function, str(error))) from error

    functools.update_wrapper(of_pass, function, updated=())
    of_pass.__name__ = getattr(function, "__name__", "loss")
    del vars(of_pass)["__wrapped__"]
    of_pass.of_global_batch = True  # type: ignore[attr-defined]  # for a parallel model: it needs the merged tensors
    keras3.record_passes(model)
    return of_pass


def _note_history(prediction: Any, model: keras.Model, values: Values) -> None:
    """Note on a model's output which layer made it, as it stood on each tensor of Keras 2's graphs."""
    outputs = keras.tree.flatten(model.outputs)
    made = [each for each in outputs if values.known(each) is prediction] or (outputs if len(outputs) == 1 else [])
    if made and prediction is not None:
        note_history(prediction, made[0])


def capture(layer: keras.layers.Lambda, inputs: Any) -> Any:
    """Let the symbolic tensors that a Lambda layer's function uses become inputs of the layer.

    Args:
        layer: the layer, about to be called.
        inputs: what it is called on.

    Returns:
        What it shall be called on.
    """
    function = layer.function
    if not isinstance(function, Capturing):
        found = {id(each): each for each in _of_lambda(layer)}
        if not found:
            return inputs
        function = Capturing(function, _of_inputs(found.values()), inputs)
        layer.function = function
        keras3.infer_spec_by_calling(layer)
    return function.with_captured(inputs)


class Capturing:
    """The function of a Lambda layer with the symbolic tensors it uses among its inputs.

    Args:
        function: the function.
        tensors: the symbolic tensors.
        inputs: what the layer is called on.
    """

    def __init__(self, function: Callable[..., Any], tensors: list[Any], inputs: Any) -> None:
        self.function, self.tensors = function, tensors
        self._inputs = inputs
        functools.update_wrapper(self, function, updated=())

    def with_captured(self, inputs: Any) -> list[Any]:
        """Put the captured tensors behind the layer's own inputs."""
        return [*keras.tree.flatten(inputs), *self.tensors]

    def __call__(self, inputs: Any, **keywords: Any) -> Any:
        own = inputs[: len(inputs) - len(self.tensors)]
        values = Values(zip(self.tensors, inputs[len(own) :], strict=True))
        if isinstance(keywords.get("mask"), (list, tuple)):
            keywords["mask"] = keras.tree.pack_sequence_as(self._inputs, list(keywords["mask"])[: len(own)])
        with values.used():
            return values.of(self.function(keras.tree.pack_sequence_as(self._inputs, own), **values.of(keywords)))


def capture_of_call(layer: keras.layers.Layer, inputs: Any) -> Any:
    """Let the symbolic tensors that the `call` of a user's layer reads become inputs of the layer.

    A variational autoencoder of 2017 computes its loss in such a layer, of `z_mean` and `z_log_var` of the module.

    Args:
        layer: the layer, about to be called on symbolic tensors.
        inputs: what it is called on.

    Returns:
        What it shall be called on.
    """
    if isinstance(layer, keras.Model):
        return inputs
    trimmed = vars(layer).get("call")
    if not isinstance(trimmed, _Call):
        found = {id(each): each for each in _read_by_methods(layer)}
        if not found:
            return inputs
        trimmed = _Call(layer.call, _of_inputs(found.values()), inputs)
        for name in ("build", "compute_output_shape", "compute_mask"):
            vars(layer)[name] = trimmed.of_own(getattr(layer, name))
        vars(layer)["call"] = trimmed  # past `__setattr__`, which would track layers
    return trimmed.with_captured(inputs)


def _of_inputs(tensors: Iterable[Any]) -> list[Any]:
    """Leave out those that are computed from no input: no graph leads to them, and they are computed where they are."""
    return [each for each in tensors if input_tensors_of([each])]


class _Call(Capturing):
    """The `call` of a layer with the symbolic tensors it reads among its inputs."""

    def of_own(self, method: Callable[..., Any]) -> Callable[..., Any]:
        """Return a method of the layer that sees what belongs to the inputs that the layer was called on."""

        @functools.wraps(method)
        def of_own_inputs(*given: Any, **named: Any) -> Any:
            return method(*map(self._own, given), **{name: self._own(value) for name, value in named.items()})

        return of_own_inputs

    def _own(self, values: Any) -> Any:
        flat = keras.tree.flatten(self._inputs)
        if not isinstance(values, (list, tuple)) or len(values) != len(flat) + len(self.tensors):
            return values
        if not isinstance(self._inputs, (list, tuple)):
            return values[0]
        return type(values)(values[: len(flat)])


def _read_by_methods(layer: keras.layers.Layer) -> Iterator[Any]:
    """Yield the symbolic tensors that `call`, and the methods it calls, read of their module or of the layer."""
    kind, seen, waiting = type(layer), set(), ["call"]
    while waiting:
        name = waiting.pop()
        method = getattr(kind, name, None)
        if name in seen or not isinstance(method, FunctionType):
            continue
        if (method.__module__ or "").startswith("keras."):  # None of a class that `exec` made
            continue
        seen.add(name)
        names = dict.fromkeys(names_in(method.__code__))
        waiting += names
        yield from symbolic_tensors(method).values()
        for each in names:
            if isinstance(vars(layer).get(each), keras.KerasTensor):
                yield vars(layer)[each]


def _of_lambda(layer: keras.layers.Lambda) -> Iterator[Any]:
    yield from symbolic_tensors(layer.function).values()
    for each in keras.tree.flatten(layer.arguments):
        if isinstance(each, keras.KerasTensor):
            yield each


def reached(function: Any, seen: set[int]) -> Iterator[tuple[tuple[str, ...], dict[str, Any]]]:
    """Yield for a function, and for those that it reaches, the names that it says and what it reaches by names."""
    if id(function) in seen:
        return
    seen.add(id(function))
    owner = None
    if isinstance(function, functools.partial):
        held = {**{str(i): value for i, value in enumerate(function.args)}, **function.keywords}
        yield (), held
        yield from _reached_from(held, seen)
        yield from reached(function.func, seen)
        return
    if isinstance(function, MethodType):
        owner, function = function.__self__, function.__func__
    if not isinstance(function, FunctionType):
        return
    names = dict.fromkeys(names_in(function.__code__))
    nonlocals = inspect.getclosurevars(function).nonlocals
    globals = function.__globals__
    read = _globals_read(function.__code__)
    held = {**nonlocals, **{name: globals[name] for name in read if name in globals}}
    defaults = [*(function.__defaults__ or ()), *(function.__kwdefaults__ or {}).values()]
    held.update({f"a default of {function.__name__}": value for value in defaults})
    owners = [owner, *(value for value in nonlocals.values() if hasattr(value, "__dict__"))]
    for each in owners:
        if each is not None and not isinstance(each, (FunctionType, type, keras.layers.Layer)):
            held.update({name: value for name, value in vars(each).items() if name in names})
    if isinstance(owner, keras.layers.Layer):
        held["self"] = owner
    yield tuple(names), held
    yield from _reached_from(held, seen)


def _reached_from(held: dict[str, Any], seen: set[int]) -> Iterator[tuple[tuple[str, ...], dict[str, Any]]]:
    for each in itertools.chain.from_iterable(map(_values, held.values())):
        if callable(each) and not isinstance(each, (keras.KerasTensor, keras.layers.Layer)):
            yield from reached(each, seen)


def _values(held: Any) -> list[Any]:
    if isinstance(held, dict):
        return list(held.values())
    return list(held) if isinstance(held, (list, tuple)) else [held]


def _among(held: dict[str, Any], names: tuple[str, ...]) -> Iterator[tuple[str, Any]]:
    """Yield the symbolic tensors that something held is, or has under one of the names."""
    for name, value in held.items():
        for each in _values(value):
            if isinstance(each, keras.KerasTensor):
                yield name, each
            elif isinstance(each, keras.layers.Layer):
                # `vae.output`, `model.get_layer("code").output`
                for end in _ENDS:
                    tensors = getattr(each, end, None) if end in names and keras3.was_called(each) else None
                    for tensor in keras.tree.flatten(tensors):
                        if isinstance(tensor, keras.KerasTensor):
                            yield f"{name}.{end}", tensor
                if not _OF_CALLS.isdisjoint(names):
                    for call in nodes.inbound_nodes(each):
                        yield from ((f"a call of {name}", tensor) for tensor in call.input_tensors)


def _globals_read(code: CodeType) -> Iterator[str]:
    """Yield the names of the module that a function reads, without those of attributes."""
    for instruction in dis.get_instructions(code):
        if instruction.opname in ("LOAD_GLOBAL", "LOAD_NAME"):
            yield instruction.argval
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _globals_read(constant)


def names_in(code: CodeType) -> Iterator[str]:
    """Yield the names that a function reads, of globals and of attributes, also in functions within it."""
    yield from code.co_names
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from names_in(constant)


def _sentence(function: Any, input_name: str) -> str:
    names = ", ".join(f"`{name}`" for name in symbolic_tensors(function))
    return (
        f"{_where(function)}`{getattr(function, '__name__', function)}` uses the symbolic tensors {names} as well as "
        f"its arguments, which need the input '{input_name}'. The model that is trained has no such input: make it "
        "one, or compute the loss in a layer that says `self.add_loss(loss)` in its `call`."
    )


def _where(function: Any) -> str:
    code = getattr(inspect.unwrap(getattr(function, "func", function)), "__code__", None)
    return f"{code.co_filename}:{code.co_firstlineno}: " if code is not None else ""
