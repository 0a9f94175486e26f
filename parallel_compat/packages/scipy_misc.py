"""`scipy.misc` until SciPy 1.2: pictures as arrays by Pillow, and a few numerical functions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.special import comb, factorial, factorial2, factorialk, logsumexp

__all__ = [
    "bytescale", "central_diff_weights", "comb", "derivative", "factorial", "factorial2", "factorialk", "fromimage",
    "imfilter", "imread", "imresize", "imrotate", "imsave", "imshow", "logsumexp", "toimage",
]  # fmt: skip

_RESAMPLE = {"nearest": 0, "lanczos": 1, "bilinear": 2, "bicubic": 3, "cubic": 3}
_NO_SHAPE = "'arr' does not have a suitable array shape for any mode."


def bytescale(data: Any, cmin: Any = None, cmax: Any = None, high: int = 255, low: int = 0) -> Any:
    """Scale an array to whole numbers of one byte; one of bytes stays as it is."""
    if data.dtype == np.uint8:
        return data
    if not 0 <= low <= high <= 255:
        raise ValueError(f"Expected 0 <= low <= high <= 255. Received: low={low}, high={high}")
    cmin = data.min() if cmin is None else cmin
    cmax = data.max() if cmax is None else cmax
    extent = cmax - cmin
    if extent < 0:
        raise ValueError("`cmax` should be larger than `cmin`.")
    scale = float(high - low) / float(extent or 1)
    return (((data - cmin) * scale + low).clip(low, high) + 0.5).astype(np.uint8)


def toimage(
    arr: Any,
    high: int = 255,
    low: int = 0,
    cmin: Any = None,
    cmax: Any = None,
    pal: Any = None,
    mode: str | None = None,
    channel_axis: int | None = None,
) -> Any:
    """Return an array as a picture of Pillow, scaled to bytes by its smallest and largest value."""
    from PIL import Image

    data = np.asarray(arr)
    if np.iscomplexobj(data):
        raise ValueError("Cannot convert a complex-valued array.")
    if data.ndim == 2:
        return _flat(Image, data, high, low, cmin, cmax, pal, mode)
    if data.ndim != 3 or not {3, 4} & set(data.shape):
        raise ValueError(_NO_SHAPE)
    if channel_axis is None:
        channel_axis = data.shape.index(3 if 3 in data.shape else 4)
    channels = data.shape[channel_axis]
    if channels not in (3, 4):
        raise ValueError("Channel axis dimension is not valid.")
    scaled = np.ascontiguousarray(np.moveaxis(bytescale(data, cmin, cmax, high, low), channel_axis, 2))
    mode = mode or ("RGB" if channels == 3 else "RGBA")
    if mode not in ("RGB", "RGBA", "YCbCr", "CMYK"):
        raise ValueError(_NO_SHAPE)
    if channels != (3 if mode in ("RGB", "YCbCr") else 4):
        raise ValueError("Invalid array shape for mode.")
    return Image.frombytes(mode, (scaled.shape[1], scaled.shape[0]), scaled.tobytes())


def _flat(image: Any, data: Any, high: int, low: int, cmin: Any, cmax: Any, pal: Any, mode: str | None) -> Any:
    size = (data.shape[1], data.shape[0])
    if mode == "F":
        return image.frombytes(mode, size, data.astype(np.float32).tobytes())
    if mode in (None, "L", "P"):
        made = image.frombytes("L", size, bytescale(data, cmin, cmax, high, low).tobytes())
        if pal is not None or mode == "P":
            colors = np.repeat(np.arange(256), 3) if pal is None else np.asarray(pal)
            made.putpalette(colors.astype(np.uint8).tobytes())
        return made
    if mode != "I":
        raise ValueError(_NO_SHAPE)
    cmin = data.min() if cmin is None else cmin
    cmax = data.max() if cmax is None else cmax
    scaled = (data * 1.0 - cmin) * (high - low) / (cmax - cmin) + low
    return image.frombytes(mode, size, scaled.astype(np.uint32).tobytes())


def fromimage(im: Any, flatten: bool = False, mode: str | None = None) -> Any:
    """Return a picture of Pillow as an array."""
    from PIL import Image

    if not isinstance(im, Image.Image):
        raise TypeError("Input is not a PIL image.")
    if mode is not None:
        im = im.convert(mode) if mode != im.mode else im
    elif im.mode == "P":
        im = im.convert("RGBA" if "transparency" in im.info else "RGB")
    if flatten:
        im = im.convert("F")
    elif im.mode == "1":
        im = im.convert("L")
    return np.array(im)


def imread(name: Any, flatten: bool = False, mode: str | None = None) -> Any:
    """Read a picture as an array."""
    from PIL import Image

    return fromimage(Image.open(name), flatten, mode)


def imsave(name: Any, arr: Any, format: str | None = None) -> None:
    """Write an array as a picture, scaled to bytes by its smallest and largest value."""
    toimage(arr, channel_axis=2).save(name, **({"format": format} if format else {}))


def imresize(arr: Any, size: Any, interp: str = "bilinear", mode: str | None = None) -> Any:
    """Resize a picture.

    Args:
        size: a whole number of percent, a fraction, or (height, width).
        mode: the mode of Pillow in which it is done.
    """
    im = toimage(arr, mode=mode)
    if np.ndim(size) == 0:
        factor = size / 100.0 if np.issubdtype(type(size), np.signedinteger) else size
        width, height = (int(length * factor) for length in im.size)
    else:
        height, width = size[0], size[1]
    return fromimage(im.resize((int(width), int(height)), resample=_RESAMPLE[interp]))


def imrotate(arr: Any, angle: float, interp: str = "bilinear") -> Any:
    """Rotate a picture counter-clockwise by an angle in degrees."""
    return fromimage(toimage(arr).rotate(angle, resample=_RESAMPLE[interp]))


def imshow(arr: Any) -> None:
    """Show a picture by the system's viewer."""
    toimage(arr).show()


def imfilter(arr: Any, ftype: str) -> Any:
    """Filter a picture by one of Pillow's filters, such as "blur" or "find_edges"."""
    from PIL import ImageFilter

    return fromimage(toimage(arr).filter(getattr(ImageFilter, ftype.upper())))


def central_diff_weights(Np: int, ndiv: int = 1) -> Any:
    """Return the weights of `Np` points for the central derivative of order `ndiv`."""
    if Np < ndiv + 1 or Np % 2 == 0:
        raise ValueError(f"Expected an odd number of points above {ndiv}. Received: {Np}")
    points = np.arange(Np) - Np // 2
    return float(factorial(ndiv)) * np.linalg.inv(np.vander(points.astype(float), increasing=True))[ndiv]


def derivative(
    func: Callable[..., Any], x0: float, dx: float = 1.0, n: int = 1, args: tuple[Any, ...] = (), order: int = 3
) -> Any:
    """Return the derivative of order `n` of a function at a point, by `order` points."""
    weights = central_diff_weights(order, n)
    total = sum(weight * func(x0 + (k - order // 2) * dx, *args) for k, weight in enumerate(weights))
    return total / np.prod((dx,) * n, axis=0)
