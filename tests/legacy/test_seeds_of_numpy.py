"""Masks and noise follow from `np.random.seed` in Keras 2.2.4; the numbers are its own, on TensorFlow 1.15.5."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import tensorflow as tf

import parallel_compat

X = np.random.RandomState(0).rand(37, 5)
Y = X[:, :2] ** 2


@pytest.fixture(autouse=True)
def _as_in_a_new_process(monkeypatch: pytest.MonkeyPatch) -> None:
    tf.random.set_seed(87654321)  # TensorFlow's own, where nobody set one
    monkeypatch.setattr("parallel_compat.resume.Resume.is_made", False)


def _losses(*kinds: dict[str, Any], of: tuple[str, ...] = ("Dropout", "Dropout")) -> list[float]:
    """Train, compile again, train on, and train on one batch."""
    import keras
    from keras.layers import Dense
    from keras.models import Sequential

    np.random.seed(5)
    between = [getattr(keras.layers, name)(**kind) for name, kind in zip(of, kinds, strict=False)]
    layers = [Dense(6, activation="relu", input_shape=(5,)), *between, Dense(2)]
    model = Sequential(layers)
    model.compile("sgd", "mse")
    losses = list(model.fit(X, Y, epochs=2, batch_size=8, verbose=0).history["loss"])
    model.compile("sgd", "mse")
    losses += model.fit(X, Y, epochs=1, batch_size=8, verbose=0).history["loss"]
    return [*losses, float(model.train_on_batch(X[:8], Y[:8]))]


CASES: dict[str, tuple[tuple[dict[str, Any], ...], list[float]]] = {
    "one": (({"rate": 0.4},), [1.0533368506947078, 0.6145902920413662, 0.44886893597809047, 0.3156445622444153]),
    "two": (
        ({"rate": 0.5}, {"rate": 0.25, "noise_shape": (None, 1)}),
        [1.0805410766923749, 0.6096667067424671, 0.6174482896521285, 0.36540770530700684],
    ),
    "seeded": (
        ({"rate": 0.3, "seed": 4},),
        [0.7901955134159809, 0.5498269103668831, 0.46396884885994166, 0.47722846269607544],
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_masks_follow_from_the_seed(case: str) -> None:
    kinds, expected = CASES[case]
    with parallel_compat.legacy_names(era="keras-2.2.4"):
        np.testing.assert_allclose(_losses(*kinds), expected, rtol=2e-6)


NOISE: list[tuple[tuple[str, ...], tuple[dict[str, Any], ...], list[float]]] = [
    (
        ("GaussianNoise",),
        ({"stddev": 0.3},),
        [1.1546202640275698, 0.7996837625632415, 0.6209769985965781, 0.5589495897293091],
    ),
    (
        ("GaussianDropout",),
        ({"rate": 0.3},),
        [1.082601505356866, 0.7093465916208319, 0.4965785190060332, 0.3797096908092499],
    ),
    (
        ("AlphaDropout",),
        ({"rate": 0.3},),
        [1.6538392949748684, 1.5296293239335756, 1.3153858764751538, 0.6773500442504883],
    ),
    (
        ("AlphaDropout",),
        ({"rate": 0.3, "seed": 4},),
        [1.6509748922811973, 1.111811251253695, 1.2440174012570768, 1.0756840705871582],
    ),
    (  # the first one changes nothing, and draws
        ("GaussianNoise", "GaussianDropout", "Dropout", "AlphaDropout"),
        ({"stddev": 0.0}, {"rate": 0.2}, {"rate": 0.4}, {"rate": 0.1}),
        [0.8408353650892103, 0.7751749343163258, 0.5903872895885158, 0.397605836391449],
    ),
]


@pytest.mark.parametrize(("of", "kinds", "expected"), NOISE)
def test_noise_follows_from_the_seed(of: Any, kinds: Any, expected: list[float]) -> None:
    with parallel_compat.legacy_names(era="keras-2.2.4"):
        np.testing.assert_allclose(_losses(*kinds, of=of), expected, rtol=2e-6)


def test_replicas_have_masks_of_their_own() -> None:
    """The rows' weights have opposite signs: with one mask for both, the loss is 0."""
    with parallel_compat.legacy_names(era="keras-2.2.4"):
        from keras import backend as K
        from keras.layers import Dense, Dropout
        from keras.models import Sequential
        from keras.utils import multi_gpu_model

        def weighted(y_true: Any, y_pred: Any) -> Any:
            return K.sum(y_true * y_pred, axis=-1)

        identity = Dense(40, kernel_initializer="identity", use_bias=False, input_shape=(40,))
        parallel = multi_gpu_model(Sequential([identity, Dropout(0.5)]), gpus=2)
        parallel.compile("sgd", weighted)
        weights = np.random.RandomState(1).rand(1, 40)
        loss = parallel.train_on_batch(np.ones((2, 40)), np.concatenate([weights, -weights]))
        assert abs(float(loss)) > 1e-3


