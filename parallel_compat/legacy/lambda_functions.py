"""Functions of Lambda layers that a configuration names, found again as Keras 2 found them.

Keras 2 wrote the bytecode of every function of a Lambda layer, and ran it where `K` is the backend. Keras 3 writes the
name alone, except for a `lambda`. A function of that name which the script itself has given to a Lambda layer is the
one that is meant: `load_model`, `from_config` and `clone_model` of the same process find it. For another process old
code writes the bytecode beside the name, which is run only if that is allowed.
"""

from __future__ import annotations

import json
import types
import weakref
from typing import TYPE_CHECKING, Any

import keras

from parallel_compat.backend.keras3 import h5_files
from parallel_compat.legacy.as_of_now import given
from parallel_compat.legacy.functions import func_dump, made_of, names_in_keras_2, was_dumped
from parallel_compat.names.eras import Era
from parallel_compat.recover.errors import CheckpointError
from parallel_compat.run import callers, environment

if TYPE_CHECKING:
    from collections.abc import Callable

# The parts of a configuration that may be functions, and the layer's attributes.
_PARTS = {"function": "function", "output_shape": "_output_shape", "mask": "mask"}

# Beside the name of a function, in its configuration.
_BYTECODE = "bytecode"

_known: dict[str, list[weakref.ref[Any]]] = {}
# Those without a name, by their bytecode: a script may load what it saved when the layer is long gone.
_by_code: dict[str, Any] = {}


def remember(function: Any) -> None:
    """Take note of a function whose name is written."""
    of_name = _known.setdefault(function.__name__, [])
    if not any(each() is function for each in of_name):
        of_name.append(weakref.ref(function))


def named(name: str) -> Any:
    """Return the function of that name, or None where there is none, or several that differ."""
    alive = [function for each in _known.get(name, ()) if (function := each()) is not None]
    if not alive or any(_parts(each) != _parts(alive[0]) for each in alive):
        return None
    return alive[-1]


def _parts(function: Any) -> tuple[Any, ...]:
    cells = tuple(id(cell.cell_contents) for cell in function.__closure__ or ())
    return function.__code__, repr(function.__defaults__), cells


class _Named(dict[str, Any]):
    """The configuration of a function, which has the function as well, as long as nobody writes it."""

    function: Any


def get_config(original: Callable[..., Any]) -> Callable[..., Any]:
    """`Lambda.get_config`, which takes note of the functions whose names it writes."""

    def and_remember(self: Any) -> Any:
        config = original(self)
        for part, attribute in _PARTS.items():
            function, entry = given(getattr(self, attribute, None)), config.get(part)
            kind = entry.get("class_name") if isinstance(entry, dict) else None
            if kind in ("function", "__lambda__") and isinstance(function, types.FunctionType):
                config[part] = named = _Named(entry)
                named.function = function
                if kind == "function":
                    remember(function)
                    if callers.era_of_caller() is not Era.TODAY:
                        named.update(_with_bytecode(function))
                else:
                    _by_code[entry["config"]["code"]] = function
        return config

    return and_remember


def from_config(original: Any) -> classmethod[Any, Any, Any]:
    """`Lambda.from_config`, which looks for functions by name here as well."""

    def with_known(
        cls: Any, config: dict[str, Any], custom_objects: dict[str, Any] | None = None, safe_mode: bool | None = None
    ) -> Any:
        found, bytecode = {}, []
        for part in _PARTS:
            entry = config.get(part)
            if not isinstance(entry, dict):
                continue
            name = entry.get("config")
            own = of_this_process(entry)
            if own is not None:
                name = f"<lambda> of {part}"
                config = {**config, part: {"module": "builtins", "class_name": "function", "config": name}}
                found[name] = own
            elif entry.get("class_name") == "__lambda__":
                bytecode.append(part)
            elif entry.get("class_name") == "function" and isinstance(name, str):
                # Keras 3.15 itself does not find a function in the `custom_objects` of a whole model.
                function = keras.saving.get_registered_object(name, custom_objects)
                function = function or getattr(entry, "function", None) or _as_saved(entry, named(name))
                function = function or _of_bytecode(entry, str(config.get("name")), custom_objects, safe_mode)
                if function is not None:
                    found[name] = function
        mask = config.get("mask")
        if isinstance(mask, dict) and mask.get("config") in found:  # Keras 3 leaves a mask as it is written
            config = {**config, "mask": found[mask["config"]]}
        with keras.saving.CustomObjectScope(found):
            layer = original.__func__(cls, config, custom_objects=custom_objects, safe_mode=safe_mode)
        for part in bytecode:
            vars(layer)[_PARTS[part]] = _rebound(getattr(layer, _PARTS[part]))
        return layer

    return classmethod(with_known)


