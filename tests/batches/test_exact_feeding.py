"""What the model is given is what was drawn: every batch, unchanged, in epochs of the right length; or an error."""

from __future__ import annotations

import random

import keras
import numpy as np
import pytest
import scipy.sparse
import tensorflow as tf

from parallel_compat import evaluate_generator, fit_generator, multi_gpu_model, parallelize, predict_generator
from parallel_compat.batches.batch import sample_weight_of_classes

X, Y = np.ones((4, 8), "float32"), np.ones((4, 1), "float32")
REPLICAS = pytest.mark.parametrize("replicas", [1, 2])


def model(outputs=1, replicas=2, **compile_arguments):
    x = keras.Input((8,), name="x")
    y = [keras.layers.Dense(1, kernel_initializer="ones", name=f"y{i}")(x) for i in range(outputs)]
    template = keras.Model(x, y if outputs > 1 else y[0])
    result = parallelize(template, replicas) if replicas > 1 else template
    result.compile("sgd", "mse", **compile_arguments)
    return result


def forever(*batch):
    while True:
        yield batch


def steps_taken(model):
    return int(keras.ops.convert_to_numpy(model.optimizer.iterations))


@REPLICAS
@pytest.mark.parametrize("workers", [0, 1])
def test_an_epoch_is_no_longer_than_its_steps_with_several_per_execution(replicas, workers):
    drawn = []
    batches = (drawn.append(i) or (X, Y) for i in range(100))
    trained = model(replicas=replicas, steps_per_execution=4)
    fit_generator(trained, batches, 10, 2, 0, workers=workers)
    assert (len(drawn), steps_taken(trained)) == (20, 20)


@pytest.mark.parametrize("count", [5, 6, 8])
def test_a_finite_generator_is_used_up_with_several_steps_per_execution(count):
    trained = model(steps_per_execution=4)
    trained.fit(((X, Y) for _ in range(count)), verbose=0)
    assert steps_taken(trained) == count


@REPLICAS
@pytest.mark.parametrize("workers", [0, 1])
def test_a_generator_may_write_into_the_same_array(replicas, workers):
    def batches():
        x = np.zeros((4, 8), "float32")
        for i in range(6):
            x[:] = i
            yield x, Y

    seen = predict_generator(model(replicas=replicas), batches(), 6, workers=workers)
    assert seen[::4, 0].tolist() == [0, 8, 16, 24, 32, 40]


class Views(keras.utils.Sequence):
    """Gives views of its array, and writes into the array when a pass is over."""

    def __init__(self):
        self.x = np.repeat(np.arange(4.0), 4)[:, None] * np.ones((16, 8), "float32")

    def __len__(self):
        return 4

    def __getitem__(self, index):
        return self.x[4 * index : 4 * index + 4], Y

    def on_epoch_end(self):
        self.x[:] = 99


@pytest.mark.parametrize("workers", [0, 1, 4])
def test_a_sequence_may_change_its_arrays_between_epochs(workers):
    assert predict_generator(model(), Views(), workers=workers)[::4, 0].tolist() == [0, 8, 16, 24]


class Counted(keras.utils.PyDataset):
    """A `PyDataset` that has `num_batches` and no `__len__`."""

    def __init__(self, num_batches, **kwargs):
        super().__init__(**kwargs)
        self._count = num_batches
        self.log = []

    @property
    def num_batches(self):
        return self._count

    def __getitem__(self, index):
        self.log.append(index)
        return X, Y

    def on_epoch_begin(self):
        self.log.append("begin")

    def on_epoch_end(self):
        self.log.append("end")


@REPLICAS
def test_a_dataset_without_a_length(replicas):
    dataset = Counted(3)
    fit_generator(model(replicas=replicas), dataset, epochs=2, verbose=0, shuffle=False)
    assert dataset.log == ["begin", 0, 1, 2, "end"] * 2


def test_an_endless_dataset_goes_on():
    dataset = Counted(None)
    fit_generator(model(), dataset, 3, 2, 0, workers=0)
    assert dataset.log == ["begin", 0, 1, 2, 3, 4, 5]


def test_the_order_is_that_of_keras_2():
    dataset = Counted(5)
    random.seed(0)
    fit_generator(model(), dataset, epochs=3, verbose=0)
    random.seed(0)
    order, expected = list(range(5)), []
    for _ in range(3):  # OrderedEnqueuer._run of Keras 2.2.4 shuffles the order of the pass before
        random.shuffle(order)
        expected += order
    assert [i for i in dataset.log if isinstance(i, int)] == expected


