"""`model.train_function` of Keras 2.2.4, which took lists of arrays: called, wrapped, replaced."""

from __future__ import annotations

import keras
import numpy as np
import pytest
from keras import backend as K

import parallel_compat

pytestmark = pytest.mark.usefixtures("legacy_names")

RNG = np.random.default_rng(0)
X, Y, Z = RNG.random((7, 3)), RNG.random((7, 2)), RNG.random((7, 1))


def model_of():
    inputs = keras.layers.Input((3,))
    outputs = [keras.layers.Dense(2, name="two")(inputs), keras.layers.Dense(1, name="one")(inputs)]
    model = keras.models.Model(inputs, outputs)
    rng = np.random.default_rng(1)
    model.set_weights([rng.random(weight.shape) for weight in model.get_weights()])
    model.compile(keras.optimizers.SGD(0.1), "mse", metrics=["mae"])
    return model


def assert_same(ours, wanted):
    for mine, theirs in zip(ours, wanted, strict=True):
        np.testing.assert_allclose(mine, theirs, rtol=1e-5)


def test_a_function_around_that_of_the_model():
    ours, wanted = model_of(), model_of()
    ours._make_train_function()
    ours._make_test_function()
    step, test, seen = ours.train_function, ours.test_function, []

    def train_function(inputs):
        outputs = step(inputs)
        seen.append((len(inputs), len(inputs[0]), *outputs))
        return outputs

    ours.train_function, ours.test_function = train_function, lambda inputs: test(inputs)
    histories = [
        each.fit(X, [Y, Z], batch_size=4, epochs=2, shuffle=False, verbose=0, validation_data=(X, [Y, Z])).history
        for each in (ours, wanted)
    ]
    assert list(histories[0]) == list(histories[1])
    assert_same(histories[0].values(), histories[1].values())
    assert_same(ours.train_on_batch(X, [Y, Z]), wanted.train_on_batch(X, [Y, Z]))
    assert_same(ours.get_weights(), wanted.get_weights())
    assert [each[:2] for each in seen] == [(5, 4), (5, 3)] * 2 + [(5, 7)]
    assert len(seen[0]) == 2 + len(wanted.metrics_names) == 7


def test_a_function_of_a_programs_own_in_its_place():
    ours, wanted = model_of(), model_of()
    ours._check_trainable_weights_consistency()
    assert ours.train_function is None
    inputs = ours._feed_inputs + ours._feed_targets + ours._feed_sample_weights
    assert not ours._uses_dynamic_learning_phase()
    weights = ours._collected_trainable_weights
    slow = [K.variable(each) for each in weights]
    updates = ours.updates + ours.optimizer.get_updates(params=weights, loss=ours.total_loss) + ours.metrics_updates
    outputs = [ours.total_loss, *ours.metrics_tensors]
    fast = K.function(inputs, outputs, updates=updates, name="fast", **ours._function_kwargs)
    halfway = [K.update(mean, mean + 0.5 * (each - mean)) for each, mean in zip(weights, slow, strict=True)]
    back = [K.update(each, mean) for each, mean in zip(weights, slow, strict=True)]

    def train_function(arrays):
        result = fast(arrays)
        K.batch_get_value(halfway)
        K.batch_get_value(back)
        return result

    ours.train_function = train_function
    history = ours.fit(X, [Y, Z], batch_size=4, epochs=1, shuffle=False, verbose=0).history
    losses = []
    for batch in slice(0, 4), slice(4, 7):
        before = wanted.get_weights()
        losses.append(wanted.train_on_batch(X[batch], [Y[batch], Z[batch]]))
        wanted.set_weights([0.5 * (a + b) for a, b in zip(before, wanted.get_weights(), strict=True)])
    assert_same(ours.get_weights(), wanted.get_weights())
    means = np.average(losses, axis=0, weights=[4, 3])
    assert_same([history[name][0] for name in wanted.metrics_names], means)


@pytest.mark.parametrize("gpus", [None, 2])
def test_metrics_updates_run_with_each_batch_of_training_and_evaluation(gpus):
    model = model_of()
    if gpus:
        model = parallel_compat.parallelize(model, devices=["CPU:0", "CPU:1"])
    model.compile("sgd", ["mse", "mae"])
    count = K.variable(0.0)
    before = [K.zeros(K.int_shape(each)) for each in model.weights]
    model.metrics_updates.append(K.update_add(count, 1.0))
    model.metrics_updates.extend(K.update(mine, each) for mine, each in zip(before, model.weights, strict=True))
    weights = model.get_weights()
    model.train_on_batch(X, [Y, Z])
    assert_same([K.get_value(each) for each in before], weights)  # all is read before the step writes
    model.fit(X, [Y, Z], batch_size=4, epochs=2, validation_data=(X, [Y, Z]), verbose=0)
    model.evaluate(X, [Y, Z], verbose=0)
    model.predict(X, verbose=0)
    assert K.get_value(count) == 1 + 2 * (2 + 2) + 1  # as Keras 2.2.4 counted
    model.metrics_updates.append(K.update_add(count, 100.0))  # too late for functions that are made
    model.train_on_batch(X[:5], [Y[:5], Z[:5]])
    assert K.get_value(count) == 11
    model.compile("sgd", ["mse", "mae"])
    model.train_on_batch(X, [Y, Z])
    assert (K.get_value(count), model.metrics_updates) == (11, [])
    with pytest.raises(TypeError, match=r"Expected updates in `model\.metrics_updates` that are computed of variables"):
        model.metrics_updates.append(K.update(count, K.mean(model.outputs[0])))


def test_functions_of_lists_of_a_model_on_two_replicas():
    """As `Lookahead().inject(model)` makes them, whose numbers are those of one device."""
    ours = parallel_compat.parallelize(model_of(), devices=["CPU:0", "CPU:1"])
    wanted = model_of()
    ours.compile(keras.optimizers.SGD(0.1), "mse", metrics=["mae"])
    inputs = ours._feed_inputs + ours._feed_targets + ours._feed_sample_weights
    updates = ours.optimizer.get_updates(params=ours._collected_trainable_weights, loss=ours.total_loss)
    ours.train_function = K.function(inputs, [ours.total_loss, *ours.metrics_tensors], updates=updates)
    history = ours.fit(X, [Y, Z], batch_size=4, epochs=2, shuffle=False, verbose=0).history
    expected = wanted.fit(X, [Y, Z], batch_size=4, epochs=2, shuffle=False, verbose=0).history
    assert_same(ours.get_weights(), wanted.get_weights())
    assert_same([history["loss"]], [expected["loss"]])
