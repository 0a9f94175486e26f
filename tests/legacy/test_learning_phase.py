"""When Keras 2.2.4 fed the learning phase: only to a model one of whose outputs had been noted to depend on it.

Expected are losses of three steps and of the evaluation after them, of the real Keras 2.2.4 on TensorFlow 1.15.5.
"""

from __future__ import annotations

import contextlib

import numpy as np
import pytest

ALL = 0.999999  # a Dropout of this rate gives zeros


def layers():
    """Layers of one's own, by what each does with the phase; all but the last say their shape without a call."""
    from keras.layers import BatchNormalization, Dropout, Layer

    from parallel_compat.legacy import backend as K

    class Shaped(Layer):
        def compute_output_shape(self, shape):
            return shape

    class Own(Shaped):
        def build(self, shape):
            self.k = self.add_weight(name="k", shape=(shape[-1],), initializer="ones")
            self.built = True

    def choose(x, other):
        return K.in_train_phase(x, other)

    class GoesOn(Own):
        def call(self, x):
            return K.in_train_phase(K.dropout(x * self.k, ALL), x) + x

    class Gives(Own):
        def call(self, x):
            return choose(x * self.k * 2.0, x)

    class Says(GoesOn):
        def __init__(self, **keywords):
            self.uses_learning_phase = True
            super().__init__(**keywords)

    class Notes(GoesOn):
        def call(self, x):
            y = super().call(x)
            y._uses_learning_phase = True
            return y

    class HoldsAndGives(Shaped):
        def build(self, shape):
            self.drop = Dropout(ALL)
            self.built = True

        def call(self, x):
            return self.drop(x)

    class HoldsAndGoesOn(HoldsAndGives):
        def call(self, x):
            return self.drop(x) + 0.0

    class Scaled(BatchNormalization):
        def call(self, x, training=None):
            return super().call(x, training=training) * 2.0

    class HoldsAndComputes(HoldsAndGives):
        def call(self, x):
            return self.drop.call(x)

    class Same(BatchNormalization):
        def call(self, x, training=None):
            return super().call(x, training)

    class Twice(Layer):
        def call(self, x):
            return K.in_train_phase(x * 2.0, x) * 1.0

    return {
        "goes on": GoesOn,
        "gives": Gives,
        "says": Says,
        "notes": Notes,
        "holds and gives": HoldsAndGives,
        "holds and goes on": HoldsAndGoesOn,
        "derived": Scaled,
        "holds and computes": HoldsAndComputes,
        "derived, the same": Same,
        "traced": Twice,
    }


def head(x):
    from keras.layers import Dense, Flatten

    return Dense(1)(Flatten()(x))


def losses_of(model, trained=None):
    """Three steps and an evaluation, from weights that depend on their shapes alone."""
    draw = np.random.RandomState(0)
    model.set_weights(
        [
            (0.2 + draw.rand(*w.shape) if w.ndim == 1 else draw.randn(*w.shape) * 0.5).astype("float32")
            for w in model.get_weights()
        ]
    )
    model = model if trained is None else trained
    model.compile("sgd", "mse")
    draw = np.random.RandomState(1)
    x, y = draw.randn(8, 3, 4).astype("float32"), draw.randn(8, 1).astype("float32")
    y = [y] * len(model.outputs)
    steps = [model.train_on_batch(x, y) for _ in range(3)]
    return [float(np.ravel(losses)[0]) for losses in [*steps, model.evaluate(x, y, verbose=0)]]


OWN = {
    "goes on": [6.1670713, 4.9707775, 4.0640340, 3.3725982],
    "gives": [4.5269933, 3.8107276, 3.2669659, 2.3360040],
    "says": [3.2434397, 3.0083525, 2.7931237, 4.7730088],
    "notes": [3.2434397, 3.0083525, 2.7931237, 4.7730088],
    "holds and gives": [0.69263184, 0.67958385, 0.66705251, 1.8331938],
    "holds and goes on": [1.8632236, 1.7698338, 1.6828640, 1.6017846],
    "derived": [15.535408, 3.0184383, 2.2384278, 1.7868814],
    "holds and computes": [0.69263184, 0.67958385, 0.66705251, 1.8331938],
    "derived, the same": [2.1007509, 1.8436067, 1.6398824, 1.4326026],
    "traced": [1.8632236, 1.7698338, 1.6828640, 1.6017846],
}


