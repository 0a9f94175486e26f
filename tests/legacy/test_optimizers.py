"""Optimizers with `lr` and `decay`, and old code that shares one between models."""

from __future__ import annotations

import copy
import pickle

import keras
import numpy as np
import pytest

from parallel_compat import CheckpointError, parallelize
from parallel_compat.legacy import backend as K
from parallel_compat.legacy import callbacks, layers, models, old_files, optimizers
from parallel_compat.names.eras import Era


def one_weight(optimizer):
    model = keras.Sequential([layers.Dense(1, use_bias=False, input_shape=(1,))])
    model.compile(loss="mse", optimizer=optimizer)
    model.set_weights([np.array([[1.0]])])
    return model


def steps(model, count):
    weights = [1.0]
    for _ in range(count):
        model.train_on_batch(np.ones((1, 1)), np.zeros((1, 1)))
        weights.append(float(model.get_weights()[0][0, 0]))
    return weights


@pytest.mark.parametrize("make", [lambda: optimizers.SGD(lr=0.1, decay=0.5), lambda: optimizers.SGD(0.1, decay=0.5)])
def test_decay_follows_the_old_formula(make):
    expected = [1.0]
    for iteration in range(5):
        expected.append(expected[-1] - 0.1 / (1 + 0.5 * iteration) * 2 * expected[-1])
    np.testing.assert_allclose(steps(one_weight(make()), 5), expected, rtol=1e-6)


def test_decay_is_the_same_as_the_schedule_that_migrate_writes():
    schedule = keras.optimizers.schedules.InverseTimeDecay(0.1, 1, 0.5)
    for kind in ("Adam", "RMSprop", "Adagrad", "Adamax", "Nadam", "SGD"):
        old = steps(one_weight(getattr(keras.optimizers, kind)(lr=0.1, decay=0.5)), 4)
        new = steps(one_weight(getattr(keras.optimizers, kind)(learning_rate=schedule)), 4)
        np.testing.assert_allclose(old, new, rtol=1e-5, err_msg=kind)


def test_decay_works_in_fit_and_with_a_callback_that_sets_the_rate():
    model = one_weight(optimizers.SGD(lr=1.0, decay=1.0))
    halve = callbacks.LearningRateScheduler(lambda epoch: 0.1 / 2**epoch)
    model.fit(np.ones((2, 1)), np.zeros((2, 1)), batch_size=1, nb_epoch=2, verbose=0, callbacks=[halve])
    expected = 1.0
    for iteration, rate in enumerate([0.1, 0.1, 0.05, 0.05]):
        expected -= rate / (1 + iteration) * 2 * expected
    assert float(model.get_weights()[0][0, 0]) == pytest.approx(expected, rel=1e-6)
    assert float(K.get_value(model.optimizer.lr)) == pytest.approx(0.05)


def test_decay_survives_copies_and_files(tmp_path):
    optimizer = optimizers.Adam(lr=0.1, decay=0.5)
    assert optimizer.get_config()["decay"] == 0.5
    for copied in (type(optimizer).from_config(optimizer.get_config()), copy.deepcopy(optimizer)):
        assert steps(one_weight(copied), 3) == pytest.approx(steps(one_weight(optimizers.Adam(lr=0.1, decay=0.5)), 3))
    model = one_weight(optimizer)
    models.save_model(model, tmp_path / "m.keras")
    assert float(models.load_model(tmp_path / "m.keras").optimizer.decay) == 0.5


def test_callbacks_ask_for_the_first_decay_before_they_compute_a_rate(tmp_path):
    """`lr * 1 / (1 + decay * iterations)` only `if optimizer.initial_decay > 0`; each optimizer of Keras 2 had it."""
    from parallel_compat.legacy import backend as K

    plain, decayed = optimizers.Adam(lr=0.1), optimizers.Adam(lr=0.1, decay=0.5)
    assert (plain.initial_decay, decayed.initial_decay) == (0.0, 0.5)
    K.set_value(decayed.decay, 0.25)
    assert (decayed.initial_decay, float(K.get_value(decayed.decay))) == (0.5, 0.25)
    model = one_weight(optimizers.SGD(lr=0.1, decay=0.5))
    models.save_model(model, tmp_path / "m.h5")
    assert models.load_model(tmp_path / "m.h5").optimizer.initial_decay == 0.5


