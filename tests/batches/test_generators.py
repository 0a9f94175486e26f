"""Generators and Sequences: each batch once, in order, no more than needed."""

from __future__ import annotations

import itertools
import threading
import time
import traceback
import warnings

import keras
import numpy as np
import pytest
import tensorflow as tf

from parallel_compat import evaluate_generator, fit_generator, parallelize, predict_generator
from tests.one_device import classes, difference, mlp


class Record(keras.layers.Layer):
    """Keeps which batches a model saw, by their first number; a model of it must run eagerly."""

    def __init__(self):
        super().__init__()
        self.seen = []
        self.scale = self.add_weight(shape=(), initializer="ones")

    def call(self, inputs, training=False):
        if training and tf.executing_eagerly():
            self.seen.append(int(inputs[0, 0]))
        return inputs * self.scale


def recorder(replicas=2):
    """A model that records batches, on replicas or (1) on one device. A batch of one row is seen by replica 1 alone."""
    inputs = keras.Input((1,))
    record = Record()
    template = keras.Model(inputs, record(inputs))
    model = template if replicas == 1 else parallelize(template, replicas)
    model.compile(keras.optimizers.SGD(0.0), "mse", run_eagerly=True)
    record.seen.clear()
    return model, record


class Numbers:
    """A generator of batches 0, 1, 2, ... of one row that counts how many were drawn."""

    def __init__(self, end=None):
        self.drawn = 0
        self.end = end

    def __iter__(self):
        return self

    def __next__(self):
        if self.end is not None and self.drawn >= self.end:
            raise StopIteration
        self.drawn += 1
        return np.full((2, 1), self.drawn - 1.0), np.zeros((2, 1))


def threads():
    return [t.name for t in threading.enumerate() if t.name.startswith("parallel_compat")]


def run_fit(model, *args, **kwargs):
    return fit_generator(model, *args, verbose=0, **kwargs)


# A plain Keras model has no such method, and its `fit` is Keras's own.
@pytest.mark.parametrize(("replicas", "way"), [(1, "fit_generator"), (2, "fit_generator"), (2, "method"), (2, "fit")])
def test_each_batch_once_and_in_order_across_epochs(replicas, way):
    model, record = recorder(replicas)
    numbers = Numbers()
    arguments = {"steps_per_epoch": 3, "epochs": 2, "verbose": 0}
    call = {"fit_generator": fit_generator, "method": lambda m, *a, **k: m.fit_generator(*a, **k)}.get(way)
    if call is None:
        model.fit(numbers, **arguments)
    else:
        call(model, numbers, **arguments)
    expected = list(range(6))
    assert record.seen == [n for n in expected for _ in range(replicas)]
    assert numbers.drawn == 6  # with the number of steps known, not one more
    assert threads() == []


def test_the_generator_goes_on_in_the_next_fit():
    model, record = recorder(1)
    numbers = Numbers()
    run_fit(model, numbers, steps_per_epoch=2)
    run_fit(model, numbers, steps_per_epoch=3)
    assert record.seen == [0, 1, 2, 3, 4]


@pytest.mark.parametrize("workers", [0, 1, 4])
def test_finite_generator(workers):
    model, record = recorder(1)
    history = run_fit(model, Numbers(5), 5, workers=workers)
    assert record.seen == [0, 1, 2, 3, 4]
    assert len(history.history["loss"]) == 1


@pytest.mark.parametrize("size", [1, 3])
def test_no_more_than_the_queue_is_drawn(size):
    """The number of batches is not known here, so batches are drawn ahead, as many as the queue holds."""
    model, _ = recorder(2)
    numbers = Numbers()
    ahead = []

    class Stop(keras.callbacks.Callback):
        def on_train_batch_end(self, batch, logs=None):
            time.sleep(0.05)
            ahead.append(numbers.drawn - (batch + 1))
            self.model.stop_training = batch == 4

    model.fit(numbers, max_queue_size=size, callbacks=[Stop()], verbose=0)
    assert max(ahead) == size
    assert numbers.drawn <= 5 + size


def test_generator_that_ends_early_says_so():
    model, record = recorder(1)
    with pytest.warns(UserWarning, match=r"training generator ended after 5 batches, before 3 steps"):
        history = run_fit(model, Numbers(5), steps_per_epoch=3, epochs=4)
    assert record.seen == [0, 1, 2, 3, 4]
    assert len(history.history["loss"]) == 2


def test_epoch_without_batches_is_an_error():
    model, _ = recorder(1)
    with pytest.raises(ValueError, match="ended after 3 batches, and an epoch found none"):
        run_fit(model, Numbers(3), steps_per_epoch=3, epochs=2)


