"""What follows from `tf.random.set_seed` in TensorFlow 2.2: initial weights, the order of samples and masks of Dropout.

The numbers are those of TensorFlow 2.2.3.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
import scipy.sparse
import tensorflow as tf

import parallel_compat

if TYPE_CHECKING:
    from collections.abc import Iterator

ERA = "tf.keras-2.2"
X = np.random.RandomState(0).normal(size=(37, 5)).astype("f")
Y = X[:, :2] ** 2

INITIALIZED: dict[str, tuple[dict[str, Any], list[float]]] = {
    "RandomUniform": ({}, [0.03344538435339928, -0.026663338765501976, 0.037965189665555954]),
    "RandomNormal": ({"stddev": 2.0}, [1.1966898441314697, 0.1255241483449936, 0.29263484477996826]),
    "TruncatedNormal": ({"mean": 1.0}, [1.0299172401428223, 1.0031380653381348, 1.0073158740997314]),
    "GlorotUniform": ({}, [0.7327516078948975, -0.5841645002365112, 0.8317756652832031]),
    "GlorotNormal": ({}, [0.43021318316459656, 0.04512626677751541, 0.10520301014184952]),
    "VarianceScaling": (
        {"distribution": "untruncated_normal", "mode": "fan_out"},
        [0.345454603433609, 0.03623570129275322, 0.08447640389204025],
    ),
    "Orthogonal": ({"gain": 2.0}, [1.8144350051879883, 0.44369640946388245, -0.714813232421875]),
}


@pytest.mark.parametrize("kind", INITIALIZED)
def test_initial_weights_follow_from_the_seed(kind: str) -> None:
    config, expected = INITIALIZED[kind]
    with parallel_compat.legacy_names(era=ERA):
        from tensorflow.keras import initializers

        tf.random.set_seed(7)
        initializer = getattr(initializers, kind)(**config)
        np.testing.assert_allclose(np.ravel(initializer((2, 3)))[:3], expected, rtol=2e-6)
        assert np.ravel(initializer((2, 3)))[0] != pytest.approx(expected[0]), "the next ones are others"


def test_initial_weights_of_a_bias() -> None:
    with parallel_compat.legacy_names(era=ERA):
        from tensorflow.keras import initializers

        tf.random.set_seed(7)
        expected = [0.9459782838821411, -0.7541531324386597, 1.0738176107406616]
        np.testing.assert_allclose(initializers.he_uniform()((3,)), expected, rtol=2e-6)


CLONED = {
    ERA: [4.260350227355957, 3.4200844764709473, 0.0, 7.111348628997803, 3.8630242347717285, 0.0, 3.493140459060669],
    "keras-2.2.4": [6.32102, 3.55898, 0.0, 8.37031, 4.25003, 0.0, 4.91865],
}


@pytest.mark.parametrize("era", CLONED)
def test_initial_weights_of_a_cloned_bidirectional(era: str) -> None:
    """Keras 3 builds the layer that it derives the forward one from, which drew two seeds that no era drew."""
    with parallel_compat.legacy_names(era=era):
        from keras.layers import GRU, Bidirectional, Dense
        from keras.models import Sequential, clone_model

        tf.random.set_seed(5 if era == ERA else 87654321)  # TensorFlow's own, where nobody set one
        np.random.seed(5)
        model = Sequential([Bidirectional(GRU(2), input_shape=(5, 3)), Dense(2)])
        sums = [np.abs(weights).sum() for weights in clone_model(model).get_weights()]
        np.testing.assert_allclose(sums[:-1], CLONED[era], rtol=2e-6)


def _losses(data: tuple[Any, ...] = (X, Y), **keywords: Any) -> list[float]:
    from tensorflow.keras import Sequential
    from tensorflow.keras.layers import Dense

    tf.random.set_seed(42)
    if not data:
        data = (tf.data.Dataset.from_tensor_slices((X, Y)).shuffle(20).batch(8),)
    model = Sequential([Dense(6, "relu", input_shape=(5,)), Dense(2)])
    model.compile("sgd", "mse")
    history: dict[str, list[float]] = model.fit(*data, epochs=3, verbose=0, **keywords).history
    return history["loss"]


def test_a_training_repeats_that_of_its_time() -> None:
    with parallel_compat.legacy_names(era=ERA):
        expected = [2.4045281410217285, 2.213219165802002, 2.067333698272705]
        np.testing.assert_allclose(_losses(batch_size=8), expected, rtol=2e-6)
        expected = [2.6803598403930664, 2.343597650527954, 1.926210641860962]
        np.testing.assert_allclose(_losses(batch_size=4, validation_split=0.3), expected, rtol=2e-6)
        expected = [4.3687896728515625, 3.2430825233459473, 2.5691795349121094]
        np.testing.assert_allclose(_losses(()), expected, rtol=2e-6)


def test_epochs_of_given_steps_go_on_in_arrays() -> None:
    with parallel_compat.legacy_names(era=ERA):
        expected = [2.7148144245147705, 1.998937726020813, 2.3765389919281006]
        np.testing.assert_allclose(_losses(batch_size=8, steps_per_epoch=3), expected, rtol=2e-6)
        expected = [2.817082166671753, 2.66693377494812, 1.6131491661071777]
        np.testing.assert_allclose(_losses(batch_size=8, steps_per_epoch=3, shuffle=False), expected, rtol=2e-6)


def _dropping_out(*kinds: dict[str, Any]) -> list[float]:
    from tensorflow.keras import Sequential
    from tensorflow.keras.layers import Dense, Dropout

    ones = {"kernel_initializer": "ones"}
    model = Sequential(
        [Dense(6, "relu", input_shape=(5,), **ones), *(Dropout(**kind) for kind in kinds), Dense(2, **ones)]
    )
    model.compile("sgd", "mse")
    history: dict[str, list[float]] = model.fit(X, Y, epochs=3, batch_size=8, verbose=0, shuffle=False).history
    return history["loss"]


MASKED: dict[str, tuple[tuple[dict[str, Any], ...], list[float]]] = {
    "one": (({"rate": 0.4},), [150.86573791503906, 3.8545453548431396, 3.233043670654297]),
    "two": (
        ({"rate": 0.4}, {"rate": 0.2, "noise_shape": (None, 1)}),
        [82.03362274169922, 3.7432472705841064, 5.53358793258667],
    ),
    "seeded": (({"rate": 0.4, "seed": 3},), [60.275299072265625, 14.089547157287598, 2.6364519596099854]),
}


@pytest.fixture(autouse=True)
def _no_resume(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("parallel_compat.resume.Resume.is_made", False)


@pytest.mark.parametrize("case", MASKED)
def test_masks_follow_from_the_seed(case: str) -> None:
    kinds, expected = MASKED[case]
    with parallel_compat.legacy_names(era=ERA):
        tf.random.set_seed(42)
        np.testing.assert_allclose(_dropping_out(*kinds), expected, rtol=2e-6)


def test_masks_in_a_function_of_the_users() -> None:
    with parallel_compat.legacy_names(era=ERA):
        from tensorflow.keras.layers import Dropout

        tf.random.set_seed(0)
        first, second = Dropout(0.5), Dropout(0.5)
        masked = tf.function(lambda x: second(first(x, training=True), training=True))
        ones = tf.ones((1, 12))
        assert [np.flatnonzero(masked(ones)).tolist() for _ in range(2)] == [[3, 5, 8, 9, 10], [1, 7, 11]]


def test_spatial_masks_of_an_eager_call() -> None:
    with parallel_compat.legacy_names(era=ERA):
        from tensorflow.keras.layers import SpatialDropout1D

        tf.random.set_seed(7)
        masked = SpatialDropout1D(0.5)(np.ones((2, 2, 3), "float32"), training=True)
        assert np.asarray(masked)[:, 0].tolist() == [[2.0, 0.0, 2.0], [0.0, 2.0, 2.0]]


def test_a_subclassed_model_draws_its_weights_once() -> None:
    with parallel_compat.legacy_names(era=ERA):
        from tensorflow.keras import Model
        from tensorflow.keras.layers import Dense

        class Two(Model):  # type: ignore[misc]
            def __init__(self) -> None:
                super().__init__()
                self.first, self.second = Dense(8, "relu"), Dense(1)

            def call(self, inputs: Any) -> Any:
                return self.second(self.first(inputs))

        tf.random.set_seed(42)
        model = Two()
        model.predict(np.ones((4, 6), "float32"))
        sums = [float(np.sum(weight)) for weight in model.get_weights()]
        np.testing.assert_allclose(sums, [0.8271653652191162, 0.0, 2.7358450889587402, 0.0], rtol=1e-5)
        assert float(tf.random.uniform(())) == pytest.approx(0.7413678)


def test_operations_of_a_subclassed_model_draw_on_from_fit_to_fit() -> None:
    with parallel_compat.legacy_names(era=ERA):
        from tensorflow.keras import Model
        from tensorflow.keras.layers import Dense, Layer

        class Noisy(Layer):  # type: ignore[misc]
            def call(self, x: Any) -> Any:
                return x + tf.random.normal((5,))

        class Own(Model):  # type: ignore[misc]
            def __init__(self) -> None:
                super().__init__()
                self.noisy, self.last = Noisy(), Dense(2, kernel_initializer="ones")

            def call(self, x: Any) -> Any:
                return self.last(self.noisy(x))

        tf.random.set_seed(7)
        model = Own()
        model.compile("sgd", "mse")
        losses = [model.fit(X, Y, batch_size=8, shuffle=False, verbose=0).history["loss"][0] for _ in range(3)]
    np.testing.assert_allclose(losses, [9.484545707702637, 8.652139663696289, 13.45300579071045], rtol=2e-6)


def test_weights_and_masks_of_a_layer_of_ones_own_draw_by_turns() -> None:
    with parallel_compat.legacy_names(era=ERA):
        from tensorflow.keras import layers

        class Own(layers.Layer):
            def __init__(self) -> None:
                super().__init__()
                self.first, self.drop, self.last = layers.Dense(4), layers.Dropout(0.5), layers.Dense(2)

            def call(self, inputs: Any, training: Any = None) -> Any:
                return self.last(self.drop(self.first(inputs), training=training))

        tf.random.set_seed(4)
        layer = Own()
        outputs = layer(np.random.RandomState(0).rand(12, 5).astype("float32"), training=True)
        sums = [np.abs(w).sum() for w in layer.get_weights()[::2]]
        np.testing.assert_allclose([np.abs(outputs).sum(), *sums], [26.0496, 9.2341156, 3.3178675], rtol=1e-5)


def test_fit_generator_begins_what_draws_anew_as_fit_does() -> None:
    """The losses are those of TensorFlow 2.2.3."""

    def batches() -> Iterator[Any]:
        while True:
            yield np.ones((4, 4), "float32"), np.zeros((4, 1), "float32")

    with parallel_compat.legacy_names(era="tf.keras-2.2"):
        from tensorflow.keras import Sequential, layers, optimizers

        tf.random.set_seed(7)
        np.random.seed(7)
        output = layers.Dense(1, kernel_initializer="ones", use_bias=False)
        model = Sequential([layers.InputLayer((4,)), layers.GaussianNoise(0.5), output])
        model.compile(optimizers.SGD(0.0), "mse")

        def loss_of_generator() -> float:
            return float(model.fit_generator(batches(), 3, verbose=0).history["loss"][0])

        losses = [loss_of_generator(), loss_of_generator()]
        given = {"batch_size": 4, "shuffle": False, "verbose": 0}
        losses += model.fit(np.ones((16, 4), "float32"), np.zeros((16, 1), "float32"), **given).history["loss"]
        losses.append(loss_of_generator())
    np.testing.assert_allclose(losses, [13.09549, 15.53969, 19.99991, 15.87877], rtol=1e-5)


def test_an_estimator_of_scikit_learn_takes_the_samples_in_the_order_of_fit() -> None:
    with parallel_compat.legacy_names(era=ERA):
        from tensorflow.keras import Sequential
        from tensorflow.keras.layers import Dense
        from tensorflow.keras.wrappers.scikit_learn import KerasRegressor

        def build() -> Any:
            model = Sequential([Dense(6, "relu", input_shape=(5,)), Dense(2)])
            model.compile("sgd", "mse")
            return model

        tf.random.set_seed(42)
        losses = KerasRegressor(build).fit(X, Y, batch_size=8, epochs=3, verbose=0).history["loss"]
        np.testing.assert_allclose(losses, [2.4045281410217285, 2.213219165802002, 2.067333459854126], rtol=2e-6)


@pytest.mark.parametrize(
    ("kind", "config", "expected"),
    [
        ("GaussianNoise", {"stddev": 0.5}, [15.314929008483887, 18.428136825561523, 17.984027862548828]),
        ("GaussianNoise", {"stddev": 15.0}, [1551.6015625, 1116.704833984375, 1141.4873046875]),
        ("AlphaDropout", {"rate": 0.3}, [11.346694946289062, 10.441115379333496, 9.611360549926758]),
    ],
)
def test_a_seed_lets_what_draws_in_steps_begin_anew(kind: str, config: dict[str, float], expected: list[float]) -> None:
    """An operation that is made after it has another seed."""
    with parallel_compat.legacy_names(era=ERA):
        from tensorflow.keras import Sequential, layers, optimizers

        np.random.seed(1)
        tf.random.set_seed(2)
        output = layers.Dense(1, kernel_initializer="ones", use_bias=False)
        model = Sequential([layers.InputLayer((4,)), getattr(layers, kind)(**config), output])
        model.compile(optimizers.SGD(0.0), "mse")

        def loss(samples: int = 16) -> float:
            x, y = np.ones((samples, 4), "float32"), np.zeros((samples, 1), "float32")
            return float(model.fit(x, y, batch_size=4, shuffle=False, verbose=0).history["loss"][0])

        first = [loss(), loss()]
        tf.random.set_seed(5)
        assert [loss(), loss()] == first
        np.testing.assert_allclose([*first, loss(10)], expected, rtol=2e-6)
        assert Sequential.from_config(model.get_config()).layers[0].get_config().items() >= config.items()


@pytest.mark.parametrize(
    ("kind", "expected"),
    [
        ("ragged", [2.5330910682678223, 2.4192161560058594, 2.3728091716766357, 2.6290903091430664]),
        ("scipy", [3.9791746139526367, 3.6411941051483154, 2.5126399993896484, 3.8234455585479736]),
        ("sparse", [3.9791746139526367, 3.6411941051483154, 2.5126399993896484, 3.8234455585479736]),
    ],
)
def test_ragged_and_sparse_samples_come_in_the_order_of_a_data_set(kind: str, expected: list[float]) -> None:
    """The last two losses are those of epochs of three steps."""
    with parallel_compat.legacy_names(era=ERA):
        from tensorflow.keras import Input, Model, Sequential, layers

        tf.random.set_seed(42)
        if kind == "ragged":
            rows = np.arange(185).reshape(37, 5) % 7
            samples = tf.ragged.constant([row[: 1 + i % 5] for i, row in enumerate(rows)], ragged_rank=1)
            inputs = layers.InputLayer((None,), dtype="int32", ragged=True)
            mean = layers.Lambda(lambda t: tf.reduce_mean(t, 1))
            model = Sequential([inputs, layers.Embedding(7, 3), mean, layers.Dense(2)])
        else:
            samples = scipy.sparse.csr_matrix(X) if kind == "scipy" else tf.sparse.from_dense(X)
            inputs = Input((5,), sparse=True)
            model = Model(inputs, layers.Dense(2)(inputs))
        model.compile("sgd", "mse")
        losses = model.fit(samples, Y, batch_size=8, epochs=2, verbose=0).history["loss"]
        losses += model.fit(samples, Y, batch_size=8, epochs=2, steps_per_epoch=3, verbose=0).history["loss"]
        np.testing.assert_allclose(losses, expected, rtol=2e-6)
        if kind != "sparse":
            with pytest.raises(ValueError, match="held none out"):
                model.fit(samples, Y, validation_split=0.2, verbose=0)
