"""`func_dump` and `func_load` of `keras.utils.generic_utils`: functions as bytecode of the Python that runs."""

from __future__ import annotations

import base64
import marshal
import types
from typing import Any

from parallel_compat.backend.keras3 import h5_files
from parallel_compat.run import environment

_dumped: set[str] = set()  # what this process wrote itself


def func_dump(func: Any) -> tuple[str, tuple[Any, ...] | None, tuple[Any, ...] | None]:
    """Return a function's bytecode as text, its defaults, and the values in its closure.

    >>> double = func_load(*func_dump(lambda x, by=2: x * by))
    >>> double(21)
    42

    Args:
        func: a Python function.
    """
    code = base64.encodebytes(marshal.dumps(func.__code__)).decode("ascii")
    closure = tuple(cell.cell_contents for cell in func.__closure__) if func.__closure__ else None
    _dumped.add(code)
    return code, func.__defaults__, closure


def was_dumped(code: Any) -> bool:
    """Say whether this is bytecode that this process wrote itself.

    Args:
        code: the bytecode as text.
    """
    return code in _dumped


def func_load(code: Any, defaults: Any = None, closure: Any = None, globs: dict[str, Any] | None = None) -> Any:
    """Make a function of what `func_dump` returned.

    Args:
        code: the bytecode, or all three in a tuple or list.
        defaults: the defaults.
        closure: the values in the closure.
        globs: the names that the function sees; default: those of `keras.backend` as `K`, and numpy as `np`.

    Raises:
        ValueError: the bytecode is not this process's own and running such was not allowed, or is of another Python.
    """
    if isinstance(code, (tuple, list)):
        code, defaults, closure = code
    if not was_dumped(code) and h5_files.is_safe_mode() and not environment.allows_lambdas():
        raise ValueError(
            "Expected a function that this process dumped. Received: bytecode from elsewhere, which could do anything. "
            "If you trust where it is from: `parallel-compat run --allow-lambdas`, or "
            "`keras.config.enable_unsafe_deserialization()`."
        )
    return made_of(code, defaults, closure, names_in_keras_2() if globs is None else globs)


def made_of(code: str, defaults: Any, closure: Any, globs: dict[str, Any]) -> Any:
    """Make a function of bytecode, wherever that is from.

    Args:
        code: the bytecode as text.
        defaults: the defaults.
        closure: the values in the closure.
        globs: the names that the function sees.

    Raises:
        ValueError: it is no bytecode of this Python.
    """
    try:
        loaded = marshal.loads(_bytes(code))
    except (ValueError, EOFError, TypeError) as error:
        raise ValueError(
            f"Expected bytecode of this Python. Received: what it cannot read ({error}). Write the function in code."
        ) from error
    if not isinstance(loaded, types.CodeType):
        raise ValueError(f"Expected the bytecode of a function. Received: {type(loaded).__name__}")
    cells = None if closure is None else tuple(types.CellType(_content(value)) for value in closure)
    defaults = tuple(defaults) if defaults is not None else None
    return types.FunctionType(loaded, globs, loaded.co_name, defaults, cells)


def _bytes(code: str) -> bytes:
    try:
        return base64.b64decode("".join(code.split()), validate=True)
    except ValueError:  # Keras before 2.1.2 wrote the bytes as they are
        return code.encode("raw_unicode_escape")


def _content(value: Any) -> Any:
    return value.cell_contents if isinstance(value, types.CellType) else value


def names_in_keras_2() -> dict[str, Any]:
    """Return the names that a function of a Lambda layer saw in Keras 2's module of that layer."""
    import keras
    import numpy as np

    from parallel_compat.legacy import backend

    return {"K": backend, "np": np, "keras": keras, "__builtins__": __builtins__}
