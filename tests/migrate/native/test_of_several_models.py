"""What code for several models becomes: an optimizer for each, metrics and generators as Keras 2 took them."""

from __future__ import annotations

from parallel_compat.migrate.engine import Options
from parallel_compat.migrate.native.process import rewrite

SOURCE = """\
import keras
from keras.optimizers import Adam
adam = Adam(lr=2e-4)
d.compile(loss='mse', optimizer=adam, metrics=['hinge'])
gan.compile(loss='mse', optimizer=adam)
out = gan.predict(batches, steps=3, workers=2)
"""
NATIVE = """\
import keras
from keras.optimizers import Adam
from legacy_numerics import for_one_compile, metric_function, predict
adam = Adam(learning_rate=2e-4)
d.compile(loss='mse', optimizer=for_one_compile(adam), metrics=[metric_function('hinge')])
gan.compile(loss='mse', optimizer=for_one_compile(adam))
out = predict(gan, batches, steps=3)
"""


def test_helpers_take_the_place_of_functions_of_this_package():
    assert rewrite(SOURCE, Options(target="native", unsafe=True), None, hints=True).text == NATIVE