@pytest.mark.parametrize("replicas", [1, 2])
def test_a_bare_array_is_named(replicas):
    """Keras 3 would fail in the loss, by the words for a missing target."""
    model, _ = recorder(replicas)
    with pytest.raises(
        ValueError, match=r"training generator to be a tuple .* batch 1 is a bare array of shape \(2, 1\)"
    ):
        fit_generator(model, iter([np.ones((2, 1))] * 9), steps_per_epoch=2, verbose=0)


def test_error_in_the_generator_comes_out_as_itself():
    class OwnError(Exception):
        pass

    def failing():
        yield from itertools.islice(Numbers(), 2)
        raise OwnError("the disk is gone")

    model, record = recorder(2)
    with pytest.raises(OwnError, match="the disk is gone") as caught:
        run_fit(model, failing(), steps_per_epoch=5)
    assert "failing" in [frame.name for frame in traceback.extract_tb(caught.value.__traceback__)]
    assert sorted(set(record.seen)) == [0, 1]
    assert threads() == []


def test_threads_end_after_an_interrupt():
    model, _ = recorder(1)

    class Interrupt(keras.callbacks.Callback):
        def on_train_batch_end(self, batch, logs=None):
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run_fit(model, Numbers(), steps_per_epoch=5, callbacks=[Interrupt()])
    assert threads() == []


def two_inputs_two_outputs():
    a, b = keras.Input((4,), name="a"), keras.Input((4,), name="b")
    hidden = keras.layers.Concatenate()([a, b])
    outputs = [keras.layers.Dense(3, name="u")(hidden), keras.layers.Dense(1, name="v")(hidden)]
    return keras.Model([a, b], outputs)


X, Y = classes(48)
A, B, V = X[:, :4], X[:, 4:], Y[:, :1]
W = np.linspace(0, 2, 48).astype("float32")
STRUCTURES = {
    "tuple of lists": lambda r: ([A[r], B[r]], [Y[r], V[r]]),
    "list of lists": lambda r: [[A[r], B[r]], [Y[r], V[r]]],
    "tuple of tuples": lambda r: ((A[r], B[r]), (Y[r], V[r])),
    "dicts": lambda r: ({"a": A[r], "b": B[r]}, {"u": Y[r], "v": V[r]}),
    "list of dicts": lambda r: [{"b": B[r], "a": A[r]}, {"u": Y[r], "v": V[r]}],
    "tensors": lambda r: ([tf.constant(A[r]), tf.constant(B[r])], [tf.constant(Y[r]), tf.constant(V[r])]),
    "float64": lambda r: ([A[r].astype("float64"), B[r]], [Y[r].astype("float64"), V[r]]),
    "lists of numbers": lambda r: ([A[r].tolist(), B[r]], [Y[r], V[r].tolist()]),
    "sample weights": lambda r: ([A[r], B[r]], [Y[r], V[r]], [W[r], W[r]]),
    "list with sample weights": lambda r: [[A[r], B[r]], [Y[r], V[r]], [W[r], W[r]]],
}


@pytest.mark.one_in(2)
@pytest.mark.parametrize("structure", STRUCTURES)
def test_structures(structure):
    """Trained on two replicas from a generator, to the weights of one device trained on arrays."""

    def batches():
        while True:
            for start, stop in ((0, 16), (16, 33), (33, 35), (35, 48)):  # batches of changing size
                yield STRUCTURES[structure](slice(start, stop))

    weights = []
    for replicas in (1, 2):
        keras.utils.set_random_seed(0)
        template = two_inputs_two_outputs()
        model = template if replicas == 1 else parallelize(template, replicas)
        model.compile(keras.optimizers.SGD(0.1), "mse")
        if replicas == 1:
            for start, stop in ((0, 16), (16, 33), (33, 35), (35, 48)) * 2:
                r = slice(start, stop)
                weighted = [W[r], W[r]] if "weights" in structure else None
                model.train_on_batch([A[r], B[r]], [Y[r], V[r]], sample_weight=weighted)
        else:
            model.fit_generator(batches(), steps_per_epoch=4, epochs=2, verbose=0)
        weights.append(template.get_weights())
    assert difference(*weights) < 1e-5


def test_one_input_and_one_output_in_lists():
    def batches():
        while True:
            yield [X], [Y]

    model = parallelize(mlp(), 2)
    model.compile("sgd", "categorical_crossentropy", metrics=["accuracy"])
    history = model.fit_generator(batches(), 2, 2, 0, validation_data=batches(), validation_steps=1)
    assert set(history.history) == {"loss", "accuracy", "val_loss", "val_accuracy"}


