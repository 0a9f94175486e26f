"""`copy.copy` shares variables, as it did when optimizers and layers were plain objects; the losses are theirs."""

from __future__ import annotations

import copy

import numpy as np
import pytest

_random = np.random.RandomState(0)
X = _random.rand(16, 3).astype("float32")
Y = _random.rand(16, 1).astype("float32")
WEIGHTS = [_random.rand(3, 1).astype("float32"), np.zeros(1, "float32")]


def _keras(era):
    if era == "keras-2.2.4":
        import keras
    else:
        from tensorflow import keras
    return keras


def _compiled(keras, optimizer):
    model = keras.models.Sequential([keras.layers.Dense(1, input_shape=(3,))])
    model.set_weights(WEIGHTS)
    model.compile(optimizer, "mse")
    return model


def _steps(model, count):
    return [float(model.train_on_batch(X, Y)) for _ in range(count)]


def test_a_copied_optimizer_has_the_rate_and_the_count_of_the_other(era):
    keras = _keras(era)
    optimizer = keras.optimizers.SGD(0.1, momentum=0.9, decay=0.1)
    model = _compiled(keras, optimizer)
    _steps(model, 3)
    copied = copy.copy(optimizer)
    other = _compiled(keras, copied)
    losses = _steps(other, 3) + _steps(model, 3)
    keras.backend.set_value(copied.lr, 0.0)
    losses += _steps(model, 2) + _steps(other, 2)
    wanted = [0.321117, 0.221261, 0.13372, 0.159193, 0.243327, 0.283018, 0.245626, 0.214821, 0.129114, 0.200618]
    np.testing.assert_allclose(losses, wanted, atol=2e-6)
    assert keras.backend.get_value(optimizer.iterations) == 13


def test_the_count_of_tf_keras_is_made_with_the_first_step(era):
    keras = _keras(era)
    optimizer = keras.optimizers.SGD(0.1)
    copied = copy.copy(optimizer)
    _steps(_compiled(keras, optimizer), 1)
    assert keras.backend.get_value(copied.iterations) == (era == "keras-2.2.4")
    keras.backend.set_value(copied.lr, 0.5)
    assert keras.backend.get_value(optimizer.lr) == 0.5


@pytest.mark.parametrize("era", ["tf.keras-2.2"], indirect=True)  # the older stacks end in an error there
def test_a_deep_copy_counts_on_by_itself(era):
    keras = _keras(era)
    optimizer = keras.optimizers.Adam(0.1, decay=0.1)
    model = _compiled(keras, optimizer)
    _steps(model, 3)
    copied = copy.deepcopy(optimizer)
    losses = _steps(_compiled(keras, copied), 3) + _steps(model, 3)
    np.testing.assert_allclose(losses, [0.321117, 0.228541, 0.157678, 0.150478, 0.168962, 0.163384], atol=2e-6)
    assert [keras.backend.get_value(each.iterations) for each in (optimizer, copied)] == [6, 6]


def test_a_copied_layer_has_the_weights_of_the_other(era):
    keras = _keras(era)
    layer = keras.layers.Dense(2)
    layer.build((None, 3))
    copied = copy.copy(layer)
    layer.set_weights([np.ones((3, 2)), np.ones(2)])
    for value in copied.get_weights():
        np.testing.assert_array_equal(value, np.ones_like(value))
    copied.extra = keras.layers.Dense(1)
    assert not hasattr(layer, "extra")


def test_a_copied_model_of_tf_keras_is_the_model_that_trains(era):
    keras = _keras(era)
    model = _compiled(keras, "sgd")
    copied = copy.copy(model)
    _steps(model, 2)
    sums = [float(np.sum(each.predict(X))) for each in (model, copied)]
    np.testing.assert_allclose(sums, [11.8075, 12.33551 if era == "keras-2.2.4" else 11.8075], atol=2e-5)
    _steps(copied, 1)
    assert (np.sum(model.predict(X)) == np.sum(copied.predict(X))) == (era != "keras-2.2.4")


def test_configurations_have_the_numbers_that_were_printed(era):
    keras = _keras(era)
    config = keras.optimizers.Adam(0.3, decay=0.01).get_config()
    if era == "keras-2.2.4":
        numbers = {"lr": 0.30000001192092896, "decay": 0.009999999776482582, "beta_1": 0.8999999761581421}
    else:
        numbers = {"learning_rate": 0.3, "decay": 0.01, "beta_1": 0.9}
        ignored = keras.optimizers.Ftrl(lr=0.3, decay=0.01).get_config()
        assert (ignored["learning_rate"], ignored["decay"]) == (0.001, 0.01)
    assert {name: config[name] for name in numbers} == numbers
