"""After an exception inside `fit` the process can `fit` again."""

from __future__ import annotations

import keras
import numpy as np
import pytest

from parallel_compat import parallelize
from tests.one_device import classes, difference, mlp


def failing(batches):
    x, y = classes(32)
    for _ in range(batches):
        yield x, y
    raise RuntimeError("no more data")


@pytest.mark.parametrize("model", ["the same", "another", "on other devices"])
def test_failing_generator(model):
    parallel = parallelize(mlp(), 4)
    parallel.compile("sgd", "categorical_crossentropy")
    with pytest.raises(Exception, match="no more data"):
        parallel.fit(failing(2), steps_per_epoch=5, verbose=0)
    if model != "the same":
        parallel = parallelize(mlp(), 4 if model == "another" else [1, 3])
        parallel.compile("sgd", "categorical_crossentropy")
    before = parallel.get_weights()
    history = parallel.fit(*classes(64), epochs=2, verbose=0).history
    assert np.isfinite(history["loss"]).all()
    assert difference(before, parallel.get_weights()) > 1e-4


def test_failing_step():
    """An error on one replica in the middle of a step."""
    inputs = keras.Input((1,), dtype="int32")
    hidden = keras.layers.Flatten()(keras.layers.Embedding(10, 3)(inputs))
    parallel = parallelize(keras.Model(inputs, keras.layers.Dense(1)(hidden)), 4)
    parallel.compile("sgd", "mse")
    good, bad = np.arange(8)[:, None], np.array([[0]] * 7 + [[99]])
    parallel.train_on_batch(good, np.ones((8, 1)))
    with pytest.raises(Exception, match=r"99|out of"):
        parallel.train_on_batch(bad, np.ones((8, 1)))
    assert np.isfinite(parallel.train_on_batch(good, np.ones((8, 1))))


def test_failing_callback():
    class Fails(keras.callbacks.Callback):
        def on_train_batch_end(self, batch, logs=None):
            raise KeyboardInterrupt

    parallel = parallelize(mlp(), 2)
    parallel.compile("sgd", "categorical_crossentropy")
    with pytest.raises(KeyboardInterrupt):
        parallel.fit(*classes(64), verbose=0, callbacks=[Fails()])
    parallel.fit(*classes(64), verbose=0)


def test_wrong_targets_are_an_error():
    parallel = parallelize(mlp(), 2)
    parallel.compile("sgd", "categorical_crossentropy")
    with pytest.raises(ValueError, match="shape"):
        parallel.train_on_batch(classes(8)[0], np.ones((8, 5)))


def test_not_compiled():
    with pytest.raises(ValueError, match="compile"):
        parallelize(mlp(), 2).fit(*classes(8))
