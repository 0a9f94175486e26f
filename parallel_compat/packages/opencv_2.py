"""`cv2.cv` of OpenCV 2: the constants with the prefix CV_."""

from __future__ import annotations

from typing import Any

import cv2


def __getattr__(name: str) -> Any:
    known = {"CV_AA": "LINE_AA", "CV_BGR2GRAY": "COLOR_BGR2GRAY"}
    short = known.get(name, name.removeprefix("CV_"))
    if not name.startswith("CV_") or not hasattr(cv2, short):
        raise AttributeError(f"OpenCV has no {name} any more", name=name)
    return getattr(cv2, short)
