"""Arguments and defaults of scikit-image that changed: `multichannel`, `selem`, and how pictures are resized."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import numpy as np

from parallel_compat.packages import notes
from parallel_compat.packages.arguments import accepting, called_by_user, parameters, wrapped
from parallel_compat.packages.notes import note
from parallel_compat.packages.skimage_functions import whole_numbers

# Where a function has the new argument and not the old one: old -> new.
_RENAMED = {
    "as_grey": "as_gray", "in_place": "out", "input": "label_image", "iterations": "num_iter",
    "max_iter": "max_num_iter", "multichannel": "channel_axis", "n_iter_max": "max_num_iter",
    "neighbors": "connectivity", "random_seed": "rng", "random_state": "rng", "seed": "rng", "selem": "footprint",
    "visualise": "visualize",
}  # fmt: skip
# What is passed of them, where it is not the same value.
_PASSED: dict[str, Any] = {
    "in_place": None,
    "multichannel": lambda options, value: options.update(channel_axis=-1 if value else None),
    "neighbors": lambda options, value: options.update(connectivity=1 if value == 4 else 2),
}


def changed(module: str, name: str, function: Any) -> Any:
    """Return a function of scikit-image with its old arguments and defaults."""
    if not inspect.isfunction(function):
        return function
    known = parameters(function) or {}
    gone = {old: _PASSED.get(old, new) for old, new in _RENAMED.items() if new in known and old not in known}
    accepts = accepting(function, f"{module}.{name}", gone)
    special = _SPECIAL.get(f"{module}.{name}")
    return accepts if special is None else wrapped(accepts, special)


def _change(module: Any) -> None:
    for name, value in list(vars(module).items()):
        if not name.startswith("_") and inspect.isfunction(value):
            function = changed(module.__name__, name, value)
            if function is not value:
                setattr(module, name, function)


def _resize(
    original: Any, image: Any, output_shape: Any, order: Any = None, mode: Any = None, *args: Any, **options: Any
) -> Any:
    if notes.is_of_2018 and not args and called_by_user():
        order, mode = 1 if order is None else order, mode or "constant"
        return _of_0_14(original, image, output_shape, order, mode, **options)
    if np.asarray(image).dtype == bool and order not in (None, 0):
        image = np.asarray(image).astype(float)
    return original(image, output_shape, order, "reflect" if mode is None else mode, *args, **options)


def _of_0_14(
    original: Any,
    image: Any,
    output_shape: Any,
    order: int,
    mode: str,
    cval: float = 0,
    clip: bool = True,
    preserve_range: bool = False,
    anti_aliasing: bool | None = None,
    anti_aliasing_sigma: Any = None,
) -> Any:
    """Resize as scikit-image 0.14 did: smoothed only if that is asked for, by a warp, in double precision."""
    from scipy.ndimage import gaussian_filter
    from skimage.transform import AffineTransform, warp
    from skimage.util import img_as_float

    note("skimage.transform.resize", "no anti-aliasing and constant borders, the defaults of scikit-image 0.14")
    image = np.asarray(image)
    size = tuple(int(length) for length in output_shape)
    if len(size) == image.ndim + 1:
        image = image[..., None]
    if len(size) == image.ndim - 1:
        size = (*size, image.shape[-1])
    if anti_aliasing:
        sigma = np.maximum(0, (np.divide(image.shape, size) - 1) / 2)
        sigma = sigma if anti_aliasing_sigma is None else np.broadcast_to(anti_aliasing_sigma, image.ndim)
        image = gaussian_filter(image, sigma, cval=cval, mode=mode)
    image = (image if preserve_range else img_as_float(image)).astype(np.float64)
    if len(size) not in (2, 3) or size[2:] != image.shape[2:]:
        return original(image, size, order, mode, cval=cval, clip=clip, preserve_range=True, anti_aliasing=False)
    scale = [image.shape[axis] / size[axis] for axis in (1, 0)]
    matrix = np.diag([*scale, 1.0])
    matrix[:2, 2] = [each / 2 - 0.5 for each in scale]
    resized = warp(
        image, AffineTransform(matrix), output_shape=size, order=order, mode=mode, cval=cval, clip=False,
        preserve_range=True,
    )  # fmt: skip
    if clip and order != 0:
        low, high = image.min(), image.max()
        outside = resized == cval if mode == "constant" and not low <= cval <= high else np.False_
        resized = np.where(outside, cval, np.clip(resized, low, high))
    return resized


def _rescale(
    original: Any, image: Any, scale: Any, order: Any = None, mode: Any = None, *args: Any, **options: Any
) -> Any:
    if not notes.is_of_2018 or args or not called_by_user():
        return original(image, scale, order, "reflect" if mode is None else mode, *args, **options)
    from skimage.transform import resize

    image = np.asarray(image)
    channels = options.pop("multichannel", None)
    channels = image.ndim == 3 if channels is None else channels
    shape = np.array(image.shape)
    factors = np.atleast_1d(scale)
    factors = np.append(factors, 1) if channels and len(factors) > 1 else factors
    size = np.round(factors * shape).astype(int)
    if channels:
        size[-1] = shape[-1]
    return resize(image, size, order, mode, **options)


def _rgb2gray(original: Any, rgb: Any, *args: Any, **options: Any) -> Any:
    rgb = np.asanyarray(rgb)
    if rgb.ndim == 2:
        note("skimage.color.rgb2gray", "a grey picture stays as it is")
        return np.ascontiguousarray(rgb)
    if rgb.shape[-1] == 4:
        note("skimage.color.rgb2gray", "an alpha channel is left out")
        rgb = rgb[..., :3]
    return original(rgb, *args, **options)


def _imsave(original: Any, fname: Any, arr: Any, *args: Any, **options: Any) -> Any:
    whole = whole_numbers(fname, arr)
    if whole is not arr:
        note("skimage.io.imsave", f"{np.asarray(arr).dtype} as whole numbers, as scikit-image 0.14 did")
    return original(fname, whole, *args, **options)


_SPECIAL: dict[str, Callable[..., Any]] = {
    "skimage.color.rgb2gray": _rgb2gray,
    "skimage.io.imsave": _imsave,
    "skimage.transform.rescale": _rescale,
    "skimage.transform.resize": _resize,
}
CHANGES: dict[str, Callable[[Any], None]] = {
    f"skimage.{name}": _change
    for name in (
        *("color", "draw", "exposure", "feature", "filters", "io", "measure", "morphology", "restoration"),
        *("segmentation", "transform", "util"),
    )
}
