"""What a script of Keras 2 assigns to layers and models that computes it by a property today."""

from __future__ import annotations

import keras
import numpy as np
import pytest
from keras import backend as K

import parallel_compat

pytestmark = pytest.mark.usefixtures("legacy_names")


class OwnKernel(keras.layers.Dense):
    def build(self, input_shape):
        self.kernel = self.add_weight(shape=(input_shape[-1], self.units), initializer="ones", name="kernel")
        self.bias = None
        self.built = True


def weights_of(kind):
    class OfVariables(keras.layers.Layer):
        def build(self, input_shape):
            self.w = K.variable(np.ones((input_shape[-1], 2)), name="w")
            self.b = K.variable(np.zeros(2))
            self.fixed = K.variable(np.full(2, 3.0))
            if kind == "set":
                self.trainable_weights = [self.w, self.b]
                self.non_trainable_weights = [self.fixed]
            elif kind == "append":
                self.trainable_weights.append(self.w)
                self._trainable_weights += [self.b]
                self._non_trainable_weights.append(self.fixed)
            else:
                self._trainable_weights = [self.w]
                self.trainable_weights += [self.b]
                self._non_trainable_weights.extend([self.fixed])
            super().build(input_shape)

        def call(self, x):
            return K.dot(x, self.w) + self.b + self.fixed

        def compute_output_shape(self, input_shape):
            return (input_shape[0], 2)

    return OfVariables(input_shape=(3,))


def test_a_kernel_of_ones_own():
    model = keras.Sequential([OwnKernel(2, input_shape=(3,))])
    np.testing.assert_array_equal(model.predict(np.ones((1, 3))), [[3.0, 3.0]])
    assert [tuple(w.shape) for w in model.trainable_weights] == [(3, 2)]


@pytest.mark.parametrize("kind", ["set", "append", "underscore"])
@pytest.mark.parametrize("replicas", [1, 2])
def test_variables_that_become_weights_are_trained_as_one_would_compute(kind, replicas):
    layer = weights_of(kind)
    model = keras.Sequential([layer])
    trained = parallel_compat.multi_gpu_model(model, gpus=2) if replicas == 2 else model
    trained.compile(keras.optimizers.SGD(0.5), "mse")
    x, y = np.ones((4, 3), "float32"), np.zeros((4, 2), "float32")
    trained.train_on_batch(x, y)
    # The prediction is 3 + 0 + 3 = 6 everywhere; the loss is the mean over two outputs.
    w, b, fixed = layer.get_weights()
    np.testing.assert_allclose(w, np.full((3, 2), 1 - 0.5 * 6), rtol=1e-6)
    np.testing.assert_allclose(b, np.full(2, -0.5 * 6), rtol=1e-6)
    np.testing.assert_array_equal(fixed, [3.0, 3.0])
    assert len(model.trainable_weights) == 2
    assert len(model.non_trainable_weights) == 1


def test_a_weight_that_is_not_listed_is_none():
    class Listed(keras.layers.Layer):
        def build(self, input_shape):
            self.a = self.add_weight(shape=(1,), name="a", initializer="ones")
            self.b = self.add_weight(shape=(1,), name="b", initializer="ones")
            self.trainable_weights = [self.b]
            self.path = "a name of the script's own"
            super().build(input_shape)

        def call(self, x):
            return x * self.a * self.b

    layer = Listed()
    layer(np.ones((1, 1)))
    assert [w.name for w in layer.weights] == ["listed_1/b:0"]
    assert layer.path == "a name of the script's own"


def test_outputs_that_are_set():
    inputs = keras.Input((3,))
    hidden = keras.layers.Dense(4, name="hidden")(inputs)
    model = keras.Model(inputs, keras.layers.Dense(2)(hidden))
    x = np.ones((2, 3))
    expected = keras.Model(inputs, hidden).predict(x)
    assert model.predict(x).shape == (2, 2)
    model.outputs = [hidden]
    np.testing.assert_array_equal(model.predict(x), expected)
    assert model.output_names == ["hidden"]

    model = keras.Sequential([keras.layers.Dense(4, input_shape=(3,)), keras.layers.Dense(2)])
    model.outputs = [model.layers[0].output]
    assert model.predict(x).shape == (2, 4)


def test_a_layer_taken_off_the_list_is_the_last_no_more():
    keras.utils.to_categorical([0])  # standalone Keras, whose list was the model's own
    inputs = keras.Input((3,))
    hidden = keras.layers.Dense(4, name="features")(inputs)
    model = keras.Model(inputs, keras.layers.Dense(2, name="classes")(hidden))
    assert model.layers.pop().name == "classes"
    assert model.layers[-1].name == "features"
    assert len(model.weights) == 2
    assert keras.Model(model.input, model.layers[-1].output).predict(np.ones((1, 3))).shape == (1, 4)


def test_other_code_than_the_users_still_has_no_setter():
    from parallel_compat.run import callers

    layer = keras.layers.Dense(2)
    layer.build((None, 3))
    code = compile("layer.kernel = 1", "<somewhere>", "exec")
    with pytest.raises(AttributeError, match="no setter"):
        exec(code, {"layer": layer, "__file__": keras.__file__, "__name__": "keras.somewhere"})
    assert callers.asked() == frozenset()


def test_updates_run_in_training_alone():
    class Count(keras.layers.Layer):
        def build(self, input_shape):
            self.n = self.add_weight(name="n", shape=(), initializer="zeros", trainable=False)
            super().build(input_shape)

        def call(self, x):
            self.add_update((self.n, self.n + 1.0), x)
            self.add_update([(self.n, self.n + 10.0)], inputs=x)
            self.add_update([K.update_add(self.n, 100.0)], x)
            return x

    layer = Count(input_shape=(3,))
    model = keras.Sequential([layer, keras.layers.Dense(2)])
    model.compile("sgd", "mse")
    x, y = np.ones((4, 3)), np.ones((4, 2))
    model.predict(x)
    model.evaluate(x, y, verbose=0)
    assert layer.get_weights() == [0.0]
    model.fit(x, y, batch_size=2, verbose=0)
    assert layer.get_weights() == [222.0]


def test_a_target_tensor_stands_for_the_targets():
    inputs = keras.Input((3,))
    outputs = keras.layers.Dense(2)(inputs)
    model = keras.Model(inputs, outputs)
    model.compile("sgd", "mse", target_tensors=[keras.Input((2,))])
    assert model.train_on_batch(np.ones((2, 3)), model.predict(np.ones((2, 3)))) == pytest.approx(0, abs=1e-10)
    with pytest.raises(TypeError, match=r"which a layer computes.*pass them to `fit`"):
        model.compile("sgd", "mse", target_tensors=[outputs])