@pytest.mark.parametrize("name", OWN)
def test_layers_of_ones_own(name):
    from keras.layers import Input
    from keras.models import Model

    x = Input((3, 4))
    np.testing.assert_allclose(losses_of(Model(x, head(layers()[name]()(x)))), OWN[name], rtol=2e-5)


@pytest.mark.parametrize("goes_on", [False, True])
def test_subclassed_models(goes_on):
    from keras.layers import BatchNormalization, Dense
    from keras.models import Model

    from parallel_compat.legacy import backend as K

    class Own(Model):
        def __init__(self):
            super().__init__()
            self.normalise, self.last = BatchNormalization(), Dense(1, kernel_initializer="ones")

        def call(self, x):
            x = self.normalise(x)
            return self.last(K.concatenate([x, x]) if goes_on else x)

    draw = np.random.RandomState(1)
    x, y = draw.randn(8, 4).astype("float32"), draw.randn(8, 1).astype("float32")
    model = Own()
    model.compile("sgd", "mse")
    losses = model.fit(x, y, epochs=2, verbose=0, shuffle=False).history["loss"]
    losses += [float(model.train_on_batch(x, y)), float(model.evaluate(x, y, verbose=0))]
    assert bool(model.uses_learning_phase) is not goes_on
    expected = {False: [1.5167557, 1.4694717, 1.4269407, 1.3195240], True: [3.2763581, 2.8464100, 2.5710397, 2.3782322]}
    np.testing.assert_allclose(losses, expected[goes_on], rtol=2e-5)


@pytest.mark.parametrize("name", ["goes on", "gives"])
def test_replicas(name):
    from keras.layers import Input
    from keras.models import Model
    from keras.utils import multi_gpu_model

    x = Input((3, 4))
    model = Model(x, head(layers()[name]()(x)))
    np.testing.assert_allclose(losses_of(model, multi_gpu_model(model, 2)), OWN[name], rtol=2e-5)


def test_another_layer_that_is_noted_feeds_all():
    from keras.layers import Dropout, Input
    from keras.models import Model

    kind = layers()["goes on"]
    expected = [1.3325549, 1.2941660, 1.2572973, 5.9030924]
    x = Input((3, 4))
    np.testing.assert_allclose(losses_of(Model(x, head(Dropout(ALL)(kind()(x))))), expected, rtol=2e-5)
    x = Input((3, 4))
    np.testing.assert_allclose(losses_of(Model(x, head(kind()(Dropout(ALL)(x))))), expected, rtol=2e-5)
    x = Input((3, 4))
    losses = losses_of(Model(x, [head(kind()(x)), head(Dropout(ALL)(x))]))
    np.testing.assert_allclose(losses, [3.9365187, 3.6883659, 3.4605889, 7.7502027], rtol=2e-5)


def test_a_phase_that_a_layer_was_called_with_feeds_nothing():
    from keras.layers import BatchNormalization, Input
    from keras.models import Model

    x = Input((3, 4))
    model = Model(x, head(layers()["traced"]()(BatchNormalization()(x, training=False))))
    np.testing.assert_allclose(losses_of(model), [4.5107694, 3.0343897, 2.2936976, 1.8641313], rtol=2e-5)
    moving_mean, moving_variance = model.get_weights()[2:4]
    assert [abs(moving_mean).sum(), abs(moving_variance).sum()] == pytest.approx(
        [3.46772, 2.45181], rel=1e-5
    )  # as they were


@pytest.mark.parametrize(
    ("inner", "expected"),
    [
        ("normalized in the middle", [1.1741545, 1.1990780, 1.1331484, 1.0733478]),
        ("normalized at last", [1.1038724, 1.0600373, 1.0208428, 0.98318774]),
        ("dropped in the middle", [0.57018328, 0.56119323, 0.55272496, 0.54474491]),
    ],
)
def test_models_in_time_distributed(inner, expected):
    from keras.layers import LSTM, BatchNormalization, Dense, Dropout, Input, TimeDistributed
    from keras.models import Model

    x = Input((4,))
    each = {
        "normalized in the middle": lambda: Dense(3)(BatchNormalization()(x)),
        "normalized at last": lambda: BatchNormalization()(Dense(3)(x)),
        "dropped in the middle": lambda: Dense(3)(Dropout(ALL)(x)),
    }[inner]()
    steps = Input((3, 4))
    model = Model(steps, Dense(1)(LSTM(3)(TimeDistributed(Model(x, each))(steps))))
    np.testing.assert_allclose(losses_of(model), expected, rtol=2e-5)


def absolute_in_training(y_true, y_pred):
    from parallel_compat.legacy import backend as K

    return K.in_train_phase(K.abs(y_true - y_pred), K.square(y_true - y_pred))


