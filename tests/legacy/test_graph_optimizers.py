"""Optimizers of a user's own, whose steps `get_updates` says, against recorded values of Keras 2.2.4's code."""

from __future__ import annotations

import json
from pathlib import Path

import keras
import numpy as np
import pytest
import tensorflow as tf

from parallel_compat import parallelize
from parallel_compat.legacy import backend as K
from parallel_compat.legacy import models, optimizer_methods, optimizers
from parallel_compat.legacy.graph_optimizers import Adam, Optimizer, get

RECORDED = json.loads((Path(__file__).parent.parent / "data" / "legacy" / "own_optimizers.json").read_text())


class Decayed(Optimizer):
    """Adam with a decay of its own for all but the biases, and a rate for each layer."""

    def __init__(self, lr=0.01, decay=0.0, **kwargs):
        super().__init__(**kwargs)
        self.iterations = K.variable(0, dtype="int64", name="iterations")
        self.lr = K.variable(lr, name="lr")
        self.decay = K.variable(decay, name="decay")

    def get_updates(self, loss, params):
        grads = self.get_gradients(loss, params)
        self.updates = [K.update_add(self.iterations, 1)]
        t = K.cast(self.iterations, K.floatx()) + 1
        rate = self.lr / (1.0 + self.decay * K.cast(self.iterations, K.dtype(self.decay)))
        rate *= K.sqrt(1.0 - K.pow(0.999, t)) / (1.0 - K.pow(0.9, t))
        ms = [K.zeros(K.int_shape(p), dtype=K.dtype(p)) for p in params]
        vs = [K.zeros(K.int_shape(p), dtype=K.dtype(p)) for p in params]
        self.weights = [self.iterations, *ms, *vs]
        for p, g, m, v in zip(params, grads, ms, vs, strict=False):
            new_m, new_v = 0.9 * m + 0.1 * g, 0.999 * v + 0.001 * K.square(g)
            new_p = p - (0.1 if "first/" in p.name else 1.0) * rate * new_m / (K.sqrt(new_v) + 1e-7)
            if "bias" not in p.name:
                new_p -= 0.01 * p
            self.updates += [K.update(m, new_m), K.update(v, new_v)]
            self.updates.append(K.update(p, p.constraint(new_p) if getattr(p, "constraint", None) else new_p))
        return self.updates

    def get_config(self):
        numbers = {name: float(K.get_value(getattr(self, name))) for name in ("lr", "decay")}
        return {**super().get_config(), **numbers}


class Accumulating(Optimizer):
    """A step of another optimizer after every second batch, by tensors that `__init__` computes."""

    def __init__(self, optimizer, steps=2, **kwargs):
        super().__init__(**kwargs)
        self.optimizer = optimizer
        self.steps = steps
        self.iterations = K.variable(0, dtype="int64", name="iterations")
        self.due = K.equal((self.iterations + 1) % steps, 0)
        self.lr = self.optimizer.lr
        self.optimizer.lr = K.switch(self.due, self.optimizer.lr, 0.0)
        for name in ("momentum", "rho", "beta_1", "beta_2"):
            if hasattr(self.optimizer, name):
                setattr(self.optimizer, name, K.switch(self.due, getattr(self.optimizer, name), 1 - 1e-7))
        self.own_gradients = self.optimizer.get_gradients
        self.optimizer.get_gradients = lambda loss, params: [
            K.switch(self.due, (s + g) / steps, K.zeros_like(s)) for s, g in zip(self.sums, self.grads, strict=False)
        ]

    def get_updates(self, loss, params):
        self.sums = [K.zeros(K.int_shape(p)) for p in params]
        self.grads = self.own_gradients(loss, params)
        self.updates = [K.update_add(self.iterations, 1)]
        self.updates += self.optimizer.get_updates(loss, params)
        for s, g in zip(self.sums, self.grads, strict=False):
            self.updates.append(K.update(s, K.switch(self.due, K.zeros_like(s), s + g)))
        self.weights = [self.iterations, *self.sums, *self.optimizer.weights]
        return self.updates