def test_the_class_is_keras_own():
    optimizer = optimizers.SGD(lr=0.1, decay=0.5)
    assert type(optimizer) is keras.optimizers.SGD
    assert keras.optimizers.serialize(optimizer)["class_name"] == "SGD"
    assert pickle.loads(pickle.dumps(type(optimizer))) is keras.optimizers.SGD


def test_momentum_is_not_set_where_none_was_kept():
    from parallel_compat.legacy import backend as K

    kept, none = keras.optimizers.SGD(momentum=1e-12), keras.optimizers.SGD()
    K.set_value(kept.momentum, 0.5)
    assert float(K.get_value(kept.momentum)) == 0.5
    K.set_value(none.momentum, 0.0)
    with pytest.raises(ValueError, match=r"momentum=1e-12"):
        K.set_value(none.momentum, 0.5)


def test_the_rate_is_read_and_set_as_lr():
    optimizer = optimizers.SGD(lr=0.25)
    assert float(K.get_value(optimizer.lr)) == 0.25
    K.set_value(optimizer.lr, 0.5)
    assert float(optimizer.learning_rate) == 0.5
    optimizer.lr = 0.125
    assert float(optimizer.learning_rate) == 0.125


class _Rate(keras.callbacks.Callback):
    def __init__(self, at):
        super().__init__()
        self.at = at

    def on_train_begin(self, logs=None):
        if self.at == "train":
            self.model.optimizer.lr = 0.4

    def on_epoch_begin(self, epoch, logs=None):
        if self.at == "epoch":
            self.model.optimizer.lr = 0.4


def test_numbers_that_are_assigned_to_an_optimizer_of_keras_2_2_4():
    """The losses are those of Keras 2.2.4."""
    random = np.random.RandomState(0)
    x, y = random.rand(16, 3).astype("float32"), random.rand(16, 1).astype("float32")
    weights = [random.rand(3, 1).astype("float32"), np.zeros(1, "float32")]
    for optimizer, name, value, after, again in (
        (optimizers.SGD(lr=0.1, momentum=0.5), "momentum", 0.9, [0.12825, 0.12004], [0.11669, 0.11211]),
        (optimizers.RMSprop(lr=0.01), "rho", 0.3, [0.21588, 0.19158], [0.17568, 0.1638]),
    ):
        model = keras.Sequential([layers.Dense(1, input_shape=(3,))])
        model.compile(optimizer, "mse")
        model.set_weights(weights)
        for _ in range(2):
            model.train_on_batch(x, y)
        setattr(optimizer, name, value)
        losses = [model.train_on_batch(x, y)]
        assert getattr(optimizer, name) == value
        losses.append(float(model.test_on_batch(x, y)))
        model.compile(optimizer, "mse")
        losses += [model.train_on_batch(x, y) for _ in range(3)][1:]
        np.testing.assert_allclose(losses, after + again, atol=6e-6)


def test_arguments_in_their_old_positions():
    assert keras.optimizers.SGD(0.1, 0.9, 1e-6, True).get_config()["nesterov"] is True
    optimizer = keras.optimizers.Adam(0.1, 0.8, 0.9, None, 0.25)
    assert (float(optimizer.decay), optimizer.epsilon) == (0.25, 1e-7)  # a graph compares variables by what they are
    assert keras.optimizers.SGD(1).get_config()["learning_rate"] == 1.0


@pytest.mark.parametrize(("kind", "rate"), [("Adadelta", 1.0), ("Adagrad", 0.01), ("Adamax", 0.002), ("Nadam", 0.002)])
def test_default_rates_are_those_of_keras_2(kind, rate):
    assert getattr(keras.optimizers, kind)().get_config()["learning_rate"] == pytest.approx(rate)
    model = one_weight(kind.lower())
    assert model.optimizer.get_config()["learning_rate"] == pytest.approx(rate)


