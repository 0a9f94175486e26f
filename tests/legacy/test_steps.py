"""How many steps are asked for: none is no number that Keras 3 knows."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

import parallel_compat

_X, _Y = np.ones((4, 2)), np.ones((4, 1))


@pytest.mark.parametrize("era", ["keras-2.2.4", "tf.keras-1.15", "tf.keras-2.2"])
def test_no_steps_are_refused(era):
    with parallel_compat.legacy_names(era=era):
        from keras import Sequential, layers

        model = Sequential([layers.Dense(1, input_shape=(2,))])
        model.compile("sgd", "mse")

        def batches():
            return itertools.repeat((_X, _Y))

        for call in (
            lambda: model.fit_generator(batches(), steps_per_epoch=len(_X) // 8),
            lambda: model.fit(_X, _Y, steps_per_epoch=0),
            lambda: model.fit_generator(batches(), 1, validation_data=batches(), validation_steps=0),
            lambda: model.evaluate_generator(batches(), steps=0),
            lambda: model.predict_generator(batches(), steps=0),
            lambda: model.evaluate(_X, _Y, steps=0),
            lambda: model.predict(_X, steps=0),
        ):
            with pytest.raises(ValueError, match="Expected at least one step"):
                call()
        model.fit_generator(batches(), 1, validation_data=(_X, _Y), validation_steps=0, verbose=0)
