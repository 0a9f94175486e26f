"""`mixed_precision.experimental` of TensorFlow 2.2."""

from __future__ import annotations
