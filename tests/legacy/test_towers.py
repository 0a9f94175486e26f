"""What people wrote around `multi_gpu_model`, or instead of it: a wrapper class, and towers made by hand."""

from __future__ import annotations

import keras
import numpy as np
import pytest
import tensorflow as tf

import parallel_compat

pytestmark = pytest.mark.usefixtures("legacy_names")
X, Y = np.random.RandomState(0).rand(8, 2), np.random.RandomState(1).rand(8, 1)


def template():
    return keras.Sequential([keras.layers.Dense(3, input_shape=(2,)), keras.layers.Dense(1)])


def test_the_wrapper_that_saves_the_template(tmp_path):
    class ModelMGPU(keras.models.Model):
        def __init__(self, serial, gpus):
            parallel = keras.utils.multi_gpu_model(serial, gpus)
            self.__dict__.update(parallel.__dict__)
            self._smodel = serial

        def __getattribute__(self, name):
            if "load" in name or "save" in name:
                return getattr(self._smodel, name)
            return super().__getattribute__(name)

    serial = template()
    model = ModelMGPU(serial, 2)
    assert isinstance(model, parallel_compat.ParallelModel)
    model.compile("sgd", "mse", ["mae"])
    before = serial.get_weights()[0]
    model.fit(X, Y, verbose=0, callbacks=[keras.callbacks.ModelCheckpoint(str(tmp_path / "c.h5"))])
    assert (serial.get_weights()[0] != before).any()
    model.save(str(tmp_path / "m.h5"))
    for name in ("m.h5", "c.h5"):
        loaded = keras.models.load_model(str(tmp_path / name))
        np.testing.assert_allclose(loaded.predict(X), serial.predict(X), atol=1e-6)


def by_merge(outputs):
    from keras.layers import merge

    return merge(outputs, mode="concat", concat_axis=0)


@pytest.mark.parametrize(
    "how",
    [by_merge, lambda o: keras.layers.concatenate(o, axis=0), lambda o: keras.layers.Concatenate(axis=0)(o)],
)
def test_towers_made_by_hand(how):
    def get_slice(data, index, parts):
        shape = tf.shape(data)
        size = tf.concat([shape[:1] // parts, shape[1:]], axis=0)
        stride = tf.concat([shape[:1] // parts, shape[1:] * 0], axis=0)
        return tf.slice(data, stride * index, size)

    def make_parallel(model, count):
        towers = []
        for i in range(count):
            with tf.device(f"/gpu:{i}"), tf.name_scope(f"tower_{i}"):
                inputs = []
                for x in model.inputs:
                    shape = tuple(x.get_shape().as_list())[1:]
                    arguments = {"index": i, "parts": count}
                    inputs.append(keras.layers.Lambda(get_slice, output_shape=shape, arguments=arguments)(x))
                towers.append(model(inputs))
        with tf.device("/cpu:0"):
            return keras.models.Model(input=model.inputs, output=[how(towers)])

    serial = template()
    model = make_parallel(serial, 2)
    np.testing.assert_allclose(model.predict(X), serial.predict(X), atol=1e-6)
    single = template()
    single.set_weights(serial.get_weights())
    for trained in (model, single):
        trained.compile("sgd", "mse")
        trained.fit(X, Y, batch_size=8, verbose=0)
    np.testing.assert_allclose(serial.get_weights()[0], single.get_weights()[0], atol=1e-6)
