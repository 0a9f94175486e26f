"""Layers of TensorFlow 2.2 that change images at random, `keras.layers.experimental.preprocessing`."""

from __future__ import annotations

import numpy as np

X = np.random.RandomState(0).rand(16, 8, 8, 3).astype("float32")
KINDS = {
    "RandomFlip": (),
    "RandomRotation": (0.2,),
    "RandomTranslation": (0.5, 0.5),
    "RandomContrast": (0.9,),
}