def test_a_sequential_on_one_device():
    """It has no `input` before it is called, unlike a functional model."""
    model = keras.Sequential([keras.Input((8,)), keras.layers.Dense(3, activation="softmax")])
    model.compile("sgd", "categorical_crossentropy")
    history = fit_generator(model, ([X, Y] for _ in itertools.repeat(0)), 2, 2, verbose=0)
    assert len(history.history["loss"]) == 2
    assert np.isfinite(evaluate_generator(model, iter([[X, Y]]), 1))
    np.testing.assert_allclose(predict_generator(model, iter([[X]]), 1), model.predict_on_batch(X), rtol=1e-5)


def test_targets_may_be_none():
    inputs = keras.Input((8,))
    template = keras.Model(inputs, keras.layers.Dense(2, activity_regularizer="l2")(inputs))
    model = parallelize(template, 2)
    model.compile("sgd")
    before = model.get_weights()
    model.fit_generator(((X, None) for _ in range(3)), 3, verbose=0)
    assert difference(before, model.get_weights()) > 1e-5


@pytest.mark.parametrize(
    ("batch", "text"),
    [
        ((X, Y, W, W), "a tuple of 4 elements"),
        (([X, X], Y), r"Expected 1 inputs, \['x'\]\. Received: batch 1 has 2"),
        ([X], "a list of 1 elements"),
    ],
)
def test_wrong_structure_says_expected_and_received(batch, text):
    model = parallelize(mlp(), 2)
    model.compile("sgd", "categorical_crossentropy")
    with pytest.raises(ValueError, match=text):
        model.fit_generator(itertools.repeat(batch), 2, verbose=0)


@pytest.mark.parametrize("targets", ["one-hot", "integers"])
@pytest.mark.parametrize("weighted", [False, True])
def test_class_weight(targets, weighted):
    y, loss = (
        (Y, "categorical_crossentropy") if targets == "one-hot" else (Y.argmax(1), "sparse_categorical_crossentropy")
    )
    class_weight = {0: 0.5, 2: 3.0}
    by_row = np.asarray([class_weight.get(c, 1.0) for c in Y.argmax(1)], "float32") * (W if weighted else 1)
    weights = []
    for generator in (False, True):
        keras.utils.set_random_seed(0)
        template = mlp()
        model = parallelize(template, 2)
        model.compile(keras.optimizers.SGD(0.5), loss)
        if generator:
            batch = (X, y, W) if weighted else (X, y)
            model.fit_generator(itertools.repeat(batch), 2, class_weight=class_weight, verbose=0)
        else:
            for _ in range(2):
                model.train_on_batch(X, y, sample_weight=by_row)
        weights.append(template.get_weights())
    assert difference(*weights) < 1e-5


def test_a_list_of_class_weights_for_one_output_is_left_out_and_said():
    """Keras 2 took a dict, or a list with one for each output, and made nothing of anything else."""
    kernels = []
    for class_weight in (None, [{0: 5.0, 1: 1.0}] * 3):
        keras.utils.set_random_seed(0)
        model = mlp()
        model.compile(keras.optimizers.SGD(0.5), "categorical_crossentropy")
        with warnings.catch_warnings(record=True) as said:
            warnings.simplefilter("always")
            fit_generator(model, itertools.repeat((X, Y)), 1, class_weight=class_weight, verbose=0)
        assert any("a list of 3 for one output" in str(each.message) for each in said) == (class_weight is not None)
        kernels.append(model.get_weights())
    assert difference(*kernels) == 0


def test_an_object_that_is_no_model_is_asked_for_its_own_method():
    class Net:
        def fit_generator(self, generator, epochs=1):
            return generator, epochs

    assert fit_generator(Net(), "batches", epochs=3) == ("batches", 3)


def test_validation_generator_goes_on():
    model, _ = recorder(1)
    validation = Numbers()
    history = run_fit(model, Numbers(), steps_per_epoch=1, epochs=3, validation_data=validation, validation_steps=2)
    assert validation.drawn == 6
    # Batches 0 and 1, then 2 and 3, then 4 and 5: the mean of the squares of what each validation saw.
    np.testing.assert_allclose(history.history["val_loss"], [0.5, 6.5, 20.5])


def test_validation_arrays_and_sequence():
    model, _ = recorder(2)
    x, y, w = np.ones((4, 1)), np.zeros((4, 1)), np.ones(4)
    for data in ((x, y), (x, y, w), Batches()):
        history = model.fit_generator(itertools.repeat((x, y)), 1, verbose=0, validation_data=data)
        assert np.isfinite(history.history["val_loss"]).all()


def test_keras_1_names():
    model, record = recorder(1)
    numbers, validation = Numbers(), Numbers()
    fit_generator(
        model, numbers, samples_per_epoch=5, nb_epoch=2, validation_data=validation, nb_val_samples=4,
        max_q_size=2, nb_worker=1, pickle_safe=False, verbose=0,
    )  # fmt: skip
    assert record.seen == [0, 1, 2, 3, 4, 5]  # 5 rows in batches of 2 are 3 batches
    assert validation.drawn == 4
    with pytest.raises(TypeError, match="nb_epochs"):
        fit_generator(model, numbers, nb_epochs=2)