@pytest.mark.parametrize("what", ["fit", "evaluate"])
def test_an_error_that_keras_takes_for_the_end_comes_out(what):
    def batches():
        yield X, Y
        raise tf.errors.OutOfRangeError(None, None, "mine")

    run = fit_generator if what == "fit" else evaluate_generator
    with pytest.raises(tf.errors.OutOfRangeError, match="mine"):
        run(model(), batches(), 3, verbose=0)


@REPLICAS
@pytest.mark.parametrize(
    ("batch", "received"),
    [
        ((np.ones((4, 7)), Y), r"batch 1 has inputs of shapes \[\(4, 7\)\]"),
        ((X, np.ones((3, 1))), r"inputs of shapes \[\(4, 8\)\], targets of shapes \[\(3, 1\)\]"),
        ((X, Y, np.ones(5)), r"sample weights of shapes \[\(5,\)\]"),
        ((X, [Y, Y]), "batch 1 has 2 targets"),
        ((X[:0], Y[:0]), r"inputs of shapes \[\(0, 8\)\]"),
        ((3.0, Y), r"inputs of shapes \[\(\)\]"),
        (({"z": X}, Y), r"the inputs \['z'\], without \['x'\]"),
        ((X, {"z": Y}), r"values for \['z'\]"),
        (None, "batch 1 is None"),
        ("abc", "batch 1 is 'abc'"),
    ],
)
def test_what_does_not_fit_is_refused(replicas, batch, received):
    with pytest.raises(ValueError, match=f"Expected.*Received: .*{received}"):
        fit_generator(model(replicas=replicas), iter([batch]), 1, verbose=0)


def test_the_batch_that_does_not_fit_is_named():
    with pytest.raises(ValueError, match="batch 3 has inputs"):
        fit_generator(model(), iter([(X, Y), (X, Y), (X[:, :5], Y)]), 3, verbose=0)


@REPLICAS
def test_inputs_and_targets_by_name(replicas):
    by_name = fit_generator(model(replicas=replicas), forever({"x": X}, {"y0": Y}), 2, verbose=0)
    plain = fit_generator(model(replicas=replicas), forever(X, Y), 2, verbose=0)
    assert by_name.history == plain.history


@REPLICAS
@pytest.mark.parametrize("form", [dict, list])
def test_class_weights_of_several_outputs(replicas, form):
    classes = np.array([0, 1, 1, 0])
    weights = {"y0": {0: 1.0, 1: 2.0}, "y1": {0: 3.0}}
    rows = [np.array([1, 2, 2, 1.0]), np.array([3, 1, 1, 3.0])]
    x = np.random.default_rng(0).random((4, 8))
    by_class = fit_generator(
        model(2, replicas),
        forever(x, [classes, classes]),
        2,
        verbose=0,
        class_weight=weights if form is dict else list(weights.values()),
    )
    by_row = fit_generator(model(2, replicas), forever(x, [classes, classes], rows), 2, verbose=0)
    assert by_class.history == by_row.history


@REPLICAS
def test_validation_arrays_are_taken_whole_in_batches_of_training(replicas):
    """As in Keras 2: `validation_steps` is for generators, and a metric of the whole batch depends on its size."""

    def rows(y_true, y_pred):
        return tf.cast(tf.shape(y_true)[0], "float32")

    x = np.arange(64.0)[:, None] * np.ones((64, 8))
    arrays = (x, np.zeros((64, 1)))
    trained = model(replicas=replicas, metrics=[rows])
    history = fit_generator(
        trained, forever(np.ones((16, 8)), np.ones((16, 1))), 2, 1, 0, None, arrays, validation_steps=1
    ).history
    assert history["val_rows"] == [16]
    np.testing.assert_allclose(history["val_loss"][0], trained.evaluate(*arrays, verbose=0)[0], rtol=1e-6)


def test_predicting_from_a_training_generator_that_yields_lists():
    assert predict_generator(model(), iter([[X, Y], [X, Y]]), 2).shape == (8, 1)


def test_a_model_made_under_a_strategy_is_refused():
    with tf.distribute.MirroredStrategy(["CPU:0", "CPU:1"]).scope():
        made = model(replicas=1)
    with pytest.raises(ValueError, match=r"made under `strategy\.scope\(\)`.*parallelize"):
        fit_generator(made, forever(X, Y), 2, verbose=0)


def test_a_sequence_that_cannot_be_sent_to_processes_is_refused():
    dataset = Counted(3)
    dataset.function = lambda: None
    with pytest.raises(ValueError, match=r"can be pickled.*Received: Counted"):
        fit_generator(model(), dataset, epochs=1, verbose=0, workers=2, use_multiprocessing=True)


@pytest.mark.parametrize("way", ["fit", "evaluate", "predict"])
def test_the_queue_arguments_of_old_fit(way):
    """`fit` had them in TensorFlow 2 up to 2.15."""
    parallel = multi_gpu_model(model(replicas=1), 2)
    parallel.compile("sgd", "mse")
    steps = {"steps_per_epoch" if way == "fit" else "steps": 2}
    getattr(parallel, way)(forever(X, Y), verbose=0, workers=0, use_multiprocessing=False, max_queue_size=3, **steps)


