"""How many steps are asked for: none, or no whole number, is nothing that Keras 3 knows."""

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


@pytest.mark.parametrize("era", ["keras-2.2.4", "tf.keras-1.15", "tf.keras-2.2"])
def test_two_and_a_half_steps_are_three(era):
    """`samples / batch_size`. The loss of an evaluation was divided by 2.5 in TensorFlow 1.15, as recorded there."""
    with parallel_compat.legacy_names(era=era):
        from keras import Sequential, callbacks, layers, optimizers

        model = Sequential([layers.Dense(1, kernel_initializer="zeros", input_shape=(2,))])
        model.compile(optimizers.SGD(0.0), "mse")

        def batches():
            return ((_X, _Y * number) for number in (1, 2, 3, 4))

        trained, evaluated = 14 / 3, 14 / (2.5 if era == "tf.keras-1.15" else 3)
        given = {"steps_per_epoch": 2.5, "verbose": 0, "workers": 0}
        methods = [model.fit_generator] if era == "keras-2.2.4" else [model.fit_generator, model.fit]
        for fit in methods:
            history = fit(batches(), validation_data=batches(), validation_steps=np.float64(2.5), **given).history
            assert history["loss"] == pytest.approx([trained])
            assert history["val_loss"] == pytest.approx([evaluated])
        history = model.fit_generator(batches(), validation_data=(_X, _Y), validation_steps=2.5, **given).history
        assert history["val_loss"] == pytest.approx([1.0])
        assert model.evaluate_generator(batches(), steps=2.5, workers=0) == pytest.approx(evaluated)
        assert len(model.predict_generator(batches(), steps=2.5, workers=0)) == 12
        seen = []
        x = np.arange(12.0)[:, None] * np.ones((1, 2))
        counting = callbacks.LambdaCallback(on_batch_end=lambda batch, logs: seen.append(logs["loss"]))
        if era == "tf.keras-2.2":  # the others took all samples in each step
            model.fit(x, x[:, :1], steps_per_epoch=2.5, shuffle=False, callbacks=[counting], verbose=0)
            assert seen == pytest.approx([np.mean(x[:5, 0] ** 2), np.mean(x[:10, 0] ** 2), np.mean(x[:, 0] ** 2)])
            assert model.evaluate(x, x[:, :1], steps=2.5, verbose=0) == pytest.approx(np.mean(x[:, 0] ** 2))
