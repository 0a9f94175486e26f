"""Arguments of SciPy that are gone, and results that were arrays."""

from __future__ import annotations

from collections.abc import Callable
from types import ModuleType
from typing import Any

from parallel_compat.packages import scipy_ndimage
from parallel_compat.packages.arguments import accept, around, called_by_user
from parallel_compat.packages.notes import note


def _minimize(original: Any, fun: Any, *args: Any, **options: Any) -> Any:
    """Let `minimize` return its value in the shape that the function returned, as before SciPy 1.5."""
    import numpy as np

    shapes = []

    def keeping(*given: Any) -> Any:
        value = fun(*given)
        if isinstance(value, np.ndarray) and value.shape:
            shapes.append(value.shape)
        return value

    result = original(keeping, *args, **options)
    if shapes:
        note("scipy.optimize.minimize", "the value in the shape that the function returns")
        result.fun = np.reshape(result.fun, shapes[0])
    return result


def _stats(module: Any) -> None:
    """Let `mode` keep the axis that it counts along, and count texts, as before SciPy 1.11."""
    import numpy as np

    result = type(module.mode([0]))

    def mode(original: Any, a: Any, axis: Any = 0, *args: Any, **options: Any) -> Any:
        if "keepdims" in options or not called_by_user():
            return original(a, axis, *args, **options)
        note("scipy.stats.mode", "the axis is kept, as SciPy 1.10 did")
        a = np.asarray(a)
        a, axis = (a.ravel(), 0) if axis is None else (a, axis)
        if a.dtype.kind not in "OSU":
            return original(a, axis, *args, **options, keepdims=True)
        lines = np.moveaxis(a, axis, -1)
        counted = [np.unique(line, return_counts=True) for line in lines.reshape(-1, lines.shape[-1])]
        shape = [1 if each == axis % a.ndim else length for each, length in enumerate(a.shape)]
        most = np.array([values[counts.argmax()] for values, counts in counted], a.dtype).reshape(shape)
        return result(most, np.array([counts.max() for _, counts in counted]).reshape(shape))

    around(module, "mode", mode)


def _signal(module: Any) -> None:
    def twice(options: dict[str, Any], value: Any) -> None:
        if value is not None:
            options["fs"] = 2 * value

    for name in ("firwin", "firwin2", "firls"):
        accept(module, name, nyq=twice)


def _linalg(module: Any) -> None:
    accept(module, "solve", sym_pos=lambda options, value: options.update(assume_a="pos") if value else None)


def _interpolate(module: Any) -> None:
    try:
        module.interp2d([0, 1], [0, 1], [[0, 1], [1, 2]])
    except NotImplementedError:
        from parallel_compat.packages import scipy_functions

        class interp2d(scipy_functions.interp2d):
            def __init__(self, *args: Any, **options: Any) -> None:
                note("scipy.interpolate.interp2d", "as SciPy 1.13 had it")
                super().__init__(*args, **options)

        module.interp2d = interp2d


def _spatial(module: Any) -> None:
    def vertices(self: Any) -> Any:
        note("scipy.spatial.Delaunay.vertices", "it is `simplices` today")
        return self.simplices

    if not hasattr(module.Delaunay, "vertices"):  # until SciPy 1.11
        module.Delaunay.vertices = property(vertices)


class _Called(ModuleType):
    """`scipy.fft`, which was a function until SciPy 1.4."""

    def __call__(self, *args: Any, **options: Any) -> Any:
        import numpy as np

        note("scipy.fft", "it is numpy.fft.fft today")
        return np.fft.fft(*args, **options)


def _fft(module: Any) -> None:
    module.__class__ = _Called


CHANGES: dict[str, Callable[[Any], None]] = {
    "scipy.fft": _fft,
    "scipy.interpolate": _interpolate,
    "scipy.linalg": _linalg,
    "scipy.ndimage": scipy_ndimage.change,
    "scipy.optimize": lambda module: around(module, "minimize", _minimize),
    "scipy.signal": _signal,
    "scipy.spatial": _spatial,
    "scipy.stats": _stats,
}
