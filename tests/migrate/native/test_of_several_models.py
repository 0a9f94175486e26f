"""What code for several models becomes: an optimizer for each, metrics and generators as Keras 2 took them."""

from __future__ import annotations

import keras
import numpy as np
import pytest

from parallel_compat.migrate.engine import Options
from parallel_compat.migrate.native.legacy_numerics import settle_trainable
from parallel_compat.migrate.native.process import rewrite

SOURCE = """\
import keras
from keras.optimizers import Adam
adam = Adam(lr=2e-4)
d.compile(loss='mse', optimizer=adam, metrics=['hinge'])
d.trainable = False
gan.compile(loss='mse', optimizer=adam)
out = gan.predict(batches, steps=3, workers=2)
"""
NATIVE = """\
import keras
from keras.optimizers import Adam
from legacy_numerics import for_one_compile, metric_function, predict, settle_trainable
adam = Adam(learning_rate=2e-4)
d.compile(loss='mse', optimizer=for_one_compile(adam), metrics=[metric_function('hinge')])
settle_trainable(d)
d.trainable = False
gan.compile(loss='mse', optimizer=for_one_compile(adam))
out = predict(gan, batches, steps=3)
"""


def test_helpers_take_the_place_of_functions_of_this_package():
    assert rewrite(SOURCE, Options(target="native", unsafe=True), None, hints=True).text == NATIVE


def test_what_trains_is_settled():
    """The numbers are Keras 2.2.4's."""
    x, y = np.ones((4, 1)), np.zeros((4, 1))
    one = keras.Input((1,)), keras.Input((1,)), keras.Input((1,))
    d, g = (keras.Model(i, keras.layers.Dense(1, kernel_initializer="ones")(i)) for i in one[:2])
    d.compile(keras.optimizers.SGD(0.1), "mse")
    settle_trainable(d)
    d.trainable = False
    gan = keras.Model(one[2], d(g(one[2])))
    gan.compile(keras.optimizers.SGD(0.1), "mse")
    losses = [each.train_on_batch(x, y) for each in (d, gan, d, gan)]
    np.testing.assert_allclose(losses, [1.0, 0.36, 0.36, 0.0526427], rtol=1e-5)
    d.compile(keras.optimizers.SGD(0.1), "mse")
    with pytest.warns(UserWarning, match="trainable weights"):
        d.train_on_batch(x, y)
