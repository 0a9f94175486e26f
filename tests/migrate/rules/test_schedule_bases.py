from __future__ import annotations

import keras
import numpy as np
import pytest
import tensorflow as tf

from parallel_compat.legacy.schedules import LearningRateSchedule
from tests.migrate.check import check_noop, check_transformed

CLASS = "class Decay({}):\n    def __call__(self, step):\n        return 0.5 * step\n"


@pytest.mark.parametrize(
    ("imports", "after"),
    [
        ("from tensorflow.keras.optimizers.schedules import", "from parallel_compat.legacy.schedules import"),
        ("from keras.optimizers.schedules import", "from parallel_compat.legacy.schedules import"),
    ],
)
def test_has_its_base_of_this_package(imports, after):
    body = CLASS.format("LearningRateSchedule")
    check_transformed(f"{imports} LearningRateSchedule\n{body}", f"{after} LearningRateSchedule\n{body}")


def test_leaves_alone():
    check_noop(f"from keras.optimizers.schedules import ExponentialDecay\n{CLASS.format('ExponentialDecay')}")


def test_trains_at_the_rate_of_a_float():
    """TensorFlow 2.2: weights of 1, a gradient of 1 and rates of 0.5 and 0.25 (`0.5 / (1 + step)`) leave 0.25."""

    class Decay(LearningRateSchedule):
        def __call__(self, step):
            return tf.constant(0.5) / (1 + step)

    model = keras.Sequential([keras.Input((1,)), keras.layers.Dense(1, use_bias=False, kernel_initializer="ones")])
    model.compile(keras.optimizers.SGD(Decay()), lambda y, p: p)
    model.fit(np.ones((2, 1)), np.ones((2, 1)), batch_size=1, verbose=0)
    assert model.get_weights()[0].item() == pytest.approx(0.25)
