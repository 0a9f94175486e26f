"""Losses that a layer adds in `build`: tensors of a graph, computed in each step. Numbers are of the real stacks."""

from __future__ import annotations

import keras
import numpy as np
import pytest

import parallel_compat

X, Y = np.ones((8, 1), "float32"), np.full((8, 1), 0.6, "float32")
# Keras 2.2.4 counted before or after the loss read the count, by chance; TensorFlow 1.15 after it.
PENALTIES = {
    "all": [0.5223, 0.216592, 0.143192],
    "by a regularizer": [0.5223, 0.216592, 0.143192],
    "but the first": [0.9776, 0.3843, 0.2437],
}


def layer_of(penalized):
    from keras import backend as K

    class Penalized(keras.layers.Layer):
        def build(self, input_shape):
            self.kernel = self.add_weight(name="kernel", shape=(1, 1), initializer="ones")
            if penalized == "all":
                self.add_loss(0.5 * K.sum(K.square(self.kernel)))
            elif penalized == "by a regularizer":
                self.add_loss(keras.regularizers.l2(0.5)(self.kernel))
            else:
                self.steps = self.add_weight(name="steps", shape=(), initializer="zeros", trainable=False)
                penalty = 2.0 * K.sum(K.square(self.kernel))
                self.add_loss(K.switch(K.equal(self.steps, K.constant(0.0)), 0.0, penalty))
            super().build(input_shape)

        def call(self, inputs):
            if penalized == "but the first":
                self.add_update([K.update_add(self.steps, 1.0)], inputs)
            return K.dot(inputs, self.kernel)

        def compute_output_shape(self, input_shape):
            return input_shape

    return Penalized()


@pytest.mark.parametrize("parallel", [False, True])
@pytest.mark.parametrize("penalized", PENALTIES)
@pytest.mark.parametrize("era", ["keras-2.2.4", "keras-2.3", "tf.keras-1.15"])
def test_it_is_computed_in_each_step(era, penalized, parallel):
    with parallel_compat.legacy_names(era=era):
        inputs = keras.layers.Input((1,))
        model = keras.models.Model(inputs, layer_of(penalized)(inputs))
        if parallel:
            model = parallel_compat.multi_gpu_model(model, gpus=2)
        model.compile(keras.optimizers.SGD(0.1), "mse")
        losses = model.fit(X, Y, batch_size=4, epochs=3, verbose=0, shuffle=False).history["loss"]
        np.testing.assert_allclose(losses, PENALTIES[penalized], atol=1e-4)


@pytest.mark.parametrize("era", ["keras-2.2.4", "tf.keras-1.15"])
def test_a_call_asks_for_the_value_of_constants(era):
    with parallel_compat.legacy_names(era=era):
        from keras import backend as K

        class Chosen(keras.layers.Layer):
            def call(self, inputs):
                place = int(K.get_value(K.minimum(round(0.6 * K.int_shape(inputs)[-1]), 5)))
                return inputs[:, place : place + 1]

            def compute_output_shape(self, input_shape):
                return (input_shape[0], 1)

        model = keras.models.Sequential([Chosen(input_shape=(4,))])
        model.compile("sgd", "mse")
        assert model.predict(np.arange(8.0).reshape(2, 4)).tolist() == [[2], [6]]
