"""What the test suites of old libraries asked for: optimizers, layers and configurations as these wrote them."""

from __future__ import annotations

import keras
import numpy as np
import pytest
from keras import backend as K

pytestmark = pytest.mark.usefixtures("legacy_names")


def own_locals():
    class OwnLocals(keras.optimizers.Optimizer):
        """An optimizer that keeps all arguments of its constructor, itself among them."""

        def __init__(self, lr=0.1, **kwargs):
            super().__init__(**kwargs)
            self.__dict__.update(locals())
            self.iterations = K.variable(0)
            self.lr = K.variable(lr)

        def get_updates(self, loss, params):
            grads = self.get_gradients(loss, params)
            began_with = self.get_weights()  # nothing, when a graph's updates were made
            norm = K.sqrt(K.sum([K.sum(K.square(weight)) for weight in began_with]))
            moments = [K.zeros(K.int_shape(each)) for each in params]
            self.weights = [self.iterations, *moments]
            self.updates = [K.update_add(self.iterations, 1)]
            for param, grad, moment in zip(params, grads, moments, strict=True):
                step = 0.5 * moment + grad
                self.updates += [K.update(moment, step), K.update(param, param - (self.lr + norm) * step)]
            return self.updates

        def get_config(self):
            return {"lr": float(K.get_value(self.lr))}

    return OwnLocals()


@pytest.mark.parametrize("replicas", [1, 2])
def test_an_optimizer_that_keeps_itself_and_reads_its_weights(replicas):
    template = keras.Sequential([keras.layers.Dense(1, use_bias=False, input_shape=(2,))])
    kernel, x, y = np.array([[0.5], [-0.25]]), np.array([[1.0, 2.0], [3.0, 4.0]]), np.array([[1.0], [0.0]])
    template.set_weights([kernel])
    model = keras.utils.multi_gpu_model(template, replicas) if replicas > 1 else template
    model.compile(own_locals(), "mse")
    moment = np.zeros((2, 1))
    for _ in range(3):
        model.train_on_batch(x, y)
        moment = 0.5 * moment + x.T @ (x @ kernel - y)
        kernel = kernel - 0.1 * moment
    np.testing.assert_allclose(template.get_weights()[0], kernel, rtol=1e-5)


def test_the_training_function_has_the_optimizers_weights():
    model = keras.Sequential([keras.layers.Dense(2, input_shape=(3,))])
    model.compile("adam", "mse")
    model._make_train_function()
    assert {(3, 2), (2,)} <= {tuple(each.shape) for each in model.optimizer.weights}


class Cut(keras.layers.Layer):
    """A layer whose bounds are weights, and whose configuration has a list that it keeps."""

    def __init__(self, bounds=(0.5,), **kwargs):
        super().__init__(**kwargs)
        self.bounds = list(bounds)

    def build(self, input_shape):
        self.alpha = self.add_weight(name="alpha", shape=(int(input_shape[-1]),), initializer="ones")
        self.top = self.add_weight(name="top", shape=(int(input_shape[-1]),), initializer="ones")
        super().build(input_shape)

    def call(self, inputs):
        return K.relu(inputs, self.alpha, self.top)

    def get_config(self):
        return {**super().get_config(), "bounds": self.bounds}


def test_a_configuration_with_a_list_of_the_layer_is_saved(tmp_path):
    inputs = keras.layers.Input((3,))
    model = keras.Model(inputs, Cut([0.25, 0.75])(inputs))
    model.set_weights([[0.5, 2.0, 0.0], [1.0, 2.0, 3.0]])
    model.save(str(tmp_path / "model.h5"))
    loaded = keras.models.load_model(str(tmp_path / "model.h5"), custom_objects={"Cut": Cut})
    assert list(loaded.layers[1].bounds) == [0.25, 0.75]
    x = np.array([[-1.0, -1.0, -1.0], [5.0, 5.0, 5.0], [0.5, 0.5, 0.5]])
    np.testing.assert_allclose(loaded.predict(x), [[-0.5, -2.0, 0.0], [1.0, 2.0, 3.0], [0.5, 0.5, 0.5]])


def test_a_function_is_fed_other_sizes_than_a_placeholder_says():
    placeholder = K.placeholder((None, 4, 3))
    function = K.function([placeholder], [K.sum(placeholder, axis=1)])
    for steps in (2, 4, 2):
        np.testing.assert_allclose(function([np.ones((5, steps, 3))])[0], np.full((5, 3), steps))


def test_the_weights_of_layers_are_written_into_an_open_file(tmp_path):
    import h5py
    from keras.engine import saving

    first, second = (keras.Sequential([keras.layers.Dense(2, input_shape=(3,), name="d")]) for _ in range(2))
    with h5py.File(tmp_path / "weights.h5", "w") as file:
        saving.save_weights_to_hdf5_group(file.create_group("model_weights"), first.layers)
    with h5py.File(tmp_path / "weights.h5") as file:
        saving.load_weights_from_hdf5_group(file["model_weights"], second.layers)
    for mine, theirs in zip(first.get_weights(), second.get_weights(), strict=True):
        np.testing.assert_array_equal(mine, theirs)