class Looking(Optimizer):
    """Goes half of the way back every third step: it looks into the updates of another optimizer."""

    def __init__(self, optimizer, **kwargs):
        super().__init__(**kwargs)
        self.optimizer = get(optimizer)

    @property
    def lr(self):
        return self.optimizer.lr

    @lr.setter
    def lr(self, lr):
        self.optimizer.lr = lr

    @property
    def iterations(self):
        return self.optimizer.iterations

    def get_updates(self, loss, params):
        slow = {p.name: K.variable(K.get_value(p), name=f"slow_{i}") for i, p in enumerate(params)}
        due = K.equal((self.iterations + 1) % 3, 0)
        update = K.update
        K.update = lambda x, new_x: ("update", x, new_x)
        self.updates = self.optimizer.get_updates(loss, params)
        K.update = update
        for i, (x, new_x) in [(i, each[1:]) for i, each in enumerate(self.updates) if isinstance(each, tuple)]:
            if x.name in slow:
                mean = slow[x.name] + 0.5 * (new_x - slow[x.name])
                self.updates.append(K.update(slow[x.name], K.switch(due, mean, slow[x.name])))
                new_x = K.switch(due, mean, new_x)
            self.updates[i] = K.update(x, new_x)
        self.weights = self.optimizer.weights + list(slow.values())
        return self.updates

    def get_config(self):
        return {**super().get_config(), "optimizer": keras.optimizers.serialize(self.optimizer)}


class Partial(Adam):
    """Keras's Adam with other updates."""

    def get_updates(self, loss, params):
        updates = super().get_updates(loss, params)
        means = [K.zeros(K.int_shape(p)) for p in params]
        self.weights += means
        return updates + [K.update_add(mean, 0.1 * (p - mean)) for mean, p in zip(means, params, strict=False)]


MADE = {
    "decayed": lambda: Decayed(decay=0.01, clipnorm=0.5, clipvalue=0.05),
    "accumulating_sgd": lambda: Accumulating(optimizers.SGD(lr=0.1, momentum=0.9)),
    "looking": lambda: Looking(keras.optimizers.Adam(0.02, amsgrad=True)),
    "looking_sgd": lambda: Looking(optimizers.SGD(lr=0.05, momentum=0.5, decay=1e-2, nesterov=True)),
    "looking_adadelta": lambda: Looking(get({"class_name": "Adadelta", "config": {"lr": 1.0}})),
    "looking_accumulating": lambda: Looking(Accumulating(get("rmsprop"))),
    "adagrad": lambda: Looking(keras.optimizers.Adagrad(0.05)),
    "accumulating_adamax": lambda: Accumulating(keras.optimizers.Adamax(0.01)),
    "accumulating_nadam": lambda: Accumulating(keras.optimizers.Nadam(0.01)),
    "partial": lambda: Partial(lr=0.02, decay=1e-2),
}
CLASSES = {kind.__name__: kind for kind in (Decayed, Accumulating, Looking, Partial)}
SHAPES = [(4, 6), (6,), (6, 5), (5,), (5, 2), (2,)]


def numbers(shape, factor):
    return (factor * np.sin(1.0 + np.arange(np.prod(shape)))).reshape(shape).astype("float32")


X, Y = numbers((24, 4), 2.0), numbers((24, 2), 1.5)


def model():
    constraint = keras.constraints.MaxNorm(0.9)
    made = keras.Sequential(
        [
            keras.layers.Dense(6, activation="tanh", name="first", kernel_constraint=constraint),
            keras.layers.Dense(5, activation="tanh", name="middle"),
            keras.layers.Dense(2, name="last"),
        ]
    )
    made.build((None, 4))
    made.set_weights([numbers(shape, 0.5) for shape in SHAPES])
    return made


def train(trained, steps, start=0):
    return [float(trained.train_on_batch(X[i % 3 * 8 :][:8], Y[i % 3 * 8 :][:8])) for i in range(start, start + steps)]


@pytest.mark.parametrize("name", MADE)
def test_steps_are_those_of_keras_2(name):
    trained = model()
    trained.compile(loss="mse", optimizer=MADE[name]())
    losses = train(trained, 30)
    np.testing.assert_allclose(losses, RECORDED[name]["losses"], rtol=1e-6, atol=1e-6)
    sums = [float(np.sum(weight)) for weight in trained.get_weights()]
    np.testing.assert_allclose(sums, RECORDED[name]["sums"], rtol=1e-5, atol=3e-6)
    assert len(trained.optimizer.get_weights()) == RECORDED[name]["weights"]


@pytest.mark.parametrize(("name", "ending"), [("looking", "h5"), ("decayed", "keras")])
def test_training_goes_on_after_a_file(tmp_path, name, ending):
    trained = model()
    trained.compile(loss="mse", optimizer=MADE[name]())
    train(trained, 4)
    trained.save(tmp_path / f"m.{ending}")
    again = models.load_model(tmp_path / f"m.{ending}", custom_objects=CLASSES)
    assert train(again, 4, 4) == pytest.approx(train(trained, 4, 4), rel=1e-6)