@pytest.mark.parametrize("kind", ["generator", "Sequence"])
@pytest.mark.parametrize("more", [{"y": Y}, {"sample_weight": np.zeros(4)}, {"validation_split": 0.5}])
def test_what_a_generator_has_in_its_batches_is_not_given_as_well(kind, more):
    parallel = model()
    data = forever(X, Y) if kind == "generator" else Views()
    with pytest.raises(ValueError, match=rf"Received: \['{next(iter(more))}'\] as well as it"):
        parallel.fit(data, steps_per_epoch=1, verbose=0, **more)
    if "validation_split" not in more:
        with pytest.raises(ValueError, match="as well as it"):
            parallel.evaluate(data, steps=1, verbose=0, **more)


@pytest.mark.parametrize("replicas", [1, 2])
def test_a_validation_generator_needs_its_steps(replicas):
    """As in Keras 2: an endless one would never come to an end."""
    drawn = []

    def batches():
        while True:
            drawn.append(1)
            yield X, Y

    with pytest.raises(ValueError, match="Expected `validation_steps`"):
        fit_generator(model(1, replicas), batches(), 1, validation_data=batches(), verbose=0)
    assert drawn == []


@pytest.mark.parametrize("steps", [np.ceil(2.5), 2.1, np.float32(3)])
def test_steps_may_be_a_fraction(steps):
    """`len(x) / batch_size`: Keras 2 drew batches while there were fewer."""
    parallel = model()
    fit_generator(parallel, forever(X, Y), steps, verbose=0)
    assert steps_taken(parallel) == 3
    assert len(predict_generator(parallel, forever(X, Y), steps)) == 3 * len(X)


def test_class_weights_need_classes():
    with pytest.raises(ValueError, match=r"of shape \(4, 3, 2\)"):
        sample_weight_of_classes(np.ones((4, 3, 2)), None, {0: 1.0})


def test_classes_are_rounded():
    weights = sample_weight_of_classes(np.array([0.999999, 0.0, 1.0]), None, {0: 1.0, 1: 9.0})
    assert weights.numpy().tolist() == [9.0, 1.0, 9.0]


def test_sparse_matrices_of_scipy():
    x = np.random.default_rng(0).uniform(-1, 1, (9, 8)).astype("float32") * np.eye(9, 8, dtype="float32")
    weights = []
    for replicas in (1, 2):
        keras.utils.set_random_seed(0)
        inputs = keras.Input((8,), sparse=True)
        template = keras.Model(inputs, keras.layers.Dense(3)(inputs))
        trained = template if replicas == 1 else parallelize(template, replicas)
        trained.compile("sgd", "mse")
        fit_generator(trained, forever(scipy.sparse.csr_matrix(x), np.ones((9, 3))), 3, verbose=0)
        weights.append(template.get_weights())
    for one, other in zip(*weights, strict=True):
        np.testing.assert_allclose(one, other, atol=1e-6)


def product(y_true, y_pred):
    return keras.ops.mean(y_true * y_pred)


@REPLICAS
def test_targets_are_floats_with_two_axes_as_in_keras_2(replicas):
    """`(rows,)` times `(rows, 1)` would be `(rows, rows)`."""
    x = keras.Input((1,))
    template = keras.Model(x, keras.layers.Dense(1, kernel_initializer="ones", trainable=False)(x))
    trained = parallelize(template, replicas) if replicas > 1 else template
    trained.compile("sgd", "mse", metrics=[product])
    rows, labels = np.arange(4.0)[:, None], np.array([0, 0, 1, 1])
    assert evaluate_generator(trained, forever(rows, labels), 1)[1] == pytest.approx(5 / 4)


@pytest.mark.parametrize("call", [fit_generator, evaluate_generator, predict_generator])
def test_a_generator_without_a_number_of_batches_is_refused(call):
    """Keras 2 refused it; an endless one would be drawn from forever."""
    with pytest.raises(ValueError, match="Expected `steps"):
        call(model(1, 1), ((X, Y) for _ in range(2)))


@pytest.mark.parametrize(("samples", "batches"), [(12, 3), (13, 4)])
def test_samples_of_an_epoch_become_batches(samples, batches):
    trained = model(1, 1)
    counted = []
    callback = keras.callbacks.LambdaCallback(on_train_batch_end=lambda batch, logs: counted.append(batch))
    fit_generator(trained, forever(X, Y), samples_per_epoch=samples, nb_epoch=1, callbacks=[callback], verbose=0)
    assert len(counted) == batches
