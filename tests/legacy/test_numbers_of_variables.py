"""What code of a graph computes of variables outside of a step is computed anew in each step that uses it."""

from __future__ import annotations

import keras
import numpy as np
import pytest
import tensorflow as tf

import parallel_compat

RNG = np.random.RandomState(0)
X, Y = RNG.rand(12, 4), RNG.rand(12, 2)


@pytest.fixture(params=["keras-2.2.4", "tf.keras-1.15"])
def graph_era(request):
    with parallel_compat.legacy_names(era=request.param):
        yield request.param


def test_functions_of_variables_are_computed_anew(graph_era):
    from keras import backend as K

    w = K.variable(0.1)
    of_w = {
        "operators": (1.0 - w, lambda v: 1 - v),
        "minimum": (K.minimum(w, 1.0), lambda v: min(v, 1)),
        "tf.maximum": (tf.maximum(w, 0.5), lambda v: max(v, 0.5)),
        "sqrt": (K.sqrt(w), lambda v: v**0.5),
        "cast": (K.cast(K.greater(w, 0.5), "float32"), lambda v: float(v > 0.5)),
        "switch": (K.switch(K.equal(w, 4.0), w, 2.0 - w), lambda v: v if v == 4 else 2 - v),
        "switch of functions": (
            K.switch(w > 1.0, lambda: w * 2.0, lambda: K.constant(3.0)),
            lambda v: 2 * v if v > 1 else 3,
        ),
        "cond": (tf.cond(w > 1.0, lambda: w, lambda: 5.0 * w), lambda v: v if v > 1 else 5 * v),
        "case": (tf.case([(w > 1.0, lambda: w)], default=lambda: w * 5.0), lambda v: v if v > 1 else 5 * v),
        "where": (tf.where(w > 1.0, w, 2.0 * w), lambda v: v if v > 1 else 2 * v),
        "parts": (K.sum(K.concatenate([K.stack([w, 1.0]), K.ones((2,)) * w])[1:3]), lambda v: 1 + v),
        "gather": (K.gather(K.variable([1.0, 2.0]), K.cast(w > 1.0, "int32")), lambda v: 2 if v > 1 else 1),
        "a loop over steps": (
            K.sum(K.rnn(lambda x, s: (x + s[0], [x + s[0]]), w * K.ones((1, 3, 1)), [K.zeros((1, 1))])[1]),
            lambda v: 6 * v,
        ),
        "a cast of a floor": (K.cast(tf.floor(w * 3.0), "float32") + K.pow(2.0, w), lambda v: v * 3 // 1 + 2**v),
    }
    x = K.placeholder((None, 2))
    with_tensors = K.function([x], [x * number for number, _ in of_w.values()])
    alone = K.function([], [number for number, _ in of_w.values()])
    for value in (0.1, 4.0, 0.7):
        K.set_value(w, value)
        wanted = [float(function(value)) for _, function in of_w.values()]
        for got in (
            [K.eval(each) for each, _ in of_w.values()],
            alone([]),
            [each[0, 0] for each in with_tensors([[[1, 1]]])],
        ):
            assert dict(zip(of_w, got, strict=True)) == pytest.approx(dict(zip(of_w, wanted, strict=True)), rel=1e-5)


def test_numbers_of_eager_code_stay():
    """`tf.keras` of TensorFlow 2.2 computed them when the line ran."""
    with parallel_compat.legacy_names(era="tf.keras-2.2"):
        from tensorflow.keras import backend as K

        w = K.variable(1.0)
        half = K.sqrt(w) / 2.0
        K.set_value(w, 9.0)
        assert tf.function(lambda: half + 0.0)().numpy() == K.eval(half) == 0.5


def dense():
    from keras.layers import Dense
    from keras.models import Sequential

    model = Sequential([Dense(2, input_shape=(4,))])
    model.set_weights([np.full((4, 2), 0.5), np.zeros(2)])
    return model


@pytest.mark.parametrize("replicas", [1, 2])
def test_a_penalty_before_the_loss_has_gradients(graph_era, replicas):
    from keras import backend as K
    from keras.callbacks import LambdaCallback
    from keras.utils import multi_gpu_model

    w, model = K.variable(0.1), dense()
    penalty = K.sum(K.square(model.layers[0].kernel))
    trained = model if replicas == 1 else multi_gpu_model(model, gpus=replicas)
    trained.compile("sgd", lambda y, p: K.mean(K.square(y - p), -1) + w * penalty)
    raised = LambdaCallback(on_epoch_begin=lambda epoch, logs: K.set_value(w, 0.1 + epoch * 0.4))
    history = trained.fit(X, Y, batch_size=6, epochs=4, shuffle=False, verbose=0, callbacks=[raised]).history
    wanted = [0.7865424752, 1.4751579165, 2.0282776952, 2.4083502293]  # Keras 2.2.4, and TensorFlow 1.15
    assert history["loss"] == pytest.approx(wanted, rel=1e-5)


def accumulating(steps):
    from keras import backend as K
    from keras.optimizers import SGD, Optimizer

    class Accumulating(Optimizer):
        """Written as optimizers that add up gradients were: they choose another rate for the optimizer within."""

        def __init__(self, optimizer, **kwargs):
            super().__init__(**kwargs)
            self.optimizer = optimizer
            self.iterations = K.variable(0, dtype="int64")
            self.cond = K.equal(self.iterations % steps, 0)
            self.lr = optimizer.lr
            optimizer.lr = K.switch(self.cond, optimizer.lr, 0.0)
            optimizer.get_gradients = lambda loss, params: [total / steps for total in self.totals]

        def get_updates(self, loss, params):
            self.updates = [K.update_add(self.iterations, 1)]
            self.totals = [K.zeros(K.int_shape(each)) for each in params]
            for gradient, total in zip(self.get_gradients(loss, params), self.totals, strict=True):
                self.updates.append(K.update(total, K.switch(self.cond, gradient, total + gradient)))
            self.updates += self.optimizer.get_updates(loss, params)[1:]
            return self.updates

        def get_config(self):
            return {"optimizer": self.optimizer.get_config()}

    return Accumulating(SGD(0.1))


def test_an_optimizer_adds_up_the_gradients_of_batches():
    with parallel_compat.legacy_names(era="keras-2.2.4"):
        model, whole, optimizer = dense(), dense(), accumulating(3)
        model.compile(optimizer, "mse")
        whole.compile(keras.optimizers.SGD(0.1), "mse")
        assert optimizer.get_config()["optimizer"]["learning_rate"] == pytest.approx(0.1)
        for i in range(5):
            model.train_on_batch(X[i : i + 1], Y[i : i + 1])
            if i == 3:  # a step with the mean over the three batches before
                whole.train_on_batch(X[:3], Y[:3])
            for got, wanted in zip(model.get_weights(), whole.get_weights(), strict=True):
                np.testing.assert_allclose(got, wanted, rtol=1e-5)