def test_schedule_decay_is_nadam_s_fifth_position_and_refused_where_no_step_of_the_time_has_it():
    assert keras.optimizers.Nadam(0.1, 0.9, 0.999, None, 0.5).get_config()["schedule_decay"] == 0.5
    model = keras.Sequential([layers.Dense(1, input_shape=(2,))])
    training = {"optimizer_config": {"class_name": "Nadam", "config": {"lr": 0.1, "schedule_decay": 0.004}}}
    old_files.compile_as_saved(model, {**training, "loss": "mse"}, {}, Era.TODAY)
    training["optimizer_config"]["config"]["schedule_decay"] = 0.5
    with pytest.raises(CheckpointError, match="schedule_decay"):
        old_files.compile_as_saved(model, {**training, "loss": "mse"}, {}, Era.TODAY)


def test_schedule_decay_is_kept_by_a_copy():
    optimizer = optimizers.Nadam(lr=0.1, schedule_decay=0.5)
    copied = keras.optimizers.Nadam.from_config(optimizer.get_config())
    np.testing.assert_allclose(steps(one_weight(copied), 3), steps(one_weight(optimizer), 3), rtol=1e-6)
    assert optimizer.get_config()["schedule_decay"] == 0.5
    assert keras.optimizers.Nadam().get_config()["schedule_decay"] == 0.004


def test_one_optimizer_for_two_models():
    optimizer = optimizers.Adam(lr=0.1)
    first, second = one_weight(optimizer), one_weight(optimizer)
    assert steps(first, 1)[1] == pytest.approx(0.9, abs=1e-4)
    steps(second, 1)
    assert int(first.optimizer.iterations) == int(second.optimizer.iterations) == 2
    K.set_value(optimizer.lr, 0.5)
    assert float(second.optimizer.learning_rate) == 0.5


def test_a_gan_trains_what_was_trainable_when_it_was_compiled():
    generator = keras.Sequential([layers.Dense(3, input_dim=2)])
    discriminator = keras.Sequential([layers.Dense(1, activation="sigmoid", input_dim=3)])
    optimizer = keras.optimizers.Adam(0.01, 0.5)
    discriminator.compile(loss="binary_crossentropy", optimizer=optimizer, metrics=["accuracy"])
    noise = layers.Input(shape=(2,))
    image = generator(noise)
    discriminator.trainable = False
    combined = keras.Model(noise, discriminator(image))
    combined.compile(loss="binary_crossentropy", optimizer=optimizer)

    def moved(call):
        before = [model.get_weights()[0] for model in (generator, discriminator)]
        call()
        after = [model.get_weights()[0] for model in (generator, discriminator)]
        return [bool((a != b).any()) for a, b in zip(before, after, strict=True)]

    assert moved(lambda: discriminator.train_on_batch(np.ones((4, 3)), np.ones((4, 1)))) == [False, True]
    assert moved(lambda: combined.train_on_batch(np.ones((4, 2)), np.ones((4, 1)))) == [True, False]
    assert moved(lambda: discriminator.train_on_batch(np.ones((4, 3)), np.zeros((4, 1)))) == [False, True]
    assert discriminator.trainable is False


@pytest.mark.parametrize("steps_before", [0, 1])
def test_moving_statistics_of_a_discriminator_that_is_frozen_after_compile(steps_before):
    """Keras 2.2.4 updated them if the first step was made before; its weights train in either case."""
    x = layers.Input((2,))
    model = keras.Model(x, layers.BatchNormalization()(layers.Dense(3)(x)))
    model.compile(loss="mse", optimizer="sgd")
    data, target = np.arange(8.0).reshape(4, 2), np.ones((4, 3))
    for _ in range(steps_before):
        model.train_on_batch(data, target)
    model.trainable = False
    before = model.get_weights()
    model.train_on_batch(data, target)
    model.train_on_batch(data[:3], target[:3])
    moved = [bool((a != b).any()) for a, b in zip(before, model.get_weights(), strict=True)]
    assert moved[0]
    assert moved[-2:] == [steps_before == 1] * 2


