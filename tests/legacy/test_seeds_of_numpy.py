"""Masks of Dropout follow from `np.random.seed` in Keras 2.2.4; the numbers are its own, on TensorFlow 1.15.5."""

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


def _losses(*kinds: dict[str, Any]) -> list[float]:
    """Train, compile again, train on, and train on one batch."""
    from keras.layers import Dense, Dropout
    from keras.models import Sequential

    np.random.seed(5)
    layers = [Dense(6, activation="relu", input_shape=(5,)), *(Dropout(**kind) for kind in kinds), Dense(2)]
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
