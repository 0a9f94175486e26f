"""Pictures as Pillow 5 made, resized and converted them, and methods that measured text."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from parallel_compat.packages import notes
from parallel_compat.packages.arguments import around, called_by_user, default, member
from parallel_compat.packages.notes import note


def isImageType(t: Any) -> bool:
    """Return whether an object is a picture."""
    return hasattr(t, "im")


def _font(module: Any) -> None:
    kinds = [module.FreeTypeFont, *([module.ImageFont] if hasattr(module.ImageFont, "getbbox") else [])]
    member(kinds, getsize=lambda self, text, *args, **options: tuple(self.getbbox(text, *args, **options)[2:]))


def _draw(module: Any) -> None:
    def textsize(self: Any, text: Any, font: Any = None, spacing: float = 4, *args: Any, **options: Any) -> Any:
        font = font or self.getfont()
        if "\n" in text:
            box = self.multiline_textbbox((0, 0), text, font, None, spacing, *args, **options)
            return box[2] - box[0], box[3]
        return tuple(font.getbbox(text, **options)[2:])

    member([module.ImageDraw], textsize=textsize, multiline_textsize=textsize)


def fromarray(obj: Any, mode: str) -> Any:
    """Return a picture of an array's bytes, which the mode explains whatever the array's type is."""
    from PIL import Image

    data = np.ascontiguousarray(np.asarray(obj))
    dims = 2 if mode in ("1", "L", "P", "I", "F", "I;16") else 3
    if data.ndim > dims:
        raise ValueError(f"Too many dimensions: {data.ndim} > {dims}.")
    height, width = (*data.shape, 1)[:2]
    return Image.frombuffer(mode, (width, height), data.tobytes(), "raw", mode, 0, 1)


def _image(module: Any) -> None:
    member([module.Image], tostring=lambda self, *args: self.tobytes(*args))
    around(module, "fromarray", _made)
    if notes.is_of_2018:
        default(module.Image, "resize", resample=module.NEAREST)  # until Pillow 6
        around(module.Image, "convert", _convert)
        around(module.Image, "thumbnail", _thumbnail)


def _made(original: Any, obj: Any, mode: str | None = None) -> Any:
    if mode is None:
        return original(obj)
    note(f"PIL.Image.fromarray(mode={mode!r})", "the bytes are taken in that mode, as Pillow 5 did")
    return fromarray(obj, mode)


def _convert(original: Any, self: Any, mode: str | None = None, *args: Any, **options: Any) -> Any:
    if mode != "L" or self.mode not in ("RGB", "RGBA", "RGBX"):
        return original(self, mode, *args, **options)
    note("PIL.Image.convert('L')", "rounded down, as Pillow 5 did")
    data = np.asarray(self).astype(np.int32)
    grey = (data[..., 0] * 19595 + data[..., 1] * 38470 + data[..., 2] * 7471) >> 16
    return fromarray(grey.astype(np.uint8), "L")


def _thumbnail(original: Any, self: Any, size: Any, resample: Any = 3, reducing_gap: Any = None) -> None:
    if reducing_gap is not None or not called_by_user():
        original(self, size, resample, reducing_gap)
        return
    width, height = self.size
    if width > size[0]:
        width, height = int(size[0]), int(max(height * size[0] / width, 1))
    if height > size[1]:
        width, height = int(max(width * size[1] / height, 1)), int(size[1])
    if (width, height) == self.size:
        return
    note("PIL.Image.thumbnail", "its size is rounded down, as Pillow 5 did")
    self.draft(None, (width, height))
    self.im = self.resize((width, height), resample).im
    self._size = width, height


CHANGES: dict[str, Callable[[Any], None]] = {"PIL.Image": _image, "PIL.ImageDraw": _draw, "PIL.ImageFont": _font}
