"""`keras.legacy.interfaces`: what translated Keras 1's arguments, for custom layers that are decorated with it.

Read in Keras 2.2.4.
"""

from __future__ import annotations

import functools
import warnings
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from parallel_compat.warning_category import ParallelCompatWarning


def generate_legacy_interface(
    allowed_positional_args: Iterable[str] | None = None,
    conversions: Iterable[tuple[str, str]] | None = None,
    preprocessor: Callable[[Any, Any], tuple[Any, Any, Any]] | None = None,
    value_conversions: Mapping[str, Mapping[Any, Any]] | None = None,
    object_type: str = "class",
) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Return a decorator that translates the old arguments of a method or function.

    >>> translated = generate_legacy_interface(conversions=[("output_dim", "units")])
    >>> @translated
    ... def make(self, units):
    ...     return units
    >>> make(None, output_dim=3)
    3

    Args:
        allowed_positional_args: the names that may be passed by position, after the first; any if None.
        conversions: pairs of an old name and its new one.
        preprocessor: a function of the positional and the keyword arguments that returns both changed, and a list of
            what it changed.
        value_conversions: argument -> old value -> new value.
        object_type: "class" names the object's class in messages, anything else the function.

    Returns:
        The decorator.

    Raises:
        TypeError: (when called) too many arguments by position, or both names of an argument.
    """
    allowed = None if allowed_positional_args is None else list(allowed_positional_args)

    def decorate(function: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(function)
        def wrapper(self: Any, *args: Any, **keywords: Any) -> Any:
            name = type(self).__name__ if object_type == "class" else function.__name__
            changed: list[Any] = []
            args = (self, *args)
            if preprocessor is not None:
                args, keywords, changed = preprocessor(args, keywords)
            if allowed is not None and len(args) > len(allowed) + 1:
                raise TypeError(
                    f"Expected at most {len(allowed)} arguments of `{name}` by position, {tuple(allowed)}. Received: "
                    f"{list(args[1:])}. Give the others by name."
                )
            for key, values in (value_conversions or {}).items():
                if key in keywords and keywords[key] in values:
                    keywords[key] = values[keywords[key]]
            for old, new in conversions or ():
                if old in keywords:
                    if new in keywords:
                        raise_duplicate_arg_error(old, new)
                    keywords[new] = keywords.pop(old)
                    changed.append((new, old))
            if changed:
                warnings.warn(
                    f"`{name}` is given arguments of Keras 1. Those of Keras 2: {', '.join(sorted(keywords))}",
                    ParallelCompatWarning,
                    stacklevel=2,
                )
            return function(*args, **keywords)

        # Keras 3 reads the arguments of a layer's `__init__` once through `__wrapped__` and once not, and stops where
        # they are not the same.
        del wrapper.__wrapped__
        return wrapper

    return decorate


generate_legacy_method_interface = functools.partial(generate_legacy_interface, object_type="method")


def legacy_get_updates_support(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return the method `get_updates`, which took Keras 1's `constraints` as well."""
    return function


def raise_duplicate_arg_error(old_arg: str, new_arg: str) -> None:
    """Refuse an argument that is given by both its names.

    Args:
        old_arg: Keras 1's name.
        new_arg: Keras 2's name.

    Raises:
        TypeError: always.
    """
    raise TypeError(f"Expected one of `{old_arg}` and `{new_arg}`, which mean the same. Received: both.")


def recurrent_args_preprocessor(args: Any, kwargs: dict[str, Any]) -> tuple[Any, dict[str, Any], list[Any]]:
    """Translate what recurrent layers were given in Keras 1: `forget_bias_init`, `input_dim` and `input_length`.

    >>> recurrent_args_preprocessor((), {"input_dim": 3, "input_length": 5})
    ((), {'input_shape': (5, 3)}, [('input_dim', 'input_shape')])

    Args:
        args: the positional arguments.
        kwargs: those by name, which are changed.

    Returns:
        Both, and pairs of what was changed.
    """
    converted = []
    if "forget_bias_init" in kwargs:
        given = kwargs.pop("forget_bias_init")
        if given == "one":
            kwargs["unit_forget_bias"] = True
            converted.append(("forget_bias_init", "unit_forget_bias"))
        else:
            warnings.warn(
                f"`forget_bias_init={given!r}` is left out, as in Keras 2: use `unit_forget_bias`.",
                ParallelCompatWarning,
                stacklevel=3,
            )
    if "input_dim" in kwargs:
        kwargs["input_shape"] = (kwargs.pop("input_length", None), kwargs.pop("input_dim"))
        converted.append(("input_dim", "input_shape"))
    return args, kwargs, converted
