"""Optimizers of users, written for Keras 2 (`get_updates`): they step as Keras's own of the same formula."""

from __future__ import annotations

import abc

import keras
import numpy as np
import pytest

import parallel_compat

pytestmark = pytest.mark.usefixtures("legacy_names")


def model_of(optimizer):
    from keras.layers import Dense, Embedding, Flatten  # standalone Keras

    layers = [keras.Input((3,)), Embedding(6, 4), Flatten(), Dense(2, kernel_constraint=keras.constraints.MaxNorm(1))]
    model = keras.Sequential(layers)
    rng = np.random.default_rng(0)
    model.set_weights([rng.random(weight.shape) for weight in model.get_weights()])
    model.compile(optimizer, "mse")
    return model


def data():
    rng = np.random.default_rng(1)
    return rng.integers(0, 5, (8, 3)), rng.random((8, 2))


def own_adam():
    from keras import backend as K
    from keras.legacy import interfaces
    from keras.optimizers import Optimizer

    class OwnAdam(Optimizer):
        def __init__(self, lr=0.001, decay=0.0, **kwargs):
            super().__init__(**kwargs)
            with K.name_scope(self.__class__.__name__):
                self.iterations = K.variable(0, dtype="int64", name="iterations")
                self.lr = K.variable(lr, name="lr")
                self.decay = K.variable(decay, name="decay")

        @interfaces.legacy_get_updates_support
        def get_updates(self, loss, params):
            grads = self.get_gradients(loss, params)
            self.updates = [K.update_add(self.iterations, 1)]
            lr = self.lr * (1.0 / (1.0 + self.decay * K.cast(self.iterations, K.dtype(self.decay))))
            t = K.cast(self.iterations, K.floatx()) + 1
            lr = lr * K.sqrt(1.0 - K.pow(0.999, t)) / (1.0 - K.pow(0.9, t))
            ms = [K.zeros(K.int_shape(p), dtype=K.dtype(p)) for p in params]
            vs = [K.zeros(K.int_shape(p), dtype=K.dtype(p)) for p in params]
            self.weights = [self.iterations, *ms, *vs]
            for p, g, m, v in zip(params, grads, ms, vs, strict=True):
                m_t = 0.9 * m + 0.1 * g
                v_t = 0.999 * v + 0.001 * K.square(g)
                new_p = p - lr * m_t / (K.sqrt(v_t) + 1e-7)
                if getattr(p, "constraint", None) is not None:
                    new_p = p.constraint(new_p)
                self.updates += [K.update(m, m_t), K.update(v, v_t), K.update(p, new_p)]
            return self.updates

        def get_config(self):
            rates = {"lr": float(K.get_value(self.lr)), "decay": float(K.get_value(self.decay))}
            return {**super().get_config(), **rates}

    return OwnAdam


@pytest.mark.parametrize("gpus", [1, 2])
def test_a_class_with_get_updates_steps_as_its_formula_says(gpus, tmp_path):
    from keras import backend as K
    from keras.optimizers import Adam

    kind, (x, y) = own_adam(), data()
    for clip in ({}, {"clipnorm": 0.1}, {"clipvalue": 0.02})[:: gpus * 2 - 1]:
        ours, wanted = model_of(kind(lr=0.05, decay=0.1, **clip)), model_of(Adam(lr=0.05, decay=0.1, **clip))
        trained = [ours, wanted]
        if gpus > 1:
            trained = [parallel_compat.parallelize(each, gpus=gpus) for each in trained]
            for each, template in zip(trained, (ours, wanted), strict=True):
                each.compile(template.optimizer, "mse")
        for each in trained:
            each.fit(x, y, epochs=2, batch_size=4, shuffle=False, verbose=0)
            K.set_value(each.optimizer.lr, 0.01)
            each.train_on_batch(x, y)
        for mine, theirs in zip(ours.get_weights(), wanted.get_weights(), strict=True):
            np.testing.assert_allclose(mine, theirs, rtol=1e-4, atol=1e-5)
    assert [each.shape for each in ours.optimizer.get_weights()][:2] == [(), (6, 4)]
    if gpus > 1:
        return
    ours.save(tmp_path / "own.h5")
    loaded = keras.models.load_model(tmp_path / "own.h5", custom_objects={"OwnAdam": kind})
    for each in ours, loaded:
        each.train_on_batch(x, y)
    for mine, theirs in zip(loaded.get_weights(), ours.get_weights(), strict=True):
        np.testing.assert_allclose(mine, theirs, rtol=1e-6)


