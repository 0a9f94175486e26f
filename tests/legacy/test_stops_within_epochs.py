"""A callback stops the training within an epoch: what is trained and validated then, as the real stacks did it."""

from __future__ import annotations

import warnings

import keras
import numpy as np
import pytest

X, Y = np.ones((8, 1)), np.zeros((8, 1))


class Stop(keras.callbacks.Callback):
    def __init__(self, at):
        super().__init__()
        self.at, self.seen = at, []

    def on_batch_begin(self, batch, logs=None):
        self.seen.append((batch, self.model.stop_training))

    def on_batch_end(self, batch, logs=None):
        if batch == self.at:
            self.model.stop_training = True
        self.seen.append((batch, self.model.stop_training))

    def on_epoch_end(self, epoch, logs=None):
        self.seen.append(self.model.stop_training)


def batches():
    while True:
        yield X[:2], Y[:2]


@pytest.mark.one_in(2)
@pytest.mark.parametrize("kind", ["arrays", "generator"])
def test_what_is_left_of_the_epoch(era, kind):
    def trained(at):
        model = keras.Sequential([keras.layers.Dense(1, input_shape=(1,), kernel_initializer="ones")])
        model.compile("sgd", "mse")
        stop = Stop(at)
        keywords = {"epochs": 3, "verbose": 0, "validation_data": (X, Y), "callbacks": [stop]}
        if kind == "arrays":
            history = model.fit(X, Y, batch_size=2, **keywords)
        else:
            history = model.fit_generator(batches(), 4, workers=1, **keywords)
        assert model.stop_training
        return stop.seen, "val_loss" in history.history, history.epoch

    goes_on = era == "tf.keras-2.2"
    first = [(0, False), (0, False), (1, False), (1, True)]
    rest = [(2, True), (2, True), (3, True), (3, True)]
    assert trained(1) == ([*first, *(rest if goes_on else []), True], goes_on, [0])
    # Of the last batch `fit_generator` of Keras 2.2.4 saw it after the validation.
    validates = goes_on or (era == "keras-2.2.4" and kind == "generator")
    assert trained(3)[1:] == (validates, [0])


def test_hooks_of_evaluations_name_their_arguments_as_they_like(era):
    class Hooks(keras.callbacks.Callback):
        seen = 0

        def on_test_batch_begin(self, *given):
            self.seen += 1

        def on_test_batch_end(self, number, what):
            self.seen += 1

    model = keras.Sequential([keras.layers.Dense(1, input_shape=(1,))])
    model.compile("sgd", "mse")
    hooks = Hooks()
    model.fit(X, Y, batch_size=4, verbose=0, validation_data=(X, Y), callbacks=[hooks])
    assert hooks.seen == (0 if era == "keras-2.2.4" else 4)  # which did not know them


@pytest.mark.parametrize("call", ["predict", "evaluate", "predict_generator", "evaluate_generator", "predict_on_batch"])
def test_a_stop_that_a_later_evaluation_forgets(era, call):
    class StopsAfterEpoch(keras.callbacks.Callback):
        def on_epoch_end(self, epoch, logs=None):
            self.model.stop_training = True

    class Evaluates(keras.callbacks.Callback):
        def on_epoch_end(self, epoch, logs=None):
            if call.endswith("_generator"):
                getattr(self.model, call)(batches(), 2)
            else:
                getattr(self.model, call)(*[X, Y][: 2 if call == "evaluate" else 1])

    model = keras.Sequential([keras.layers.Dense(1, input_shape=(1,))])
    model.compile("sgd", "mse")
    history = model.fit(X, Y, epochs=3, verbose=0, callbacks=[StopsAfterEpoch(), Evaluates()])
    goes_on = era == "tf.keras-1.15" and call != "predict_on_batch"
    assert len(history.epoch) == (3 if goes_on else 1)
    assert model.stop_training != goes_on
    assert len(model.fit(X, Y, epochs=3, verbose=0, callbacks=[Evaluates(), StopsAfterEpoch()]).epoch) == 1


def test_a_compile_within_a_fit_on_arrays_says_that_it_counts_at_once(era):
    """Keras 2.2.4 and TensorFlow 1.15 trained on with the function that `fit` had begun with."""

    class Compiles(keras.callbacks.Callback):
        def on_epoch_end(self, epoch, logs=None):
            self.model.compile("sgd", "mae")

    model = keras.Sequential([keras.layers.Dense(1, input_shape=(1,))])
    model.compile("sgd", "mse")
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        model.fit(X, Y, epochs=2, verbose=0, callbacks=[Compiles()])
        model.compile("sgd", "mse")
    said = [each for each in caught if "counts from the next batch on" in str(each.message)]
    assert len(said) == (0 if era == "tf.keras-2.2" else 2)
    assert all(each.filename == __file__ for each in said)


def test_a_compile_within_fit_generator_counts_from_the_next_batch_on(era):
    if era == "tf.keras-2.2":  # whose `fit_generator` was its `fit`
        return

    class Compiles(keras.callbacks.Callback):
        def on_epoch_end(self, epoch, logs=None):
            self.model.compile(keras.optimizers.SGD(0.01), "mae")

    model = keras.Sequential([keras.layers.Dense(1, input_shape=(1,), kernel_initializer="ones")])
    model.compile(keras.optimizers.SGD(0.01), "mse")
    history = model.fit_generator(batches(), 2, epochs=2, verbose=0, callbacks=[Compiles()])
    np.testing.assert_allclose(history.history["loss"], [(1 + 0.96**2) / 2, 0.96 * 0.96 - 0.01], rtol=1e-5)
