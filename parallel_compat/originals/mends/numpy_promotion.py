"""Results of sessions and eager tensors are promoted as in numpy 1: float32 with a Python number gives float64.

Keras 2 multiplied a batch's loss with its size, and summed up in float64; `json.dump(history.history)` worked since a
float64 is a Python float.

Seen in numpy 2.0 to 2.4.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import numpy as np

from parallel_compat.originals.mends.register import Register

_ARITHMETIC = ("add", "sub", "mul", "truediv", "floordiv", "mod", "pow")
_COMPARISONS = ("eq", "ne", "lt", "le", "gt", "ge")


def apply(mends: Register) -> None:
    if np.lib.NumpyVersion(np.__version__) < "2.0.0":
        return
    from tensorflow.python.client import session
    from tensorflow.python.framework import ops
    from tensorflow.python.util import nest

    def returns_legacy_scalars(run: Callable[..., list[Any]], self: Any, *args: Any, **options: Any) -> list[Any]:
        return [_as_numpy_1(value) for value in run(self, *args, **options)]

    def computes(call: Any, self: Any, inputs: Any) -> Any:
        """The functions of Keras in eager mode read the values of their tensors themselves."""
        return nest.map_structure(_as_numpy_1, call(self, inputs))

    mends.around(ops._EagerTensorBase, "numpy", lambda numpy, self: _as_numpy_1(numpy(self)))
    mends.around(session.BaseSession, "_do_run", returns_legacy_scalars)
    mends.around(session.BaseSession._Callable, "__call__", returns_legacy_scalars)
    mends.around("tensorflow.python.keras.backend", "EagerExecutionFunction.__call__", computes)


def _as_numpy_1(value: Any, kinds: dict[type, type] | None = None) -> Any:
    kind = (kinds or _KINDS).get(type(value))
    return value if kind is None else kind(value)


def _kind(plain: type[np.floating[Any]]) -> type:
    """Make a kind of scalar that is another one in all but its promotion."""

    def __array_ufunc__(self: Any, ufunc: Any, method: str, *inputs: Any, **options: Any) -> Any:
        are_scalars = all(isinstance(each, (int, float, np.generic)) for each in inputs)
        wider = are_scalars and any(type(each) in (int, float) for each in inputs)
        plain_inputs = [
            np.float64(each) if wider and type(each) in _PLAIN else _as_numpy_1(each, _PLAIN) for each in inputs
        ]
        return _as_numpy_1(getattr(ufunc, method)(*plain_inputs, **options))

    def binary(name: str) -> Callable[[Any, Any], Any]:
        of_plain = getattr(plain, name)

        def __op__(self: Any, other: Any) -> Any:
            if type(other) in (int, float):
                return getattr(np.float64(self), name)(other)
            return _as_numpy_1(of_plain(plain(self), _as_numpy_1(other, _PLAIN)))

        return __op__

    names = [f"__{name}__" for name in _COMPARISONS]
    names += [f"__{side}{name}__" for name in _ARITHMETIC for side in ("", "r")]
    members: dict[str, Any] = {name: binary(name) for name in names}
    members |= {
        "__array_ufunc__": __array_ufunc__,
        "__hash__": plain.__hash__,
        "__neg__": lambda self: _as_numpy_1(operator.neg(plain(self))),
        "__abs__": lambda self: _as_numpy_1(abs(plain(self))),
        "__reduce__": lambda self: plain(self).__reduce__(),
        "__module__": "numpy",
    }
    return type(plain.__name__, (plain,), members)


_KINDS: dict[type, type] = {plain: _kind(plain) for plain in (np.float16, np.float32)}
_PLAIN: dict[type, type] = {kind: plain for plain, kind in _KINDS.items()}
