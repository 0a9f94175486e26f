"""Pictures that SciPy turns, moves and samples, at their borders as before SciPy 1.6.

Then a spline went on beyond the border as its mirror image in each mode. `reflect` first took a place beyond the
border to one inside, or less than a step outside, and `nearest` to the border. Seen in SciPy 1.1 and 1.17.
"""

from __future__ import annotations

import functools
import inspect
import sys
from collections.abc import Callable
from typing import Any

import numpy as np

from parallel_compat.packages.arguments import wrapped
from parallel_compat.packages.notes import note


def change(module: Any) -> None:
    """Give the functions of `scipy.ndimage` their old borders."""
    map_coordinates = module.map_coordinates
    for name, function in _FUNCTIONS.items():
        original = getattr(module, name)
        todays = original if name == "zoom" else map_coordinates
        signature = inspect.signature(original)
        changed = wrapped(original, functools.partial(_changed, signature, functools.partial(function, todays)))
        for owner in (module, sys.modules[original.__module__]):  # `rotate` calls `affine_transform` of the second
            setattr(owner, name, changed)


def _changed(
    signature: inspect.Signature, function: Callable[..., Any], original: Any, *args: Any, **options: Any
) -> Any:
    given = signature.bind(*args, **options)
    given.apply_defaults()
    mode, order, input = (given.arguments[name] for name in ("mode", "order", "input"))
    is_other = mode == "reflect" or (mode == "nearest" and order > 1)
    by_skimage = str(sys._getframe(2).f_globals.get("__name__")).startswith("skimage.")
    if not is_other or by_skimage or np.iscomplexobj(input) or given.arguments.get("grid_mode"):
        return original(*args, **options)
    note(f"scipy.ndimage.{original.__name__}", f"the borders of mode={mode!r} as before SciPy 1.6")
    return function(**{**given.arguments, "input": np.asarray(input)})


def _map_coordinates(original: Any, input: Any, coordinates: Any, mode: str, order: int, **options: Any) -> Any:
    inside = _reflected if mode == "reflect" else lambda places, size: np.clip(places, 0, size - 1)
    axes = [inside(np.asarray(each, float), size) for each, size in zip(coordinates, input.shape, strict=True)]
    if order == 0:  # a tie goes to the place above, before it is mirrored
        axes = [np.abs(np.floor(each + 0.5)) for each in axes]
    return original(input, axes, order=order, mode="mirror", **options)


def _affine_transform(
    original: Any, input: Any, matrix: Any, offset: Any, output_shape: Any, output: Any, **options: Any
) -> Any:
    matrix, dimensions = np.asarray(matrix, float), input.ndim
    if matrix.ndim == 2 and matrix.shape[1] == dimensions + 1:
        matrix, offset = matrix[:dimensions, :-1], matrix[:dimensions, -1]
    matrix = np.diag(matrix) if matrix.ndim == 1 else matrix
    shape = output.shape if isinstance(output, np.ndarray) else input.shape if output_shape is None else output_shape
    offset = np.broadcast_to(np.asarray(offset, float), dimensions)
    coordinates = np.multiply.outer(offset, np.ones(shape))
    for axis, places in enumerate(np.indices(shape)):  # summed in SciPy's order, which decides ties
        coordinates += np.multiply.outer(matrix[:, axis], places)
    return _map_coordinates(original, input, coordinates, output=output, **options)


def _shift(original: Any, input: Any, shift: Any, **options: Any) -> Any:
    ones = np.ones(input.ndim)
    return _affine_transform(original, input, ones, -np.broadcast_to(shift, input.ndim), input.shape, **options)


def _reflected(coordinates: Any, size: int) -> Any:
    period = 2 * size
    below = coordinates + period * np.trunc(np.maximum(-coordinates, 0) / period)
    below = np.where(below < -size, below + period, -below - 1)
    above = coordinates - period * np.trunc(coordinates / period)
    above = np.where(above >= size, period - above - 1, above)
    inside = np.where(coordinates > size - 1, above, coordinates)
    return np.where(coordinates < 0, below, inside) if size > 1 else np.zeros_like(coordinates)


_FUNCTIONS: dict[str, Callable[..., Any]] = {
    "affine_transform": _affine_transform,
    "map_coordinates": _map_coordinates,
    "shift": _shift,
    "zoom": lambda original, mode, **options: original(mode="mirror", **options),  # no place is beyond the border
}
