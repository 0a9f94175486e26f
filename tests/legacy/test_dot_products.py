"""`Dot` and `K.batch_dot` of inputs of four axes, as the stacks of each era multiplied them."""

from __future__ import annotations

import numpy as np
import pytest

import parallel_compat

X = np.arange(48, dtype="float32").reshape(2, 2, 3, 4) / 10
Y = np.cos(X)
# Recorded of TensorFlow 1.15.5 (and of Keras 2.2.4, the same) and of 2.2.3: shape, second number, sum.
OF_GRAPHS = {
    (-1, False): ((2, 2, 3, 3), 0.48228, -168.194),
    (-1, True): ((2, 2, 3, 3), 0.7589, -12.3216),
    (1, False): ((2, 2, 4, 4), 0.84832, -227.9925),
    (1, True): ((2, 2, 4, 4), 0.52825, -40.1941),
}
OF_2_2 = {
    (-1, False): ((2, 2, 3, 2, 3), 0.48228, -312.7062),
    (1, True): ((2, 3, 4, 3, 4), 0.25962, -120.088),
}


@pytest.mark.parametrize(("era", "expected"), [("tf.keras-1.15", OF_GRAPHS), ("tf.keras-2.2", OF_2_2)])
def test_stacks_of_matrices(era, expected):
    with parallel_compat.legacy_names(era=era):
        from tensorflow.keras import backend as K
        from tensorflow.keras import layers, models

        for (axes, normalize), (shape, second, total) in expected.items():
            x, y = layers.Input((2, 3, 4)), layers.Input((2, 3, 4))
            output = layers.Dot(axes, normalize=normalize)([x, y])
            found = models.Model([x, y], output).predict([X, Y])
            assert K.int_shape(output)[1:] == found.shape[1:] == shape[1:]
            np.testing.assert_allclose([found.ravel()[1], found.sum()], [second, total], rtol=3e-5)
            pair = {-1: (3, 3), 1: (1, 1)}[axes]
            for found in (
                ()
                if normalize
                else (
                    K.eval(K.batch_dot(K.constant(X), K.constant(Y), pair)),
                    models.Model([x, y], K.batch_dot(x, y, pair)).predict([X, Y]),
                )
            ):
                assert found.shape == shape
                np.testing.assert_allclose(found.sum(), total, rtol=1e-5)


def test_a_saved_model_multiplies_as_its_era(tmp_path):
    with parallel_compat.legacy_names(era="tf.keras-2.2"):
        from tensorflow.keras import backend as K
        from tensorflow.keras import layers, models

        x, y = layers.Input((2, 3, 4)), layers.Input((2, 3, 4))
        model = models.Model([x, y], K.batch_dot(x, y, (3, 3)))
        model.save(str(tmp_path / "m.h5"))
        again = models.load_model(str(tmp_path / "m.h5"))
        np.testing.assert_allclose(again.predict([X, Y]).sum(), -312.7062, rtol=1e-5)
