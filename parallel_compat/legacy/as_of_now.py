"""Functions with what they read as it was when a graph was built from them.

A graph called the function of a Lambda layer, a loss or a metric once: `Lambda(lambda x: x[:, i])` in a loop read the
`i` of its turn, and a name that the script binds to something else later had not changed. Keras 3 calls it in each
pass, when `i` is that of the last turn.
"""

from __future__ import annotations

import dis
from types import BuiltinFunctionType, CellType, CodeType, FunctionType, ModuleType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator

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
    copies = not any(_changes_what_it_holds(code) for code in codes)
    kept = {name: _value(value, module, done, of_modules, copies) for name, value in held.items()}
    cells = [_cell(each, module, done, of_modules, copies) for each in function.__closure__ or ()]
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
    cell: CellType, module: dict[str, Any], done: dict[int, Any], of_modules: dict[int, _Globals], copies: bool
) -> CellType:
    try:
        value = cell.cell_contents
    except ValueError:  # not bound yet
        return cell
    return CellType(_value(value, module, done, of_modules, copies))


def _value(
    value: Any, module: dict[str, Any], done: dict[int, Any], of_modules: dict[int, _Globals], copies: bool
) -> Any:
    if type(value) in (list, dict, set):
        return value.copy() if copies else value
    if isinstance(value, FunctionType) and value.__globals__ is module:
        return _fixed(value, done, of_modules)
    return value


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
