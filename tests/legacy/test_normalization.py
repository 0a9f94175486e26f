"""`experimental.preprocessing.Normalization` as TensorFlow 2.2.3 had it; the numbers are what it gave."""

from __future__ import annotations

import numpy as np
import pytest
import tensorflow as tf

import parallel_compat


@pytest.fixture
def normalization():
    """The layer's class, of code of TensorFlow 2.2."""
    with parallel_compat.legacy_names(era="tf.keras-2.2"):
        from tensorflow.keras.layers.experimental.preprocessing import Normalization

        yield Normalization


def of_rows(seed, rows, scale):
    return np.random.RandomState(seed).rand(rows, 3).astype("float32") * scale


def test_statistics_are_taken_in_64_bits_and_gone_on_from(normalization):
    layer = normalization()
    layer.adapt(of_rows(1, 50, 100))
    np.testing.assert_allclose(layer.get_weights()[1], [824.4496, 981.8262, 959.0931], rtol=1e-7)
    layer.adapt(tf.data.Dataset.from_tensor_slices(of_rows(2, 30, 10)).batch(7), reset_state=False)
    mean, variance, count = layer.get_weights()
    np.testing.assert_allclose(mean, [29.8812, 36.0567, 29.41], atol=5e-5)
    np.testing.assert_allclose(variance, [910.6128, 1204.1626, 968.3212], rtol=1e-7)
    assert count == 80
    assert layer.mean.shape == layer.variance.shape == (3,)
    with pytest.raises(ValueError, match="without one"):
        layer.adapt(tf.data.Dataset.from_tensors(mean).repeat())
    with pytest.raises(ValueError, match="Received: list"):
        layer.adapt([[1.0, 2.0, 3.0]])


def test_what_the_weights_say_holds(normalization):
    x, layer = of_rows(1, 50, 100), normalization()
    layer.build((None, 3))
    layer.set_weights([np.array([1.0, 2.0, 3.0]), np.array([4.0, 1.0, 9.0])])
    np.testing.assert_allclose(layer(x[:2]), [[20.3511, 70.0325, -0.9962], [14.6166, 12.6756, 2.078]], atol=5e-5)
    with pytest.raises(RuntimeError, match="count=0"):
        layer.adapt(x, reset_state=False)
    layer.mean.assign([2.0, 2.0, 3.0])
    np.testing.assert_allclose(layer(x[:1]), [[19.8511, 70.0325, -0.9962]], atol=5e-5)
    x[:, 1] = 7
    layer.adapt(x)
    assert np.isnan(layer(x)[:, 1]).all()


def test_axes_that_are_kept(normalization):
    x, layer = np.random.RandomState(3).rand(4, 5, 6).astype("float32"), normalization(axis=(1, 2))
    layer.adapt(x)
    assert [weight.shape for weight in layer.get_weights()] == [(5, 6), (5, 6), ()]
    np.testing.assert_allclose(layer(x), (x - x.mean(0)) / x.std(0), atol=1e-5)
