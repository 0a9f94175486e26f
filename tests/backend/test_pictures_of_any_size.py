"""Models of pictures of any size predict pictures of several sizes, one after another."""

from __future__ import annotations

import keras
import numpy as np
import pytest

import parallel_compat.backend.keras3  # noqa: F401


@pytest.mark.parametrize("data_format", ["channels_last", "channels_first"])
@pytest.mark.parametrize("interpolation", ["bilinear", "bicubic"])
def test_up_sampling_of_a_second_size(interpolation, data_format):
    """What it gives is what a model of this size gives."""
    first = data_format == "channels_first"
    layer = keras.layers.UpSampling2D((2, 3), data_format=data_format, interpolation=interpolation)
    x = keras.Input((2, None, None) if first else (None, None, 2))
    model = keras.Model(x, layer(x))
    for size in (2, 4, 3):
        pictures = np.random.default_rng(0).random((1, 2, size, size) if first else (1, size, size, 2), "f4")
        np.testing.assert_allclose(model.predict(pictures, verbose=0), layer(pictures), atol=1e-6)
