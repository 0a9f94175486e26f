"""A `tf.function` with an `input_signature`: methods, whatever they call their object, and what fits none.

TensorFlow takes the first argument of a function for an object, which no signature speaks of, if its name is `self`
(`function_type.add_type_constraints`). TensorFlow 2.2 took whichever came before those of the signature, and raised a
ValueError where arguments did not fit it (`_convert_inputs_to_signature`). Read in TensorFlow 2.21.
"""

from __future__ import annotations

import functools
import inspect
from typing import TYPE_CHECKING, Any

from tensorflow.python.eager.polymorphic_function import function_type_utils
from tensorflow.python.eager.polymorphic_function.polymorphic_function import Function

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

_POSITIONAL = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)


class DoesNotFitError(TypeError, ValueError):
    """Arguments do not fit an `input_signature`: a ValueError in TensorFlow 2.2, a TypeError today."""


def patch_points() -> Iterator[tuple[Any, str, Callable[[Any], Any]]]:
    """Yield where a function is made one of TensorFlow."""

    def wrap(original: Any) -> Any:
        @functools.wraps(original)
        def __init__(
            self: Any, python_function: Any, name: Any, input_signature: Any = None, *given: Any, **keywords: Any
        ) -> None:
            if input_signature is not None:
                _say_what_the_object_is(python_function, len(input_signature))
            original(self, python_function, name, input_signature, *given, **keywords)

        return __init__

    def binding(original: Any) -> Any:
        @functools.wraps(original)
        def bind_function_inputs(args: Any, kwargs: Any, function_type: Any, default_values: Any) -> Any:
            try:
                return original(args, kwargs, function_type, default_values)
            except TypeError as error:
                if all(each.type_constraint is None for each in function_type.parameters.values()):
                    raise
                raise DoesNotFitError(str(error)) from error

        return bind_function_inputs

    yield Function, "__init__", wrap
    yield function_type_utils, "bind_function_inputs", binding


def _say_what_the_object_is(function: Any, given: int) -> None:
    """Let TensorFlow read `self` for the first argument of a function of a class that takes one more than is given."""
    of_class = getattr(function, "__qualname__", "").rpartition(".")[0]
    if not inspect.isfunction(function) or not of_class or of_class.endswith("<locals>"):
        return
    signature = inspect.signature(function)
    first, *rest = signature.parameters.values()
    required = [each for each in (first, *rest) if each.kind in _POSITIONAL and each.default is each.empty]
    if first.name != "self" and len(required) == given + 1 and "self" not in signature.parameters:
        function.__signature__ = signature.replace(parameters=[first.replace(name="self"), *rest])  # type: ignore[attr-defined]
