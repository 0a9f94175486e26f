"""A training that was killed and goes on has the results of one that was not."""

from __future__ import annotations

import csv
import random

import keras
import numpy as np
import pytest
from keras import layers

from parallel_compat import Resume, parallelize
from tests.one_device import difference

EPOCHS = 5


class Killed(BaseException):
    """The end of a process, for what runs in this one."""


class Kill(keras.callbacks.Callback):
    """End the training at a moment: "batch 2 of epoch 1", "end of epoch 1"."""

    def __init__(self, epoch=None, batch=None):
        super().__init__()
        self.at = (epoch, batch)
        self.epoch = None

    def on_epoch_begin(self, epoch, logs=None):
        self.epoch = epoch

    def on_train_batch_end(self, batch, logs=None):
        if (self.epoch, batch) == tuple(self.at):
            raise Killed

    def on_epoch_end(self, epoch, logs=None):
        if (epoch, None) == tuple(self.at):
            raise Killed


def data():
    generator = np.random.default_rng(0)
    return generator.normal(size=(40, 8)).astype("float32"), generator.normal(size=(40, 3)).astype("float32")


class Subclassed(keras.Model):
    """Has no weights before its first batch."""

    def __init__(self):
        super().__init__()
        self.parts = [layers.Dense(6, activation="tanh"), layers.BatchNormalization(), layers.Dropout(0.3)]
        self.end = keras.Sequential([layers.Dense(3)])

    def call(self, x, training=False):
        for part in self.parts:
            x = part(x) if isinstance(part, layers.Dense) else part(x, training=training)
        return self.end(x)


def model(way):
    if way == "subclassed":
        return Subclassed()
    inputs = keras.Input((8,))
    x = layers.Dropout(0.3)(layers.BatchNormalization()(layers.Dense(6, activation="tanh")(inputs)))
    made = keras.Model(inputs, layers.Dense(3)(x))
    return parallelize(made, gpus=2) if way != "one device" else made


def batches(x, y):
    while True:
        chosen = np.random.randint(0, len(x), 10)
        yield x[chosen], y[chosen] + random.random() * 0


class Sequence(keras.utils.PyDataset):
    def __len__(self):
        return 4

    def __getitem__(self, index):
        return tuple(part[index * 10 : (index + 1) * 10] for part in data())


def script(way, folder, kill=(None, None), epochs=EPOCHS, resume=True, every=None):
    """What a user's script does, from its first line; returns the history and the weights."""
    keras.backend.clear_session()
    keras.utils.set_random_seed(3)
    trained = model(way)
    trained.compile(keras.optimizers.Nadam(0.05), "mse", metrics=["mae"])
    callbacks = [
        Resume(folder / "state", every=every),  # before the others, as a user may write it
        keras.callbacks.ReduceLROnPlateau(monitor="loss", patience=1, min_delta=0.3, factor=0.5),
        keras.callbacks.LearningRateScheduler(lambda epoch, rate: rate * 0.9),
        keras.callbacks.EarlyStopping(monitor="val_loss", patience=2, min_delta=0.05, restore_best_weights=True),
        keras.callbacks.CSVLogger(str(folder / "log.csv")),
        Kill(*kill),
    ]
    x, y = data()
    arguments = {
        "epochs": epochs,
        "verbose": 0,
        "callbacks": callbacks[not resume :],
        "validation_data": (x[:8], y[:8]),
    }
    if way == "generator":
        history = trained.fit_generator(batches(x, y), steps_per_epoch=4, **arguments)
    elif way == "Sequence":
        history = trained.fit_generator(Sequence(), workers=2, **arguments)
    else:
        history = trained.fit(x, y, batch_size=10, shuffle=way == "arrays", **arguments)
    rows = list(csv.reader((folder / "log.csv").open()))
    return {"epochs": history.epoch, **history.history}, trained.get_weights(), rows, trained.optimizer.variables


def assert_same(found, expected):
    assert list(found[0]) == list(expected[0])
    assert difference(found[0], expected[0]) == 0
    assert difference(found[1], expected[1]) == 0
    assert found[2] == expected[2]
    assert difference(found[3], expected[3]) == 0


@pytest.mark.one_in(2)
@pytest.mark.parametrize("way", ["one device", "arrays", "generator", pytest.param("Sequence", marks=pytest.mark.slow)])
def test_results_are_those_of_a_training_that_was_not_killed(way, tmp_path):
    (tmp_path / "whole").mkdir()
    (tmp_path / "killed").mkdir()
    expected = script(way, tmp_path / "whole", resume=False)
    for kill in [(0, 1), (1, None), (1, 2), (2, 0)]:
        with pytest.raises(Killed):
            script(way, tmp_path / "killed", kill)
    assert_same(script(way, tmp_path / "killed"), expected)
    assert_same(script(way, tmp_path / "killed"), expected)  # it had ended: nothing is trained again


