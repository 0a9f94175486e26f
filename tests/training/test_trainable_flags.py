"""`trainable` as it was when the model was compiled counts, as in Keras 2; recompiling takes it up."""

from __future__ import annotations

import keras
import numpy as np
import pytest

from parallel_compat import multi_gpu_model
from parallel_compat.legacy.models import settle_trainable


def network(units, name, **arguments):
    return keras.Sequential([keras.Input((4,)), keras.layers.Dense(units, **arguments)], name=name)


def changed(model, train):
    before = model.get_weights()
    train()
    return any((a != b).any() for a, b in zip(before, model.get_weights(), strict=True))


def test_a_discriminator_frozen_after_compile_still_trains_alone_and_not_in_the_combined_model():
    generator, discriminator = network(4, "generator"), network(1, "discriminator", activation="sigmoid")
    parallel_discriminator = multi_gpu_model(discriminator, gpus=2)
    parallel_discriminator.compile("adam", "binary_crossentropy")
    discriminator.trainable = False
    noise = keras.Input((4,))
    combined = keras.Model(noise, discriminator(generator(noise)))
    parallel_combined = multi_gpu_model(combined, gpus=2)
    parallel_combined.compile("adam", "binary_crossentropy")
    x, y = np.random.normal(size=(6, 4)), np.ones((6, 1))

    assert changed(discriminator, lambda: parallel_discriminator.train_on_batch(x, y))
    assert not changed(generator, lambda: parallel_discriminator.train_on_batch(x, y))
    assert not changed(discriminator, lambda: parallel_combined.train_on_batch(x, y))
    assert changed(generator, lambda: parallel_combined.train_on_batch(x, y))
    assert not discriminator.trainable
    assert parallel_discriminator.trainable_variables == []


@pytest.mark.parametrize("replicas", [1, 2])
def test_a_model_of_keras_trains_what_was_settled_until_it_is_compiled_again(replicas):
    """What a migrated GAN does; the numbers are Keras 2.2.4's."""
    x, y = np.ones((4, 1)), np.zeros((4, 1))
    one = keras.Input((1,)), keras.Input((1,)), keras.Input((1,))
    d, g = (keras.Model(i, keras.layers.Dense(1, kernel_initializer="ones")(i)) for i in one[:2])
    trained = multi_gpu_model(d, replicas) if replicas > 1 else d
    trained.compile(keras.optimizers.SGD(0.1), "mse")
    settle_trainable(trained)
    d.trainable = False
    gan = keras.Model(one[2], d(g(one[2])))
    gan.compile(keras.optimizers.SGD(0.1), "mse")
    losses = []
    for each in (trained, gan, trained, gan):
        each.reset_metrics()  # `train_on_batch` returned the mean of all batches before Keras 3.15
        losses.append(each.train_on_batch(x, y))
    np.testing.assert_allclose(losses, [1.0, 0.36, 0.36, 0.0526427], rtol=1e-5)
    trained.compile(keras.optimizers.SGD(0.1), "mse")
    with pytest.warns(UserWarning, match="trainable weights"):
        assert trained.train_on_batch(x, y) == pytest.approx(0.1296)
    assert trained.test_on_batch(x, y) == pytest.approx(0.1296)


@pytest.mark.parametrize("run_eagerly", [False, True])
def test_toggling_counts_after_recompiling(run_eagerly):
    model = network(3, "model")
    parallel = multi_gpu_model(model, gpus=2)
    x, y = np.ones((6, 4)), np.ones((6, 3))
    model.layers[0].trainable = False
    parallel.compile("sgd", "mse", run_eagerly=run_eagerly)
    model.layers[0].trainable = True
    with pytest.warns(UserWarning, match="trainable weights"):
        assert not changed(model, lambda: parallel.train_on_batch(x, y))
    parallel.compile("sgd", "mse", run_eagerly=run_eagerly)
    assert changed(model, lambda: parallel.train_on_batch(x, y))


def test_batch_normalization_frozen_after_compile_still_learns_its_statistics():
    model = keras.Sequential([keras.Input((4,)), keras.layers.BatchNormalization(), keras.layers.Dense(1)])
    parallel = multi_gpu_model(model, gpus=2)
    parallel.compile("sgd", "mse")
    model.trainable = False
    parallel.train_on_batch(np.ones((6, 4)), np.ones((6, 1)))
    np.testing.assert_allclose(model.layers[0].moving_mean, 0.01 * np.ones(4), rtol=1e-5)


def test_the_regularizer_of_a_layer_frozen_after_compile_counts():
    model = network(1, "model", kernel_regularizer=keras.regularizers.L2(1.0), kernel_initializer="ones")
    parallel = multi_gpu_model(model, gpus=2)
    parallel.compile("sgd", "mse")
    model.trainable = False
    loss = parallel.test_on_batch(np.zeros((6, 4)), np.zeros((6, 1)))
    assert loss == pytest.approx(4.0)