@pytest.mark.parametrize("replicas", [1, 2])
def test_moving_statistics_of_a_layer_that_several_models_train(replicas):
    """Each call of the layer has a debiased average of its own; the numbers are those of Keras 2.2.4."""
    x = layers.Input((2,))
    norm = layers.BatchNormalization(momentum=0.9)
    inner = keras.Model(x, norm(x))

    def compiled(x, h):
        model = keras.Model(x, layers.Dense(1)(h))
        model = parallelize(model, [0, 1]) if replicas > 1 else model
        model.compile("sgd", "mse")
        return model

    first, second = (compiled(x, inner(x)) for x in (layers.Input((2,)), layers.Input((2,))))
    h = inner(x)
    third, fourth = compiled(x, h), compiled(x, h)
    steps = [(first, 1, 1), (first, 3, 2.05263), (second, 5, 5), (first, 1, 1.66421)]
    # With one call in common the fourth goes on; towers of two parallel models have none.
    steps += [(third, 1, 1), (fourth, 5, 3.10526 if replicas == 1 else 5)]
    for model, value, expected in steps:
        model.train_on_batch(np.full((4, 2), value), np.ones((4, 1)))
        np.testing.assert_allclose(norm.get_weights()[2], [expected] * 2, atol=1e-5)


def test_models_called_on_the_same_tensors_again_go_on_with_the_statistics_of_their_first_call():
    """A GAN's `discriminator(generator(noise))`, said for each of two models; the numbers are those of Keras 2.2.4."""
    x = layers.Input((2,))
    norm = layers.BatchNormalization(momentum=0.9)
    inner = keras.Model(x, norm(x))
    front = keras.Model(x, layers.Lambda(lambda t: t * 1.0)(x))

    def compiled(x):
        model = keras.Model(x, layers.Dense(1)(inner(front(x))))
        model.compile("sgd", "mse")
        return model

    y = layers.Input((2,))
    first, second, third = compiled(y), compiled(y), compiled(layers.Input((2,)))
    steps = [(first, 1, 1), (second, 3, 2.05263), (first, 5, 3.14022), (third, 1, 1), (second, 2, 2.80866)]
    for model, value, expected in steps:
        model.train_on_batch(np.full((4, 2), value), np.ones((4, 1)))
        np.testing.assert_allclose(norm.get_weights()[2], [expected] * 2, atol=1e-5)


def test_optimizers_of_tensorflow_1_that_step_as_before():
    import tensorflow as tf

    assert steps(one_weight(tf.train.GradientDescentOptimizer(0.1)), 1)[1] == pytest.approx(0.8)
    assert steps(one_weight(tf.train.AdamOptimizer(0.1)), 1)[1] == pytest.approx(0.9, abs=1e-4)
    first = 0.1 * 2 / np.sqrt(0.9 + 0.1 * 2**2)  # the mean of squares starts at 1
    assert steps(one_weight(tf.train.RMSPropOptimizer(0.1)), 1)[1] == pytest.approx(1 - first, rel=1e-5)
    with pytest.raises(AttributeError, match=r"tensorflow\.train\.AdagradDAOptimizer` is gone"):
        tf.train.AdagradDAOptimizer(0.1, 0)


def test_clipnorm_is_the_norm_of_all_gradients_together():
    def trained(**clip):
        model = keras.Sequential([layers.Dense(2, input_shape=(3,)), layers.Dense(1)])
        model.set_weights([np.full(w.shape, 0.5) for w in model.get_weights()])
        model.compile(loss="mse", optimizer=optimizers.SGD(lr=1.0, **clip))
        before = model.get_weights()
        model.train_on_batch(np.ones((4, 3)), np.zeros((4, 1)))
        return np.concatenate([(w - b).ravel() for w, b in zip(model.get_weights(), before, strict=True)])

    assert keras.optimizers.SGD(clipnorm=0.1).clipnorm == 0.1  # which wrappers read
    free, clipped = trained(), trained(clipnorm=0.1)
    np.testing.assert_allclose(np.linalg.norm(clipped), 0.1, rtol=1e-5)
    np.testing.assert_allclose(clipped / 0.1, free / np.linalg.norm(free), rtol=1e-5)