def more_in_evaluation(y_true, y_pred):
    from parallel_compat.legacy import backend as K

    return K.mean(K.square(y_true - y_pred)) + K.switch(K.learning_phase(), K.sum(y_pred) * 0.1, K.sum(y_pred) * 0.2)


def losses_of_a_phase(loss, normalized, replicas=1, regularizer=None):
    from keras.layers import BatchNormalization, Dense, Flatten, Input
    from keras.models import Model
    from keras.utils import multi_gpu_model

    draw = np.random.RandomState(1)
    data, labels = draw.randn(8, 3, 4).astype("float32"), draw.randn(8, 1).astype("float32")
    x = Input((3, 4))
    y = BatchNormalization()(Flatten()(x)) if normalized else Flatten()(x)
    model = Model(x, Dense(1, kernel_initializer="ones", kernel_regularizer=regularizer)(y))
    model = multi_gpu_model(model, replicas) if replicas > 1 else model
    model.compile("sgd", loss, metrics=[] if loss == "mse" else [loss])
    steps = [model.train_on_batch(data, labels) for _ in range(2)]
    return np.ravel([*steps, model.evaluate(data, labels, verbose=0)])


# Of the real stacks; the metric is the loss once more.
PHASES_OF_LOSSES = {
    ("keras-2.2.4", absolute_in_training, False): [3.9318819, 3.6418424, 3.3840423],  # nothing feeds it
    ("keras-2.2.4", absolute_in_training, True): [1.6587026, 1.6079209, 4.0727215],
    ("keras-2.2.4", more_in_evaluation, False): [5.1879840, 4.7377801, 4.3367491],
    ("keras-2.2.4", more_in_evaluation, True): [5.1104083, 4.2522225, 3.0263124],
    ("tf.keras-1.15", absolute_in_training, False): [1.7133745, 1.6902988, 3.7779348],
    ("tf.keras-1.15", absolute_in_training, True): [1.6587026, 1.6079209, 3.6596000],
    ("tf.keras-1.15", more_in_evaluation, False): [4.5599327, 4.2027612, 4.4330940],
    ("tf.keras-1.15", more_in_evaluation, True): [5.1104083, 4.2522225, 3.7134713],
}


def test_regularizers_know_the_phase():
    from parallel_compat.legacy import backend as K

    def regularizer(kernel):
        return K.in_train_phase(K.sum(kernel), 0.0)

    fed = losses_of_a_phase("mse", normalized=True, regularizer=regularizer)
    np.testing.assert_allclose(fed, [17.110408, 15.913671, 2.9563322], rtol=2e-5)
    plain = losses_of_a_phase("mse", normalized=False)
    assert losses_of_a_phase("mse", normalized=False, regularizer=regularizer).tolist() == plain.tolist()


# What 0, or what was set, makes of ones: after a training, in a prediction, and called to train.
PHASES_OF_TENSORFLOW_2 = {None: [1.0, 1.0, 1.0], 1: [4.0, 2.0, 2.0], 0: [1.0, 1.0, 1.0]}


def test_steps_of_replicas_end_in_any_order():
    from parallel_compat.backend.keras3 import call_context

    one, other = contextlib.ExitStack(), contextlib.ExitStack()
    one.enter_context(call_context.in_step(True))
    other.enter_context(call_context.in_step(False))
    one.close()
    assert call_context.step_trains() is False
    other.close()
    assert not call_context.is_in_step()
    assert call_context.step_trains() is None


@pytest.mark.parametrize("phase", [0, 1])
def test_a_function_of_a_model_predicts_whatever_was_fixed_for_one_before(phase):
    """Layers that were called before the phase was fixed predict; those of the model before had been called in it."""
    from keras.layers import Input, Lambda
    from keras.models import Model

    from parallel_compat.legacy import backend as K

    def halving():
        inputs = Input((3,))
        return Model(inputs, Lambda(lambda x: K.in_train_phase(x * 0.5, x))(inputs))

    K.set_learning_phase(1)
    model = halving()
    model.compile("sgd", "mse")
    model.train_on_batch(np.ones((2, 3)), np.ones((2, 3)))
    K.clear_session()
    model = halving()
    K.set_learning_phase(phase)
    (outputs,) = K.function([model.input], [model.output])([np.ones((2, 3))])
    K.clear_session()
    np.testing.assert_array_equal(outputs, np.ones((2, 3)))  # Keras 2.2.4; it was 0.5