def _with_bytecode(function: Any) -> dict[str, Any]:
    """Return a part of a configuration: a function's bytecode, if what it closes over can be written as well."""
    code, defaults, closure = func_dump(function)
    content = {"code": code, "defaults": defaults, "closure": closure}
    try:
        json.dumps(content)
    except (TypeError, ValueError):
        return {}
    return {_BYTECODE: content}


def _of_bytecode(
    entry: dict[str, Any], layer: str, custom_objects: dict[str, Any] | None, safe_mode: bool | None
) -> Any:
    """Return the function that a configuration has as bytecode, or None if it has none.

    Raises:
        CheckpointError: running it was not allowed.
    """
    content = entry.get(_BYTECODE)
    if not isinstance(content, dict) or not isinstance(content.get("code"), str):
        return None
    allowed = safe_mode is False or environment.allows_lambdas() or (safe_mode is None and not h5_files.is_safe_mode())
    if not allowed and not was_dumped(content["code"]):
        name = entry["config"]
        raise CheckpointError(
            f"Expected a model without Python code. Received: the Lambda layer '{layer}', whose function '{name}' is "
            f"stored as bytecode, which Keras 2 ran when it loaded the file. Give the function: `load_model(..., "
            f"custom_objects={{'{name}': {name}}})`. Or, if you trust the file: `load_model(..., safe_mode=False)`, or "
            "`parallel-compat run --allow-lambdas`."
        )
    names = {**names_in_keras_2(), **h5_files.custom_objects(custom_objects)}
    return made_of(content["code"], content.get("defaults"), content.get("closure"), names)


def _as_saved(entry: dict[str, Any], living: Any) -> Any:
    """Return the living function of a name, as it was when this process wrote the configuration if it did."""
    content = entry.get(_BYTECODE)
    code = content.get("code") if isinstance(content, dict) else None
    if living is None or content is None or not isinstance(code, str) or not was_dumped(code):
        return living
    return made_of(code, content.get("defaults"), content.get("closure"), living.__globals__)


def of_this_process(entry: Any) -> Any:
    """Return the function of this process whose bytecode this is, or None: no code out of a file is run then.

    What the function closes over and its defaults are those of the configuration: the script's may have changed since.

    Args:
        entry: a part of a configuration that may be a function.
    """
    written = entry.get("config") if isinstance(entry, dict) and entry.get("class_name") == "__lambda__" else None
    if not isinstance(written, dict):
        return None
    function = _by_code.get(str(written.get("code")))
    if function is None or not (function.__closure__ or function.__defaults__):
        return function
    defaults, closure = (tuple(written[part]) if written.get(part) else None for part in ("defaults", "closure"))
    if len(closure or ()) != len(function.__code__.co_freevars):
        return None
    cells = None if closure is None else tuple(map(types.CellType, closure))
    return types.FunctionType(function.__code__, function.__globals__, function.__name__, defaults, cells)


def _rebound(function: Any) -> Any:
    """Give the bytecode of a file the names that it saw in `keras.layers.core`: `K`, `np` and their like."""
    return types.FunctionType(
        function.__code__, names_in_keras_2(), function.__name__, function.__defaults__, function.__closure__
    )