def test_a_new_graph_has_no_seed() -> None:
    """`tf.set_random_seed` is for one graph, which `K.clear_session` and `tf.reset_default_graph` leave behind."""
    with parallel_compat.legacy_names(era="keras-2.2.4"):
        import tensorflow as tf
        from keras import backend as K
        from keras.layers import Dense
        from keras.models import Sequential

        sums = []
        for leave in (None, K.clear_session, None, K.clear_session, tf.reset_default_graph):
            if leave:
                leave()
            if len(sums) in (0, 2, 3):
                np.random.seed(3)
                tf.set_random_seed(8)
            sums.append(float(Sequential([Dense(3, input_shape=(4,))]).get_weights()[0].sum()))
    of_seed, of_none = 0.804545521736145, 1.702263593673706
    np.testing.assert_allclose(sums, [of_seed, of_none, of_seed, of_seed, of_none], rtol=1e-6)


@pytest.mark.parametrize(
    ("era", "expected"),
    [("keras-2.2.4", [1.39204, 0.13755, 0.10142]), ("tf.keras-1.15", [1.39204, 0.14197, 0.10110])],
)
def test_batches_of_a_file_are_shuffled_as_those_of_arrays(tmp_path: Any, era: str, expected: list[float]) -> None:
    """Losses of the real Keras 2.2.4 and TensorFlow 1.15.5."""
    import h5py

    path = str(tmp_path / "data.h5")
    with h5py.File(path, "w") as file:
        file["x"] = np.random.RandomState(1).rand(30, 5)
        file["y"] = np.random.RandomState(2).rand(30, 1)
    with parallel_compat.legacy_names(era=era):
        from tensorflow.keras.layers import Dense
        from tensorflow.keras.models import Sequential
        from tensorflow.keras.optimizers import SGD
        from tensorflow.keras.utils import HDF5Matrix

        model = Sequential([Dense(1, input_shape=(5,), kernel_initializer="ones")])
        model.compile(SGD(lr=0.3), "mse")
        np.random.seed(9)
        x, y = HDF5Matrix(path, "x", 0, 20), HDF5Matrix(path, "y", 0, 20)
        losses = model.fit(x, y, batch_size=6, epochs=3, shuffle="batch", verbose=0).history["loss"]
    np.testing.assert_allclose(losses, expected, atol=1e-5)


def test_a_class_of_the_users_asks_for_the_masks_shape_and_says_it() -> None:
    """Through `_get_noise_shape`, which Keras 3 has on layers of its own alone."""
    with parallel_compat.legacy_names(era="keras-2.2.4"):
        from keras import backend as K
        from keras.layers import Dense, Dropout, Flatten, Input
        from keras.models import Model

        class NotScaled(Dropout):  # type: ignore[misc]
            def call(self, inputs: Any, training: Any = None) -> Any:
                shape = self._get_noise_shape(inputs)
                dropped = K.dropout(inputs, self.rate, shape, seed=self.seed) * (1 - self.rate)
                return K.in_train_phase(dropped, inputs, training=training)

        class OfRows(Dropout):  # type: ignore[misc]
            def _get_noise_shape(self, inputs: Any) -> Any:
                return (K.shape(inputs)[0],) + (1,) * (K.ndim(inputs) - 1)

        x = np.arange(60, dtype="float32").reshape(5, 3, 4) / 60
        for layer, expected in (
            (NotScaled(0.5, noise_shape=(None, 1, 4), seed=3), [10.449, 4.65235]),
            (OfRows(0.5, seed=3), [107.16, 15.26768]),
        ):
            inputs = Input((3, 4))
            model = Model(inputs, Dense(1, kernel_initializer="ones")(Flatten()(layer(inputs))))
            model.compile("sgd", "mse")
            losses = model.fit(x, np.ones((5, 1)), epochs=2, batch_size=5, verbose=0, shuffle=False).history["loss"]
            np.testing.assert_allclose(losses, expected, rtol=2e-6)


def test_each_operation_that_draws_in_a_cell_has_a_seed_of_its_own() -> None:
    """Keras 3 makes a cell's operations in the trace of a step alone, where all of them had one seed."""
    with parallel_compat.legacy_names(era="keras-2.2.4"):
        from keras import backend as K
        from keras.layers import RNN, Dense, Input, Layer
        from keras.layers.recurrent import _generate_dropout_mask
        from keras.models import Model
        from keras.optimizers import SGD

        class Cell(Layer):  # type: ignore[misc]
            state_size = 2

            def build(self, input_shape: Any) -> None:
                self.kernel = self.add_weight(name="kernel", shape=(3, 2), initializer="ones")
                self.masks: Any = None
                self.built = True

            def call(self, inputs: Any, states: Any, training: Any = None) -> Any:
                if self.masks is None:
                    self.masks = _generate_dropout_mask(K.ones_like(inputs), 0.5, training=training, count=2)
                output = sum(K.dot(inputs * mask, self.kernel) for mask in self.masks) * 0.1
                output += K.sum(states[0], axis=-1, keepdims=True) * 0.1
                return output, [output]

        np.random.seed(3)
        tf.random.set_seed(4)
        inputs = Input((4, 3))
        model = Model(inputs, Dense(1, kernel_initializer="ones")(RNN(Cell())(inputs)))
        model.compile(SGD(0.0), "mse")
        x = np.arange(60, dtype="float32").reshape(5, 4, 3) / 20
        history = model.fit(x, np.ones((5, 1)), epochs=4, batch_size=5, shuffle=False, verbose=0).history
        np.testing.assert_allclose(history["loss"], [5.8081, 6.6237, 5.4879, 3.6239], atol=1e-4)
