"""Weights of samples where an output has more axes: `keras` alone stops, or takes those of other samples."""

from __future__ import annotations

import keras
import numpy as np
import pytest

import parallel_compat.backend.keras3  # noqa: F401

STEPS = 6


@pytest.mark.parametrize("samples", [4, STEPS])
@pytest.mark.parametrize("masked", [False, True])
def test_a_samples_weight_is_that_of_all_its_values(samples, masked):
    numbers = np.random.default_rng(0)
    x, y = numbers.random((samples, STEPS, 2)), numbers.random((samples, STEPS, 3))
    x[1:, 4:] = 0.0
    weights = np.linspace(0.5, 1.5, samples)
    layers = [keras.Input((STEPS, 2)), *[keras.layers.Masking()] * masked, keras.layers.Dense(3)]
    model = keras.Sequential(layers)
    model.compile("sgd", "mse", weighted_metrics=["mae"])
    got = model.evaluate(x, y, sample_weight=weights, verbose=0)
    error = model.predict(x, verbose=0) - y
    of_steps = weights[:, None] * (x.any(-1) if masked else np.ones((samples, STEPS)))
    seen = x.any(-1).sum() if masked else samples * STEPS
    loss = (np.square(error).mean(-1) * of_steps).sum() / seen
    np.testing.assert_allclose(got[0], loss, rtol=1e-5)
    np.testing.assert_allclose(got[1], (np.abs(error).mean(-1) * of_steps).sum() / of_steps.sum(), rtol=1e-5)
