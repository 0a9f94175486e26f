"""Arguments and methods that numpy had in 2018; `np.load` reads pickled objects in files of the project itself."""

from __future__ import annotations

import os
import sys
import warnings
from collections.abc import Callable
from typing import Any

from parallel_compat.names.eras import Era
from parallel_compat.originals.mends.register import Register
from parallel_compat.originals.settings import Settings
from parallel_compat.packages import c_types
from parallel_compat.packages.arguments import around, called_by_user
from parallel_compat.packages.notes import note

_MENDS = Register(Settings(Era.KERAS_2_2_4))  # they are those of each era


def _change(module: Any) -> None:
    from parallel_compat.originals.mends import numpy as mends  # which imports numpy: it is loaded now

    _MENDS.once(module, mends.mend)
    around(module, "load", _load)
    for name in ("linspace", "logspace", "geomspace"):
        around(module, name, _take_float)
    for name in ("concatenate", "stack", "hstack", "vstack", "dstack", "column_stack", "sum"):
        around(module, name, _take_iterators)
    around(module, "meshgrid", _meshgrid)
    around(module, "set_printoptions", _set_printoptions)
    _mend_arrays(module)


def _load(original: Any, file: Any, mmap_mode: Any = None, allow_pickle: Any = None, *args: Any, **options: Any) -> Any:
    if allow_pickle is None:
        allow_pickle = _is_of_project(file) and called_by_user()
        if allow_pickle:
            note("numpy.load", "pickled objects are read, too, for files of the project itself")
    return original(file, mmap_mode, allow_pickle, *args, **options)


def _meshgrid(original: Any, *args: Any, **options: Any) -> list[Any]:
    if called_by_user():
        note("numpy.meshgrid", "a list of arrays, as before numpy 2")
    return list(original(*args, **options))


def _set_printoptions(original: Any, *args: Any, **options: Any) -> None:
    if options.get("threshold") is not None and options["threshold"] != options["threshold"]:
        note("numpy.set_printoptions(threshold=nan)", "sys.maxsize: print all")
        options["threshold"] = sys.maxsize
    original(*args, **options)


def _take_float(original: Any, start: Any, stop: Any, num: Any = 50, *args: Any, **options: Any) -> Any:
    """Let the number of steps be a float, as before numpy 1.18."""
    if isinstance(num, float):
        note(f"numpy.{original.__name__}(num=float)", "a whole number of steps")
    return original(start, stop, int(num), *args, **options)


def _take_iterators(original: Any, arrays: Any, *args: Any, **options: Any) -> Any:
    """Accept arrays from a generator or `map`, as before numpy 1.24."""
    if not hasattr(arrays, "__getitem__") and hasattr(arrays, "__iter__"):
        note(f"numpy.{original.__name__}", "of a generator, too")
        arrays = list(arrays)
    return original(arrays, *args, **options)


def _mend_arrays(module: Any) -> None:
    """Let an array of one number be a number, and an empty one be false, as before numpy 2.2 and 2.4."""
    array = module.ndarray
    to_float, to_int, to_bool = array.__float__, array.__int__, array.__bool__

    def one(self: Any) -> Any:
        return module.asarray(self).reshape(()) if self.size == 1 else self

    had = {
        "itemset": _set_item,
        "newbyteorder": lambda self, new_order="S": self.view(self.dtype.newbyteorder(new_order)),
        "ptp": lambda self, *args, **options: module.ptp(self, *args, **options),
        "tostring": lambda self, order="C": self.tobytes(order),
    }
    members: dict[str, Any] = {name: value for name, value in had.items() if not hasattr(array, name)}
    if not _works(lambda: float(module.ones((1, 1)))):
        members.update(__float__=lambda self: to_float(one(self)), __int__=lambda self: to_int(one(self)))
    if not _works(lambda: bool(module.ones(0))):
        members["__bool__"] = lambda self: self.size > 0 and to_bool(self)
    c_types.give(array, **members)


def _set_item(array: Any, *index_and_value: Any) -> None:
    *index, value = index_and_value
    if len(index) == 1 and not isinstance(index[0], tuple):
        array.flat[index[0]] = value  # one number counts through all axes
    else:
        array[index[0] if len(index) == 1 else tuple(index) or (0,) * array.ndim] = value


def _works(call: Callable[[], Any]) -> bool:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        try:
            call()
        except (TypeError, ValueError):
            return False
    return True


def _is_of_project(file: Any) -> bool:
    """Return whether a file lies below the script's folder or the current one."""
    from parallel_compat.run import users_code

    if not isinstance(file, str | os.PathLike):
        return False
    script = users_code.main_script()
    folders = [os.getcwd(), *([os.path.dirname(script)] if script else [])]
    path = os.path.realpath(os.fspath(file))
    return any(path.startswith(os.path.join(os.path.realpath(folder), "")) for folder in folders)


CHANGES: dict[str, Callable[[Any], None]] = {"numpy": _change}
