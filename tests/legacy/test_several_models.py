"""What migrated code says of one optimizer for several models, and of a model out of its JSON."""

from __future__ import annotations

import keras
import numpy as np

from parallel_compat.legacy import layers
from parallel_compat.legacy.models import model_from_json, predict
from parallel_compat.legacy.optimizers import Adam, for_one_compile


def test_each_model_gets_an_optimizer_with_the_common_rate():
    adam = Adam(lr=0.01, decay=0.5)
    x, y = np.ones((4, 3), "float32"), np.ones((4, 1), "float32")
    models = [keras.Sequential([keras.Input((3,)), layers.Dense(1)]) for _ in range(2)]
    for model in models:
        model.compile(loss="mse", optimizer=for_one_compile(adam))
        model.set_weights([np.zeros((3, 1)), np.zeros(1)])
    for model in models:
        model.train_on_batch(x, y)
    assert models[0].optimizer is adam
    assert models[1].optimizer is not adam
    # The first step of Adam is the rate, and the count of steps is common: the second one is 1 / (1 + 0.5) of it
    # with the correction of the second step, (1 - 0.9) * sqrt(1 - 0.999 ** 2) / sqrt(1 - 0.999) / (1 - 0.9 ** 2).
    correction = 0.1 * np.sqrt((1 - 0.999**2) / 0.001) / (1 - 0.9**2)
    for model, rate in zip(models, (0.01, 0.01 / 1.5 * correction), strict=True):
        np.testing.assert_allclose(model.get_weights()[0], np.full((3, 1), rate), rtol=1e-4)
    adam.learning_rate = 0.0
    before = models[1].get_weights()
    models[1].train_on_batch(x, y)
    assert all(np.array_equal(one, other) for one, other in zip(before, models[1].get_weights(), strict=True))
    assert for_one_compile("adam") == "adam"


@keras.saving.register_keras_serializable("tests")
class BuildsItsOwn(keras.layers.Layer):
    """A layer that makes its layers in `build`, as keras-tcn does."""

    def build(self, shape):
        self.dense = layers.Dense(2)
        self.dense.build(shape)

    def call(self, x):
        return self.dense(x)


def test_a_model_out_of_its_json_is_not_compiled():
    model = keras.Sequential([keras.Input((3,)), BuildsItsOwn()])
    model.compile(keras.optimizers.Adam(), "mse")
    model.fit(np.ones((2, 3)), np.ones((2, 2)), verbose=0)
    read = model_from_json(model.to_json(), {"BuildsItsOwn": BuildsItsOwn})
    assert getattr(read, "optimizer", None) is None
    read.set_weights(model.get_weights())
    np.testing.assert_allclose(read.predict(np.ones((2, 3)), verbose=0), model.predict(np.ones((2, 3)), verbose=0))


def test_predict_takes_a_generator_of_arrays_alone():
    model = keras.Sequential([keras.Input((3,)), layers.Dense(1)])
    x = np.arange(12, dtype="float32").reshape(4, 3)
    expected = model.predict(x, verbose=0)
    batches = (x[at : at + 2] for at in (0, 2))
    np.testing.assert_allclose(predict(model, batches, steps=2, workers=3, max_queue_size=1), expected, rtol=1e-6)
    np.testing.assert_allclose(predict(model, x, batch_size=2), expected, rtol=1e-6)