def test_evaluate_and_predict():
    parallel = parallelize(mlp(), 3)
    parallel.compile("sgd", "categorical_crossentropy", metrics=["accuracy"])
    rows = [slice(0, 20), slice(20, 41), slice(41, 48)]
    expected = parallel.evaluate(X, Y, verbose=0)
    seen = []
    asked = keras.callbacks.LambdaCallback()
    asked.on_test_batch_end = asked.on_predict_batch_end = lambda batch, logs=None: seen.append(batch)
    evaluated = parallel.evaluate_generator(((X[r], Y[r]) for r in rows), 3, callbacks=[asked])
    assert difference(evaluated, expected) < 1e-5
    assert (
        difference(
            evaluate_generator(parallel.template, Batches(), 1) if parallel.template.compiled else [0, 0], [0, 0]
        )
        == 0
    )
    predictions = parallel.template.predict(X, verbose=0)
    assert difference(parallel.predict_generator(([X[r]] for r in rows), 3, callbacks=[asked]), predictions) < 1e-6
    assert seen == [0, 1, 2] * 2
    assert difference(predict_generator(parallel.template, (X[r] for r in rows), 3), predictions) < 1e-6
    assert difference(parallel.predict(((X[r], Y[r]) for r in rows), steps=3, verbose=0), predictions) < 1e-6
    endless = Numbers()
    model, _ = recorder(1)
    assert model is not None
    assert len(predict_generator(model, endless, steps=4)) == 8
    assert endless.drawn == 4


class Batches(keras.utils.PyDataset):
    """Five batches of ten rows; counts its epochs."""

    def __init__(self, initialize=True, delay=0.0, **kwargs):
        if initialize:
            super().__init__(**kwargs)
        self.delay = delay
        self.asked, self.epochs_ended = [], 0

    def __len__(self):
        return 5

    def __getitem__(self, index):
        time.sleep(self.delay * (5 - index))
        self.asked.append(index)
        return np.full((2, 1), float(index)), np.zeros((2, 1))

    def on_epoch_end(self):
        self.epochs_ended += 1


@pytest.mark.parametrize("initialize", [True, False])
@pytest.mark.parametrize("workers", [0, 1, 3])
def test_sequence_in_order(workers, initialize):
    model, record = recorder(1)
    batches = Batches(initialize, delay=0.01)
    run_fit(model, batches, epochs=2, workers=workers, shuffle=False)
    assert record.seen == [0, 1, 2, 3, 4] * 2
    assert batches.epochs_ended == 2
    assert len(batches.asked) == 10
    assert threads() == []


def test_sequence_is_shuffled():
    model, record = recorder(1)
    run_fit(model, Batches(), epochs=3, shuffle=True)
    epochs = [record.seen[i : i + 5] for i in (0, 5, 10)]
    assert all(sorted(epoch) == [0, 1, 2, 3, 4] for epoch in epochs)
    assert len({tuple(epoch) for epoch in epochs}) > 1


def test_workers_work_in_parallel():
    model, record = recorder(1)
    busy, most = 0, 0
    lock = threading.Lock()

    class Slow(Batches):
        def __getitem__(self, index):
            nonlocal busy, most
            with lock:
                busy += 1
                most = max(most, busy)
            time.sleep(0.1)
            with lock:
                busy -= 1
            return super().__getitem__(index)

    run_fit(model, Slow(), workers=4, shuffle=False)
    assert record.seen == [0, 1, 2, 3, 4]
    assert most == 4


def test_sequence_over_more_steps_than_it_has():
    model, record = recorder(1)
    batches = Batches()
    run_fit(model, batches, steps_per_epoch=3, epochs=3, shuffle=False)
    assert record.seen == [0, 1, 2, 3, 4, 0, 1, 2, 3]
    assert batches.epochs_ended == 1


def test_processes():
    from tests import generators_in_processes

    model, record = recorder(1)
    run_fit(model, generators_in_processes.Squares(), epochs=2, workers=2, use_multiprocessing=True, shuffle=False)
    # on_epoch_end changes the offset, which the workers of the second epoch must see.
    assert record.seen == [0, 1, 4, 9, 100, 101, 104, 109]


def test_parallel_fit_of_a_sequence():
    model, record = recorder(2)
    model.fit(Batches(workers=2), epochs=2, verbose=0, shuffle=False)
    assert record.seen == [n for n in [0, 1, 2, 3, 4] * 2 for _ in range(2)]
