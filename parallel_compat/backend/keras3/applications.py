"""What `keras.applications` keeps to itself. Read in Keras 3.15.1."""

from __future__ import annotations

from keras.src.applications.imagenet_utils import obtain_input_shape

__all__ = ["obtain_input_shape"]