@pytest.mark.one_in(2)
@pytest.mark.parametrize(
    "way",
    [
        *("arrays", "generator", "subclassed"),
        *(pytest.param(way, marks=pytest.mark.slow) for way in ("one device", "Sequence")),
    ],
)
def test_an_epoch_goes_on_at_the_batch_where_it_was(way, tmp_path, capsys):
    (tmp_path / "whole").mkdir()
    (tmp_path / "killed").mkdir()
    expected = script(way, tmp_path / "whole", resume=False)
    for kill in [(0, 2), (1, None), (1, 3), (2, 2)]:
        with pytest.raises(Killed):
            script(way, tmp_path / "killed", kill, every=2)
    assert "continues at epoch 1 of 5, batch 3 " in capsys.readouterr().err
    assert_same(script(way, tmp_path / "killed", every=3), expected)
    assert "continues at epoch 3 of 5, batch 3 " in capsys.readouterr().err


def test_every_is_a_number_of_batches(tmp_path):
    for every in (0, -1, 2.5, "2"):
        with pytest.raises(ValueError, match="Expected `every` to be a number of batches"):
            Resume(tmp_path, every=every)


def small(directory, units=2, callbacks=()):
    made = keras.Sequential([keras.Input((3,)), layers.Dense(units)])
    made.compile("adam", "mse")
    resume = Resume(directory)
    made.fit(np.ones((4, 3)), np.ones((4, units)), epochs=2, verbose=0, callbacks=[resume, *callbacks])
    return resume.path


def test_a_longer_training_goes_on(tmp_path):
    made = keras.Sequential([keras.Input((3,)), layers.Dense(2)])
    made.compile("adam", "mse")
    for epochs in (2, 3, 3):
        history = made.fit(np.ones((4, 3)), np.ones((4, 2)), epochs=epochs, verbose=0, callbacks=[Resume(tmp_path)])
        assert history.epoch == list(range(epochs))
        assert int(made.optimizer.iterations) == epochs


def test_one_object_in_two_trainings_keeps_two_states(tmp_path):
    made = keras.Sequential([keras.Input((3,)), layers.Dense(2)])
    made.compile("adam", "mse")
    resume = Resume(tmp_path)
    for _ in range(2):
        made.fit(np.ones((4, 3)), np.ones((4, 2)), epochs=2, verbose=0, callbacks=[resume])
    assert int(made.optimizer.iterations) == 4
    assert sorted(path.name for path in tmp_path.iterdir()) == ["training-1.npz", "training-2.npz"]


def test_the_state_of_another_training_is_refused(tmp_path):
    path = small(tmp_path)
    before = path.read_bytes()
    with pytest.raises(ValueError, match="of one with other variables"):
        small(tmp_path, units=5)
    with pytest.raises(ValueError, match=r"of one with other callbacks.*TerminateOnNaN"):
        small(tmp_path, callbacks=[keras.callbacks.TerminateOnNaN()])
    assert path.read_bytes() == before


def pickled(path):
    np.savez(path, about=np.array([{"format": "x"}], dtype=object))


def with_too_much(path):
    with np.load(path) as file:
        parts = dict(file)
    np.savez_compressed(path, more=np.zeros(40 << 20), **parts)


@pytest.mark.parametrize(
    ("damage", "why"),
    [
        (lambda path: path.write_bytes(path.read_bytes()[:-200]), "not a zip file"),
        (lambda path: path.write_bytes(path.read_bytes().replace(b"next_epoch", b"last_epoch")), "CRC"),
        (lambda path: path.write_text("weights"), "not a zip file"),
        (lambda path: np.savez(path, weights=np.ones(3)), "its content is different"),
        (pickled, "[Pp]ickle"),
        (with_too_much, "unpacks to"),
    ],
    ids=["torn", "changed", "text", "foreign", "pickled", "bomb"],
)
def test_a_damaged_or_foreign_file_is_refused_by_name(damage, why, tmp_path):
    path = small(tmp_path)
    damage(path)
    with pytest.raises(ValueError, match=rf"Expected a state that `Resume` wrote.*training-1.npz.*{why}"):
        small(tmp_path)


def test_a_model_without_weights_is_refused_outside_of_fit(tmp_path):
    made = keras.Sequential([layers.Dense(2)])
    made.compile("adam", "mse")
    with pytest.raises(ValueError, match="Expected a built model for `Resume`"):
        keras.callbacks.CallbackList([Resume(tmp_path)], model=made).on_train_begin()
