"""Losses that layers add are those of the global batch."""

from __future__ import annotations

import keras
import numpy as np
import pytest
import tensorflow as tf
from keras import ops as K

from parallel_compat import parallelize
from tests.one_device import classes, train_both

ROWS = 101


class Adds(keras.layers.Layer):
    """Adds a loss of its inputs."""

    def __init__(self, function):
        super().__init__()
        self.function = function

    def call(self, inputs):
        self.add_loss(self.function(inputs))
        return inputs


class Sampling(keras.layers.Layer):
    """The latent layer of a variational autoencoder, with its Kullback-Leibler loss."""

    def __init__(self, scale=1.0):
        super().__init__()
        self.seeds = keras.random.SeedGenerator(1)
        self.scale = scale

    def call(self, inputs):
        mean, log_var = inputs
        self.add_loss(-0.5 * self.scale * K.mean(1 + log_var - K.square(mean) - K.exp(log_var)))
        return mean + K.exp(0.5 * log_var) * keras.random.normal(K.shape(mean), seed=self.seeds)


def model_that_adds(function, **dense):
    def build():
        inputs = keras.Input((8,))
        hidden = Adds(function)(keras.layers.Dense(5, activation="tanh", **dense)(inputs))
        return keras.Model(inputs, keras.layers.Dense(3, activation="softmax")(hidden))

    return build


def compiled(loss="categorical_crossentropy"):
    return lambda: {"optimizer": keras.optimizers.SGD(0.05), "loss": loss, "metrics": ["accuracy"] if loss else None}


@pytest.mark.one_in(2)
@pytest.mark.one_in(2)
@pytest.mark.parametrize(
    "function",
    [
        pytest.param(lambda h: 0.3 * K.mean(K.square(h)), id="mean"),
        pytest.param(lambda h: 0.01 * K.sum(K.square(h)), id="sum"),
        pytest.param(lambda h: 0.1 * K.mean(K.sum(K.abs(h), axis=-1)), id="mean of sums"),
    ],
)
@pytest.mark.parametrize("rows", [96, 101, 3])
def test_added_loss(function, rows):
    train_both(model_that_adds(function), compiled(), *classes(rows), replicas=4)


def test_activity_regularizer():
    build = model_that_adds(K.mean, activity_regularizer="l1")
    train_both(build, compiled(), *classes(ROWS), replicas=3)


def test_targets_may_be_none():
    """A model that is trained by its added losses alone, as in `train_on_batch(x, None)`."""
    x, _ = classes(10)
    weights = []
    for replicas in (1, 3):
        keras.utils.set_random_seed(0)
        template = model_that_adds(lambda h: K.mean(K.square(h - 1)))()
        model = template if replicas == 1 else parallelize(template, replicas)
        model.compile(keras.optimizers.SGD(0.3))
        losses = []
        for _ in range(3):
            model.reset_metrics()  # before Keras 3.15 those of a plain model went on from batch to batch
            losses.append(float(model.train_on_batch(x, None)))
        assert losses[-1] < losses[0]
        weights.append((losses, template.get_weights()))
    for one, other in zip(*(keras.tree.flatten(w) for w in weights), strict=True):
        np.testing.assert_allclose(one, other, atol=1e-6)


def test_neither_mean_nor_sum_is_refused():
    parallel = parallelize(model_that_adds(lambda h: K.sqrt(K.mean(K.square(h))))(), 2)
    parallel.compile("sgd", "categorical_crossentropy")
    with pytest.raises(ValueError, match="to be a mean or a sum over the samples"):
        parallel.train_on_batch(*classes(10))


class Annealed(keras.layers.Layer):
    """Adds a loss times a factor that is 0 at first."""

    def build(self, shape):
        self.factor = self.add_weight(shape=(), initializer="zeros", trainable=False)

    def call(self, inputs):
        self.add_loss(self.factor * K.mean(K.square(inputs)))
        return inputs


def annealed():
    inputs = keras.Input((8,))
    hidden = Annealed()(keras.layers.Dense(5, kernel_initializer="zeros")(inputs))
    return keras.Model(inputs, keras.layers.Dense(3)(keras.layers.Concatenate()([hidden, inputs])))


class Raise(keras.callbacks.Callback):
    def on_epoch_end(self, epoch, logs=None):
        for variable in self.model.non_trainable_variables:
            variable.assign(variable + 0.5)


def test_a_loss_may_be_zero_at_first():
    _, parallel = train_both(
        annealed, compiled_without_metrics, *classes(ROWS), replicas=3, fit={"callbacks": [Raise()]}
    )
    assert parallel.non_trainable_variables[0].numpy() == 1.5


def compiled_without_metrics():
    return {"optimizer": keras.optimizers.SGD(0.05), "loss": "mse"}


