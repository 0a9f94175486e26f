"""Layers of TensorFlow 2.2 that change images at random, `keras.layers.experimental.preprocessing`."""

from __future__ import annotations

import numpy as np
import pytest

import parallel_compat

X = np.random.RandomState(0).rand(16, 8, 8, 3).astype("float32")
KINDS = {
    "RandomFlip": (),
    "RandomRotation": (0.2,),
    "RandomTranslation": (0.5, 0.5),
    "RandomContrast": (0.9,),
}


@pytest.mark.parametrize("name", KINDS)
def test_images_are_changed_in_training_alone(name):
    with parallel_compat.legacy_names(era="tf.keras-2.2"):
        from tensorflow import keras
        from tensorflow.keras.layers.experimental import preprocessing

        layer = getattr(preprocessing, name)(*KINDS[name])
        np.testing.assert_array_equal(layer(X), X)
        np.testing.assert_array_equal(keras.Sequential([layer])(X), X)
        changed = np.array(layer(X, training=True))
        assert not np.allclose(changed, X)
        if name in ("RandomRotation", "RandomTranslation"):
            assert np.any(changed == 0), "what an image leaves free is black"
        if name == "RandomContrast":
            assert np.min(changed) < 0, "values are not cut off"


def test_a_crop_is_of_the_centre_outside_of_training():
    """The sum is that of TensorFlow 2.2.3."""
    with parallel_compat.legacy_names(era="tf.keras-2.2"):
        from tensorflow.keras.layers.experimental.preprocessing import RandomCrop

        cut = np.array(RandomCrop(5, 5)(X))
        assert cut.shape == (16, 5, 5, 3)
        np.testing.assert_allclose((cut * np.arange(5)[:, None, None]).sum(), 1215.149, rtol=1e-6)
        assert RandomCrop(5, 5)(X, training=True).shape == (16, 5, 5, 3)