SMALL = 1e-4  # gradients of about 1e-8, beside which an epsilon of 1e-7 counts


def rmsprop(w, t, state, g):
    state["v"] = 0.9 * state.get("v", 0.0) + 0.1 * g * g
    return w - 0.1 * g / (np.sqrt(state["v"]) + 1e-7)


def adagrad(w, t, state, g):
    state["v"] = state.get("v", 0.0) + g * g
    return w - 0.1 * g / (np.sqrt(state["v"]) + 1e-7)


def nadam(w, t, state, g):
    def momentum(step):
        return 0.9 * (1 - 0.5 * 0.96 ** (0.004 * step))

    state["schedule"] = state.get("schedule", 1.0) * momentum(t)
    state["m"] = 0.9 * state.get("m", 0.0) + 0.1 * g
    state["v"] = 0.999 * state.get("v", 0.0) + 0.001 * g * g
    mean = momentum(t + 1) * state["m"] / (1 - state["schedule"] * momentum(t + 1))
    mean += (1 - momentum(t)) * g / (1 - state["schedule"])
    return w - 0.1 * mean / (np.sqrt(state["v"] / (1 - 0.999**t)) + 1e-7)


@pytest.mark.parametrize("replicas", [1, 2])
@pytest.mark.parametrize(("kind", "step"), [("RMSprop", rmsprop), ("Adagrad", adagrad), ("Nadam", nadam)])
def test_steps_are_those_of_keras_2(kind, step, replicas):
    template = keras.Sequential([layers.Dense(1, use_bias=False, input_shape=(1,))])
    template.set_weights([np.array([[1.0]])])
    model = template if replicas == 1 else parallelize(template, replicas)
    shared = getattr(keras.optimizers, kind)(lr=0.1)
    # A second `compile` takes a copy, which goes on counting steps: they are a part of Nadam's.
    for optimizer in (shared,) if kind == "Nadam" else (shared, shared):
        template.set_weights([np.array([[1.0]])])
        model.compile(optimizer, "mse")
        w, state = 1.0, {}
        for t in range(1, 7):
            model.train_on_batch(np.full((2, 1), SMALL), np.zeros((2, 1)))
            w = step(w, t, state, 2 * SMALL**2 * w)
            np.testing.assert_allclose(template.get_weights()[0][0, 0], w, rtol=2e-5)


def test_an_optimizer_by_name_steps_as_in_keras_2():
    model = one_weight("rmsprop")
    model.train_on_batch(np.full((1, 1), SMALL), np.zeros((1, 1)))
    expected = rmsprop(1.0, 1, {}, 2 * SMALL**2) * 0.01 + 0.99  # its rate is 0.001
    np.testing.assert_allclose(model.get_weights()[0][0, 0], expected, rtol=1e-7)


def test_a_copy_for_a_second_model_keeps_the_decay():
    optimizer = optimizers.SGD(lr=0.1, decay=0.5)
    one_weight(optimizer)
    expected = [1.0]
    for iteration in range(4):
        expected.append(expected[-1] - 0.1 / (1 + 0.5 * iteration) * 2 * expected[-1])
    np.testing.assert_allclose(steps(one_weight(optimizer), 4), expected, rtol=1e-6)


def test_code_that_saves_asks_whether_an_optimizer_is_one_of_tensorflow() -> None:
    """Keras 2.2.4's own `save_model` did, and programs have copies of it."""
    wrapped = optimizers.TFOptimizer(optimizers.SGD(0.1))
    assert isinstance(wrapped, optimizers.TFOptimizer)
    assert isinstance(wrapped, keras.optimizers.Optimizer)
    assert not isinstance(optimizers.SGD(0.1), optimizers.TFOptimizer)
    assert not isinstance(None, optimizers.TFOptimizer)
    with pytest.raises(TypeError, match="AdamOptimizer"):
        optimizers.TFOptimizer("sgd")
