"""Every optimizer of Keras, and everything an optimizer can do, trains as on one device."""

from __future__ import annotations

import keras
import numpy as np
import pytest
import tensorflow as tf

from parallel_compat import parallelize
from tests.one_device import classes, mlp, train_both

optimizers = keras.optimizers
OPTIMIZERS = {
    "SGD": lambda **k: optimizers.SGD(0.3, **k),
    "momentum": lambda **k: optimizers.SGD(0.1, momentum=0.9, nesterov=True, **k),
    "Adadelta": lambda: optimizers.Adadelta(1.0),  # its steps are tiny at the start
    **{
        name: lambda name=name, **k: getattr(optimizers, name)(0.01, **k)
        for name in dir(optimizers)
        if name
        in {"Adafactor", "Adagrad", "Adam", "AdamW", "Adamax", "Ftrl", "Lamb", "Lion", "Muon", "Nadam", "RMSprop"}
        or name == "ScheduleFreeAdamW"
    },
}
if hasattr(optimizers, "MultiOptimizer"):  # since Keras 3.13
    OPTIMIZERS["MultiOptimizer"] = lambda: optimizers.MultiOptimizer(
        optimizers.OptimizerMap(optimizers.SGD(0.3), {"probs/.*": optimizers.Adam(0.01)})
    )
if keras.__version__.startswith("3.12."):  # there it fails on one device too: 'ResourceVariable' has no 'path'
    del OPTIMIZERS["Muon"]
FEATURES = {
    "clipnorm": {"clipnorm": 0.05},
    "clipvalue": {"clipvalue": 0.01},
    "global_clipnorm": {"global_clipnorm": 0.05},
    "weight_decay": {"weight_decay": 0.1},
    "use_ema": {"use_ema": True, "ema_momentum": 0.9, "ema_overwrite_frequency": 3},
    "use_ema at the end": {"use_ema": True, "ema_momentum": 0.9},
    "gradient_accumulation_steps": {"gradient_accumulation_steps": 2},
    "loss_scale_factor": {"loss_scale_factor": 64.0},
}


def check(make, replicas=3):
    def arguments():
        return {"optimizer": make(), "loss": "categorical_crossentropy", "metrics": ["accuracy"]}

    train_both(mlp, arguments, *classes(101), replicas=replicas, evaluate=False, predict=False)


def test_every_optimizer_of_keras_is_tried():
    bases = {"Optimizer", "LossScaleOptimizer"}
    classes_of_keras = {
        name
        for name in dir(optimizers)
        if isinstance(getattr(optimizers, name), type) and issubclass(getattr(optimizers, name), optimizers.Optimizer)
    }
    broken = {"Muon"} if keras.__version__.startswith("3.12.") else set()
    assert classes_of_keras - bases - broken <= set(OPTIMIZERS)


@pytest.mark.one_in(4)
@pytest.mark.parametrize("name", OPTIMIZERS)
def test_optimizer(name):
    check(OPTIMIZERS[name], replicas=4)


@pytest.mark.one_in(4)
@pytest.mark.parametrize("feature", FEATURES)
@pytest.mark.parametrize("name", ["SGD", "Adam"])
def test_feature(name, feature):
    check(lambda: OPTIMIZERS[name](**FEATURES[feature]))


def test_learning_rate_schedule():
    schedule = optimizers.schedules.ExponentialDecay(0.5, decay_steps=2, decay_rate=0.7)
    check(lambda: optimizers.SGD(schedule))


def test_loss_scale_optimizer():
    check(lambda: optimizers.LossScaleOptimizer(optimizers.SGD(0.3), dynamic_growth_steps=2))


def test_no_weight_is_updated_before_it_is_read():
    """The losses are linear in the last kernels, whose gradients wait for nothing. TensorFlow draws an order of the
    step's operations for each trace; without the mend two of three traces of this model update too early."""
    x = np.random.RandomState(0).rand(24, 6).astype("float32")

    def wasserstein(y_true, y_pred):
        return keras.ops.mean(y_true * y_pred)

    def two_steps():
        keras.utils.set_random_seed(0)
        inputs = [keras.Input((6,)) for _ in range(8)]
        kernels = [keras.initializers.RandomUniform(seed=seed) for seed in (1, 2)]
        critics = [
            keras.Sequential(
                [
                    keras.layers.Dense(8, activation="tanh", kernel_initializer=kernels[0]),
                    keras.layers.Dense(1, kernel_initializer=kernels[1]),
                ]
            )
            for _ in inputs
        ]
        model = keras.Model(inputs, [critic(each) for critic, each in zip(critics, inputs, strict=True)])
        model.compile(keras.optimizers.SGD(0.5), loss=[wasserstein] * 8)
        return [model.train_on_batch([x] * 8, [np.ones((24, 1))] * 8)[1:] for _ in range(2)]

    for _ in range(5):
        first, second = two_steps()
        assert first[0] != second[0]
        np.testing.assert_allclose(first, first[:1] * 8, rtol=1e-5)  # eight equal critics
        np.testing.assert_allclose(second, second[:1] * 8, rtol=1e-5)


def test_no_step_is_counted_without_a_batch():
    """The end of a data set of unknown length is found by asking for one batch more: Keras 3 counts a step for it."""
    data = tf.data.Dataset.from_tensor_slices(classes(48)).batch(16).filter(lambda x, y: True)
    model = parallelize(mlp(), 2)
    model.compile("adam", "categorical_crossentropy")
    model.fit(data, epochs=2, verbose=0)
    assert int(model.optimizer.iterations.numpy()) == 6


@pytest.mark.parametrize("make", [lambda: keras.optimizers.SGD(0.1, momentum=0.9), lambda: keras.optimizers.SGD(0.1)])
def test_an_optimizer_may_be_made_before_the_scope_of_the_model(make):
    """A plain model under a strategy of the user's, as in TensorFlow 2.2."""
    devices = [device.name for device in tf.config.list_logical_devices("CPU")][:2]
    strategy = tf.distribute.MirroredStrategy(devices, cross_device_ops=tf.distribute.ReductionToOneDevice())
    x = np.arange(24, dtype="float32").reshape(8, 3) / 10
    weights = []
    for before in (False, True):
        keras.utils.set_random_seed(1)
        optimizer = make() if before else None
        with strategy.scope():
            optimizer = optimizer or make()
            model = keras.Sequential([keras.Input((3,)), keras.layers.Dense(2)])
            model.compile(optimizer, "mse")
        model.fit(x, x[:, :2], epochs=3, shuffle=False, verbose=0)
        assert int(keras.ops.convert_to_numpy(optimizer.iterations)) == 3
        weights.append(model.get_weights())
    np.testing.assert_array_equal(weights[0][0], weights[1][0])
