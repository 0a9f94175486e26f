"""Template, parallel model and every model that shares layers use the same variables at every moment."""

from __future__ import annotations

import keras
import numpy as np
import pytest

from parallel_compat import parallelize
from tests.one_device import classes, difference, mlp


def compiled(model, **arguments):
    model.compile(keras.optimizers.SGD(0.5), "categorical_crossentropy", **arguments)
    return model


def test_seen_in_every_batch():
    x, y = classes(64)
    template = mlp()
    before = keras.Model(template.input, template.layers[1].output)
    before.predict(x, verbose=0)  # traced before the wrapping
    template.predict(x, verbose=0)
    parallel = compiled(parallelize(template, 2))
    after = keras.Model(template.input, template.layers[1].output)
    seen = []

    class Watch(keras.callbacks.Callback):
        def on_train_batch_end(self, batch, logs=None):
            kernel = template.layers[1].kernel.numpy()
            hidden = np.tanh(x @ kernel + template.layers[1].bias.numpy())
            assert difference(before.predict_on_batch(x), hidden) < 1e-5
            assert difference(after.predict_on_batch(x), hidden) < 1e-5
            assert difference(parallel.get_weights(), template.get_weights()) == 0
            assert difference(template.predict_on_batch(x), parallel.predict_on_batch(x)) < 1e-5
            seen.append(kernel)

    parallel.fit(x, y, batch_size=16, epochs=2, verbose=0, callbacks=[Watch()])
    assert len(seen) == 8
    assert difference(seen[0], seen[-1]) > 1e-3


@pytest.mark.parametrize(
    "how", ["set_weights", "load_weights", "assign", "parallel.set_weights", "parallel.load_weights"]
)
def test_written_from_anywhere(how, tmp_path):
    x, _ = classes(8)
    template = mlp()
    parallel = compiled(parallelize(template, 2))
    parallel.predict(x, verbose=0)
    other = mlp()
    other.set_weights([w + 1 for w in other.get_weights()])
    other.save_weights(tmp_path / "w.weights.h5")
    if how == "assign":
        for to, value in zip(template.weights, other.weights, strict=True):
            to.assign(value)
    else:
        model = parallel if how.startswith("parallel") else template
        argument = other.get_weights() if how.endswith("set_weights") else tmp_path / "w.weights.h5"
        getattr(model, how.split(".")[-1])(argument)
    assert difference(parallel.predict(x, verbose=0), other.predict(x, verbose=0)) < 1e-6
    assert difference(template.predict(x, verbose=0), other.predict(x, verbose=0)) < 1e-6


def test_template_trains_on_its_own():
    x, y = classes(101)
    alone = compiled(mlp())
    keras.utils.set_random_seed(0)
    template = mlp()
    template.set_weights(alone.get_weights())
    parallel = compiled(parallelize(template, 4))
    compiled(template)
    arguments = {"batch_size": 32, "shuffle": False, "verbose": 0}
    alone.fit(x, y, epochs=3, **arguments)
    template.fit(x, y, epochs=1, **arguments)
    parallel.fit(x, y, epochs=1, **arguments)
    template.fit(x, y, epochs=1, **arguments)
    assert difference(alone.get_weights(), template.get_weights()) < 1e-5
    assert difference(template.evaluate(x, y, verbose=0), parallel.evaluate(x, y, verbose=0)) < 1e-5


def test_template_can_be_cloned():
    template = mlp()
    parallelize(template, 2)
    clone = keras.models.clone_model(template)
    clone.set_weights(template.get_weights())
    x, _ = classes(4)
    assert difference(clone.predict(x, verbose=0), template.predict(x, verbose=0)) == 0


def test_wrapped_again_with_other_devices():
    """The real library's own tests did it: 8 GPUs, then [0, 2, 4]."""
    x, y = classes(33)
    template = mlp()
    first = compiled(parallelize(template, 4))
    first.fit(x, y, verbose=0)
    second = compiled(parallelize(template, [0, 2, 3]))
    second.fit(x, y, verbose=0)
    third = parallelize(second, 2)
    assert third.template is template
    before = template.get_weights()
    first.fit(x, y, verbose=0)  # the first one goes on too
    assert difference(before, template.get_weights()) > 1e-4
    for model in (first, second, third):
        assert difference(model.predict(x, verbose=0), template.predict(x, verbose=0)) < 1e-5


