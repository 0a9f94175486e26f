"""Parts of `tf.contrib` that projects of Keras used: images that are transformed, initializers, regularizers."""

from __future__ import annotations

from typing import TYPE_CHECKING

import keras
import numpy as np
import pytest

from parallel_compat.legacy import contrib_layers
from parallel_compat.legacy import projective_transforms as image

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path
    from subprocess import CompletedProcess

PICTURES = np.arange(24, dtype="float32").reshape(2, 3, 4, 1)
# What TensorFlow 1.15.5 gave.
EXPECTED = {
    "rotate": [
        0.218011,
        1.18199,
        3.04288,
        3.82017,
        2.29387,
        4.43129,
        6.56871,
        8.70613,
        4.66605,
        7.95712,
        8.68395,
        6.3972,
        11.9073,
        14.7024,
        12.0871,
        3.76446,
        20.218,
        18.406,
        16.594,
        14.782,
        5.64464,
        19.8696,
        20.2976,
        12.8908,
    ],
    "rotate_one": [0.0, 2.0, 2.0, 7.0, 0.0, 5.0, 6.0, 11.0, 4.0, 9.0, 9.0, 0.0],
    "translate": [
        0.0,
        0.0,
        0.5,
        1.0,
        0.0,
        2.0,
        3.0,
        4.0,
        0.0,
        6.0,
        7.0,
        8.0,
        13.0,
        14.0,
        15.0,
        0.0,
        17.0,
        18.0,
        19.0,
        0.0,
        21.0,
        22.0,
        23.0,
        0.0,
    ],
    "sizes": [1.4, 2.37624, 3.33333, 5.1, 6.0396, 6.96078],
    "composed": [
        3.55081,
        2.66578,
        1.11267,
        0.165011,
        8.16212,
        6.38737,
        4.61263,
        2.83788,
        7.77621,
        9.01392,
        8.33423,
        5.59273,
        14.1767,
        14.317,
        12.5138,
        10.3547,
        19.5915,
        18.1972,
        16.8028,
        15.4085,
        19.5789,
        20.914,
        20.683,
        17.5914,
    ],
    "regularizers": [0.65, 0.7125],
    "spreads": [[0.04732, 0.08165], [0.04733, 0.1075], [0.07484, 0.17]],
}


def test_images_are_transformed_as_by_tensorflow_1() -> None:
    found = {
        "rotate": image.rotate(PICTURES, [0.3, -0.7], "BILINEAR"),
        "rotate_one": image.rotate(PICTURES[0, :, :, 0], 0.5),
        "translate": image.translate(PICTURES, [[1.0, 0.5], [-1.0, 0.0]], interpolation="BILINEAR"),
        "sizes": image.transform(PICTURES[0], [1.0, 0.1, 0.2, 0.0, 0.9, 0.3, 0.01, 0.0], "BILINEAR", [2, 3]),
        "composed": image.transform(
            PICTURES,
            image.compose_transforms(
                image.angles_to_projective_transforms([0.2, 0.1], 3.0, 4.0), [[-1.0, 0, 3, 0, 1, 0, 0, 0]] * 2
            ),
            interpolation="BILINEAR",
        ),
    }
    for name, values in found.items():
        np.testing.assert_allclose(np.ravel(values), EXPECTED[name], rtol=1e-5, atol=1e-5)


def test_initializers_and_regularizers() -> None:
    weights = np.array([[1.0, -2.0], [3.0, 0.5]], dtype="float32")
    l1, l2 = contrib_layers.l1_regularizer(0.1), contrib_layers.l2_regularizer(0.1)
    np.testing.assert_allclose([float(l1(weights)), float(l2(weights))], EXPECTED["regularizers"], rtol=1e-6)
    assert contrib_layers.l2_regularizer(0.0) is None
    drawn = [
        contrib_layers.xavier_initializer(seed=1),
        contrib_layers.xavier_initializer(uniform=False, seed=1),
        contrib_layers.variance_scaling_initializer(seed=1),
    ]
    for initializer, (spread, largest) in zip(drawn, EXPECTED["spreads"], strict=True):
        values = np.asarray(initializer((3, 3, 40, 60)))
        np.testing.assert_allclose([values.std(), np.abs(values).max()], [spread, largest], rtol=0.02)


@pytest.mark.slow
def test_a_layer_of_run_augments_by_contrib(run: Callable[..., CompletedProcess[str]], tmp_path: Path) -> None:
    (tmp_path / "script.py").write_text("""
import numpy as np, tensorflow as tf
from keras.layers import Conv2D, Flatten, Dense, Lambda
from keras.models import Sequential

def turned(x):
    shape = tf.shape(x)
    size = tf.cast(shape[1], tf.float32)
    angles = tf.random_uniform([shape[0]], 0.5, 0.5)
    f = tf.contrib.image.angles_to_projective_transforms(angles, size, size)
    return tf.contrib.image.transform(x, tf.contrib.image.compose_transforms(f, f), interpolation="BILINEAR")

model = Sequential([
    Lambda(turned, input_shape=(4, 4, 1)),
    Conv2D(2, 3, kernel_initializer=tf.contrib.layers.xavier_initializer(),
           kernel_regularizer=tf.contrib.layers.l2_regularizer(0.1)),
    Flatten(), Dense(1)])
model.compile("sgd", "mse")
x = np.arange(32.0).reshape(2, 4, 4, 1)
model.fit(x, np.zeros((2, 1)), verbose=0)
print(["%.3f" % each for each in tf.keras.backend.get_value(turned(tf.constant(x, tf.float32)))[0, :, 1, 0]])
""")
    done = run("--quiet", "script.py")
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines() == [str(["3.567", "4.887", "6.207", "7.314"])]


def test_files_hold_the_initializer() -> None:
    layer = keras.layers.Dense(2, kernel_initializer=contrib_layers.xavier_initializer(seed=3))
    again = keras.layers.Dense.from_config(layer.get_config())
    assert again.kernel_initializer.get_config() == layer.kernel_initializer.get_config()