def test_classes_derived_from_those_of_keras():
    from keras import backend as K
    from keras.optimizers import SGD, Adam

    class Faster(Adam):
        def __init__(self, factor=2.0, **kwargs):
            super().__init__(**kwargs)
            self.factor = factor

        def get_updates(self, loss, params):
            lr, self.lr = self.lr, self.lr * self.factor
            updates = super().get_updates(loss, params)
            self.lr = lr
            return updates

    class Halved(SGD):
        def get_gradients(self, loss, params):
            return [0.5 * each for each in super().get_gradients(loss, params)]

    class Decaying(SGD):
        def get_updates(self, loss, params):
            plain = K.update
            K.update = lambda x, new: plain(
                x, new - self.learning_rate * 0.1 * x if any(x is each for each in weights) else new
            )
            weights = [each for each in params if "bias" not in each.name]
            updates = super().get_updates(loss, params)
            K.update = plain
            return updates

    dense = keras.layers.Dense(1, kernel_initializer="ones", bias_initializer="ones")
    model = keras.Sequential([keras.Input((1,)), dense])
    model.compile(Decaying(learning_rate=0.5), lambda y, p: 0 * p)
    model.train_on_batch(np.ones((2, 1)), np.ones((2, 1)))
    np.testing.assert_allclose([np.ravel(each)[0] for each in dense.get_weights()], [0.95, 1.0], rtol=1e-6)

    x, y = data()
    for ours, wanted in (Faster(lr=0.02), Adam(lr=0.04)), (Halved(lr=0.2, momentum=0.9), SGD(lr=0.1, momentum=0.9)):
        models = [model_of(ours), model_of(wanted)]
        for each in models:
            each.fit(x, y, epochs=2, batch_size=4, shuffle=False, verbose=0)
        for mine, theirs in zip(*(each.get_weights() for each in models), strict=True):
            np.testing.assert_allclose(mine, theirs, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("property_of_another", [False, True])
def test_lr_is_the_learning_rate_of_a_class_that_keeps_only_that_as_of_keras_23(property_of_another):
    from keras import backend as K
    from keras.optimizers import Optimizer

    class Plain(Optimizer):
        def __init__(self, learning_rate, **kwargs):
            super().__init__(**kwargs)
            setattr(self, "rate" if property_of_another else "learning_rate", K.variable(learning_rate))

        def get_updates(self, loss, params):
            gradients = self.get_gradients(loss, params)
            return [K.update(p, p - self.lr * g) for p, g in zip(params, gradients, strict=True)]

    if property_of_another:
        Plain.learning_rate = property(lambda self: self.rate, lambda self, value: setattr(self, "rate", value))
    layer = keras.layers.Dense(1, use_bias=False, kernel_initializer="ones")
    model = keras.Sequential([keras.Input((1,)), layer])
    model.compile(Plain(0.1), lambda y, p: p)
    x, weights = np.ones((1, 1)), []
    for rate in (None, 0.2, 0.3):
        if rate is not None:
            K.set_value(model.optimizer.lr, rate)
        model.train_on_batch(x, x)
        weights.append(layer.get_weights()[0].item())
    np.testing.assert_allclose(weights, [0.9, 0.7, 0.4], rtol=1e-6)
    model.optimizer.lr = 0.5
    assert K.get_value(model.optimizer.learning_rate) == K.get_value(model.optimizer.lr) == pytest.approx(0.5)
    assert Plain(0.25).lr is not None
    with pytest.raises(AttributeError, match="momentum"):
        _ = Plain(0.25).momentum


@pytest.mark.parametrize("replicas", [1, 2])
def test_get_updates_gets_the_loss_of_the_step(replicas):
    """As Eve asks for it. The numbers are those of Keras 2.2.4."""
    from keras import backend as K
    from keras.optimizers import Optimizer

    class ByLoss(Optimizer):
        lr = 0.1

        def get_updates(self, loss, params):
            by_loss = K.switch(K.greater(loss, K.variable(0.17)), K.variable(1.1), loss) * K.minimum(loss, 2.0)
            steps = [self.lr * by_loss * g for g in self.get_gradients(loss, params)]
            return [K.update(p, p - step) for p, step in zip(params, steps, strict=True)]

    model = keras.Sequential([keras.Input((3,)), keras.layers.Dense(2, kernel_regularizer="l2")])
    model.set_weights([np.arange(6).reshape(3, 2) / 6, np.zeros(2)])
    model = parallel_compat.parallelize(model, [0, 1]) if replicas > 1 else model
    model.compile(ByLoss(), "mse")
    r = np.random.RandomState(0)
    x, y = r.rand(8, 3), r.rand(8, 2)
    history = model.fit(x, y, batch_size=4, epochs=3, shuffle=False, verbose=0).history
    np.testing.assert_allclose(history["loss"], [0.19152, 0.17871, 0.16832], atol=1e-5)
    kernel = [-0.01374, 0.15596, 0.31296, 0.47997, 0.64545, 0.81286]
    np.testing.assert_allclose(model.get_weights()[0].ravel(), kernel, atol=1e-5)


@pytest.mark.one_in(2)
@pytest.mark.parametrize("replicas", [1, 2])
@pytest.mark.parametrize("name", ["SGD", "Adagrad", "Nadam"])
def test_a_class_derived_from_one_of_keras_steps_as_it_and_takes_what_it_took(name, replicas):
    base = getattr(keras.optimizers, name)

    class Plain(base):
        pass

    class Named(base):
        def __init__(self, factor=2.0, **kwargs):
            super().__init__(**kwargs)
            self.factor = factor

        def get_config(self):
            return {**super().get_config(), "factor": self.factor}

    x, y = data()
    given = {"lr": 0.05, "clipnorm": 0.5, **({} if name == "Nadam" else {"decay": 0.1})}
    results = []
    for kind in (base, Plain, Named):
        optimizer = kind(**given)
        assert float(optimizer.lr) == pytest.approx(0.05)
        model = model_of("sgd")
        if replicas > 1:
            model = keras.utils.multi_gpu_model(model, replicas)
        model.compile(optimizer, "mse")
        results.append(model.fit(x, y, epochs=2, batch_size=4, shuffle=False, verbose=0).history["loss"])
    np.testing.assert_allclose(results[1:], [results[0]] * 2, rtol=1e-6)


def test_a_class_of_tf_keras(tmp_path):
    import tensorflow as tf

    class Decaying(tf.keras.optimizers.SGD):
        def __init__(self, weight_decay=0.1, **kwargs):
            super().__init__(**kwargs)
            self._set_hyper("weight_decay", weight_decay)

        def _resource_apply_dense(self, grad, var, apply_state=None):
            var.assign_sub(self._get_hyper("weight_decay", "float32") * var)
            return super()._resource_apply_dense(grad, var, apply_state)

        def get_config(self):
            return {**super().get_config(), "weight_decay": self._serialize_hyperparameter("weight_decay")}

    layer = tf.keras.layers.Dense(1, use_bias=False, kernel_initializer="ones")
    model = tf.keras.Sequential([tf.keras.Input((1,)), layer])
    optimizer = Decaying(learning_rate=0.1)
    model.compile(optimizer, "mse")
    x = np.ones((2, 1))
    model.train_on_batch(x, np.zeros((2, 1)))
    weight = 0.9 - 0.1 * 2
    np.testing.assert_allclose(layer.get_weights()[0], [[weight]], rtol=1e-6)
    model.save(tmp_path / "own.h5")
    loaded = tf.keras.models.load_model(tmp_path / "own.h5", custom_objects={"Decaying": Decaying})
    loaded.train_on_batch(x, np.zeros((2, 1)))
    weight = 0.9 * weight - 0.1 * 2 * weight
    np.testing.assert_allclose(loaded.get_weights()[0], [[weight]], rtol=1e-6)
    with tf.GradientTape() as tape:
        loss = tf.reduce_sum(layer(x))
    before = layer.get_weights()[0]
    optimizer.apply_gradients(
        zip(tape.gradient(loss, model.trainable_variables), model.trainable_variables, strict=True)
    )
    np.testing.assert_allclose(layer.get_weights()[0], 0.9 * before - 0.1 * 2, rtol=1e-6)


# As in TensorFlow 1.15.5 and 2.2.3: the losses of three epochs, and the sums of all weights after them.
LOOKING_AHEAD = {
    "a rate": ([0.12848, 0.10888, 0.10509], [2.34963, -0.44187, -0.08157, 0.63211]),
    "a schedule": ([0.11907, 0.10034, 0.10117], [2.27935, -0.45307, -0.15184, 0.7616]),
}


@pytest.mark.parametrize("gpus", [1, 2])
@pytest.mark.parametrize("rate", LOOKING_AHEAD)
def test_a_class_of_tf_keras_around_an_optimizer_of_keras(rate, gpus):
    """`Lookahead` as TensorFlow Addons and programs of their own had it."""
    import tensorflow as tf

    optimizers = tf.keras.optimizers

    class Lookahead(optimizers.Optimizer):
        def __init__(self, optimizer, period, step, name="Lookahead", **kwargs):
            super().__init__(name, **kwargs)
            self._optimizer = optimizer
            self._set_hyper("period", period)
            self._set_hyper("step", step)
            self._track_trackable(self._optimizer, "base_optimizer")

        def _create_slots(self, var_list):
            self._optimizer._create_slots(var_list=var_list)
            for var in var_list:
                self.add_slot(var, "slow")

        def _create_hypers(self):
            self._optimizer._create_hypers()

        def _prepare(self, var_list):
            return self._optimizer._prepare(var_list=var_list)

        def apply_gradients(self, grads_and_vars, name=None, **kwargs):
            self._optimizer._iterations = self.iterations
            return super().apply_gradients(grads_and_vars, name, **kwargs)

        def _resource_apply_dense(self, grad, var):
            slow = self.get_slot(var, "slow")
            begun = slow.assign(tf.where(tf.equal(self.iterations, 0), var, slow), use_locking=self._use_locking)
            with tf.control_dependencies([begun]):
                trained = self._optimizer._resource_apply_dense(grad, var)
            with tf.control_dependencies([trained]):
                back = slow + self._get_hyper("step", var.dtype.base_dtype) * (var - slow)
                due = tf.equal((self.iterations + 1) % self._get_hyper("period", tf.int64), 0)
                assigned = [slow.assign(tf.where(due, back, slow)), var.assign(tf.where(due, back, var))]
            return tf.group(begun, trained, *assigned)

    given = (0.1, 0.5) if rate == "a rate" else (optimizers.schedules.ExponentialDecay(0.2, 4, 0.5), 0.9, True)
    inputs = tf.keras.layers.Input((6,))
    hidden = tf.keras.layers.Dense(5, activation="tanh")(inputs)
    model = tf.keras.models.Model(inputs, tf.keras.layers.Dense(3)(hidden))
    random = np.random.RandomState(0)
    model.set_weights([random.uniform(-0.5, 0.5, w.shape) for w in model.get_weights()])
    trained = parallel_compat.multi_gpu_model(model, gpus) if gpus > 1 else model
    optimizer = Lookahead(optimizers.SGD(*given), 3, 0.4 if rate == "a rate" else 0.5)
    trained.compile(optimizer, "mse")
    x, y = np.random.RandomState(0).rand(24, 6), np.random.RandomState(1).rand(24, 3)
    losses = trained.fit(x, y, batch_size=6, epochs=3, shuffle=False, verbose=0).history["loss"]
    np.testing.assert_allclose(losses, LOOKING_AHEAD[rate][0], atol=1e-5)
    np.testing.assert_allclose([w.sum() for w in model.get_weights()], LOOKING_AHEAD[rate][1], atol=2e-5)
    kept = optimizer.get_slot(model.trainable_weights[0], "slow").numpy()  # 12 steps: those of the last sync
    np.testing.assert_allclose(kept, model.get_weights()[0], rtol=1e-6)


def around(optimizer, by=1.0, groups=1):
    from keras import backend as K
    from keras import optimizers

    class Around(optimizers.Optimizer):
        """Steps `by` as fast as the optimizer that it has, and keeps the weights that training began with."""

        def __init__(self, optimizer, by, groups, **kwargs):
            super().__init__(**kwargs)
            self.optimizer = optimizers.get(optimizer)
            self.by, self.groups = by, groups

        @property
        def lr(self):
            return self.optimizer.lr

        @lr.setter
        def lr(self, value):
            self.optimizer.lr = value

        def get_updates(self, loss, params):
            if self.updates:
                return self.updates
            first = [K.variable(K.get_value(each)) for each in params]
            before, self.weights = self.lr, []
            self.lr = self.lr * self.by
            for group in [params[i :: self.groups] for i in range(self.groups)]:
                self.updates += self.optimizer.get_updates(loss, group)
                self.weights += [each for each in self.optimizer.weights if each not in self.weights]
            self.lr = before
            self.weights += first
            return self.updates

        def get_config(self):
            own = {"optimizer": optimizers.serialize(self.optimizer), "by": self.by, "groups": self.groups}
            return {**super().get_config(), **own}

        @classmethod
        def from_config(cls, config):
            return cls(optimizers.deserialize(config.pop("optimizer")), **config)

    return Around(optimizer, by, groups)


@pytest.mark.one_in(4)
@pytest.mark.parametrize("name", ["SGD", "RMSprop", "Adagrad", "Adadelta", "Adam", "Adamax", "Nadam"])
def test_an_optimizer_around_another_steps_as_that_one(name, tmp_path):
    from keras import backend as K

    kind, (x, y) = getattr(keras.optimizers, name), data()
    given = {"lr": 0.02, "clipnorm": 0.1, "clipvalue": 0.01, **({} if name == "Nadam" else {"decay": 0.1})}
    outer = around(around(kind(**given), by=2.0), by=0.5)
    ours, wanted = model_of(outer), model_of(kind(**given))
    first = ours.get_weights()
    for each in ours, wanted:
        each.fit(x, y, epochs=2, batch_size=4, shuffle=False, verbose=0)
        assert K.get_value(each.optimizer.lr) == np.float32(0.02)
        K.set_value(each.optimizer.lr, 0.01)
        each.train_on_batch(x, y)
    for mine, theirs in zip(ours.get_weights(), wanted.get_weights(), strict=True):
        np.testing.assert_allclose(mine, theirs, rtol=1e-4, atol=1e-5)
    for kept, was in zip(outer.weights[-3:], first, strict=True):
        np.testing.assert_array_equal(K.get_value(kept), was)
    if name == "Adam":
        ours.save(tmp_path / "around.h5")
        loaded = keras.models.load_model(tmp_path / "around.h5", custom_objects={"Around": type(outer)})
        for each in ours, loaded:
            each.train_on_batch(x, y)
        for mine, theirs in zip(loaded.get_weights(), ours.get_weights(), strict=True):
            np.testing.assert_allclose(mine, theirs, rtol=1e-6)


def test_an_optimizer_that_counts_the_steps_of_the_one_inside():
    from keras import backend as K
    from keras.optimizers import SGD, Optimizer

    class EverySecond(Optimizer):
        """Steps by the gradient of every second batch, with a count of its own for the decay inside."""

        def __init__(self, optimizer, **kwargs):
            super().__init__(**kwargs)
            self.optimizer, self.iterations = optimizer, K.variable(0, dtype="int64")
            self.lr = optimizer.lr

        def get_updates(self, loss, params):
            self.updates = [K.update_add(self.iterations, 1)]
            grads, plain, kept = self.get_gradients(loss, params), K.update_add, self.optimizer.iterations
            self.optimizer.get_gradients = lambda loss, params: grads
            count = self.iterations // 2
            K.update_add = lambda x, increment: None if x is count else plain(x, increment)
            self.optimizer.iterations = count
            self.optimizer.lr = K.switch(K.equal(self.iterations % 2, 1), self.lr, 0.0)
            self.updates += [each for each in self.optimizer.get_updates(loss, params) if each is not None]
            K.update_add, self.optimizer.iterations, self.optimizer.lr = plain, kept, self.lr
            return self.updates

    ours, wanted = model_of(EverySecond(SGD(0.1, decay=0.5))), model_of(SGD(0.1, decay=0.5))
    for each in ours, wanted:  # which the constraint, that holds in batches without a step too, leaves alone
        each.set_weights([weight * 0.1 for weight in each.get_weights()])
    x, y = data()
    for start in 0, 4, 0, 4:
        ours.train_on_batch(x[start : start + 4], y[start : start + 4])
        if start:
            wanted.train_on_batch(x[start : start + 4], y[start : start + 4])
    for mine, theirs in zip(ours.get_weights(), wanted.get_weights(), strict=True):
        np.testing.assert_allclose(mine, theirs, rtol=1e-5)


def test_an_optimizer_that_asks_another_for_each_group_of_weights():
    models = [model_of(around("sgd", by=0.5, groups=3)), model_of(keras.optimizers.SGD(lr=0.005))]
    x, y = data()
    for each in models:
        each.fit(x, y, epochs=2, batch_size=4, shuffle=False, verbose=0)
    for mine, theirs in zip(*(each.get_weights() for each in models), strict=True):
        np.testing.assert_allclose(mine, theirs, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("gpus", [None, 2])
def test_a_step_that_returns_nothing(gpus):
    import tensorflow as tf
    from tensorflow import keras

    class Momentum(keras.optimizers.Optimizer):
        def __init__(self, learning_rate=0.1, name="Momentum", **keywords):
            super().__init__(name, **keywords)
            self._set_hyper("learning_rate", keywords.get("lr", learning_rate))

        def _create_slots(self, variables):
            for variable in variables:
                self.add_slot(variable, "momentum")

        @tf.function
        def _resource_apply_dense(self, gradient, variable):
            momentum = self.get_slot(variable, "momentum")
            momentum.assign(momentum * 0.9 - 0.1 * gradient)
            variable.assign_add(momentum * self._decayed_lr(variable.dtype.base_dtype))

        def get_config(self):
            return {**super().get_config(), "learning_rate": self._serialize_hyperparameter("learning_rate")}

    class Slower(Momentum):
        def _resource_apply_dense(self, gradient, variable):
            variable.assign_sub(0.01 * gradient)

    found = {}
    for kind in (Momentum, Slower):
        model = keras.Sequential([keras.layers.Dense(1, kernel_initializer="ones", input_shape=(2,))])
        if gpus:
            model = parallel_compat.parallelize(model, devices=["CPU:0", "CPU:1"])
        model.compile(kind(), "mse")
        model.fit(np.ones((4, 2)), np.zeros((4, 1)), epochs=2, shuffle=False, verbose=0)
        found[kind] = model.get_weights()[0][0, 0]
    # Gradients are 4 and then 2 (2 k + b): steps of 0.1 x 0.1 x 4, and of 0.01 x 4.
    assert found[Momentum] == pytest.approx(1 - 0.04 - 0.1 * (0.36 + 0.1 * 2 * (2 * 0.96 - 0.04)), rel=1e-5)
    assert found[Slower] == pytest.approx(1 - 0.04 - 0.01 * 2 * (2 * 0.96 - 0.04), rel=1e-5)


@pytest.mark.parametrize("gpus", [None, 2])
def test_a_function_in_the_place_of_get_gradients_gives_the_gradients(gpus):
    from keras import backend as K
    from keras.layers import Dense
    from keras.optimizers import SGD, Optimizer

    def centralized(optimizer):  # as programs of 2020 did to any optimizer
        def get_gradients(loss, params):
            gradients = K.gradients(loss, params)
            return [each - K.mean(each, axis=0, keepdims=True) if K.ndim(each) > 1 else each for each in gradients]

        optimizer.get_gradients = get_gradients
        return optimizer

    def doubled(optimizer):
        of_optimizer = optimizer.get_gradients
        optimizer.get_gradients = lambda loss, params: [2.0 * each for each in of_optimizer(loss, params)]
        return optimizer

    class Signs(Optimizer):
        def get_updates(self, loss, params):
            return [K.update_sub(p, 0.25 * K.sign(g)) for p, g in zip(params, K.gradients(loss, params), strict=True)]

        def get_config(self):
            return {}

    # Gradients of -2, -6 and -4 (the bias). What is clipped here (all together, to a norm of 1) is what is asked to.
    x, y = np.ones((4, 2)) * [0.5, 1.5], np.ones((4, 1)) * 4.0
    steps = {
        centralized(SGD(0.5, clipnorm=1.0)): [-1.0, 1.0, 2.0],
        doubled(SGD(0.5, clipnorm=1.0)): np.array([1.0, 3.0, 2.0]) / np.sqrt(14),
        Signs(): [0.25, 0.25, 0.25],
    }
    for optimizer, step in steps.items():
        model = keras.Sequential([Dense(1, kernel_initializer="ones", input_shape=(2,))])
        if gpus:
            model = parallel_compat.parallelize(model, devices=["CPU:0", "CPU:1"])
        model.compile(optimizer, "mse")
        model.train_on_batch(x, y)
        np.testing.assert_allclose(np.concatenate(model.get_weights(), axis=None) - [1, 1, 0], step, rtol=1e-6)


def test_two_assignments_of_one_variable_add_up_and_say_so():
    from keras import backend as K
    from keras.layers import Dense
    from keras.optimizers import SGD

    class Decaying(SGD):
        def get_updates(self, loss, params):
            updates = super().get_updates(loss, params)
            return [*updates, *(K.update(each, 0.5 * each) for each in params)]

    model = keras.Sequential([Dense(1, use_bias=False, kernel_initializer="ones", input_shape=(1,))])
    model.compile(Decaying(0.125), "mse")
    with pytest.warns(parallel_compat.ParallelCompatWarning, match="Received: another one to kernel"):
        model.train_on_batch(np.ones((2, 1)), np.ones((2, 1)) * 2.0)
    assert model.get_weights()[0] == 1.0 + 0.25 - 0.5


def test_what_a_step_keeps_of_it_is_read_when_it_is_asked_for():
    """A weight as it was before the step, and a rate that a program asks for later, as keras-adamw's do."""
    from keras import backend as K
    from keras.layers import Dense
    from keras.optimizers import Optimizer
    from tensorflow.python.ops import control_flow_ops, state_ops

    class Keeping(Optimizer):
        def __init__(self, **keywords):
            super().__init__(**keywords)
            self.iterations = K.variable(0, dtype="int64")
            self.lr = K.variable(0.25)

        def get_updates(self, loss, params):
            (gradient,) = self.get_gradients(loss, params)
            (param,) = params
            is_first = K.equal(self.iterations, 0)
            self.lr_t = self.lr * control_flow_ops.cond(is_first, lambda: K.constant(1.0), lambda: K.constant(0.5))
            self.gradient = gradient
            self.before = K.zeros(K.int_shape(param))
            self.calls = K.variable(0.0)
            self.seen = state_ops.assign_add(self.calls, 1.0) + 0.0
            self.calls_now = self.calls * 1.0
            updates = [K.update_add(self.iterations, 1), K.update(param, param - self.lr_t * gradient)]
            return [*updates, K.update(self.before, param)]

    model = keras.Sequential([Dense(1, use_bias=False, kernel_initializer="ones", input_shape=(1,))])
    model.compile(Keeping(), "mse")
    model.train_on_batch(np.ones((2, 1)), np.ones((2, 1)) * 2.0)
    assert (K.get_value(model.optimizer.before), model.get_weights()[0]) == (1.0, 1.5)
    assert K.get_value(model.optimizer.lr_t) == 0.125
    K.set_value(model.optimizer.lr, 0.5)
    assert K.eval(model.optimizer.lr_t) == 0.25
    asked = model.optimizer.calls_now, model.optimizer.seen, model.optimizer.calls_now
    assert [K.get_value(each) for each in asked] == [1.0, 1.0, 1.0]  # which assigns nothing
    with pytest.raises(NotImplementedError):
        K.get_value(model.optimizer.gradient)


def test_optimizers_of_both_kinds_are_optimizers():
    """Asked of Keras 2.2.4 and TensorFlow 2.2.3: wrappers check what they are given."""
    from keras.optimizers import SGD, Optimizer

    class Own(Optimizer):
        def get_updates(self, loss, params):
            return []

        def get_config(self):
            return {}

    class OfVariables(Optimizer, metaclass=abc.ABCMeta):
        def __init__(self):
            Optimizer.__init__(self, "OfVariables")

        def _resource_apply_dense(self, grad, var, apply_state=None):
            return var.assign_sub(grad)

        def get_config(self):
            return {}

    made = (SGD(), Own(), OfVariables(), keras.optimizers.get(Own()))
    assert [isinstance(each, Optimizer) for each in made] == [True] * 4
    assert [issubclass(each, Optimizer) for each in (SGD, Own, OfVariables, Optimizer)] == [True] * 4
    assert not isinstance("sgd", Optimizer)
    assert not issubclass(dict, Optimizer)
    assert Optimizer.apply_gradients


def steps_of_tf_keras(optimizer):
    """Train a model of three weights for eight steps: its weights, and it itself."""
    import tensorflow as tf

    model = tf.keras.Sequential([tf.keras.layers.Dense(1, input_shape=(3,), kernel_initializer="ones")])
    model.compile(optimizer, "mse")
    x = np.arange(24.0).reshape(8, 3) / 24
    model.fit(x, np.ones((8, 1)), batch_size=2, epochs=2, verbose=0, shuffle=False)
    return model.get_weights()[0].ravel(), model


def test_schedules_in_a_class_of_tf_keras(tmp_path):
    """Numbers of TensorFlow 2.2.3."""
    import tensorflow as tf

    class Own(tf.keras.optimizers.Optimizer):
        def __init__(self, learning_rate=0.1, gamma=0.5, name="Own", **kwargs):
            super().__init__(name, **kwargs)
            self._set_hyper("learning_rate", learning_rate)
            self._set_hyper("gamma", gamma)

        def _create_slots(self, var_list):
            for each in var_list:
                self.add_slot(each, "m")

        def _resource_apply_dense(self, grad, var, apply_state=None):
            m = self.get_slot(var, "m")
            gamma = self._get_hyper("gamma")(self.iterations)
            return var.assign_sub(self._decayed_lr("float32") * m.assign(gamma * m + grad))

        def get_config(self):
            return {
                **super().get_config(),
                **{name: self._serialize_hyperparameter(name) for name in ("learning_rate", "gamma")},
            }

        @classmethod
        def from_config(cls, config, custom_objects=None):
            config["gamma"] = tf.keras.optimizers.schedules.deserialize(config["gamma"])
            return super().from_config(config, custom_objects)

    schedules = tf.keras.optimizers.schedules
    given = schedules.PolynomialDecay(0.1, 4), schedules.ExponentialDecay(0.1, 3, 0.5)
    weights, model = steps_of_tf_keras(Own(*given))
    np.testing.assert_allclose(weights, [0.880487, 0.87822, 0.875953], atol=2e-6)
    model.save(tmp_path / "own.h5")
    optimizer = tf.keras.models.load_model(tmp_path / "own.h5", custom_objects={"Own": Own}).optimizer
    config = {"initial_learning_rate": 0.1, "decay_steps": 4, "end_learning_rate": 0.0001, "power": 1.0, "cycle": False}
    said = optimizer.get_config()["learning_rate"]
    assert said == {"class_name": "PolynomialDecay", "config": {**config, "name": None}}
    assert isinstance(optimizer.learning_rate, schedules.PolynomialDecay)


def test_a_class_of_tf_keras_that_passes_on_to_another():
    """Numbers of TensorFlow 2.2.3. Keras 3's base class wants a learning rate."""
    with parallel_compat.legacy_names(era="tf.keras-2.2"):
        passes_on_to_another()


def passes_on_to_another():
    import tensorflow as tf

    class Double(tf.keras.optimizers.Optimizer):
        def __init__(self, inner, name="Double"):
            super().__init__(name)
            self.inner = inner

        def apply_gradients(self, grads_and_vars, name=None, **kwargs):
            return self.inner.apply_gradients([(gradient * 2, each) for gradient, each in grads_and_vars])

        def get_config(self):
            inner = self.inner.get_config()
            return {**super().get_config(), "inner": {"class_name": inner["name"], "config": inner}}

    tf.keras.optimizers.SGD(0.05)  # of the same name
    optimizer = Double(tf.keras.optimizers.SGD(0.05))
    inner = optimizer.get_config()["inner"]
    assert inner == {
        "class_name": "SGD",
        "config": {"name": "SGD", "learning_rate": 0.05, "decay": 0.0, "momentum": 0.0, "nesterov": False},
    }
    np.testing.assert_allclose(steps_of_tf_keras(optimizer)[0], [0.580308, 0.571094, 0.56188], atol=2e-6)