def test_recompiled_after_freezing():
    x, y = classes(32)
    template = mlp()
    parallel = compiled(parallelize(template, 2))
    parallel.fit(x, y, verbose=0)
    template.layers[1].trainable = False
    compiled(parallel)
    frozen, free = template.layers[1].get_weights(), template.layers[2].get_weights()
    parallel.fit(x, y, verbose=0)
    assert difference(frozen, template.layers[1].get_weights()) == 0
    assert difference(free, template.layers[2].get_weights()) > 1e-4


def gan():
    generator = keras.Sequential([keras.Input((4,)), keras.layers.Dense(8)], name="generator")
    discriminator = keras.Sequential(
        [keras.Input((8,)), keras.layers.Dense(6, activation="tanh"), keras.layers.Dense(1, activation="sigmoid")],
        name="discriminator",
    )
    return generator, discriminator


def train_gan(replicas):
    keras.utils.set_random_seed(3)
    generator, discriminator = gan()
    wrap = (lambda model: parallelize(model, replicas)) if replicas > 1 else (lambda model: model)
    trained_discriminator = wrap(discriminator)
    trained_discriminator.compile(keras.optimizers.SGD(0.1), "binary_crossentropy")
    rng = np.random.default_rng(0)
    real = rng.normal(size=(16, 8)).astype("float32")
    noise = rng.normal(size=(16, 4)).astype("float32")
    # Keras 3 looks at `trainable` when a function is traced: each model takes a step before it is toggled.
    trained_discriminator.train_on_batch(real, np.ones((16, 1)))
    discriminator.trainable = False
    combined = wrap(keras.Model(generator.inputs, discriminator(generator.outputs[0])))
    combined.compile(keras.optimizers.SGD(0.1), "binary_crossentropy")
    for _ in range(3):
        combined.train_on_batch(noise, np.ones((16, 1)))
        discriminator.trainable = True
        trained_discriminator.train_on_batch(real, np.ones((16, 1)))
        trained_discriminator.train_on_batch(generator.predict_on_batch(noise), np.zeros((16, 1)))
        discriminator.trainable = False
    return generator.get_weights() + discriminator.get_weights()


def test_two_models_trained_in_turn():
    assert difference(train_gan(1), train_gan(3)) < 1e-5


def autoencoders():
    """As in face swapping: one encoder, two decoders."""
    keras.utils.set_random_seed(5)
    encoder = keras.Sequential([keras.Input((8,)), keras.layers.Dense(4, activation="tanh")])
    inputs = keras.Input((8,))
    return [keras.Model(inputs, keras.layers.Dense(8)(encoder(inputs))) for _ in range(2)]


def test_two_autoencoders_with_one_encoder_and_one_optimizer():
    x, _ = classes(21)
    trained = []
    for replicas in (1, 4):
        models = autoencoders()
        variables = list({id(v): v for m in models for v in m.trainable_variables}.values())
        optimizer = keras.optimizers.Adam(0.01)
        optimizer.build(variables)  # Keras 3 on one device wants to know all variables first
        wrapped = models if replicas == 1 else [parallelize(m, replicas) for m in models]
        for model in wrapped:
            model.compile(optimizer, "mae")
        for _ in range(4):
            for model in wrapped:
                model.train_on_batch(x, x)
        trained.append([np.asarray(v) for v in variables])
    assert difference(*trained) < 1e-5


def test_one_optimizer_object_as_in_keras_2():
    """Nothing is built beforehand: each model has its own moments, learning rate and iterations are common."""
    x, _ = classes(21)
    first, second = (parallelize(model, 2) for model in autoencoders())
    optimizer = keras.optimizers.Adam(0.01)
    first.compile(optimizer, "mae")
    second.compile(optimizer, "mae")
    losses = [(first.train_on_batch(x, x), second.train_on_batch(x, x)) for _ in range(20)]
    assert losses[-1][0] < losses[0][0]
    assert losses[-1][1] < losses[0][1]
    assert int(optimizer.iterations.numpy()) == 40
    before = second.get_weights()
    optimizer.learning_rate.assign(0.0)
    second.train_on_batch(x, x)
    assert difference(before, second.get_weights()) == 0
