"""Old arguments of functions: renamed ones, ones without effect, and those that were passed by position."""

from __future__ import annotations

import functools
import inspect
import sys
from typing import TYPE_CHECKING, Any

from parallel_compat.packages.notes import note

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    # The new name, None for an argument that is dropped, or a function of all options and the value.
    Change = str | None | Callable[[dict[str, Any], Any], None]


def around(owner: Any, name: str, function: Callable[..., Any]) -> None:
    """Let `function` answer calls of a function or method; it gets that one first, and then the arguments."""
    setattr(owner, name, wrapped(getattr(owner, name), function))


def wrapped(original: Any, function: Callable[..., Any]) -> Any:
    """Return a function that calls `function(original, ...)`, with the name and signature of `original`."""

    @functools.wraps(original)
    def called(*args: Any, **options: Any) -> Any:
        return function(original, *args, **options)

    return called


def accept(
    owner: Any, function: str, *, order: Sequence[str] = (), agreeing: int | None = None, **gone: Change
) -> None:
    """Let a function accept its old arguments; a function that still does is unchanged.

    Args:
        order: the parameters that were passed by position, and are by name alone today; without `self`.
        agreeing: how many of them have the same place today; all that have one if it is not given.
    """
    original = getattr(owner, function, None)
    if original is not None:
        where = f"{owner.__name__}.{function}".removesuffix(".__init__")
        accepts = accepting(original, where, gone, order=order, agreeing=agreeing, is_method=inspect.isclass(owner))
        if accepts is not original:
            setattr(owner, function, accepts)


def accepting(
    original: Any,
    where: str,
    gone: Mapping[str, Change],
    *,
    order: Sequence[str] = (),
    agreeing: int | None = None,
    is_method: bool = False,
) -> Any:
    """Return a function that accepts the old arguments of `original`; `original` itself if it still does.

    Args:
        where: its name in the report.
        is_method: whether its first parameter is `self`.
    """
    known = parameters(original)
    if known is None:
        return original
    positional = agreeing
    if positional is None:
        positional = sum(each.kind <= inspect.Parameter.POSITIONAL_OR_KEYWORD for each in known.values()) - is_method
    missing = {name: change for name, change in gone.items() if name not in known}
    if any(each.kind is inspect.Parameter.VAR_POSITIONAL for each in known.values()) or len(order) <= positional:
        order = ()
    if not missing and not order:
        return original
    most = positional + is_method

    def called(original: Any, *args: Any, **options: Any) -> Any:
        if most < len(args) <= len(order) + is_method:  # of more, the function itself says that they are too many
            note(f"{where}({', '.join(order[positional : len(args) - is_method])})", "passed by position, as before")
            options.update(zip(order[positional:], args[most:], strict=False))
            args = args[:most]
        for name in missing.keys() & options.keys():
            change = missing[name]
            value = options.pop(name)
            note(f"{where}({name}=)", f"it is {change}= today" if isinstance(change, str) else "as before")
            if isinstance(change, str):
                options.setdefault(change, value)
            elif change is not None:
                change(options, value)
        return original(*args, **options)

    return wrapped(original, called)


def default(owner: Any, function: str, **values: Any) -> None:
    """Give the user's code an older default if it passes no value."""
    known = parameters(getattr(owner, function, None))
    if known is None:
        return
    values = {name: value for name, value in values.items() if name in known and known[name].default != value}
    names = list(known)
    where = f"{owner.__name__}.{function}".removesuffix(".__init__")

    def called(original: Any, *args: Any, **options: Any) -> Any:
        passed = {*names[: len(args)], *options}
        defaults = {name: value for name, value in values.items() if name not in passed}
        if defaults and called_by_user():
            for name, value in defaults.items():
                note(f"{where}({name}={value!r})", "the old default")
            options.update(defaults)
        return original(*args, **options)

    if values:
        around(owner, function, called)


def member(owners: Iterable[type], **members: Any) -> None:
    """Give classes the methods and properties that they lack."""
    for owner in owners:
        for name, value in members.items():
            if not hasattr(owner, name):
                noting = functools.partial(_note_and_call, f"{owner.__name__}.{name}")
                is_property = isinstance(value, property)
                setattr(owner, name, property(wrapped(value.fget, noting)) if is_property else wrapped(value, noting))


def _note_and_call(what: str, function: Callable[..., Any], *args: Any, **options: Any) -> Any:
    note(what, "as before")
    return function(*args, **options)


def parameters(function: Any) -> dict[str, inspect.Parameter] | None:
    """Return a function's parameters; None if it is not there, or in C."""
    try:
        return dict(inspect.signature(function).parameters)
    except (TypeError, ValueError):
        return None


def called_by_user() -> bool:
    """Return whether the user's code called the function that calls this one."""
    from parallel_compat.run import users_code

    frame = sys._getframe(1)
    while frame.f_back is not None and str(frame.f_globals.get("__name__")).startswith("parallel_compat.packages."):
        frame = frame.f_back
    return users_code.is_users(frame)
