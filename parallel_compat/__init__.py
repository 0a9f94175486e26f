"""keras.utils.multi_gpu_model for today's TensorFlow: the same split, the same numbers, the same files."""

from __future__ import annotations

__version__ = "0.1.0.dev0"