@pytest.mark.parametrize("arguments", [{"activity_regularizer": keras.regularizers.L2(0.0)},
                                       {"activity_regularizer": "l1", "activation": "relu",
                                        "bias_initializer": keras.initializers.Constant(-500.0)}])  # fmt: skip
def test_activity_regularizer_of_no_activity(arguments):
    def build():
        inputs = keras.Input((8,))
        hidden = keras.layers.Dense(5, **arguments)(inputs)
        return keras.Model(inputs, keras.layers.Dense(3)(keras.layers.Concatenate()([hidden, inputs])))

    train_both(build, compiled_without_metrics, *classes(ROWS), replicas=3)


def test_added_loss_of_a_model_of_strings():
    letters = np.array(list("abcd" * 26))[:ROWS, None]
    _, y = classes(ROWS)
    losses = []
    for replicas in (1, 3):
        keras.utils.set_random_seed(0)
        inputs = keras.Input((1,), dtype="string")
        hot = keras.layers.StringLookup(vocabulary=["a", "b", "c"], output_mode="one_hot")(inputs)
        template = keras.Model(inputs, keras.layers.Dense(3, activity_regularizer="l2")(hot))
        model = template if replicas == 1 else parallelize(template, replicas)
        model.compile(keras.optimizers.SGD(0.1), "mse")
        data = tf.data.Dataset.from_tensor_slices((letters, y)).batch(32)
        losses.append(model.fit(data, epochs=2, verbose=0).history["loss"])
    np.testing.assert_allclose(*losses, atol=1e-6)


def test_the_user_can_say_which():
    build = model_that_adds(lambda h: 0.0 * K.sum(h))  # nothing to be found out from zeros
    x, y = classes(10)
    parallel = parallelize(build(), 2)
    parallel.compile("sgd", "categorical_crossentropy")
    with pytest.raises(ValueError, match="to be a mean or a sum over the samples"):
        parallel.train_on_batch(x, y)
    parallel = parallelize(build(), 2, merge={"add_loss": "sum"})
    parallel.compile("sgd", "categorical_crossentropy")
    assert np.isfinite(parallel.train_on_batch(x, y))


def test_variational_autoencoder():
    """Random numbers blur what the layer adds; that it is a mean over rows is still found."""

    def build():
        inputs = keras.Input((8,))
        mean, log_var = (keras.layers.Dense(2)(inputs) for _ in range(2))
        return keras.Model(inputs, keras.layers.Dense(8)(Sampling()([mean, log_var])))

    x, _ = classes(ROWS)
    parallel = parallelize(build(), 3)
    parallel.compile(keras.optimizers.Adam(0.01), "mse")
    losses = parallel.fit(x, x, epochs=20, verbose=0).history["loss"]
    assert losses[-1] < losses[0]


def test_added_loss_behind_batch_normalization():
    def build():
        inputs = keras.Input((8,))
        hidden = keras.layers.BatchNormalization()(keras.layers.Dense(5)(inputs))
        return keras.Model(inputs, keras.layers.Dense(3, activation="softmax", activity_regularizer="l2")(hidden))

    x, y = classes(96)
    template = build()
    one = keras.models.clone_model(template)
    one.set_weights(template.get_weights())
    parallel = parallelize(template, 2)
    parallel.compile("sgd", "categorical_crossentropy")
    one.compile("sgd", "categorical_crossentropy")
    # Evaluation uses the same statistics, so the added loss must be the same too.
    assert parallel.evaluate(x, y, verbose=0) == pytest.approx(one.evaluate(x, y, verbose=0), abs=1e-6)
    parallel.train_on_batch(x, y)


@pytest.mark.parametrize(("function", "expected"), [(K.mean, 7.0), (K.sum, 12 * 7.0)])
def test_a_loss_that_draws_in_a_model_whose_output_does_not(function, expected):
    """The layer that adds the loss returns its input, as in Keras's own example of a variational autoencoder."""

    class Reconstruction(keras.layers.Layer):
        def call(self, inputs):
            image, decoded = inputs
            self.add_loss(function(K.sum(K.binary_crossentropy(image, decoded), axis=-1)))
            return image

    image = keras.Input((10,))
    noisy = keras.layers.GaussianNoise(1.0, seed=1)(keras.layers.Dense(2)(image))
    decoded = keras.layers.Dense(10, activation="sigmoid")(noisy)
    parallel = parallelize(keras.Model(image, Reconstruction()([image, decoded])), gpus=3)
    parallel.compile("rmsprop", loss=None)
    images = np.random.default_rng(0).integers(0, 2, (12, 10)).astype("float32")
    losses = parallel.fit(images, batch_size=12, verbose=0).history["loss"]
    assert 0.6 * expected < losses[0] < 2 * expected
