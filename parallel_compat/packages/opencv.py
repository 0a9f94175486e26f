"""`cv2.findContours` until OpenCV 3: it returned the image, too."""

from __future__ import annotations

import dis
import sys
from collections.abc import Callable
from types import FrameType
from typing import Any

from parallel_compat.packages.arguments import around
from parallel_compat.packages.notes import note


def _find_contours(original: Any, image: Any, *args: Any, **options: Any) -> Any:
    found = original(image, *args, **options)
    if len(found) == 2 and _unpacked_into(sys._getframe(2)) == 3:  # by the caller of what calls this
        note("cv2.findContours", "the image, too, as OpenCV 3 returned it to three names")
        return image, *found
    return found


def _unpacked_into(frame: FrameType) -> int:
    """Return into how many names a call's result goes; 0 where it is not unpacked at once."""
    following = (each for each in dis.get_instructions(frame.f_code) if each.offset > frame.f_lasti)
    for instruction in following:
        if instruction.opname not in ("CACHE", "PRECALL", "CALL", "NOP"):
            return int(instruction.arg or 0) if instruction.opname == "UNPACK_SEQUENCE" else 0
    return 0


CHANGES: dict[str, Callable[[Any], None]] = {"cv2": lambda module: around(module, "findContours", _find_contours)}
