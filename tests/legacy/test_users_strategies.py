"""Models under `strategy.scope()` of the user's: TensorFlow 2.2.3's numbers, of one and of two replicas."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import tensorflow as tf

import parallel_compat

_RNG = np.random.RandomState(0)
_X, _Y = _RNG.rand(12, 3).astype("float32"), _RNG.rand(12, 1).astype("float32")


@pytest.fixture(autouse=True)
def _of_the_era(monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.setattr("parallel_compat.resume.Resume.is_made", False)
    with parallel_compat.legacy_names(era="tf.keras-2.2"):
        yield


def _strategy(replicas: int) -> tf.distribute.Strategy:
    return tf.distribute.MirroredStrategy([f"/cpu:{i}" for i in range(replicas)])


def _model(normalizes: bool = False) -> Any:
    from tensorflow.keras import Sequential, layers

    with _strategy(2).scope():
        between = [layers.BatchNormalization()] if normalizes else []
        model = Sequential([layers.Dense(4, "relu", input_shape=(3,)), *between, layers.Dense(1)])
        model.compile("adam", "mse", metrics=["mae"])
    draw = np.random.RandomState(3)
    model.set_weights([draw.rand(*weight.shape) for weight in model.get_weights()])
    return model


@pytest.mark.parametrize("replicas", [1, 2])
def test_arrays_come_in_the_order_of_one_device(replicas: int) -> None:
    """Each epoch has an order of its own; where steps are asked for, epochs go on in it."""
    from tensorflow.keras import Sequential, callbacks, layers

    x, y = np.arange(12, dtype="float32")[:, None], 2.0 ** np.arange(12, dtype="float32")[:, None]
    seen: list[float] = []

    class Losses(callbacks.Callback):  # type: ignore[misc]
        def on_train_batch_begin(self, batch: int, logs: Any = None) -> None:
            self.model.reset_metrics()

        def on_train_batch_end(self, batch: int, logs: Any = None) -> None:
            seen.append(round(float(logs["loss"]), 2))

    tf.random.set_seed(3)
    with _strategy(replicas).scope():
        model = Sequential([layers.Dense(1, kernel_initializer="zeros", input_shape=(1,))])
        model.compile(tf.keras.optimizers.SGD(0.0), "mae")
    for _ in range(2):
        model.fit(x, y, batch_size=4, epochs=2, verbose=0, callbacks=[Losses()])
    assert seen == [97.5, 138.25, 788.0, 135.0, 592.25, 296.5] * 2
    seen.clear()
    model.fit(x, y, batch_size=4, epochs=2, steps_per_epoch=2, verbose=0, callbacks=[Losses()])
    assert seen == [97.5, 138.25, 788.0, 135.0]


@pytest.mark.one_in(2)
@pytest.mark.parametrize(
    ("samples", "batch_size", "losses", "errors"),
    [
        (9, 4, [1.873447, 1.801694], [1.31845, 1.291892]),
        (7, 3, [1.745424, 1.670103], [1.298593, 1.269982]),
        (12, 5, [1.926875, 1.850179], [1.34986, 1.321857]),
    ],
)
def test_replicas_may_have_parts_that_differ_in_size(
    samples: int, batch_size: int, losses: list[float], errors: list[float]
) -> None:
    model = _model()
    history = model.fit(_X[:samples], _Y[:samples], batch_size=batch_size, epochs=2, shuffle=False, verbose=0).history
    np.testing.assert_allclose(history["loss"], losses, rtol=2e-6)
    np.testing.assert_allclose(history["mae"], errors, rtol=2e-6)


def test_moving_statistics_are_the_mean_of_those_of_the_replicas() -> None:
    model = _model(normalizes=True)
    model.fit(_X, _Y, batch_size=4, epochs=2, shuffle=False, verbose=0)
    sums = [np.abs(weight).sum() for weight in model.get_weights()[4:6]]
    np.testing.assert_allclose(sums, [2.03983, 2.80775], rtol=1e-5)


def test_a_single_batch_is_divided() -> None:
    model = _model(normalizes=True)
    values = [model.train_on_batch(_X[:count], _Y[:count]) for count in (4, 3)]
    np.testing.assert_allclose(values, [[1.1872889, 0.9629146], [1.1222473, 0.947516]], rtol=2e-6)
    assert model.predict_on_batch(_X[:3]).shape == (3, 1)
