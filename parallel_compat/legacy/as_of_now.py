"""Functions with what they read as it was when a graph was built from them.

A graph called the function of a Lambda layer, a loss or a metric once: `Lambda(lambda x: x[:, i])` in a loop read the
`i` of its turn, and a name that the script binds to something else later had not changed. Keras 3 calls it in each
pass, when `i` is that of the last turn.
"""

from __future__ import annotations

import copy
import dis
from argparse import Namespace
from types import BuiltinFunctionType, CellType, CodeType, FunctionType, MethodType, ModuleType, SimpleNamespace
from typing import TYPE_CHECKING, Any

from parallel_compat.run import callers

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

_GIVEN = "_parallel_compat_given"
_FUNCTIONS = (FunctionType, BuiltinFunctionType)
_CHANGES = {"add", "append", "clear", "discard", "extend", "insert", "pop", "remove", "setdefault", "update"}
_WRITES = {"STORE_GLOBAL", "DELETE_GLOBAL", "STORE_DEREF", "DELETE_DEREF"}


def as_of_now(function: Any) -> Any:
    """Return a function that reads names as they are bound now, or the function itself if it reads none.

    >>> n = 2
    >>> def twice(x):
    ...     return n * x
    >>> kept = as_of_now(twice)
    >>> n = 3
    >>> kept(1), twice(1)
    (2, 3)

    Args:
        function: what is no function of Python, and one that binds names of others itself, stays what it is.
    """
    if isinstance(function, MethodType):
        return _fixed_method(function)
    return _fixed(function, {}, {})


def given(function: Any) -> Any:
    """Return the function that `as_of_now` was given, or any other object itself."""
    return getattr(function, _GIVEN, function)


class _Globals(dict[str, Any]):
    """Some of a module's names as they were; the others as they are."""

    def __init__(self, module: dict[str, Any]) -> None:
        super().__init__({name: value for name, value in module.items() if name.startswith("__")})
        self._module = module

    def __missing__(self, name: str) -> Any:
        return self._module[name]

    def get(self, name: str, default: Any = None) -> Any:
        return super().get(name, self._module.get(name, default))


def _fixed_method(method: MethodType) -> Any:
    """Return a method of an object of the user's with the object's attributes as they are now."""
    function = method.__func__
    if not isinstance(function, FunctionType) or not _is_plain(method.__self__):
        return method
    if any(_may_change(code, method.__self__) or _writes(code) for code in _codes(function.__code__)):
        return method
    return MethodType(_fixed(function, {}, {}), copy.copy(method.__self__))


def _fixed(function: Any, done: dict[int, Any], of_modules: dict[int, _Globals]) -> Any:
    if not isinstance(function, FunctionType):
        return function
    if id(function) in done:
        return done[id(function)]
    done[id(function)] = function  # for one that calls itself
    codes = list(_codes(function.__code__))
    if any(_writes(code) for code in codes):
        return function
    module = function.__globals__
    names = {name for code in codes for name in code.co_names if name in module}
    held = {name: module[name] for name in names if not isinstance(module[name], (ModuleType, type))}
    kept = {name: _value(value, module, done, of_modules, codes) for name, value in held.items()}
    cells = [_cell(each, module, done, of_modules, codes) for each in function.__closure__ or ()]
    if not cells and all(kept[name] is each and isinstance(each, _FUNCTIONS) for name, each in held.items()):
        return function
    globals_then = of_modules.setdefault(id(module), _Globals(module))
    globals_then.update(kept)
    made = FunctionType(function.__code__, globals_then, function.__name__, function.__defaults__, tuple(cells))
    made.__kwdefaults__ = function.__kwdefaults__
    vars(made).update(vars(function))
    made.__qualname__, made.__module__, made.__doc__ = function.__qualname__, function.__module__, function.__doc__
    setattr(made, _GIVEN, function)
    done[id(function)] = made
    return made


def _cell(
    cell: CellType,
    module: dict[str, Any],
    done: dict[int, Any],
    of_modules: dict[int, _Globals],
    codes: Sequence[CodeType],
) -> CellType:
    try:
        value = cell.cell_contents
    except ValueError:  # not bound yet
        return cell
    return CellType(_value(value, module, done, of_modules, codes))


def _value(
    value: Any,
    module: dict[str, Any],
    done: dict[int, Any],
    of_modules: dict[int, _Globals],
    codes: Sequence[CodeType],
) -> Any:
    if type(value) in (list, dict, set):
        return value if any(_changes_what_it_holds(code) for code in codes) else value.copy()
    if isinstance(value, FunctionType) and value.__globals__ is module:
        return _fixed(value, done, of_modules)
    if _is_plain(value) and not any(_may_change(code, value) for code in codes):
        return copy.copy(value)
    return value


def _is_plain(value: Any) -> bool:
    """Whether an object holds values for the user's code alone: Keras and TensorFlow know nothing of its class."""
    kind = type(value)
    if kind in (SimpleNamespace, Namespace):
        return True
    if isinstance(value, type) or not hasattr(value, "__dict__") or hasattr(kind, "__copy__"):
        return False
    return all(callers.is_class_of_user(each) for each in kind.__mro__[:-1])


def _may_change(code: CodeType, value: Any) -> bool:
    """Whether a function may change the attributes of an object, itself or by a method: it must then be that one."""
    methods = [getattr(type(value), name, None) for name in code.co_names]
    reached = [code, *(each.__code__ for each in methods if isinstance(each, FunctionType))]
    return any(_changes_what_it_holds(inner) or "STORE_ATTR" in _opnames(inner) for inner in reached)


def _opnames(code: CodeType) -> set[str]:
    return {each.opname for each in _stores(code)}


def _writes(code: CodeType) -> bool:
    """Whether a function binds names that are not its own."""
    written = [each for each in dis.get_instructions(code) if each.opname in _WRITES]
    return any("GLOBAL" in each.opname or each.argval in code.co_freevars for each in written)


def _changes_what_it_holds(code: CodeType) -> bool:
    """Whether a function may change a list or dict that it reaches: it must then be that one."""
    return bool(_CHANGES & set(code.co_names)) or any("SUBSCR" in each.opname for each in _stores(code))


def _stores(code: CodeType) -> Iterator[dis.Instruction]:
    return (each for each in dis.get_instructions(code) if each.opname.startswith(("STORE_", "DELETE_")))


def _codes(code: CodeType) -> Iterator[CodeType]:
    yield code
    for each in code.co_consts:
        if isinstance(each, CodeType):
            yield from _codes(each)
