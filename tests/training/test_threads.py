"""A parallel model goes on in another thread, and after Keras has forgotten its session."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import keras
import numpy as np
import pytest

from parallel_compat import parallelize
from tests.one_device import classes, mlp


def compiled():
    parallel = parallelize(mlp(), 2)
    parallel.compile(keras.optimizers.SGD(0.1), "categorical_crossentropy")
    return parallel


def elsewhere(call):
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(call).result(timeout=600)


def go_on(parallel):
    """Batches of new sizes: each traces anew."""
    x, y = classes(9)
    assert np.isfinite(parallel.train_on_batch(x[:5], y[:5]))
    assert np.isfinite(parallel.test_on_batch(x[:7], y[:7]))
    assert parallel.predict(x, verbose=0, batch_size=4).shape == (9, 3)
    return parallel.fit(x, y, batch_size=4, verbose=0)


@pytest.mark.parametrize("before", ["nothing", "fit"])
def test_in_another_thread(before):
    parallel = compiled()
    if before == "fit":
        parallel.fit(*classes(32), batch_size=16, verbose=0)
    elsewhere(lambda: go_on(parallel))
    go_on(parallel)


def test_after_clear_session():
    parallel = compiled()
    parallel.fit(*classes(32), batch_size=16, verbose=0)
    keras.utils.clear_session()
    go_on(parallel)


def test_two_models_in_two_threads():
    weights = []
    parallels = []
    for _ in range(2):
        keras.utils.set_random_seed(3)
        parallels.append(compiled())
    with ThreadPoolExecutor(2) as pool:
        fits = [
            pool.submit(parallel.fit, *classes(64), epochs=5, batch_size=8, shuffle=False, verbose=0)
            for parallel in parallels
        ]
        for fit in fits:
            fit.result(timeout=600)
    weights = [parallel.get_weights() for parallel in parallels]
    for one, other in zip(*weights, strict=True):
        np.testing.assert_allclose(one, other, atol=1e-6)
