"""Functions that use a model's symbolic tensors besides their arguments: what TensorFlow 1's graph allowed.

They are losses, metrics, and the functions of Lambda layers.

They cannot be computed on Keras 3. Its own error names neither the function nor the tensor, so it is given a cause.
"""

from __future__ import annotations

import functools
import inspect
from types import CodeType, FunctionType, MethodType
from typing import TYPE_CHECKING, Any

import keras

from parallel_compat.backend import keras3

if TYPE_CHECKING:
    from collections.abc import Iterator


class explained:
    """A block in which a failure is explained by the function that uses a symbolic tensor, if there is one.

    A class and no generator, so that `contextlib` is not in the traceback.

    Args:
        model: a model with its Lambda layers; `remember` knows what it was compiled with.

    Raises:
        TypeError: instead of the error of Keras or TensorFlow, from which it is raised.
    """

    def __init__(self, model: Any) -> None:
        self._model = model

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: Any, error: BaseException | None, traceback: Any) -> None:
        if not isinstance(error, (TypeError, ValueError, AttributeError, NotImplementedError)):
            return
        for function in vars(self._model).get("_parallel_compat_given_to_compile", ()):
            name = symbolic_name(function)
            if name is not None:
                raise TypeError(_sentence(function, name)) from error
        for layer in keras3.all_layers(self._model):
            sentence = sentence_on_lambda(layer) if isinstance(layer, keras.layers.Lambda) else None
            if sentence is not None:
                raise TypeError(sentence) from error


def remember(model: Any, *given: Any) -> None:
    """Remember the losses and metrics that a model is compiled with."""
    vars(model)["_parallel_compat_given_to_compile"] = tuple(
        each for each in keras.tree.flatten(given) if callable(each)
    )


def symbolic_name(function: Any) -> str | None:
    """Return the name by which a function reaches a symbolic tensor besides its arguments, or None.

    >>> inputs = keras.Input((3,))
    >>> symbolic_name(lambda y_true, y_pred: y_pred - inputs)
    'inputs'
    """
    return _search(function, set())


def sentence_on_lambda(layer: keras.layers.Lambda) -> str | None:
    """Return what to say of a Lambda layer that failed because its function uses a symbolic tensor, or None."""
    name = symbolic_name(layer.function)
    if name is None:
        return None
    return (
        f"{_where(layer.function)}the function of the Lambda layer '{layer.name}' uses the symbolic tensor `{name}` "
        "besides its arguments, which needs the graph of TensorFlow 1. Call the layer on both, and let the function "
        f"take them apart: `Lambda(lambda both: ... both[1] ...)([x, {name}])`."
    )


def _search(function: Any, seen: set[int]) -> str | None:
    if id(function) in seen:
        return None
    seen.add(id(function))
    owner = None
    if isinstance(function, functools.partial):
        held = {**{str(i): value for i, value in enumerate(function.args)}, **function.keywords}
        return _among(held, seen) or _search(function.func, seen)
    if isinstance(function, MethodType):
        owner, function = function.__self__, function.__func__
    if not isinstance(function, FunctionType):
        return None
    closure = inspect.getclosurevars(function)
    names = dict.fromkeys(_names(function.__code__))
    globals = function.__globals__
    held = {**closure.nonlocals, **{name: globals[name] for name in names if name in globals}}
    owners = [owner, *(value for value in closure.nonlocals.values() if hasattr(value, "__dict__"))]
    attributes = {
        name: value
        for each in owners
        if each is not None and not isinstance(each, (FunctionType, type, keras.Model))
        for name, value in vars(each).items()
        if name in names
    }
    return _among({**held, **attributes}, seen)


def _among(held: dict[str, Any], seen: set[int]) -> str | None:
    for name, value in held.items():
        values = value if isinstance(value, (list, tuple)) else [value]
        if any(isinstance(each, keras.KerasTensor) for each in values):
            return name
        found = next(filter(None, (_search(each, seen) for each in values if callable(each))), None)
        if found is not None:
            return found
    return None


def _names(code: CodeType) -> Iterator[str]:
    yield from code.co_names
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _names(constant)


def _sentence(function: Any, name: str) -> str:
    return (
        f"{_where(function)}`{getattr(function, '__name__', function)}` uses the symbolic tensor `{name}` besides its "
        "arguments, which needs the graph of TensorFlow 1. Make that tensor an output of the model, so that it comes "
        "as `y_pred`, or compute the loss in a layer that says `self.add_loss(loss)` in its `call`."
    )


def _where(function: Any) -> str:
    code = getattr(inspect.unwrap(getattr(function, "func", function)), "__code__", None)
    return f"{code.co_filename}:{code.co_firstlineno}: " if code is not None else ""