def test_two_replicas_and_a_rate_that_a_callback_sets():
    results = []
    for make in (lambda single: single, lambda single: parallelize(single, gpus=2)):
        trained = make(model())
        trained.compile(loss="mse", optimizer=MADE["looking"]())
        rates = keras.callbacks.LearningRateScheduler(lambda epoch: 0.02 / (1 + epoch))
        history = trained.fit(X, Y, batch_size=8, epochs=2, shuffle=False, verbose=0, callbacks=[rates])
        results.append(history.history["loss"])
        assert float(K.get_value(trained.optimizer.lr)) == pytest.approx(0.01)
    np.testing.assert_allclose(results[0], results[1], rtol=1e-6)
    assert results[0][-1] < results[0][0]


def test_one_for_two_models_has_slots_for_each():
    optimizer = optimizers.for_one_compile(MADE["decayed"]())
    first, second = model(), model()
    for each in (first, second):
        each.compile(loss="mse", optimizer=optimizers.for_one_compile(optimizer))
    losses = train(first, 3)
    assert train(second, 1)[0] == losses[0]
    assert int(K.get_value(optimizer.iterations)) == 4


def test_numbers_of_tensors_and_sparse_gradients():
    accumulating = MADE["accumulating_nadam"]()
    assert float(K.get_value(accumulating.optimizer.lr)) == 0.0
    assert accumulating.optimizer.get_config()["lr"] == 0.0
    table = keras.Variable(np.ones((3, 2), "float32"))
    optimizer = Decayed(lr=0.5)
    optimizer.apply([tf.IndexedSlices(tf.ones((1, 2)), tf.constant([1]), (3, 2))], [table])
    assert np.asarray(table)[:, 0].tolist() == pytest.approx([0.99, 0.49, 0.99], rel=2e-5)


class OfLoss(Optimizer):
    def get_updates(self, loss, params):
        return [K.update(p, p - loss * g) for p, g in zip(params, self.get_gradients(loss, params), strict=False)]


class OfAssignments(Optimizer):
    def get_updates(self, loss, params):
        return [p.value.assign_sub(g) for p, g in zip(params, self.get_gradients(loss, params), strict=False)]


def test_a_function_that_makes_steps():
    trained, by_function = model(), model()
    trained.compile(loss="mse", optimizer=keras.optimizers.SGD(0.1, momentum=0.9))
    target = keras.Input((2,))
    inputs = keras.Input((4,))
    loss = K.mean(K.square(by_function(inputs) - target))
    rate = keras.optimizers.SGD(0.1, momentum=0.9)
    updates = optimizer_methods.get_updates(rate, by_function.trainable_weights, [], loss)
    step = K.function([inputs, target], [loss], updates=updates)
    assert [float(step([X[:8], Y[:8]])[0]) for _ in range(4)] == pytest.approx(
        [float(trained.train_on_batch(X[:8], Y[:8])) for _ in range(4)], rel=1e-6
    )
    named = optimizer_methods.get_updates(rate, loss=loss, params=by_function.trainable_weights)
    assert named[0].variable is not rate  # as each `get_updates` made slots of its own


def test_what_it_refuses():
    x = keras.Variable(1.0, name="x")
    one = [tf.constant(1.0)]
    with pytest.raises(ValueError, match=r"Expected `get_updates` of OfLoss to use the gradients"):
        OfLoss().apply(one, [x])
    with pytest.raises(TypeError, match=r"Expected `get_updates` of OfAssignments to return what `K.update`"):
        OfAssignments().apply(one, [x])
    with pytest.raises(ValueError, match=r"Expected a gradient for each weight.* Received: None for x"):
        Decayed().apply([None], [x])
    with pytest.raises(TypeError, match=r"Expected `clipnorm` and `clipvalue`. Received: rate=1"):
        Decayed(rate=1)
    schedule = keras.optimizers.schedules.ExponentialDecay(0.1, 1, 0.9)
    with pytest.raises(ValueError, match=r"a number as its learning rate.* Received: SGD with a schedule"):
        Looking(keras.optimizers.SGD(schedule))
    with pytest.raises(ValueError, match=r"Received: AdamW with"):
        Looking(keras.optimizers.AdamW())
